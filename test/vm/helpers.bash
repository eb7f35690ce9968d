# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables for the tests
# For bats tests that boot a guest; `load helpers` in test/vm/*.bats.  See test/README.md.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../variant.sh
. "$top/test/variant.sh"
build=$top/build/test
vm=$top/test/vm/vm

# For which architecture: $POKEPATCH_ARCH, this machine's unless it is set.  Tests and patches are the
# same for all; what is compiled for another one lies in folders of its own.
arch=${POKEPATCH_ARCH:-$("$top/test/host-arch")}
[ -r "$top/test/vm/arch/$arch.sh" ] || {
	echo "POKEPATCH_ARCH=$arch: there is no test/vm/arch/$arch.sh" >&2
	exit 1
}
# shellcheck source=arch/x86_64.sh
. "$top/test/vm/arch/$arch.sh"
cross=${arch_cross:-} for_arch=${arch_suffix:-}
arch_syscall=${arch_syscall:-}
# What it has on some kernels only is decided for the one that the tests run on.
if [ -n "${arch_options-}" ] && lacks=$("$vm" lacks 2>/dev/null); then
	read -ra arch_lacks <<<"$lacks"
fi
# And so is where entries are.
if declare -F arch_for_config >/dev/null && release=$("$vm" release 2>/dev/null); then
	arch_for_config "${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release/headers/usr/src/linux-headers-$release/.config"
fi

# This machine's own programs run in guests of its own kind only.
[ -z "$cross" ] || arch_lacks+=(host-programs)

# can WHAT - does the architecture have it?  (arch_lacks in its file)
can() {
	[[ " ${arch_lacks[*]} " != *" $1 "* ]]
}

# The modes that there are, as in the guest (guest/lib.sh).
all_modes=entry
! can ftrace || all_modes="entry ftrace"
! can direct || all_modes="entry direct ftrace"

# entry_offset - where in its function a jump at an entry is.
entry_offset() {
	local where=${arch_jump#*+}
	echo "${where% *}"
}

# needs WHAT... - the test is about something that an architecture may lack; then it is skipped,
# which test/run does not take for a failure if it is skipped in these words.
needs() {
	local what
	for what; do
		can "$what" || skip "$arch has no $what"
	done
}

# rounds ALL SHORT - how many, or how many seconds, of what could go on for ever: ALL, or SHORT
# where the time is short (test/run --short).  $POKEPATCH_ROUNDS is for both (test/matrix/run).
rounds() {
	if [ -n "${POKEPATCH_ROUNDS:-}" ]; then
		echo "$POKEPATCH_ROUNDS"
	elif [ "${POKEPATCH_CHECK:-all}" = short ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

# own_program NAME - path of a program of the build tree, bin/pokepatch say, for the guest.
own_program() {
	local file=$top/build/$1
	[ -z "$cross" ] || file=$top/build/$arch/$1
	[ -x "$file" ] || {
		echo "$file is missing; run: make ${cross:+guest-programs ARCH=$arch}" >&2
		return 1
	}
	echo "$file"
}

bats_require_minimum_version 1.5.0

# kernel_release - the release that the tests run on, as the harness chooses it.
kernel_release() {
	"$vm" release
}

# kernel_image - path of the guest's kernel.
kernel_image() {
	local release image
	release=$(kernel_release)
	image=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release/image
	if [ -e "$image/boot/vmlinuz-$release" ]; then
		image+=/boot/vmlinuz-$release
	else
		image+=/usr/lib/modules/$release/vmlinuz
	fi
	echo "$image"
}

# say TEXT... - shown while the tests run.
say() {
	echo "# $*" >&3
}

# guest [VM-OPTION...] [-- ARG...] - run the script from standard input in a guest.
# The test fails, with the guest's output and an excerpt of the kernel log, unless
# the script succeeds and the kernel log is clean.  $guest_output and $guest_log are
# the files with all of it.
guest() {
	guest_status_of "$@"
	if [ "$guest_status" -ne 0 ]; then
		# What matters most comes first: a report may cut the rest.
		echo "--- the harness:"
		cat "$guest_complaint"
		echo "--- the last lines of the guest's output:"
		tail -n 5 "$guest_output"
		echo "--- and those before them:"
		tail -n 80 "$guest_output" | head -n -5
		return 1
	fi
}

# guest_fails STATUS [VM-OPTION...] [-- ARG...] - the same for a run that must end with
# STATUS (the script's own or one of `vm help`); what the harness said is in
# $guest_complaint.
guest_fails() {
	local wanted=$1
	shift
	guest_status_of "$@"
	if [ "$guest_status" -ne "$wanted" ]; then
		echo "the run ended with status $guest_status, not $wanted"
		tail -n 80 "$guest_output" "$guest_complaint"
		return 1
	fi
}

guest_status_of() {
	local options=() dir
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	dir=$(mktemp -d "$BATS_TEST_TMPDIR/guest-XXXXXX")
	guest_output=$dir/output guest_log=$dir/kernel.log guest_complaint=$dir/complaint
	cat >"$dir/script"
	guest_status=0
	"$vm" run --quiet --out "$dir" "${options[@]}" "$dir/script" "$@" \
		>/dev/null 2>"$guest_complaint" || guest_status=$?
}

# words NAME - what scripts for the guest begin with: test/vm/words/NAME.sh.
words() {
	echo
	cat "$top/test/vm/words/$1.sh"
}

# once_per_check FILE COMMAND... - run COMMAND, which makes FILE, unless FILE is there and
# newer than the build's programs, and what it is made from ($newer_than).  Test files that
# run at the same time take turns.
once_per_check() {
	local file=$1 input
	shift
	mkdir -p "$build/locks" "${file%/*}"
	(
		flock 9
		# shellcheck disable=SC2154 # the caller sets it
		for input in $newer_than; do
			# A folder's own time says nothing of its files.
			[ ! -e "$file" ] || [ -z "$(find "$input" -type f -newer "$file" -print -quit)" ] || rm -f "$file"
		done
		[ -e "$file" ] || "$@" 9>&-
	) 9>"$build/locks/${file##*/}"
}

# test_module NAME - path of a module from test/vm/modules/NAME, built for the release.  One that is
# made from NAME.c alone, with no flags of its own, needs no Kbuild.
test_module() {
	local release source=$top/test/vm/modules/$1 dir
	release=$(kernel_release)
	dir=$build/modules/$release/$1
	newer_than="$source ${source%/*}/*.h $top/core-module/include" \
		once_per_check "$dir/$1.ko" build_test_module "$source" "$dir" "$release" ||
		return 1
	echo "$dir/$1.ko"
}

# How make is called for modules whose functions can be patched as the kernel's can.
make_modules=(make "${arch_kbuild[@]}")
[ -z "${arch_slots-}" ] ||
	make_modules=("$top/build/bin/pokepatch-as" --build --slots "$arch_slots" "${make_modules[@]}")

# make_module DIR RELEASE - compile the module whose files are in DIR.
make_module() {
	local tools kbuild=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$2/headers/usr/src/linux-headers-$2
	mapfile -t tools < <("$top/test/kernel-tools" "$2")
	"${make_modules[@]}" "${tools[@]}" -s -C "$kbuild" M="$1" modules >"$1/make.log" 2>&1 || {
		cat "$1/make.log" >&2
		return 1
	}
}

build_test_module() { # SOURCE DIR RELEASE
	rm -rf "$2"
	mkdir -p "$2"
	cp "$1"/* "${1%/*}"/*.h "$2/"
	[ -e "$2/Kbuild" ] ||
		printf 'obj-m := %s.o\nccflags-y += -I%s\n' "${1##*/}" "$top/core-module/include" >"$2/Kbuild"
	make_module "$2" "$3"
}

# test_program NAME - path of test/vm/programs/NAME.c, or of NAME/*.c, compiled, static.
test_program() {
	local source=$top/test/vm/programs/$1 file=$build/programs${for_arch}/$1
	if [ -d "$source" ]; then source+="/*"; else source+=.c; fi
	# shellcheck disable=SC2086 # a pattern
	newer_than=$source once_per_check "$file" build_test_program "$file" $source || return 1
	echo "$file"
}

# host_program NAME - the same for this machine: it makes what a guest gets.
host_program() {
	cross='' for_arch='' test_program "$1"
}

build_test_program() { # FILE SOURCE...
	local compiler=(gcc)
	[ -z "$cross" ] || compiler=("${cross}gcc-12")
	local source sources=() libraries=()
	for source in "${@:2}"; do
		[[ $source != *.c ]] || sources+=("$source")
	done
	! grep -q '^#include <capstone/' "${sources[@]}" || libraries=(-lcapstone)
	"${compiler[@]}" -std=gnu11 -O2 -Wall -D_GNU_SOURCE -static -pthread -o "$1" "${sources[@]}" \
		"${libraries[@]}"
}

# for_kernel DIFF... - those to take for the release that the tests run on (../variant.sh), one a
# line.
for_kernel() {
	local release file
	release=$(kernel_release)
	for file; do
		variant "$release" "$file"
	done
}

# example_patch NAME - the example's diff for that release.
example_patch() {
	for_kernel "$top/examples/$1.patch"
}

# patch_module DIFF [NAME [OPTION...]] - path of the patch module made from it, or from what
# for_kernel has in its place, by pokepatch-build with these options; made once for each name.
patch_module() {
	local name=${2:-} release file diff
	[ -n "$name" ] || name=$(basename "$1" .patch)
	release=$(kernel_release)
	diff=$(variant "$release" "$1")
	file=$build/patches/$release/pokepatch-$name.ko
	newer_than="$diff $top/build/bin/pokepatch-build $top/core-module $top/patches/module/*" \
		once_per_check "$file" "$top/build/bin/pokepatch-build" --quiet -k "$release" \
		-n "$name" -o "$file" "${@:3}" "$diff" >&2 || return 1
	echo "$file"
}

# stock_module NAME FILE - write the kernel's own module to FILE, unpacked.
stock_module() {
	local release root
	release=$(kernel_release)
	root=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release/image
	# Since Debian 13 modules are in /usr.
	[ ! -d "$root/usr/lib/modules/$release" ] || root+=/usr
	root+=/lib/modules/$release/kernel
	if [ -e "$root/$1.ko" ]; then cp "$root/$1.ko" "$2"; else xz -dc "$root/$1.ko.xz" >"$2"; fi
}

# core_module [VARIANT] - path of pokepatch.ko; VARIANT core-debug for the debug build.
core_module() {
	local file
	file=$top/build/${1:-core}/$(kernel_release)/pokepatch.ko
	[ -r "$file" ] || {
		echo "$file is missing; run: make core" >&2
		return 1
	}
	echo "$file"
}

# with_patches PATCH-FILE... - set $patched to the options of a guest that has the core,
# the program pokepatch and these patches.  $core: the variant of the core module.
with_patches() {
	local patch module program
	module=$(core_module "${core:-core}") || return 1
	program=$(own_program bin/pokepatch) || return 1
	patched=(--module "$module" --program "$program")
	for patch; do
		module=$(patch_module "$patch") || return 1
		patched+=(--module "$module")
	done
}

# crowd_patch N [live|bare] - path of a patch of N (1, 10, 100, 1000) functions of the test module
# pp_crowd, pokepatch-crowd-N.ko; or of one that is switched live, pokepatch-crowd-N-live.ko; or of
# its functions without entries, pokepatch-crowd-N-bare.ko.
crowd_patch() {
	local parent release dir tools name=crowd-$1${2:+-$2} stubs=''
	parent=$(test_module pp_crowd) || return 1
	release=$(kernel_release)
	dir=$build/modules/$release/$name
	! can direct || stubs=$top/patches/module/x86.S
	mapfile -t tools < <("$top/test/kernel-tools" "$release")
	newer_than="$parent $top/test/vm/crowd/* $top/patches/module/* $top/core-module/include/*" \
		once_per_check "$dir/pokepatch-$name.ko" "$top/test/vm/crowd/make" "$1" "$dir" \
		"$release" "$parent" "$top/build/core/$release" "${2:-stop}" "$stubs" "${make_modules[@]}" \
		"${tools[@]}" ||
		return 1
	echo "$dir/pokepatch-$name.ko"
}

# slots_patch NUMBER - path of a patch of the test module pp_slots (MIPS), whose functions return
# NUMBER with it: pokepatch-slots-NUMBER.ko.
slots_patch() {
	local parent release dir
	parent=$(test_module pp_slots) || return 1
	release=$(kernel_release)
	dir=$build/modules/$release/slots-$1
	newer_than="$parent $top/test/vm/slots/* $top/patches/module/* $top/core-module/include/*" \
		once_per_check "$dir/pokepatch-slots-$1.ko" "$top/test/vm/slots/make" "$1" "$dir" \
		"$release" "$parent" "$top/build/core/$release" "${arch_kbuild[@]}" || return 1
	echo "$dir/pokepatch-slots-$1.ko"
}

# shared_modules - path of the folder with modules that share an object, and with what
# pokepatch-build needs to patch them (shared/make).
shared_modules() {
	local release dir tools
	release=$(kernel_release)
	dir=$build/modules/$release/shared
	mapfile -t tools < <("$top/test/kernel-tools" "$release")
	"$top/test/vm/shared/make" "$dir" "$release" "${make_modules[@]}" "${tools[@]}" >&2 || return 1
	echo "$dir"
}

# shared_patch NAME - path of the patch module made from shared/NAME.patch.
shared_patch() {
	local release dir file
	dir=$(shared_modules) || return 1
	release=$(kernel_release)
	file=$build/patches/$release/pokepatch-$1.ko
	newer_than="$dir/ready $top/build/bin/pokepatch-build $top/core-module $top/patches/module/*" \
		once_per_check "$file" "$top/build/bin/pokepatch-build" --quiet -k "$release" -n "$1" \
		-o "$file" -s "$dir/source" -m "$dir/modules" "$top/test/vm/shared/$1.patch" >&2 || return 1
	echo "$file"
}

# systemd_root FOLDER - make a root file system for `vm --root`: systemd as it is installed on this
# machine, without its configuration, busybox for what scripts use, and what `make install` installs.
systemd_root() {
	local applet program
	mkdir -p "$1"/{dev,etc/systemd/system,proc,root,run,sys,tmp,usr/{bin,sbin,lib,lib64},var}
	for folder in bin sbin lib lib64; do
		ln -s "usr/$folder" "$1/$folder"
	done
	mkdir -p "$1/usr/lib/modules/$(kernel_release)"
	dpkg -L systemd kmod mount | sed -nE '/^(\/usr\/share|\/etc)\//!s|^/([^.])|\1|p' |
		tar -C / --no-recursion -cf - -T - | tar -C "$1" --keep-directory-symlink -xf -
	make -s -C "$top" install DESTDIR="$1" PREFIX=/usr
	cp "$(command -v busybox)" "$1/usr/bin/busybox"
	for applet in $(busybox --list); do
		case $applet in init | reboot | halt | poweroff) continue ;; esac
		[ -e "$1/usr/bin/$applet" ] || [ -e "$1/usr/sbin/$applet" ] ||
			ln -s busybox "$1/usr/bin/$applet"
	done
	find "$1/usr" -type f -perm /111 -exec ldd {} + 2>/dev/null | grep -o '/[^ )]*[^ ):]' | sort -u |
		while read -r library; do
			[[ $library == "$1"* ]] || [ -e "$1$library" ] || install -D -m 755 "$library" "$1$library"
		done
	echo 'root::0:0:root:/root:/bin/sh' >"$1/etc/passwd"
	echo 'root:x:0:' >"$1/etc/group"
	echo 0123456789abcdef0123456789abcdef >"$1/etc/machine-id"
	cp /usr/lib/os-release "$1/usr/lib/"
	ln -s /lib/systemd/system/multi-user.target "$1/etc/systemd/system/default.target"
	ln -s /dev/null "$1/etc/systemd/system/getty-static.service"
	mkdir "$1/etc/systemd/system/multi-user.target.wants"
	cat >"$1/etc/systemd/system/script.service" <<-'END'
		[Unit]
		Description=The script of the test
		[Service]
		Type=idle
		ExecStart=/bin/busybox sh /vm/init
	END
	ln -s ../script.service "$1/etc/systemd/system/multi-user.target.wants/"
}

# signing_key NAME - make a key to sign modules with: NAME.pem, and its certificate NAME.der.
signing_key() {
	openssl req -x509 -newkey rsa:2048 -nodes -sha256 -days 36500 -subj "/CN=${1##*/}" -outform DER \
		-keyout "$1.pem" -out "$1.der" 2>"$1.log" || {
		cat "$1.log" >&2
		return 1
	}
}

# sign_module KEY FILE TO - write the module to TO, signed with signing_key's KEY.
sign_module() {
	local release
	release=$(kernel_release)
	mkdir -p "${3%/*}"
	"${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release/headers/usr/src/linux-headers-$release/scripts/sign-file" \
		sha256 "$1.pem" "$1.der" "$2" "$3"
}

# efi_variables FILE NAME=CERTIFICATE... - write variables for OVMF to FILE (vm --firmware), each a
# list of keys with the certificate: PK (the owner; with one, Secure Boot is on), db (what the firmware
# trusts), MokListRT (what shim tells the kernel to trust).  Formats: UEFI specification 2.10, 32.4.1
# (signature list); EDK II, MdeModulePkg/Include/Guid/VariableFormat.h (the first variable follows two
# headers, each begins at a multiple of 4).
efi_variables() {
	perl -e 'use strict;
		sub guid { my ($a, $b, $c, $d) = $_[0] =~ /(.{8})-(.{4})-(.{4})-(.*)/;
			$d =~ s/-//; pack("VvvH*", hex $a, hex $b, hex $c, $d) }
		sub content { local (@ARGV, $/) = $_[0]; binmode ARGV; <> }
		my $shim = "605dab50-e046-4300-abb6-3dd810dd8b23";
		my %known = (PK => [0x27, "8be4df61-93ca-11d2-aa0d-00e098032b8c"], MokListRT => [0x7, $shim],
			db => [0x27, "d719b2cb-3d3a-4596-a3bc-dad00e67656f"]);
		my ($variables, $at) = (content(shift), 0x48 + 28);
		for (@ARGV) {
			my ($name, $file) = split /=/, $_, 2;
			my ($flags, $vendor) = @{$known{$name} or die "$name: not known\n"};
			my $key = content($file);
			my $list = guid("a5c059a1-94e4-4aa7-87b5-ab155c2bf072")
				. pack("VVV", 44 + length $key, 0, 16 + length $key) . guid($shim) . $key;
			$name = pack("v*", unpack("C*", $name), 0);
			my $variable = pack("vCxVx8x16x4VV", 0x55aa, 0x3f, $flags, length $name, length $list)
				. guid($vendor) . $name . $list;
			substr($variables, $at, length $variable) =~ /^\xff+$/ or die "not empty\n";
			substr($variables, $at, length $variable) = $variable;
			$at = ($at + 3 + length $variable) & ~3;
		}
		binmode STDOUT; print $variables' "$arch_firmware_variables" "${@:2}" >"$1"
}

# hex TEXT - its bytes in hexadecimal.
hex() {
	printf %s "$1" | od -An -tx1 | tr -d ' \n'
}

# replace_bytes HEX HEX FROM TO - copy a file with some bytes replaced, wherever they are; fails if
# they are nowhere.
replace_bytes() {
	perl -0777 -pe 'BEGIN { ($a, $b) = map { pack("H*", $_) } splice(@ARGV, 0, 2) }
		s/\Q$a\E/$b/g' "$1" "$2" <"$3" >"$4"
	if cmp -s "$3" "$4"; then return 1; fi
}

# flip_bit FILE OFFSET - change the lowest bit of one byte.
flip_bit() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf '%b' "\\0$(printf %o $((byte ^ 1)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# preprocessed CMD-FILE - what kbuild compiles there, preprocessed as for sparse.  Sparse itself does not
# know __has_include().
preprocessed() {
	local command
	command=$(sed -n 's/^\(saved\)\?cmd_[^ ]* := \([^;]*\).*/\2/p' "$1" | sed 's/ -Wp,-MMD,[^ ]*//; s/ -o [^ ]*//; s/ -c / -E -D__CHECKER__ /')
	# The words have quotes of their own.
	(cd "$kbuild" && eval "$command")
}

# sparse_core - sparse finds nothing in the core, and does find a lock that is kept.
sparse_core() {
	local release file kbuild files=0
	release=$(kernel_release)
	kbuild=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release/headers/usr/src/linux-headers-$release
	cd "$BATS_TEST_TMPDIR" || return
	while read -r file; do
		[ -e "${file%/.*}/$(basename "$file" .o.cmd | cut -c 2-).c" ] || continue # assembly
		preprocessed "$file" >unit.i
		sparse -m64 unit.i || echo "status $?: $file"
		files=$((files + 1))
		[[ $file != */.exiting.o.cmd ]] || cp unit.i exiting.i
	done < <(find "$top/build/core-debug/$release" -name '.*.o.cmd' ! -name '*.mod.o.cmd') >said 2>&1
	cat said
	[ ! -s said ]
	[ "$files" -gt 40 ]
	# Where there is one processor, a spinlock is no more than this note for sparse.
	sed -E '0,/(_*raw_spin_unlock\(&exiting_lock\)|__context__\(&exiting_lock,-1\))/s//(void)0/' exiting.i >unit.i
	if cmp -s exiting.i unit.i; then return 1; fi
	run -0 sparse -m64 unit.i
	# shellcheck disable=SC2154 # run sets it
	[[ $output == *"warning: context imbalance in 'exiting_"* ]]
}
