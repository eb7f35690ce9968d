// SPDX-License-Identifier: GPL-2.0-or-later
/* The GNU build id in ELF notes; see build_id.h. */
#include "common/build_id.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "common/util.h"

static bool is_build_id(const Elf64_Nhdr *header, const uint8_t *name)
{
	return header->n_type == NT_GNU_BUILD_ID && header->n_namesz == sizeof(ELF_NOTE_GNU) &&
	       !memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && header->n_descsz;
}

const uint8_t *build_id_find(const void *notes, size_t size, size_t *ret_length)
{
	const uint8_t *bytes = notes;
	size_t offset = 0;
	Elf64_Nhdr header; /* as Elf32_Nhdr */

	while (offset < size && size - offset >= sizeof(header)) {
		memcpy(&header, bytes + offset, sizeof(header));
		size_t name = offset + sizeof(header);
		size_t id = name + (((size_t)header.n_namesz + 3) & ~(size_t)3);
		if (id + header.n_descsz > size)
			return NULL;
		if (is_build_id(&header, bytes + name)) {
			*ret_length = header.n_descsz;
			return bytes + id;
		}
		offset = id + (((size_t)header.n_descsz + 3) & ~(size_t)3);
	}
	return NULL;
}

char *build_id_hex(const uint8_t *id, size_t length)
{
	char *text = xmalloc(2 * length + 1);

	text[0] = '\0';
	for (size_t i = 0; i < length; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	return text;
}

char *build_id_in_notes(const void *notes, size_t size)
{
	size_t length;
	const uint8_t *id = build_id_find(notes, size, &length);

	return id ? build_id_hex(id, length) : NULL;
}
