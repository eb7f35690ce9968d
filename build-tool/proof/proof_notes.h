/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The proof's reader of ELF notes: build ids, and what an arm64 object says about its code.
 */
#ifndef POKEPATCH_PROOF_NOTES_H
#define POKEPATCH_PROOF_NOTES_H

#include <stdbool.h>
#include <stdint.h>

/* The bytes of a note section as they are in the file. */
struct note_bytes {
	const unsigned char *data;
	uint64_t size, align; /* align: sh_addralign */
	bool big;	      /* the file is big-endian */
};

/* What a note holds; borrowed from the section. */
struct note_contents {
	const unsigned char *data;
	uint32_t size;
};

/* note_find - the contents of the first note with the name "GNU" and this type; or false. */
bool note_find(const struct note_bytes *notes, uint32_t type, struct note_contents *ret);

/* note_word - a number of four bytes in the file's byte order. */
uint32_t note_word(const unsigned char *data, bool big);

#endif /* POKEPATCH_PROOF_NOTES_H */
