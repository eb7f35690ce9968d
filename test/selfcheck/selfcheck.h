/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The self-check runs the differ on every unit in a few folders of the stock kernel.  A source with
 * shifted lines must give no difference.  A changed token must give exactly the differences that
 * DWARF and a second comparison (image.c) expect.  README.md in this folder says more.
 */
#ifndef POKEPATCH_SELFCHECK_H
#define POKEPATCH_SELFCHECK_H

#include <gelf.h>

#include "pokepatch-build/build.h"
#include "diff/diff.h"
#include "pokepatch-build/units.h"

/* ---- inventory.c: the units ------------------------------------------------------- */

struct target {
	char *source;      /* "fs/xfs/xfs_inode.c" */
	char *module;      /* "xfs"; NULL: vmlinux */
	char *module_path; /* of the .ko with DWARF */
};
struct inventory {
	VEC(struct target) list; /* by source */
};
/* The folders of the self-check; ends with NULL. */
extern const char *const inventory_central[];
/*
 * inventory_read - the units in these folders, or in all (NULL), from DWARF of vmlinux and the
 * modules; kept in the file cached.
 */
struct error *inventory_read(struct build *build, const char *const *folders, const char *cached,
			     struct inventory *ret);
void inventory_deinit(struct inventory *inventory);

/* ---- image.c: an object, read without the differ's code ---------------------------- */

struct image_section {
	const char *name;
	GElf_Shdr header;
	const unsigned char *data; /* NULL where there is none */
	unsigned char *copy;       /* owned; or NULL */
	GElf_Rela *relocs;         /* by offset */
	size_t reloc_count;
};
struct image_symbol {
	const char *name;
	GElf_Sym sym;
	size_t section; /* 0: none */
};
struct image {
	int fd;
	Elf *elf;
	VEC(struct image_section) sections;
	VEC(struct image_symbol) symbols;
};
struct error *image_open(const char *path, struct image *ret);
void image_close(struct image *image);

/* image_function - the function symbol of that name, or NULL. */
const struct image_symbol *image_function(const struct image *image, const char *name);
/*
 * image_primary - the first function symbol at the place of this one: one name
 * for all aliases.
 */
const struct image_symbol *image_primary(const struct image *image,
					 const struct image_symbol *symbol);
/*
 * image_same - do both functions, with their cold parts, have the same bytes and
 * relocations to things of the same names and contents?  Stricter than the
 * differ: it knows of no line numbers, only of compiler's numbers in names.
 */
bool image_same(const struct image *a, const struct image_symbol *function_a, const struct image *b,
		const struct image_symbol *function_b);
/* image_has_entry - does the function begin with a call of __fentry__? */
bool image_has_entry(const struct image *image, const struct image_symbol *function);
/* image_refers - does from, or its cold part, have a relocation to the function? */
bool image_refers(const struct image *image, const struct image_symbol *from,
		  const struct image_symbol *to);
/* image_takes_address - is one of these more than a call or jump? */
bool image_takes_address(const struct image *image, const struct image_symbol *from,
			 const struct image_symbol *to);
/* image_is_cold - "foo.cold": a part of another function. */
bool image_is_cold(const char *name);

/* ---- dwarf.c: where functions begin, and which are inlined into which ------------------- */

struct copy {
	size_t place;       /* index into places: what was copied */
	const char *symbol; /* primary name of the function that holds it */
	bool inlined;
};
struct place {      /* of a function's definition */
	char *file; /* relative to the top of the tree */
	int line;   /* of its name */
	char *name;
};
struct functions {
	VEC(struct place) places; /* by file and line */
	VEC(struct copy) copies;
};
/* functions_read - all of an object's; symbols are image's. */
struct error *functions_read(const char *object, const struct image *image, const char *top,
			     struct functions *ret);
void functions_deinit(struct functions *functions);

/* ---- inlining.c: which functions the compiler says it inlined into which ---------------- */

struct inlined_call {
	char *callee, *caller; /* names in the source */
};
struct inlining {
	VEC(struct inlined_call) list;
	struct map holders;
};
/* inlining_read - add what a file says that gcc wrote with -fopt-info-inline=FILE. */
struct error *inlining_read(const char *path, struct inlining *ret);
/* inlining_follow - note as holders the function itself, and all that a copy of it was made in. */
void inlining_follow(struct inlining *inlining, const char *name);
/* inlining_is_holder - by a symbol's name. */
bool inlining_is_holder(const struct inlining *inlining, const char *symbol);
void inlining_deinit(struct inlining *inlining);

/* ---- text.c: changed sources -------------------------------------------------------- */

/* text_shift - blank lines, of a different number each time, in front of these lines. */
void text_shift(const char *text, const int *lines, size_t count, struct buffer *ret);

struct token_change {
	size_t offset, length; /* in the text */
	int line;
	char from[24], to[24];
};
struct token_changes {
	VEC(struct token_change) list;
};
/*
 * text_tokens - every token that can be exchanged for another in the body of the function
 * whose name is on a line; none if that is no function with a body.
 * strings: the string literals instead.
 */
void text_tokens(const char *text, int line, bool strings, struct token_changes *ret);

/* ---- cases.c: one unit ------------------------------------------------------------ */

/* "kernel/sched/build_policy.c" has #include "rt.c", which is kernel/sched/rt.c. */
struct inclusion {
	char *from, *label, *path;
};
struct selfcheck {
	struct build build;
	char *folder;      /* objects and results */
	const char *debug; /* how much debugging data: "-g1" */
	uint64_t seed;     /* 0, or for another choice of tokens */
	struct inventory inventory;
	VEC(struct inclusion) inclusions;
	struct parent *vmlinux;
	struct symvers symvers;
};
/*
 * check_unit - compile what is not there yet, compare, and describe it: lines of
 * fields with tabs between,
 *
 *	shift	SOURCE	FUNCTIONS
 *	token	SOURCE	FUNCTION	CHANGE	REPORTED
 *	refused	SOURCE	CODE	SUBJECT		rightly so
 *	no-code	SOURCE				only init code
 *	inlined	SOURCE	FUNCTION			holds a copy by gcc's word, not by DWARF's
 *	follows	SOURCE	FUNCTION			is gone or new as those that call it differ,
 *or calls such ipa	SOURCE	FUNCTION	FLAG		differs unless FLAG is given problem
 *CASE	SOURCE	KIND	SUBJECT	TEXT
 */
struct error *check_unit(struct selfcheck *check, const struct target *target,
			 struct kbuild_unit *answer, struct buffer *ret);

#endif /* POKEPATCH_SELFCHECK_H */
