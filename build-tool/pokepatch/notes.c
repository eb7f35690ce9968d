// SPDX-License-Identifier: GPL-2.0-or-later
/* ELF notes; see notes.h. */
#include "pokepatch/notes.h"

#include <elf.h>
#include <string.h>

char *notes_build_id(const char *notes, size_t length)
{
	size_t offset = 0;
	Elf64_Nhdr header;

	while (offset + sizeof(header) <= length) {
		struct buffer digits = {0};
		size_t name, desc;

		memcpy(&header, notes + offset, sizeof(header));
		name = offset + sizeof(header);
		desc = name + ((header.n_namesz + 3UL) & ~3UL);
		offset = desc + ((header.n_descsz + 3UL) & ~3UL);
		if (desc + header.n_descsz > length)
			return NULL;
		if (header.n_type != NT_GNU_BUILD_ID || header.n_namesz != 4 ||
		    memcmp(notes + name, "GNU", 4) != 0)
			continue;
		for (size_t i = 0; i < header.n_descsz; i++)
			buffer_printf(&digits, "%02x", (unsigned char)notes[desc + i]);
		return digits.text ? digits.text : xstrdup("");
	}
	return NULL;
}
