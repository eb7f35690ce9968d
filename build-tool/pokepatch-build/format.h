/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of a module: pokepatch's own, for its core, and the kernel's, for its livepatch core.
 * Both are made by the same phases.  A module of any format is first linked and proved as one of
 * pokepatch's own format, with the format's own glue.
 */
#ifndef POKEPATCH_FORMAT_TABLE_H
#define POKEPATCH_FORMAT_TABLE_H

#include <stdbool.h>

struct buffer;
struct build;
struct build_options;
struct error;
struct proof;

struct output_format {
	const char *name; /* for --format */
	bool needs_core; /* its modules need pokepatch's core */
	/*
	 * Tasks are switched one after the other, so that some use the old functions while others
	 * use the new ones.
	 */
	bool gradual;
	/*
	 * bare_option - the first option on the command line that the format has no equivalent for,
	 * or NULL.
	 */
	const char *(*bare_option)(const struct build_options *options);
	/* judge - refuse what the format cannot do, before anything is linked. */
	struct error *(*judge)(struct build *build);
	/* make_glue - set build->glue_object: what is linked with the included code. */
	struct error *(*make_glue)(struct build *build);
	/*
	 * code_order - print the sections of code that come first, as a linker script names them,
	 * into a buffer; or NULL: their order does not matter.
	 */
	struct error *(*code_order)(const struct build *build, struct buffer *ret);
	/*
	 * convert - make build->ko from the linked module, which it replaces.  NULL: the linked
	 * module is the one to write.
	 * @linked: path of the module in pokepatch's own format; it stays for prove()
	 */
	struct error *(*convert)(struct build *build, const char *linked);
	/* prove - error: build->ko is not exactly what it should be. */
	struct error *(*prove)(const struct build *build, struct proof *proof);
};

/* output_format_find - a format by its name; NULL: there is none of that name. */
const struct output_format *output_format_find(const char *name);

extern const struct output_format format_pokepatch; /* format.c; the default */
extern const struct output_format format_livepatch; /* livepatch.c */

/*
 * core_compile_glue - compile a glue, a file of patches/module/, for the kernel (core.c).
 * @more: further options of the compiler, and NULL behind them; or NULL
 * @object: the new file
 */
struct error *core_compile_glue(const struct build *build, const char *name, char *const *more,
				const char *object);

/* glue_with_stubs - the glue of pokepatch's own format (link.c). */
struct error *glue_with_stubs(struct build *build);

#endif /* POKEPATCH_FORMAT_TABLE_H */
