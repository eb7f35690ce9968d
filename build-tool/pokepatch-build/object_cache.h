/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects kept for the next build.  The cache has them in a folder beside what they are made from:
 * those of units in the tree (.pokepatch/objects), what all patch modules of a kernel have in the
 * core's folder (objects).
 *
 * A file's name is the SHA-256 of all that its object follows from, apart from the files in the
 * tree: those do not change (manifest.c), and the folder goes with the tree.  A checksum in the
 * file tells a damaged one, which is as good as none.  Files are renamed into place and removed
 * without a lock: another build has read all of a file, or does not find it.
 */
#ifndef POKEPATCH_OBJECT_CACHE_H
#define POKEPATCH_OBJECT_CACHE_H

#include "common/args.h"
#include "pokepatch-build/build.h"

/* Increment when an object that an earlier version kept cannot be used any more. */
#define OBJECT_CACHE_FORMAT 1

/*
 * The bytes that a folder may hold, and a sixteenth more.  Beyond them, those that were used
 * longest ago are removed, but none that the running build has used.
 */
#define OBJECT_CACHE_LIMIT (1ull << 30)

/*
 * object_cache_key - the name for the object that a command makes.
 * @command: of the compiler or of objtool, behind args_add_clean_environment(); the names of files
 *	     in the work folder do not count
 * @source: what is made from files in the work folder: their text or sum; or else ""
 *
 * The version that the compiler states counts, and so do size and time of the programs that the
 * command runs.
 */
void object_cache_key(const struct build *build, const struct args *command, const char *source,
		      char ret[65]);

/*
 * tool_find - the file that is run as a program, without links; NULL: there is none.  Owned.
 * tool_describe - add a line that changes when that file does: its path, size and time.
 * @folder: where the program runs, for "./objtool"; or NULL
 */
char *tool_find(const char *name);
void tool_describe(struct buffer *text, const char *folder, const char *name);

/* object_cache_folder - where objects of units are kept; the caller frees it. */
char *object_cache_folder(const struct build *build);

/*
 * object_cache_load - write the kept object of that key to a new file.
 * @object: NULL if only messages are kept
 * @messages: NULL, or gets what the compiler said
 * @ret: false if there is none, or a damaged one
 * Errors: the new file cannot be written.
 */
struct error *object_cache_load(const char *folder, const char *key, const char *object,
				struct buffer *messages, bool *ret);

/*
 * object_cache_store - keep an object, or only messages.  If that is not possible, as on a full
 * disk, nothing is kept.
 * @messages: what the compiler said; may be NULL
 * object_cache_trim - call it when a caller has stored all that it has.  If the folder has grown by
 * a sixteenth of the limit since it was last looked through, remove the files that were used
 * longest ago, until the others are within the limit.
 */
void object_cache_store(const char *folder, const char *key, const char *object,
			const struct buffer *messages);
void object_cache_trim(const struct build *build, const char *folder);

#endif /* POKEPATCH_OBJECT_CACHE_H */
