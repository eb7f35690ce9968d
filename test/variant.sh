# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Diffs that look different for some versions of Linux, for the scripts that read this.

# variant RELEASE DIFF - the diff to take for that release of the kernel.  Beside FOLDER/NAME.patch,
# FOLDER/6.12/NAME.patch is the one for Linux 6.12 and later versions; the newest that is not too new
# is taken.
variant() {
	local linux folder version best=0 file=$2
	linux=${1%%[-+]*}
	linux=$(version_number "$linux")
	for folder in "${2%/*}"/[0-9]*.[0-9]*/; do
		[ -e "$folder${2##*/}" ] || continue
		version=$(version_number "$(basename "$folder")")
		if [ "$version" -le "$linux" ] && [ "$version" -gt "$best" ]; then
			file=$folder${2##*/} best=$version
		fi
	done
	echo "$file"
}

# version_number X.Y[.Z] - as one number that grows with X and Y.
version_number() {
	local major=${1%%.*} rest=${1#*.}
	echo $((major * 1000 + ${rest%%.*}))
}
