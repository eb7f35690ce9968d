# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables for the scripts that read this
# The source of a kernel in the cache, for trees that are made from it.

# find_source RELEASE - of the source that `pokepatch fetch RELEASE` has brought, set:
#   $tarball
#   $source_sum	the SHA-256 of its package
#   $source_key	its version and a part of that sum: folders of trees have it in their names, so
#		that a tree of another source is never taken
# Fails, with a line, if that release was not fetched.
find_source() {
	local dir=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$1 version
	# Debian has one package of sources for each release.
	read -r version source_sum < <(awk '$1 ~ /^linux-source-/ { print $2, $3 }' "$dir/fetched" 2>/dev/null) || :
	tarball=$(find "$dir/source/usr/src" -name 'linux-source-*.tar.xz' 2>/dev/null | head -n 1)
	if [ -z "${source_sum:-}" ] || [ -z "$tarball" ]; then
		echo "the cache has no source of $1; get it with: build/bin/pokepatch fetch $1" >&2
		return 1
	fi
	source_key=$version-${source_sum:0:12}
}

# forget_unused FOLDER... - remove folders of trees that no run has used for two weeks (use_tree).
forget_unused() {
	local dir
	for dir; do
		if [ -n "$(find "$dir" -maxdepth 1 -name .used -mtime +13 2>/dev/null)" ]; then
			rm -rf "$dir"
		fi
	done
}

# use_tree FOLDER - note that it is in use.
use_tree() {
	touch "$1/.used"
}
