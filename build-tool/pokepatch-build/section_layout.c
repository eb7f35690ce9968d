// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Avoiding Cortex-A53 erratum 843419: an ADRP in one of the last two words of a page may compute a
 * wrong address.  The linker and the module loader know the erratum and change the instruction or
 * move it into a veneer, but they do not see the relocations that the core makes.  So we move all
 * of the module's code by the smallest distance that leaves none of these ADRPs in such a place.
 */
#include "pokepatch-build/section_layout.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/comparison.h"
#include "object/object.h"

bool late_limit_applies(const struct late_limit *limit, uint32_t type)
{
	return limit && (type == limit->types[0] || type == limit->types[1]);
}

bool late_limit_allows(const struct late_limit *limit, uint32_t type, uint64_t offset)
{
	return !late_limit_applies(limit, type) || offset % limit->align < limit->from;
}

bool layout_find_padding(const struct late_limit *limit, const uint64_t *places, size_t count,
			 uint64_t step, uint64_t *ret)
{
	for (*ret = 0; *ret < limit->align; *ret += step) {
		size_t good = 0;

		while (good < count &&
		       late_limit_allows(limit, limit->types[0], places[good] + *ret))
			good++;
		if (good == count)
			return true;
	}
	return false;
}

struct error *layout_choose_padding(const struct build *build, const char *path, uint64_t *ret)
{
	const struct late_limit *limit = build->machine->loader.late_limit;
	VEC(uint64_t) places = {0};
	struct object object;

	*ret = 0;
	if (!limit)
		return NULL;
	TRY(object_read(path, &object));
	const struct section *text = object_find_section(&object, ".text");
	for (size_t i = 0; text && i < text->relocs.count; i++) {
		const struct reloc *reloc = &text->relocs.list[i];

		if (!reloc->symbol->section && late_limit_applies(limit, reloc->type) &&
		    map_has(&build->comparison->externals.by_link_name, reloc->symbol->name))
			*vec_push(&places) = reloc->offset;
	}
	/* If no padding helps, finalize.c refuses the relocations in forbidden places. */
	if (places.count &&
	    !layout_find_padding(limit, places.list, places.count, text->align ?: 1, ret))
		*ret = 0;
	vec_deinit(&places);
	object_deinit(&object);
	return NULL;
}
