/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of comparing the units; verify.c adds to it, and the later phases read it. */
#ifndef POKEPATCH_COMPARISON_H
#define POKEPATCH_COMPARISON_H

#include "pokepatch-build/build.h"
#include "diff/diff.h"

/* An export whose CRC changes (exports.c). */
struct changed_export {
	const struct unit *unit;
	char *name;
	char *types; /* the types that changed: "struct sock, enum constant TCP_X" */
};

struct comparison {
	struct symvers symvers; /* the kernel's */
	struct parent *vmlinux;
	VEC(struct parent *) modules; /* owned: those that any unit needed */
	struct map modules_by_name;
	struct externals externals;
	size_t count;		     /* number of units */
	struct diff_result *results; /* one for each unit */
	char **outputs;		     /* for each unit: path of the output object, or NULL */
	struct buffer *texts; /* for each external: the replaced code as runs, or empty; verify.c */
	size_t nr_texts;
	VEC(struct changed_export *) changed_exports; /* owned */
	struct map changed_exports_by_name;
	VEC(struct unit *) early; /* owned: of changed exports, before any unit was compiled */
	struct map early_crcs;    /* from a source to what genksyms printed; both owned */
	VEC(char *) early_texts;  /* owns them */
};

/*
 * symvers_provide - will the module loader find this symbol in vmlinux or in the core?  Exports of
 * other modules do not count, because a patch module does not depend on those.
 */
bool symvers_provide(const struct symvers *kernel, const struct symvers *core, const char *name);

/*
 * comparison_start - read what compare_units() needs of the kernel, if it has not been read yet.
 * Errors: a file cannot be read; then nothing was.
 */
struct error *comparison_start(struct build *build);

/*
 * comparison_open_module - open a module, once; the comparison owns it.
 * @name: as in the kernel, "nf_tables"; @path: of its file
 */
struct error *comparison_open_module(struct build *build, const char *name, const char *path,
				     struct parent **ret);

/*
 * comparison_keep_types - keep, for an export whose CRC changes, which of its types do.  The
 * strings are copied.
 */
void comparison_keep_types(struct comparison *comparison, const struct unit *unit,
			   const char *name, const char *types);

/*
 * comparison_keep_crcs - keep what genksyms printed for a source; the strings are copied.
 * comparison_crcs - the kept text for a unit's source; NULL: none, as for units of --module-source.
 */
void comparison_keep_crcs(struct comparison *comparison, const char *source, const char *crcs);
const char *comparison_crcs(const struct comparison *comparison, const struct unit *unit);

/*
 * comparison_escapes - does any unit's new code store or pass on addresses of new code or data?
 * Then the patch's module has to stay loaded.
 */
bool comparison_escapes(const struct comparison *comparison);

/* comparison_destroy - free; NULL is allowed. */
void comparison_destroy(struct comparison *comparison);

#endif /* POKEPATCH_COMPARISON_H */
