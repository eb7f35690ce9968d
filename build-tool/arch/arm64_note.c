// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads an arm64 object's properties: "ELF for the Arm 64-bit Architecture", program properties. */
#include "arch/arm64_note.h"

#include <elf.h>
#include <string.h>

#include "object/object.h"

#define WORD 4

/* Each property has a type, a size, and data that is padded to 8 bytes. */
static bool has_bti(const struct object *object, const uint8_t *at, uint64_t left)
{
	while (left >= 2 * WORD) {
		const uint32_t type = object_get32(object, at);
		const uint32_t size = object_get32(object, at + WORD);
		const uint64_t padded = ((uint64_t)size + 7) & ~7ull;

		at += 2 * WORD;
		left -= 2 * WORD;
		if (type == GNU_PROPERTY_AARCH64_FEATURE_1_AND)
			return size >= WORD && left >= WORD &&
			       object_get32(object, at) & GNU_PROPERTY_AARCH64_FEATURE_1_BTI;
		if (padded > left)
			return false;
		at += padded;
		left -= padded;
	}
	return false;
}

bool arm64_is_guarded(const struct object *object)
{
	const struct section *section = object_find_section(object, ".note.gnu.property");

	/* The section has one note: size of the name, size of the contents, type, "GNU". */
	if (!section || !section->data || section->size < 4 * WORD ||
	    object_get32(object, section->data) != sizeof(ELF_NOTE_GNU) ||
	    object_get32(object, section->data + 2 * WORD) != NT_GNU_PROPERTY_TYPE_0 ||
	    memcmp(section->data + 3 * WORD, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
		return false;
	const uint32_t size = object_get32(object, section->data + WORD);
	return size <= section->size - 4 * WORD && has_bti(object, section->data + 4 * WORD, size);
}
