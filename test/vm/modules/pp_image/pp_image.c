// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_image - a patch module made by hand, for kernels that pokepatch-build does not build for: with
 * KASAN, variables have bytes around them that belong to no symbol.  Its tables are for hostile.c to
 * change.  It is never switched on.
 *
 * values.h, which the test makes, has the kernel's build id, and OFFSET, SIZE and TEXT (see
 * pokepatch_format.h; all of it is skipped) of two functions.
 */
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/stddef.h>

#include <pokepatch_format.h>
#include <pokepatch_mark.h>

#include "values.h"

int pokepatch_register(const void *image);
void pokepatch_unregister(const void *image);

static noinline __used int new_version(struct seq_file *m, void *v)
{
	seq_puts(m, "new\n");
	return 0;
}

static noinline __used int new_cmdline(struct seq_file *m, void *v)
{
	seq_puts(m, "new too\n");
	return 1;
}

static noinline __used void callback(void *parent)
{
	pr_info("pp_image: never called\n");
}

/* Without an alignment of their own, so that the tables follow each other as they do in a patch. */
static const struct strings {
	char empty[1], name[9], vmlinux[8], version[18], cmdline[18], banner[18];
} strings __section(".pokepatch.strings") = {
	"", "pp_image", "vmlinux", "version_proc_show", "cmdline_proc_show", "linux_proc_banner",
};

static const u8 texts[] __section(".pokepatch.texts") = { VERSION_TEXT CMDLINE_TEXT };
static const u8 version_text[] __maybe_unused = { VERSION_TEXT };

#define TABLE __used __section(".pokepatch.tables")
#define STRING(member) offsetof(struct strings, member)

static const struct pokepatch_object objects[] TABLE = {
	{ .name = STRING(vmlinux), .build_id_len = 20, .build_id = { BUILD_ID } },
};

static const struct pokepatch_symbol symbols[] TABLE = {
	{ .offset = VERSION_OFFSET, .size = VERSION_SIZE, .name = STRING(version), .pos = 1,
	  .flags = POKEPATCH_SYM_FUNC },
	{ .offset = CMDLINE_OFFSET, .size = CMDLINE_SIZE, .name = STRING(cmdline), .pos = 1,
	  .flags = POKEPATCH_SYM_FUNC },
	{ .offset = BANNER_OFFSET, .name = STRING(banner), .pos = 1 },
};

static const struct pokepatch_func funcs[] TABLE = {
	{ .new_addr = (unsigned long)new_version, .new_size = 16, .symbol = 0,
	  .cold = POKEPATCH_NONE, .cold_text = POKEPATCH_NONE },
	{ .new_addr = (unsigned long)new_cmdline, .new_size = 16, .symbol = 1,
	  .cold = POKEPATCH_NONE, .cold_text = POKEPATCH_NONE, .text = sizeof(version_text) },
};

static unsigned long fields[2] __used;

static const struct pokepatch_reloc relocs[] TABLE = {
	{ .where = (unsigned long)&fields[0], .symbol = 2, .type = 1 },
	{ .where = (unsigned long)&fields[1], .symbol = 1, .type = 1, .addend = 4 },
};

static const struct pokepatch_callback callbacks[] TABLE = {
	{ .func = (unsigned long)callback, .kind = POKEPATCH_CALLBACK_POST_PATCH },
	{ .func = (unsigned long)callback, .kind = POKEPATCH_CALLBACK_PRE_UNPATCH },
};

static struct pokepatch_marker markers[] __used = {
	{ .name = strings.version, .format = strings.cmdline, .file = strings.banner, .line = 1 },
};

const struct pokepatch_image pokepatch_image __section(POKEPATCH_SECTION_IMAGE) = {
	.magic = POKEPATCH_MAGIC,
	.format = POKEPATCH_FORMAT,
	.size = sizeof(struct pokepatch_image),
	.nr_objects = ARRAY_SIZE(objects),
	.nr_symbols = ARRAY_SIZE(symbols),
	.nr_funcs = ARRAY_SIZE(funcs),
	.nr_relocs = ARRAY_SIZE(relocs),
	.nr_callbacks = ARRAY_SIZE(callbacks),
	.nr_markers = ARRAY_SIZE(markers),
	.strings_size = sizeof(strings),
	.texts_size = sizeof(texts),
	.objects = (unsigned long)objects,
	.symbols = (unsigned long)symbols,
	.funcs = (unsigned long)funcs,
	.relocs = (unsigned long)relocs,
	.callbacks = (unsigned long)callbacks,
	.markers = (unsigned long)markers,
	.strings = (unsigned long)&strings,
	.texts = (unsigned long)texts,
	.name = STRING(name),
};

static int __init image_init(void)
{
	return pokepatch_register(&pokepatch_image);
}

static void __exit image_exit(void)
{
	pokepatch_unregister(&pokepatch_image);
}

module_init(image_init);
module_exit(image_exit);
MODULE_LICENSE("GPL");
