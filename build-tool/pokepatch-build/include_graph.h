/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who includes a file, and who includes that one, and so on up: the files that a changed header may
 * reach.  The graph has every #include line of the tree's C and assembly files, whatever #if is
 * around it, so it finds too many files rather than too few.  It is made when a tree's first header
 * changes, and kept in the tree (.pokepatch/graph).
 *
 * A name that none of the folders has that all units search stands for each file of the tree whose
 * path ends with it, since a unit may have folders of its own (-I).
 */
#ifndef POKEPATCH_INCLUDE_GRAPH_H
#define POKEPATCH_INCLUDE_GRAPH_H

#include "common/util.h"

struct text_lines;

typedef VEC(const char *) path_list;

struct include_graph {
	const char *tree;    /* lives longer */
	char *text;	     /* of the cache's file; holds most names */
	struct map files;    /* all files, from a path to itself */
	struct map included; /* from a file's last component to its struct include_lines */
	struct map lines;    /* from a file to those that it has */
	struct map named;    /* from a last component to the path_list of those that have it */
	VEC(struct include_lines *) lists; /* owns both kinds */
	VEC(path_list *) name_lists; /* owns them */
	VEC(char *) names;   /* owns names that are not in text */
	VEC(char *) folders; /* that all units search, in order */
};

/*
 * Files of the kernel in folders of programs, which the graph has, too: kernel/bpf/ has these
 * compiled, or includes them.  The list ends with NULL.
 */
extern const char *const include_graph_outside[];

/* include_graph_leaves_out - is a path in a folder that graphs for the machine leave out? */
bool include_graph_leaves_out(const char *path, const char *arch);

/* include_graph_load - read the graph of a tree, made first if it must be.  arch: "x86". */
struct error *include_graph_load(const char *tree, const char *arch, struct include_graph *ret);
void include_graph_deinit(struct include_graph *graph);

/*
 * include_graph_change - add the #include lines of a changed file's new text, and the file itself
 * if it is new.  The old text's lines stay.
 */
void include_graph_change(struct include_graph *graph, const char *path,
			  const struct text_lines *lines);

/* A file that a changed file reaches. */
struct reached {
	struct map files; /* from a path to itself; borrowed from the graph and the paths given */
	VEC(const char *) list;
	VEC(char *) upward; /* ways to included files that have "..", as the compiler goes */
};
/*
 * include_graph_reach - add the files at a path, all that include it, and so on, to ret.  If one of
 * the files that every unit includes (-include) is among them, *ret_all is set.
 */
void include_graph_reach(const struct include_graph *graph, const char *path,
			 struct reached *ret, bool *ret_all);
void reached_deinit(struct reached *reached);

/*
 * include_graph_resolve - append the files that an #include line may include.
 * @spelled: the name with its opening quote or bracket
 * Return: whether every unit has the first of them there, and no other
 */
bool include_graph_resolve(const struct include_graph *graph, const char *from,
			   const char *spelled, path_list *ret);

/*
 * include_graph_includes - append the files that a file's #include lines may include; borrowed from
 * the graph.
 * @ret_lost: gets the names in quotes that are no file's, as one is not that kbuild has not made
 *	yet.  Others do not count: <asm/mach/time.h> is another machine's.
 */
void include_graph_includes(const struct include_graph *graph, const char *path, path_list *ret,
			    path_list *ret_lost);

/*
 * include_graph_is_made - may kbuild make a file that a header or source includes?  A makefile of
 * the folder of path, or of one above it, has the file's name then.
 */
bool include_graph_is_made(const struct include_graph *graph, const char *path, const char *name);

#endif /* POKEPATCH_INCLUDE_GRAPH_H */
