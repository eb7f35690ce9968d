/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF notes, as a file or the kernel's sysfs has them. */
#ifndef POKEPATCH_CLI_NOTES_H
#define POKEPATCH_CLI_NOTES_H

#include "common/util.h"

/*
 * notes_build_id - the build id in a section of notes (gABI, "Note Section": three
 * words, then name and descriptor, each padded to 4 bytes), in hexadecimal; NULL
 * if there is none or the notes are cut off before it.  The caller's.
 */
char *notes_build_id(const char *notes, size_t length);

#endif /* POKEPATCH_CLI_NOTES_H */
