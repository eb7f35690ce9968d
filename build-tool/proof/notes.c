// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Notes as the gABI defines them ("Note Section"): the sizes of a name and of contents, a type,
 * then the name and the contents, each padded.  Padding is to four bytes.  A section that is
 * aligned to eight (.note.gnu.property) pads to eight, counted from the section's start.
 */
#include "proof/proof_notes.h"

#include <elf.h>
#include <string.h>

uint32_t note_word(const unsigned char *data, bool big)
{
	uint32_t word = 0;

	for (unsigned int i = 0; i < sizeof(word); i++)
		word |= (uint32_t)data[i] << 8 * (big ? 3 - i : i);
	return word;
}

bool note_find(const struct note_bytes *notes, uint32_t type, struct note_contents *ret)
{
	const uint64_t mask = (notes->align == 8 ? 8 : 4) - 1;
	uint64_t at = 0;

	while (notes->data && at < notes->size && notes->size - at >= sizeof(Elf64_Nhdr)) {
		const unsigned char *header = notes->data + at;
		const uint32_t name_size = note_word(header, notes->big);
		const uint32_t size = note_word(header + 4, notes->big);
		const uint64_t name = at + sizeof(Elf64_Nhdr);
		const uint64_t contents = (name + name_size + mask) & ~mask;

		if (contents > notes->size || size > notes->size - contents)
			return false;
		if (note_word(header + 8, notes->big) == type &&
		    name_size == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes->data + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*ret = (struct note_contents){notes->data + contents, size};
			return true;
		}
		at = (contents + size + mask) & ~mask;
	}
	return false;
}
