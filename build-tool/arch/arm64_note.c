// SPDX-License-Identifier: GPL-2.0-or-later
/* What an arm64 object notes of itself: "ELF for the Arm 64-bit Architecture", program properties. */
#include "arm64_note.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

#include "object.h"

#define WORD 4

static uint32_t word_at(const struct section *section, uint64_t at)
{
	uint32_t value;

	memcpy(&value, section->data + at, WORD);
	return le32toh(value);
}

/* Properties: type, size, data, each padded to 8 bytes. */
static bool has_bti(const struct section *section, uint64_t at, uint64_t end)
{
	while (end - at >= 2 * WORD) {
		const uint32_t type = word_at(section, at), size = word_at(section, at + WORD);

		at += 2 * WORD;
		if (size > end - at)
			return false;
		if (type == GNU_PROPERTY_AARCH64_FEATURE_1_AND && size >= WORD)
			return word_at(section, at) & GNU_PROPERTY_AARCH64_FEATURE_1_BTI;
		const uint64_t padded = ((uint64_t)size + 7) & ~7ull;
		if (padded > end - at)
			return false;
		at += padded;
	}
	return false;
}

bool arm64_is_guarded(const struct object *object)
{
	const struct section *section = object_find_section(object, ".note.gnu.property");

	/* One note: the sizes of its name and its contents, its type, "GNU". */
	if (!section || !section->data || section->size < 4 * WORD ||
	    word_at(section, 0) != sizeof(ELF_NOTE_GNU) ||
	    word_at(section, 2 * WORD) != NT_GNU_PROPERTY_TYPE_0 ||
	    memcmp(section->data + 3 * WORD, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
	    word_at(section, WORD) > section->size - 4 * WORD)
		return false;
	return has_bti(section, 4 * WORD, 4 * WORD + word_at(section, WORD));
}
