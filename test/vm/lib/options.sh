# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of the architecture
# What an architecture has on some kernels only.

# with_options CONFIG - take out of $arch_lacks each word of which $arch_options has "WORD OPTION" and
# the kernel's configuration in CONFIG has the option.
with_options() {
	local row word still=()
	local -A has=()
	for row in ${arch_options[@]+"${arch_options[@]}"}; do
		! grep -qsx "CONFIG_${row#* }=y" "$1" || has[${row% *}]=1
	done
	for word in "${arch_lacks[@]}"; do
		[ -n "${has[$word]-}" ] || still+=("$word")
	done
	arch_lacks=(${still[@]+"${still[@]}"})
}
