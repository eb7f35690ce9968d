/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files blame*.c share: from lines to the commits that wrote or removed them. */
#ifndef POKEPATCH_BLAME_LINES_H
#define POKEPATCH_BLAME_LINES_H

#include "pokepatch-build/blame.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/definitions.h"

/* A line that a commit removed. */
struct removal {
	size_t patch;	  /* index in build->patches */
	size_t origin;	  /* its number in the file before any diff; 0: another commit added it */
	size_t before;	  /* the number of the nearest such line in front of it; 0: none */
	const char *text; /* not ended by a NUL */
	size_t length;
};

struct file_blame {
	char *path;
	VEC(struct removal) removals;
};

/* The text of a diff, into which the lines that it adds point. */
struct diff_text {
	const char *start, *end;
	size_t patch;
};

/* The commits that change a type that genksyms names. */
struct type_place {
	const char *path; /* of build->changes */
	struct culprits culprits;
};

struct type_blame {
	char *type; /* "struct sock" */
	VEC(struct type_place) places;
};

struct blame {
	VEC(struct diff_text) texts; /* sorted by start */
	struct map by_path;	     /* to struct file_blame */
	VEC(struct file_blame *) files;
	VEC(struct compile_failure) failures;
	const struct unit *unit; /* whose changed files are in unit_files */
	struct map unit_files;
	struct reach *reach; /* blame_reached.c */
	struct map by_type; /* to struct type_blame */
	VEC(struct type_blame *) types;
};

/* blame_of - the build's record, which is made if there is none. */
struct blame *blame_of(struct build *build);

void culprits_add(struct culprits *culprits, size_t patch);
/* culprits_settle - sort, drop doubles, and set the kind.  Return: whether there are any. */
bool culprits_settle(struct culprits *culprits, enum blame_kind kind);

/* blame_line_author - which patch added a line?  Return: false if it is of the tree's own text. */
bool blame_line_author(const struct blame *blame, const struct text_line *line, size_t *ret);
/* blame_range - the commits that changed lines of a range of the new text. */
void blame_range(const struct build *build, const struct changed_file *file,
		 struct line_range range, struct culprits *ret);
/* blame_old_range - those that removed lines of a range of the text before any diff. */
void blame_old_range(const struct build *build, const struct changed_file *file,
		     struct line_range range, struct culprits *ret);

/*
 * blame_number - the commits behind a line with the number that the compiler gave it.  An added
 * line may have the number of a line of the tree's text, so all lines of that number count; added
 * ones come first.
 * @around: all of the function or variable counts; else the line alone
 */
void blame_number(const struct build *build, const struct changed_file *file, size_t number,
		  bool around, struct culprits *ret);
/*
 * blame_removed_around - those that removed a line with this word from the function around the line
 * of a number.
 */
void blame_removed_around(const struct build *build, const struct changed_file *file, size_t number,
			  const char *word, struct culprits *ret);
/*
 * blame_removed_word - those that removed a line with this word, be it a macro, an enumerator or a
 * declaration, of the files that a unit compiles.
 * @defined: only lines that begin the definition of a type, a table or a macro of that name
 */
void blame_removed_word(const struct build *build, const struct unit *unit, const char *word,
			bool defined, struct culprits *ret);
/* blame_path - those that change the file at path, and are not left out. */
void blame_path(const struct build *build, const char *path, struct culprits *ret);

/*
 * blame_types - in blame_types.c: the commits that change the types for which an export is refused,
 * in the files that its unit compiles.
 * Return: whether the types are known.
 */
bool blame_types(const struct build *build, const struct refusal *refusal, struct culprits *ret);
/* blame_types_deinit - free what blame_types() has found. */
void blame_types_deinit(struct blame *blame);

/*
 * blame_reached - in blame_reached.c: the commits that change definitions which a function or
 * variable uses, by the fewest steps from one definition to the next, in the source of the first
 * unit that compiles its file and in the changed files that this unit compiles.
 * @subject: the refused function or variable
 * @path: the file that the refusal names
 * @number: a line of that file, as the compiler numbers lines; the search begins at the definition
 *	around it, too.  0: the refusal names none.
 */
void blame_reached(const struct build *build, const char *subject, const char *path, size_t number,
		   struct culprits *ret);
/* blame_reached_deinit - free what blame_reached() has read. */
void blame_reached_deinit(struct blame *blame);

/*
 * blame_pasted_word - in blame_pasted.c: the commits that removed, from the files that a unit
 * compiles, the longest word that is a part of a name, as macros paste it.
 */
void blame_pasted_word(const struct build *build, const struct unit *unit, const char *name,
		       struct culprits *ret);

#endif /* POKEPATCH_BLAME_LINES_H */
