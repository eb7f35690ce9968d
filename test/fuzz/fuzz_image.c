// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: the core's check of a patch module's tables, core-module/image.c, compiled for
 * this machine.
 *
 * An input is a list of changes to a good image (image_edits.h).  The check may refuse it, but reads
 * nothing outside the pieces of the module, and leaks nothing.  What it lets through is walked by
 * the rules of pokepatch_format.h, as the rest of the core does without looking again.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

/* --- as much of a kernel as the check needs -------------------------------------------- */

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef int gfp_t;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define IS_ALIGNED(x, a) (!((x) & ((typeof(x))(a)-1)))
#define GFP_KERNEL 0
#define KSYM_NAME_LEN 512
#define MODULE_NAME_LEN 56
#define S32_MAX INT32_MAX
#define PP_HAS_MODULE_MEM
#define PAGE_SIZE 4096
#define __printf(a, b)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define WRITE_ONCE(x, value) ((x) = (value)) /* there is one thread */

struct list_head {
	struct list_head *next, *prev;
};
struct hlist_node {
	struct hlist_node *next, **pprev;
};
struct mutex {
	int unused;
};
struct semaphore {
	int unused;
};
struct completion {
	int unused;
};
struct kobject {
	int unused;
};
struct work_struct {
	int unused;
};
struct delayed_work {
	int unused;
};
typedef struct {
	int unused;
} refcount_t;

enum mod_mem_type { MOD_TEXT, MOD_DATA, MOD_RODATA, MOD_RO_AFTER_INIT };

struct module {
	char name[MODULE_NAME_LEN];
	struct {
		void *base;
		unsigned int size;
	} mem[MOD_RO_AFTER_INIT + 1];
};

#define mutex_init(lock) ((void)(lock))
#define sema_init(semaphore, value) ((void)(semaphore))
#define INIT_LIST_HEAD(list) ((list)->next = (list)->prev = (list))
#define ERR_PTR(error) ((void *)(long)(error))
#define IS_ERR(pointer) ((unsigned long)(pointer) >= -4095UL)
#define ktime_get_mono_fast_ns() 0
#define local_clock() 0
#undef isascii
#define isascii(c) (!((unsigned char)(c) & 0x80))
#undef isgraph
#define isgraph(c) ((c) > ' ' && (c) < 0x7f)

static char told[1024]; /* the last line of the log */

/* A line of the log: all of its arguments are looked at. */
static int __attribute__((format(printf, 1, 2))) printk(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(told, sizeof(told), format, args);
	va_end(args);
	return 0;
}

#define pr_err(format, ...) printk("pokepatch: " format, ##__VA_ARGS__)

static void *kvcalloc(size_t nr, size_t size, int flags)
{
	(void)flags;
	return calloc(nr, size);
}

#define kvmalloc_array(nr, size, flags) kvcalloc(nr, size, flags)
#define kzalloc(size, flags) kvcalloc(1, size, flags)
#define kvfree(memory) free((void *)(memory))
#define kfree(memory) free((void *)(memory))
#define sort(base, nr, size, compare, swap) qsort(base, nr, size, compare)

#include "arch/pp_arch.h"

static unsigned int width_of(u32 type)
{
	return type == 1 ? 8 : type == 2 || type == 4 || type == 10 || type == 11 ? 4 : 0;
}

const struct pp_arch pp_arch = {
	.reloc.width = width_of,
	.entry.size = 5,
	.detour = { .size = PP_DETOUR_MAX, .pad = 4 },
	.stub.size = 16,
};

#include "../../core-module/image.c"

const char *pp_live_missing(void)
{
	return NULL;
}

bool pp_mode_known(u32 mode)
{
	return mode <= POKEPATCH_MODE_ENTRY;
}

bool pp_sysfs_reserved(const char *name)
{
	return !strcmp(name, "enabled");
}

#include "image_edits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_image: %s\n", what);
	abort();
}

/* --- a good module ---------------------------------------------------------------------- */

enum { NR_OBJECTS = 3, NR_SYMBOLS = 7, NR_FUNCS = 3, NR_RELOCS = 4, NR_CALLBACKS = 3, NR_MARKERS = 2 };

static const char good_strings[] =
	"\0fuzzed\0vmlinux\0ext4\0nf_tables\0.text\0first\0second\0second.cold\0third\0data\0more\0per_cpu";
static const u8 good_texts[] = { 0, 4, 1, 2, 3, 4, 4, 0, 2, 6, 1, 2, 3, 4, 5, 6, 8, 0 };

/* What the module loader protects lies in one piece. */
struct tables {
	struct pokepatch_image image;
	struct pokepatch_object objects[NR_OBJECTS];
	struct pokepatch_symbol symbols[NR_SYMBOLS];
	struct pokepatch_func funcs[NR_FUNCS];
	struct pokepatch_reloc relocs[NR_RELOCS];
	struct pokepatch_callback callbacks[NR_CALLBACKS];
	char strings[sizeof(good_strings)];
};

/* The module, in pieces of their exact sizes, so that each end is watched. */
struct made {
	struct module mod;
	u8 *text;
	struct tables *tables;
	u8 *texts;
	struct pokepatch_marker *markers;
};

#define TEXT_SIZE 512
#define STUBS_AT 256

static u32 string_at(const char *text)
{
	for (u32 i = 0; i < sizeof(good_strings); i += strlen(good_strings + i) + 1)
		if (!strcmp(good_strings + i, text))
			return i;
	abort();
}

static void *piece(struct made *made, enum mod_mem_type type, size_t size)
{
	void *base = calloc(1, size);

	made->mod.mem[type].base = base;
	made->mod.mem[type].size = size;
	return base;
}

static void make_symbols(struct tables *tables)
{
	static const struct {
		const char *name;
		u32 object, flags, size;
	} symbols[NR_SYMBOLS] = {
		{ "first", 0, POKEPATCH_SYM_FUNC, 4 }, { "second", 1, POKEPATCH_SYM_FUNC, 12 },
		{ "second.cold", 1, POKEPATCH_SYM_FUNC, 8 }, { "third", 2, POKEPATCH_SYM_FUNC, 16 },
		{ "data", 0, 0, 64 }, { "more", 1, 0, 0 }, { "per_cpu", 0, POKEPATCH_SYM_ABS, 8 },
	};

	for (u32 i = 0; i < NR_SYMBOLS; i++)
		tables->symbols[i] = (struct pokepatch_symbol){
			.offset = 64 * i,
			.size = symbols[i].size,
			.object = symbols[i].object,
			.name = string_at(symbols[i].name),
			.section = symbols[i].object ? string_at(".text") : 0,
			.pos = 1,
			.flags = symbols[i].flags,
		};
}

static void make_functions(struct tables *tables, const u8 *text)
{
	const u64 at = (uintptr_t)text;

	tables->funcs[0] = (struct pokepatch_func){
		.new_addr = at, .new_size = 32, .symbol = 0, .cold = POKEPATCH_NONE,
		.cold_text = POKEPATCH_NONE, .text = 0,
	};
	tables->funcs[1] = (struct pokepatch_func){
		.new_addr = at + 32, .new_size = 32, .new_cold_addr = at + 96, .new_cold_size = 16,
		.symbol = 1, .cold = 2, .mode = POKEPATCH_MODE_ENTRY, .text = 6, .cold_text = 16,
	};
	tables->funcs[1].flags = POKEPATCH_FUNC_OVERWRITTEN | POKEPATCH_FUNC_FIRST_FLAGS(4, 8, 3);
	tables->funcs[2] = (struct pokepatch_func){
		.new_addr = at + 64, .new_size = 32, .symbol = 3, .cold = POKEPATCH_NONE,
		.cold_text = POKEPATCH_NONE, .flags = POKEPATCH_FUNC_CARRIED, .text = 0,
	};
	for (u32 i = 0; i < NR_RELOCS; i++)
		tables->relocs[i] = (struct pokepatch_reloc){
			.where = at + 8 * i, .symbol = i, .type = i & 1 ? 2 : 1,
		};
	for (u32 i = 0; i < NR_CALLBACKS; i++)
		tables->callbacks[i] = (struct pokepatch_callback){
			.func = at + 128 + 16 * i, .object = i, .kind = i,
		};
}

static void make(struct made *made)
{
	struct tables *tables;

	strcpy(made->mod.name, "fuzzed");
	made->text = piece(made, MOD_TEXT, TEXT_SIZE);
	made->markers = piece(made, MOD_DATA, NR_MARKERS * sizeof(*made->markers));
	tables = made->tables = piece(made, MOD_RODATA, sizeof(*tables));
	made->texts = piece(made, MOD_RO_AFTER_INIT, sizeof(good_texts));
	memcpy(made->texts, good_texts, sizeof(good_texts));
	memcpy(tables->strings, good_strings, sizeof(good_strings));
	for (u32 i = 0; i < NR_OBJECTS; i++)
		tables->objects[i] = (struct pokepatch_object){
			.name = string_at((const char *[]){ "vmlinux", "ext4", "nf_tables" }[i]),
			.build_id_len = POKEPATCH_BUILD_ID_MAX,
		};
	make_symbols(tables);
	make_functions(tables, made->text);
	for (u32 i = 0; i < NR_MARKERS; i++)
		made->markers[i] = (struct pokepatch_marker){
			.name = tables->strings + string_at("first"),
			.format = tables->strings + string_at("second"),
			.file = tables->strings + string_at("third"),
			.line = i,
		};
	tables->image = (struct pokepatch_image){
		.magic = POKEPATCH_MAGIC,
		.format = POKEPATCH_FORMAT,
		.size = sizeof(struct pokepatch_image),
		.nr_objects = NR_OBJECTS,
		.nr_symbols = NR_SYMBOLS,
		.nr_funcs = NR_FUNCS,
		.nr_relocs = NR_RELOCS,
		.nr_callbacks = NR_CALLBACKS,
		.nr_markers = NR_MARKERS,
		.nr_stubs = NR_FUNCS,
		.strings_size = sizeof(good_strings),
		.texts_size = sizeof(good_texts),
		.objects = (uintptr_t)tables->objects,
		.symbols = (uintptr_t)tables->symbols,
		.funcs = (uintptr_t)tables->funcs,
		.relocs = (uintptr_t)tables->relocs,
		.callbacks = (uintptr_t)tables->callbacks,
		.strings = (uintptr_t)tables->strings,
		.texts = (uintptr_t)made->texts,
		.stubs = (uintptr_t)made->text + STUBS_AT,
		.markers = (uintptr_t)made->markers,
		.name = string_at("fuzzed"),
	};
}

static void unmake(struct made *made)
{
	for (size_t i = 0; i < ARRAY_SIZE(made->mod.mem); i++)
		free(made->mod.mem[i].base);
}

/* Where the field of the entry is. */
static u8 *field_of(const struct made *made, const struct image_edit *edit)
{
	struct tables *tables = made->tables;
	const struct {
		void *table;
		size_t nr, entry;
	} all[] = {
		[IMAGE] = { &tables->image, 1, 0 },
		[OBJECTS] = { tables->objects, NR_OBJECTS, sizeof(tables->objects[0]) },
		[SYMBOLS] = { tables->symbols, NR_SYMBOLS, sizeof(tables->symbols[0]) },
		[FUNCS] = { tables->funcs, NR_FUNCS, sizeof(tables->funcs[0]) },
		[RELOCS] = { tables->relocs, NR_RELOCS, sizeof(tables->relocs[0]) },
		[CALLBACKS] = { tables->callbacks, NR_CALLBACKS, sizeof(tables->callbacks[0]) },
		[MARKERS] = { made->markers, NR_MARKERS, sizeof(made->markers[0]) },
		[TEXTS] = { made->texts, sizeof(good_texts), 1 },
		[STRINGS] = { tables->strings, sizeof(good_strings), 1 },
	};
	const enum image_table table = edit->field->table;

	return (u8 *)all[table].table + edit->entry % all[table].nr * all[table].entry +
	       edit->field->offset;
}

static void change(const struct made *made, const struct image_edit *edit)
{
	u8 *field = field_of(made, edit);
	u64 address;

	if (!edit->field->address) {
		image_edit_number(edit, field);
		return;
	}
	memcpy(&address, field, sizeof(address));
	address += edit->value;
	memcpy(field, &address, sizeof(address));
}

/* --- what the core does with an image that it took --------------------------------------- */

/* Read all of [from, from + size), which must be the module's memory. */
static unsigned int touch(u64 from, u64 size)
{
	const volatile u8 *bytes = pp_pointer(from);
	unsigned int sum = 0;

	for (u64 i = 0; i < size; i++)
		sum += bytes[i];
	return sum;
}

static void walk_text(const struct pp_patch *patch, u32 offset, u64 size)
{
	const u8 *texts = pp_pointer(patch->image->texts);

	while (size) {
		const unsigned int any = texts[offset], same = texts[offset + 1];

		require(any + same && any + same <= size, "a text is not as long as its code");
		touch((uintptr_t)texts + offset + 2, same);
		offset += 2 + same;
		size -= any + same;
	}
}

static const char *name_of(const struct pp_patch *patch, u32 offset)
{
	const char *name = pp_string(patch, offset);

	require(*name && strlen(name) < KSYM_NAME_LEN, "a name that is none");
	return name;
}

/* What the core overwrites is in the function, and its copy in a detour (core-module/detour.c). */
static void check_first(const struct pp_func *func)
{
	const u32 flags = func->desc->flags, first = POKEPATCH_FUNC_FIRST(flags);

	require(first >= 5 && first + 5 <= PP_DETOUR_MAX, "first instructions of another length");
	require(POKEPATCH_FUNC_PAD(flags) + first <= func->sym->size, "more than the function");
	require(!POKEPATCH_FUNC_FIELD(flags) || POKEPATCH_FUNC_FIELD(flags) + 4 <= first,
		"a distance that is elsewhere");
	require(!func->patch->live && !pp_func_carried(func), "not in a stop");
}

static void walk_functions(const struct pp_patch *patch)
{
	for (unsigned int i = 0; i < patch->nr_funcs; i++) {
		const struct pp_func *func = &patch->funcs[i];
		const struct pokepatch_symbol *symbol = &patch->symbols[func->desc->symbol];

		require(func->sym == symbol && func->obj == symbol->object, "another symbol");
		require(!strcmp(func->name, name_of(patch, symbol->name)), "another name");
		if (pp_func_overwritten(func))
			check_first(func);
		touch(func->desc->new_addr, func->desc->new_size);
		touch(func->desc->new_cold_addr, func->desc->new_cold_size);
		walk_text(patch, func->desc->text, symbol->size);
		if (func->desc->cold != POKEPATCH_NONE)
			walk_text(patch, func->desc->cold_text,
				  patch->symbols[func->desc->cold].size);
		for (unsigned int j = 0; j < i; j++)
			require(func->desc->symbol != patch->funcs[j].desc->symbol,
				"a function that is there twice");
	}
}

static void walk(const struct pp_patch *patch, struct made *made)
{
	const struct pokepatch_image *image = patch->image;

	name_of(patch, image->name);
	for (unsigned int i = 0; i < patch->nr_objects; i++)
		name_of(patch, patch->objects[i].desc->name);
	for (unsigned int i = 0; i < patch->nr_symbols; i++) {
		name_of(patch, patch->symbols[i].name);
		require(patch->symbols[i].object < patch->nr_objects, "an object that is none");
		require(strlen(pp_string(patch, patch->symbols[i].section)) < KSYM_NAME_LEN,
			"a section without an end");
	}
	walk_functions(patch);
	for (unsigned int i = 0; i < patch->image->nr_callbacks; i++)
		touch(((const struct pokepatch_callback *)pp_pointer(image->callbacks))[i].func, 1);
	touch(image->stubs, (u64)image->nr_stubs * pp_arch.stub.size);
	for (unsigned int i = 0; i < image->nr_markers; i++) {
		patch->markers[i].core = made; /* the core writes to it */
		require(strlen(patch->markers[i].name) < SIZE_MAX, "no name");
		require(strlen(patch->markers[i].format) < SIZE_MAX, "no format");
	}
	/* The relocations come last: nothing of the above may change with them. */
	for (unsigned int i = 0; i < patch->nr_relocs; i++) {
		const struct pokepatch_reloc *reloc = &patch->relocs[i];
		const unsigned int nr = patch->nr_relocs;

		require(reloc->symbol < patch->nr_symbols, "a symbol that is none");
		memset(pp_pointer(reloc->where), 0xff, width_of(reloc->type));
		require(nr == image->nr_relocs && image->magic == POKEPATCH_MAGIC,
			"a relocation of the image");
	}
	walk_functions(patch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_edit edit;
	struct pp_patch *patch;
	struct made made;

	make(&made);
	for (size_t i = 0; image_edit_read(data, size, i, &edit); i++)
		change(&made, &edit);
	*told = '\0';
	patch = pp_patch_create(&made.mod, &made.tables->image);
	if ((long)patch < 0 && (long)patch > -4096) {
		require((long)patch == -EINVAL && strstr(told, "rebuild it"), "it is refused without a reason");
		require(size >= 8, "the good image is refused");
	} else {
		require(!*told, "it has a reason to be refused, and is not");
		walk(patch, &made);
		pp_patch_free(patch);
	}
	unmake(&made);
	return 0;
}
