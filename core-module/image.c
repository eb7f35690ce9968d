// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checking the tables of a patch module, and building its struct pp_patch.
 *
 * This file checks every count, index, string offset and address in the tables before the core
 * uses any.  The rest of the core trusts them.  The tables are memory of the patch module and
 * outlive the struct pp_patch.
 */
#include <linux/ctype.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <pokepatch_format.h>
#include <pokepatch_mark.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "image.h"
#include "live.h"
#include "module_memory.h"
#include "pp_patch.h"
#include "site.h"
#include "sysfs.h"
#include "text.h"

/* More entries than any kernel can fill.  The limit keeps the sums below from overflowing. */
#define MAX_ENTRIES (1U << 22)

#define reject(patch, fmt, ...)                                                           \
	({                                                                                \
		pr_err("module %s is refused: bad image: " fmt "; rebuild it\n",          \
		       (patch)->mod->name, ##__VA_ARGS__);                                \
		-EINVAL;                                                                  \
	})

static bool image_within_text(const struct pp_patch *patch, u64 addr, u64 size)
{
	return addr >= patch->text_start && addr < patch->text_end &&
	       size <= patch->text_end - addr;
}

/* [addr, addr + size) is memory that the module keeps after its init. */
static bool image_within_module(const struct pp_patch *patch, u64 addr, u64 size)
{
	return size && addr + size - 1 >= addr && addr + size - 1 <= ULONG_MAX &&
	       pp_module_holds(patch->mod, addr, size);
}

static int image_check_table(const struct pp_patch *patch, const char *what, u64 addr, u32 nr,
			     size_t entry, size_t align)
{
	if (nr > MAX_ENTRIES)
		return reject(patch, "%u %s", nr, what);
	if (!nr)
		return 0;
	if (!IS_ALIGNED(addr, align) || !image_within_module(patch, addr, (u64)nr * entry))
		return reject(patch, "the table of %s is not in the module", what);
	return 0;
}

#define check_table(patch, what, image, table, type)                                          \
	image_check_table(patch, what, (image)->table, (image)->nr_##table, sizeof(type), \
			  __alignof__(type))

static int image_check_header(const struct pp_patch *patch, const struct pokepatch_image *image)
{
	int ret;

	if (!IS_ALIGNED((unsigned long)image, sizeof(u64)) ||
	    !image_within_module(patch, (unsigned long)image, sizeof(*image)))
		return reject(patch, "it is not in the module's data");
	if (image->magic != POKEPATCH_MAGIC)
		return reject(patch, "wrong magic number %llx", image->magic);
	if (image->format != POKEPATCH_FORMAT || image->size != sizeof(*image))
		return reject(patch, "format %u of %u bytes, this core knows %u of %zu",
			      image->format, image->size, POKEPATCH_FORMAT, sizeof(*image));
	if (image->transition > POKEPATCH_TRANSITION_LIVE)
		return reject(patch, "transition %u is not one that this core can make",
			      image->transition);
	if (image->transition == POKEPATCH_TRANSITION_LIVE && pp_live_missing()) {
		pr_err("module %s is refused: it is to be switched live, and this kernel has no %s; rebuild it with --transition stop\n",
		       patch->mod->name, pp_live_missing());
		return -EINVAL;
	}
	if (image->flags & ~POKEPATCH_IMAGE_PINNED)
		return reject(patch, "flags %#x, this core knows %#x", image->flags,
			      POKEPATCH_IMAGE_PINNED);
	if (image->least_level > image->level)
		return reject(patch, "level %u would revoke levels below %u", image->level,
			      image->least_level);
	if (!image->nr_objects || !image->nr_funcs)
		return reject(patch, "%u parent objects, %u functions", image->nr_objects,
			      image->nr_funcs);
	ret = check_table(patch, "objects", image, objects, struct pokepatch_object);
	ret = ret ?: check_table(patch, "symbols", image, symbols, struct pokepatch_symbol);
	ret = ret ?: check_table(patch, "functions", image, funcs, struct pokepatch_func);
	ret = ret ?: check_table(patch, "relocations", image, relocs, struct pokepatch_reloc);
	ret = ret ?: check_table(patch, "callbacks", image, callbacks, struct pokepatch_callback);
	ret = ret ?: check_table(patch, "markers", image, markers, struct pokepatch_marker);
	if (ret)
		return ret;
	if (!image_within_module(patch, image->strings, image->strings_size) ||
	    ((const char *)pp_pointer(image->strings))[image->strings_size - 1])
		return reject(patch, "the strings are not in the module or do not end");
	if (!image_within_module(patch, image->texts, image->texts_size))
		return reject(patch, "the texts are not in the module");
	if (!image->nr_stubs)
		return 0;
	if (image->nr_stubs != image->nr_funcs || !IS_ALIGNED(image->stubs, PP_TEXT_WORD_MAX) ||
	    !image_within_text(patch, image->stubs, (u64)image->nr_stubs * pp_arch.stub.size))
		return reject(patch, "%u stubs for %u functions, or not in the module's text",
			      image->nr_stubs, image->nr_funcs);
	return 0;
}

/*
 * The string at @offset is a name: 1 to @max - 1 printable characters without blanks, slashes and
 * quotation marks, since it becomes a name in sysfs, a word in messages, and a string in audit's.
 */
static bool image_is_name(const struct pp_patch *patch, u32 offset, size_t max)
{
	const char *s;
	size_t i, len;

	if (offset >= patch->image->strings_size)
		return false;
	s = pp_string(patch, offset);
	len = strlen(s); /* the last byte of the strings is 0 */
	if (!len || len >= max || !strcmp(s, ".") || !strcmp(s, ".."))
		return false;
	for (i = 0; i < len; i++)
		if (!isascii(s[i]) || !isgraph(s[i]) || s[i] == '/' || s[i] == '"')
			return false;
	return true;
}

/* Would its folder in sysfs stand where the core has a file? */
static bool image_is_own_name(const char *name)
{
	static const char *const own[] = { POKEPATCH_OWN_NAMES };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(own); i++)
		if (!strcmp(name, own[i]))
			return true;
	return false;
}

static int image_check_objects(struct pp_patch *patch)
{
	const struct pokepatch_object *desc = pp_pointer(patch->image->objects);
	unsigned int i, j;

	/* A patch touches a handful of modules, so the loop below may compare all pairs. */
	if (patch->nr_objects > 256)
		return reject(patch, "%u parent objects", patch->nr_objects);
	for (i = 0; i < patch->nr_objects; i++) {
		struct pp_object *obj = &patch->objects[i];

		if (!image_is_name(patch, desc[i].name, MODULE_NAME_LEN))
			return reject(patch, "name of object %u", i);
		obj->patch = patch;
		obj->desc = &desc[i];
		obj->name = pp_string(patch, desc[i].name);
		obj->name_len = strlen(obj->name);
		if (!i != !strcmp(obj->name, "vmlinux"))
			return reject(patch, "object %u is %s (vmlinux is object 0)", i, obj->name);
		if (pp_sysfs_reserved(obj->name) || !strcmp(obj->name, patch->mod->name))
			return reject(patch, "a parent object cannot be called %s", obj->name);
		if (!desc[i].build_id_len || desc[i].build_id_len > POKEPATCH_BUILD_ID_MAX ||
		    desc[i].reserved)
			return reject(patch, "build id of %s", obj->name);
		for (j = 0; j < i; j++)
			if (!strcmp(obj->name, patch->objects[j].name))
				return reject(patch, "two objects are called %s", obj->name);
	}
	return 0;
}

static int image_check_symbols(const struct pp_patch *patch)
{
	const u32 known = POKEPATCH_SYM_FUNC | POKEPATCH_SYM_ABS;
	unsigned int i;

	for (i = 0; i < patch->nr_symbols; i++) {
		const struct pokepatch_symbol *sym = &patch->symbols[i];
		const char *name;

		if (!image_is_name(patch, sym->name, KSYM_NAME_LEN))
			return reject(patch, "name of symbol %u", i);
		name = pp_string(patch, sym->name);
		if (sym->object >= patch->nr_objects)
			return reject(patch, "symbol %s: object %u", name, sym->object);
		if ((sym->flags & ~known) || sym->reserved)
			return reject(patch, "symbol %s: unknown flags", name);
		if ((sym->flags & POKEPATCH_SYM_ABS) &&
		    (sym->object || (sym->flags & POKEPATCH_SYM_FUNC)))
			return reject(patch, "symbol %s: an absolute function or module symbol",
				      name);
		if (sym->offset > S32_MAX || sym->size > S32_MAX)
			return reject(patch, "symbol %s: offset %#llx, size %#llx", name,
				      sym->offset, sym->size);
		/* A module's symbol names its section.  In vmlinux all have one base. */
		if (sym->object ? !image_is_name(patch, sym->section, KSYM_NAME_LEN) :
				  sym->section >= patch->image->strings_size ||
					  *pp_string(patch, sym->section))
			return reject(patch, "symbol %s: section", name);
	}
	return 0;
}

/*
 * The runs at @offset of the texts (see verify.c) cover exactly @size bytes of code, and are within
 * the texts themselves.
 */
static bool image_is_text(const struct pp_patch *patch, u32 offset, u64 size)
{
	const u8 *texts = pp_pointer(patch->image->texts);
	const u32 end = patch->image->texts_size;

	while (size) {
		unsigned int any, same;

		if (offset > end || end - offset < 2)
			return false;
		any = texts[offset];
		same = texts[offset + 1];
		offset += 2;
		if (!(any + same) || any + same > size || same > end - offset)
			return false;
		offset += same;
		size -= any + same;
	}
	return true;
}

/* Only an overwritten function has numbers in its flags, and it is not carried. */
static u32 image_known_flags(u32 flags)
{
	return flags & POKEPATCH_FUNC_OVERWRITTEN ?
		       POKEPATCH_FUNC_OVERWRITTEN | POKEPATCH_FUNC_FIRST_FLAGS(0xff, 0xff, 0xff) :
		       POKEPATCH_FUNC_CARRIED | POKEPATCH_FUNC_OVERWRITTEN;
}

/* Are the first instructions in the function, and does a detour hold them? */
static bool image_are_first(const struct pp_func *func, u32 flags)
{
	const unsigned int pad = POKEPATCH_FUNC_PAD(flags), first = POKEPATCH_FUNC_FIRST(flags);
	const unsigned int field = POKEPATCH_FUNC_FIELD(flags);

	return (!field || field + sizeof(s32) <= first) && first >= pp_arch.entry.size &&
	       first + pp_arch.entry.size <= PP_DETOUR_MAX && pad + first <= func->sym->size &&
	       (!pad || pad == pp_arch.detour.pad);
}

static int image_check_func(struct pp_patch *patch, struct pp_func *func,
			    const struct pokepatch_func *desc)
{
	const struct pokepatch_symbol *cold;

	if (desc->symbol >= patch->nr_symbols)
		return reject(patch, "a function's symbol is %u", desc->symbol);
	func->patch = patch;
	func->desc = desc;
	func->sym = &patch->symbols[desc->symbol];
	func->name = pp_string(patch, func->sym->name);
	func->name_len = strlen(func->name);
	func->obj = func->sym->object;
	INIT_LIST_HEAD(&func->on);
	INIT_LIST_HEAD(&func->hook);
	if (!(func->sym->flags & POKEPATCH_SYM_FUNC) || !func->sym->size)
		return reject(patch, "%s is not a function", func->name);
	func->want = desc->mode;
	if (!pp_mode_known(desc->mode))
		return reject(patch, "%s: mode %u is not one that this core has", func->name,
			      desc->mode);
	if (!desc->new_size || !image_within_text(patch, desc->new_addr, desc->new_size))
		return reject(patch, "%s: the new function is not in the module's text",
			      func->name);
	if (desc->new_cold_addr ?
		    !desc->new_cold_size ||
			    !image_within_text(patch, desc->new_cold_addr, desc->new_cold_size) :
		    desc->new_cold_size)
		return reject(patch, "%s: the new .cold part is not in the module's text",
			      func->name);
	if (desc->flags & ~image_known_flags(desc->flags))
		return reject(patch, "%s: flags %#x, this core knows %#x", func->name, desc->flags,
			      image_known_flags(desc->flags));
	if ((desc->flags & POKEPATCH_FUNC_OVERWRITTEN) && patch->live)
		return reject(patch, "%s: its first instructions cannot be overwritten live",
			      func->name);
	if ((desc->flags & POKEPATCH_FUNC_OVERWRITTEN) && !image_are_first(func, desc->flags))
		return reject(patch, "%s: %u bytes of first instructions, behind %u", func->name,
			      POKEPATCH_FUNC_FIRST(desc->flags), POKEPATCH_FUNC_PAD(desc->flags));
	if (!image_is_text(patch, desc->text, func->sym->size))
		return reject(patch, "%s: the text of the old function", func->name);
	patch->objects[func->obj].has_funcs = true;
	if (desc->cold == POKEPATCH_NONE && desc->cold_text == POKEPATCH_NONE)
		return 0;
	if (desc->cold >= patch->nr_symbols)
		return reject(patch, "%s: the .cold part's symbol is %u", func->name, desc->cold);
	cold = &patch->symbols[desc->cold];
	if (cold->object != func->obj || !(cold->flags & POKEPATCH_SYM_FUNC) || !cold->size)
		return reject(patch, "%s: the .cold part is not code of the same object",
			      func->name);
	if (!image_is_text(patch, desc->cold_text, cold->size))
		return reject(patch, "%s: the text of the old .cold part", func->name);
	return 0;
}

static int image_compare_funcs(const void *a, const void *b)
{
	const struct pp_func *x = *(const struct pp_func *const *)a;
	const struct pp_func *y = *(const struct pp_func *const *)b;
	int ret = strcmp(x->name, y->name);

	if (!ret && x->obj != y->obj)
		ret = x->obj < y->obj ? -1 : 1;
	if (!ret && x->sym->pos != y->sym->pos)
		ret = x->sym->pos < y->sym->pos ? -1 : 1;
	return ret;
}

static int image_check_funcs(struct pp_patch *patch)
{
	const struct pokepatch_func *desc = pp_pointer(patch->image->funcs);
	const struct pp_func **sorted;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < patch->nr_funcs && !ret; i++)
		ret = image_check_func(patch, &patch->funcs[i], &desc[i]);
	if (ret)
		return ret;

	sorted = kvmalloc_array(patch->nr_funcs, sizeof(*sorted), GFP_KERNEL);
	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < patch->nr_funcs; i++)
		sorted[i] = &patch->funcs[i];
	sort(sorted, patch->nr_funcs, sizeof(*sorted), image_compare_funcs, NULL);
	for (i = 1; i < patch->nr_funcs && !ret; i++)
		if (!image_compare_funcs(&sorted[i - 1], &sorted[i]))
			ret = reject(patch, "%s,%u is there twice", sorted[i]->name,
				     sorted[i]->sym->pos);
	kvfree(sorted);
	return ret;
}

/* A relocation there would change tables that were checked, or the struct module. */
static bool image_touches_tables(const struct pp_patch *patch, u64 where, u64 width)
{
	const struct pokepatch_image *image = patch->image;
	const struct {
		u64 start, size;
	} tables[] = {
		{ (unsigned long)image, sizeof(*image) },
		{ image->objects, (u64)image->nr_objects * sizeof(struct pokepatch_object) },
		{ image->symbols, (u64)image->nr_symbols * sizeof(struct pokepatch_symbol) },
		{ image->funcs, (u64)image->nr_funcs * sizeof(struct pokepatch_func) },
		{ image->relocs, (u64)image->nr_relocs * sizeof(struct pokepatch_reloc) },
		{ image->callbacks, (u64)image->nr_callbacks * sizeof(struct pokepatch_callback) },
		{ image->strings, image->strings_size },
		{ image->texts, image->texts_size },
		{ image->markers, (u64)image->nr_markers * sizeof(struct pokepatch_marker) },
		{ (unsigned long)patch->mod, sizeof(*patch->mod) },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		if (where < tables[i].start + tables[i].size && tables[i].start < where + width)
			return true;
	return false;
}

static int image_check_relocs(const struct pp_patch *patch)
{
	unsigned int i;

	for (i = 0; i < patch->nr_relocs; i++) {
		const struct pokepatch_reloc *reloc = &patch->relocs[i];
		unsigned int width = pp_arch.reloc.width(reloc->type);

		if (reloc->symbol >= patch->nr_symbols)
			return reject(patch, "relocation %u: symbol %u", i, reloc->symbol);
		if (!width)
			return reject(patch, "relocation %u: type %u is not known", i,
				      reloc->type);
		if (!image_within_module(patch, reloc->where, width) ||
		    image_touches_tables(patch, reloc->where, width))
			return reject(patch, "relocation %u: place %llx", i, reloc->where);
	}
	return 0;
}

static int image_check_callbacks(struct pp_patch *patch)
{
	const struct pokepatch_callback *desc = pp_pointer(patch->image->callbacks);
	unsigned int i;

	for (i = 0; i < patch->image->nr_callbacks; i++) {
		struct pp_object *obj;

		if (desc[i].object >= patch->nr_objects ||
		    desc[i].kind >= POKEPATCH_CALLBACK_KINDS)
			return reject(patch, "callback %u: object %u, kind %u", i, desc[i].object,
				      desc[i].kind);
		if (!image_within_text(patch, desc[i].func, 1))
			return reject(patch, "callback %u is not in the module's text", i);
		obj = &patch->objects[desc[i].object];
		if (obj->callbacks[desc[i].kind])
			return reject(patch, "%s has two callbacks of kind %u", obj->name,
				      desc[i].kind);
		obj->callbacks[desc[i].kind] = desc[i].func;
	}
	return 0;
}

/* @text is a string in the module that ends in the module. */
static bool image_is_string(const struct pp_patch *patch, const char *text)
{
	const unsigned long at = (unsigned long)text;
	unsigned int i;

	for (i = 0; i < PP_MODULE_PIECES; i++) {
		const struct pp_region piece = pp_module_piece(patch->mod, i);

		if (pp_region_holds(piece, at, 1))
			return strnlen(text, piece.end - at) < piece.end - at;
	}
	return false;
}

/* The core writes to markers, so they must be outside the parts that the loader write-protects. */
static int image_check_markers(struct pp_patch *patch)
{
	const struct pokepatch_image *image = patch->image;
	const u64 size = (u64)image->nr_markers * sizeof(struct pokepatch_marker);
	unsigned int i;

	if (image->nr_markers &&
	    (!pp_region_holds(pp_module_data(patch->mod), image->markers, size) ||
	     !IS_ALIGNED(image->markers, sizeof(long))))
		return reject(patch, "the table of markers is not in the module's data");
	for (i = 0; i < image->nr_markers; i++) {
		const struct pokepatch_marker *marker = &patch->markers[i];

		if (!image_is_string(patch, marker->name) ||
		    !image_is_string(patch, marker->format) ||
		    !image_is_string(patch, marker->file))
			return reject(patch, "marker %u: its strings are not in the module", i);
		if (marker->probes || marker->core || marker->missed || marker->reserved)
			return reject(patch, "marker %u is in use", i);
	}
	return 0;
}

static int image_init_patch(struct pp_patch *patch, const struct pokepatch_image *image)
{
	int ret = image_check_header(patch, image);

	if (ret)
		return ret;
	patch->image = image;
	patch->strings = pp_pointer(image->strings);
	patch->symbols = pp_pointer(image->symbols);
	patch->relocs = pp_pointer(image->relocs);
	patch->nr_objects = image->nr_objects;
	patch->nr_symbols = image->nr_symbols;
	patch->nr_funcs = image->nr_funcs;
	patch->nr_relocs = image->nr_relocs;
	patch->markers = pp_pointer(image->markers);
	patch->live = image->transition == POKEPATCH_TRANSITION_LIVE;
	if (!image_is_name(patch, image->name, MODULE_NAME_LEN))
		return reject(patch, "name of the patch");
	patch->name = pp_string(patch, image->name);
	patch->name_len = strlen(patch->name);
	if (image_is_own_name(patch->name))
		return reject(patch, "a patch cannot be called %s", patch->name);

	patch->objects = kvcalloc(patch->nr_objects, sizeof(*patch->objects), GFP_KERNEL);
	patch->funcs = kvcalloc(patch->nr_funcs, sizeof(*patch->funcs), GFP_KERNEL);
	patch->addr = kvcalloc(patch->nr_symbols, sizeof(*patch->addr), GFP_KERNEL);
	if (!patch->objects || !patch->funcs || !patch->addr)
		return -ENOMEM;
	return image_check_objects(patch) ?: image_check_symbols(patch) ?:
	       image_check_funcs(patch) ?: image_check_relocs(patch) ?:
	       image_check_callbacks(patch) ?: image_check_markers(patch);
}

struct pp_patch *pp_patch_create(struct module *mod, const struct pokepatch_image *image)
{
	struct pp_patch *patch = kzalloc(sizeof(*patch), GFP_KERNEL);
	int ret;

	if (!patch)
		return ERR_PTR(-ENOMEM);
	patch->mod = mod;
	patch->text_start = pp_module_text(mod).start;
	patch->text_end = pp_module_text(mod).end;
	INIT_LIST_HEAD(&patch->list);
	sema_init(&patch->op, 1);
	mutex_init(&patch->report_lock);
	patch->timeout_ms = 5000;
	ret = image_init_patch(patch, image);
	if (ret) {
		pp_patch_free(patch);
		return ERR_PTR(ret);
	}
	return patch;
}

void pp_patch_free(struct pp_patch *patch)
{
	kvfree(patch->report);
	kfree(patch->replaces);
	kvfree(patch->addr);
	kvfree(patch->funcs);
	kvfree(patch->objects);
	kfree(patch);
}
