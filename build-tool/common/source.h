/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacking the kernel's source, as pokepatch-build compiles it: without the folders that no unit
 * of a configuration needs, which are more than half of it.
 *
 * Where `pokepatch fetch` needs the source itself, it leaves it in the kernel's folder of the
 * cache, as tree-unpacked, and the first build makes its prepared tree of that.  Unpacking takes
 * several seconds of two processors.
 */
#ifndef POKEPATCH_SOURCE_H
#define POKEPATCH_SOURCE_H

#include "common/args.h"
#include "common/util.h"

/*
 * source_left_out - the folders to leave out, relative to the top of the source.
 * @config: a configuration file
 * @arch: the kernel's name of the machine, as the folder in arch/
 * @ret: they are added to it.
 */
struct error *source_left_out(const char *config, const char *arch, struct args *ret);

/* source_unpack - unpack a tarball without its top folder, and without @left_out, into a folder. */
struct error *source_unpack(const char *tarball, const char *folder, const struct args *left_out);

/*
 * source_unpack_ahead - unpack a tarball to DIR/tree-unpacked, for a later source_take().
 * @dir: the kernel's folder in the cache, which the caller has locked exclusively
 * @ret: the path, owned; the caller must not change a file there, but may link to it.
 */
struct error *source_unpack_ahead(const char *tarball, const char *dir, const struct args *left_out,
				  char **ret);

/* source_drop - remove what source_unpack_ahead() left, if it is there. */
struct error *source_drop(const char *dir);

/*
 * source_take - make DIR/tree-unpacked the new folder @tree, in one step, if it was made of this
 * tarball and has what this caller wants.
 * @dir: the kernel's folder in the cache
 * @ret: whether it was so
 */
struct error *source_take(const char *tarball, const char *dir, const struct args *left_out,
			  const char *tree, bool *ret);

#endif /* POKEPATCH_SOURCE_H */
