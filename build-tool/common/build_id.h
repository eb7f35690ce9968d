/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GNU build id in ELF notes, as a file, a kernel's image or sysfs has them.  The host programs
 * read it here.  The proof reads it a second time with code of its own.
 */
#ifndef POKEPATCH_BUILD_ID_H
#define POKEPATCH_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

/*
 * build_id_find - the bytes of the first build id in a section of notes, or NULL if it has none
 * or is cut off in front of it.
 * @notes: gABI, "Note Section": the lengths of the name and of the descriptor and the type, three
 *	words in the byte order of this machine (libelf converts them), then name and descriptor,
 *	each padded to 4 bytes
 * @size: of the notes, in bytes
 * @ret_length: of the id, in bytes; more than 0
 */
const uint8_t *build_id_find(const void *notes, size_t size, size_t *ret_length);

/* build_id_hex - bytes of an id in hexadecimal, "" if there are none.  Owned by the caller. */
char *build_id_hex(const uint8_t *id, size_t length) __attribute__((returns_nonnull));

/* build_id_in_notes - build_id_find() in hexadecimal, or NULL.  Owned by the caller. */
char *build_id_in_notes(const void *notes, size_t size);

#endif /* POKEPATCH_BUILD_ID_H */
