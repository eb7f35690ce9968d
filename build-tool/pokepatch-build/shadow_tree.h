/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A shadow of the tree: a folder that looks like the tree but for the files that were put into it
 * or taken out of it.  A command that runs in it finds each file under the name that it has in the
 * tree.  We write neither to the user's source nor to the prepared tree.
 *
 * A folder of the shadow with a file of its own is a real folder, with a link for everything else
 * in the tree's; any other folder is one link to the tree's.  Behind such a link, ".." leads into
 * the tree and past the changed files.  So each folder from which a path goes up must be real
 * (shadow_follow()).
 */
#ifndef POKEPATCH_SHADOW_TREE_H
#define POKEPATCH_SHADOW_TREE_H

#include "common/util.h"

struct shadow {
	char *tree, *folder; /* absolute */
	char *real_tree;     /* the tree without links on the way to it */
	struct map real;     /* keys: folders, in the tree, that are real folders here */
	VEC(char *) names;   /* owns the keys */
};

/* shadow_init - make the shadow of a tree in the new folder.  Deinit it after errors, too. */
struct error *shadow_init(struct shadow *shadow, const char *tree, const char *folder);
/* shadow_open - have a folder, and all that are in it, be real folders. */
struct error *shadow_open(struct shadow *shadow, const char *folder);
/*
 * shadow_refresh - link what the tree has now and had not before: files that kbuild has generated.
 * What was taken out with shadow_take() must be taken out again.
 */
struct error *shadow_refresh(struct shadow *shadow);
/* shadow_put - put a file at path in place of the tree's, if this has one. */
struct error *shadow_put(struct shadow *shadow, const char *path, const void *text, size_t length);
/* shadow_take - have no file at path. */
struct error *shadow_take(struct shadow *shadow, const char *path);
/* shadow_follow - have ".." in this path, which may have none, lead to the shadow's files. */
struct error *shadow_follow(struct shadow *shadow, const char *path);
/* shadow_deinit - free it; the folder stays. */
void shadow_deinit(struct shadow *shadow);

/* path_normalise - "a/c" for "./a/b/../c", which the caller frees; NULL if it leaves the tree. */
char *path_normalise(const char *path);

#endif /* POKEPATCH_SHADOW_TREE_H */
