/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for units that changed headers matter to: headers.c and header_*.c. */
#ifndef POKEPATCH_HEADER_SEARCH_H
#define POKEPATCH_HEADER_SEARCH_H

#include "pokepatch-build/changes.h"
#include "pokepatch-build/header_verdicts.h"
#include "pokepatch-build/include_graph.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/name_filter.h"
#include "pokepatch-build/plan.h"

/* What a unit is to the patch. */
enum kind {
	KIND_UNIT,     /* linked into vmlinux or a module */
	KIND_ASSEMBLY, /* likewise, of a .S file */
	KIND_VDSO,
	KIND_CONSTANTS, /* compiled to make a header for assembly */
	KIND_OTHER,     /* boot code, programs: nothing that runs in the kernel now */
};

/* A unit that may include a changed header. */
struct user {
	const struct planned *planned;
	const char *source;
	enum kind kind;
	bool known;   /* a candidate already */
	bool named;   /* it may mention what the change changes; only these are preprocessed */
	bool settled; /* its verdict was kept, or is a guess (header_verdicts.h) */
	bool guessed; /* it is */
	bool compared; /* its texts were, by this run or by one that had the same */
	bool exporter; /* it seems to export something */
	bool judged;   /* its exports were */
	bool expected; /* its code differed with commits that are left out now */
	bool failed;  /* to preprocess or to compile it; compiling it for the patch will tell why */
	bool broken;  /* its unpatched side could not be preprocessed or compiled */
	char *key;    /* of its verdict, or NULL if that cannot be kept */
	struct verdict verdict;
};

struct search {
	struct build *build;
	const struct source_index *index;
	struct include_graph graph;
	struct plan plan;
	struct reached reached;
	struct name_filter filter;
	bool everywhere;
	VEC(struct user) users;
};

/* A file of text, preprocessed. */
struct text {
	char *text;
	size_t length;
};

static inline bool changed_is_header(const struct changed_file *file)
{
	return !file->outside && has_suffix(file->path, ".h");
}

/*
 * search_add_command - the command that makes a text of one side of a user.
 * search_text_path - where it writes that; the caller frees it.
 * @place: a number of the caller's
 */
void search_add_command(const struct search *search, const struct user *user, size_t place,
			enum side side, struct args *ret);
char *search_text_path(const struct search *search, size_t place, enum side side);

/*
 * In header_names.c:
 * search_user_paths - append the files that the compiler reads for a user by itself, in order:
 *	those of -include, and the source.  Return: whether the configuration is the kernel's, with
 *	no symbol defined for the user.
 * search_load_user - name_filter_load() for these.
 * search_filter_users - find the users that may mention what the diffs change.
 */
bool search_user_paths(const struct search *search, const struct user *user, struct args *ret);
struct error *search_load_user(const struct search *search, struct name_filter *filter,
			       const struct user *user);
struct error *search_filter_users(struct search *search);

/*
 * In header_kept.c:
 * search_take_verdicts - take the verdicts on users that there are, and have the shadow follow
 *	their ways.
 * search_forget_verdict - a user has none any more.
 * search_keep_verdict - keep a user's for later builds, if that is possible.
 * search_remember_verdicts - with --leave-out: remember them for the runs that follow when
 *	commits are left out.
 * @compiled: units whose texts differ were compiled
 */
struct error *search_take_verdicts(struct search *search);
void search_forget_verdict(struct user *user);
void search_keep_verdict(const struct search *search, const struct user *user);
void search_remember_verdicts(struct search *search, bool compiled);

/*
 * search_is_to_compile - in headers.c: must a user be compiled, to see whether its code differs?
 * Its texts were compared.
 */
bool search_is_to_compile(const struct search *search, const struct user *user);

/*
 * In header_texts.c:
 * search_texts_differ - whether code differs of what a user's texts are compiled to.
 */
bool search_texts_differ(const struct user *user, const struct text texts[SIDES]);

/*
 * search_next_marker - likewise: find the next line marker (# 1 "file") of a preprocessed text.
 * @at: where to look; set to what follows the marker's path
 * @ret_length: of the path, which is not terminated
 * Return: the path; NULL: there is none
 */
const char *search_next_marker(const char **at, size_t *ret_length);

/*
 * search_find_files - in header_culprits.c: note the changed files that line markers of a text
 * name.
 */
void search_find_files(const struct search *search, const struct text *text,
		       struct string_set *ret);

/*
 * In header_exports.c:
 * search_make_unit - what is needed to compile a user; the caller deinits it.
 * search_judge_exports - of users whose texts differ: note whose exports are as before, and with
 * --leave-out refuse changes of exports' types.
 */
void search_make_unit(const struct search *search, const struct user *user, struct unit *ret);
struct error *search_judge_exports(struct search *search);

/*
 * search_refuse - in header_culprits.c: refuse the headers that change users which cannot be
 * patched: assembly, constants for it, the vDSO.
 */
struct error *search_refuse(struct search *search);

#endif /* POKEPATCH_HEADER_SEARCH_H */
