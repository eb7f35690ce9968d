// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads an arm64 object's properties: "ELF for the Arm 64-bit Architecture", program properties,
 * and "Build Attributes for the Arm 64-bit Architecture", which gcc 16 writes instead.
 */
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

#define FEATURES "aeabi_feature_and_bits"
#define FEATURES_HEADER (sizeof(FEATURES) + 2) /* its name, "optional", the type of its values */
#define TAG_FEATURE_BTI 0

/* Take a ULEB128 number from the front of [*at, end).  Larger ones than are known are cut short. */
static uint64_t take_uleb128(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; *at < end; shift += 7) {
		const uint8_t byte = *(*at)++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* The section is 'A', and subsections: their size, their name, two bytes, tags with values. */
static bool attributes_have_bti(const struct object *object)
{
	const struct section *section = object_find_section(object, ".ARM.attributes");

	if (!section || !section->data || !section->size || section->data[0] != 'A')
		return false;
	for (uint64_t start = 1, size; section->size - start >= WORD; start += size) {
		const uint8_t *at = section->data + start + WORD;

		size = object_get32(object, section->data + start);
		if (size < WORD || size > section->size - start)
			return false;
		const uint8_t *end = section->data + start + size;
		if (size < WORD + FEATURES_HEADER || memcmp(at, FEATURES, sizeof(FEATURES)))
			continue;
		for (at += FEATURES_HEADER; at < end;) {
			const uint64_t tag = take_uleb128(&at, end);

			if (take_uleb128(&at, end) && tag == TAG_FEATURE_BTI)
				return true;
		}
	}
	return false;
}

static bool note_has_bti(const struct object *object)
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

bool arm64_is_guarded(const struct object *object)
{
	return note_has_bti(object) || attributes_have_bti(object);
}
