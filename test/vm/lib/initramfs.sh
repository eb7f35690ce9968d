# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of vm and of its other parts
# Makes the guest's initramfs: a base that all runs share, and what one run adds.
# The kernel unpacks archives that follow one another in one file.

pack() { # FOLDER ARCHIVE
	(cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$2"
}

# once FILE COMMAND... - run the command if FILE is not there; it must make $FILE.new.
once() {
	local file=$1
	shift
	[ -e "$file" ] && return
	mkdir -p "$store"
	(
		flock 9
		[ -e "$file" ] && exit
		rm -rf "$file.new"
		"$@" "$file.new"
		mv -T "$file.new" "$file"
	) 9>"$store/lock"
}

make_base() { # ARCHIVE
	local root=$work/base applet
	mkdir -p "$root"/{bin,dev,etc,proc,root,sys,tmp,vm,usr/bin,usr/sbin,sbin}
	if is_foreign; then
		cp "$foreign/bin/busybox" "$root/bin/busybox"
		# stage_program() puts every library into /lib; MIPS looks for its loader in /lib64.
		ln -s lib "$root/lib64"
	else
		cp "$(command -v busybox)" "$root/bin/busybox"
	fi
	for applet in $(busybox --list); do
		[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
	done
	ln -s ../proc/self/mounts "$root/etc/mtab"
	echo 'root::0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	# A guest's processor may have to wait for one of this machine's while the core has the guest stopped.
	mkdir "$root/etc/modprobe.d"
	echo 'options pokepatch max_stop_us=200000' >"$root/etc/modprobe.d/pokepatch.conf"
	install -m 755 "$here/guest/init" "$root/init"
	install -m 644 "$here/guest"/{lib.sh,patch.sh,run} "$root/vm/"
	printf '%s\n' "log=$arch_log_tty" "output=$arch_output_tty" "control=$arch_control_tty" \
		"polled=${arch_polled_ttys-}" \
		>"$root/vm/ports"
	echo "${arch_begin-}" >"$root/vm/begin"
	echo "arch_lacks='${arch_lacks[*]}'" >"$root/vm/arch"
	pack "$root" "$1"
}

# A folder with the kernel's modules in which modprobe can resolve names.  The
# image package has no modules.dep: its installation would have made it.
make_module_root() { # FOLDER
	local dir=$1/lib/modules/$kernel
	mkdir -p "$dir"
	ln -s "$stock_modules/kernel" "$dir/kernel"
	cp "$stock_modules"/modules.{builtin,builtin.modinfo,order} "$dir/"
	/sbin/depmod -b "$1" "$kernel"
}

# stage_stock_module NAME ROOT - copy it and what it depends on.  Busybox has the kernel try a
# compressed file as it is first, and the kernel logs an error, so they are unpacked.
stage_stock_module() {
	local word file dir=$module_root/lib/modules/$kernel
	/sbin/modprobe -d "$module_root" -S "$kernel" --show-depends "$1" >"$work/depends" 2>&1 ||
		fail "module $1: $(tail -n 1 "$work/depends")"
	while read -r word file _; do
		[ "$word" = insmod ] || continue
		file=${file#"$dir"/}
		mkdir -p "$2/lib/modules/$kernel/${file%/*}"
		case $file in
		*.xz) xz -dc "$dir/$file" >"$2/lib/modules/$kernel/${file%.xz}" ;;
		*) cp "$dir/$file" "$2/lib/modules/$kernel/$file" ;;
		esac
	done <"$work/depends"
}

# stage_own_module FILE ROOT - the same for a .ko file that is not the kernel's.
stage_own_module() {
	local name depends
	[ -r "$1" ] || fail "$1: no such file"
	depends=$(/sbin/modinfo -F depends "$1") || fail "$1: not a module"
	mkdir -p "$2/lib/modules/$kernel/extra"
	cp "$1" "$2/lib/modules/$kernel/extra/"
	for name in ${depends//,/ }; do
		/sbin/modprobe -d "$module_root" -S "$kernel" --show-depends "$name" >/dev/null 2>&1 &&
			stage_stock_module "$name" "$2"
	done
	return 0
}

stage_modules() { # ROOT
	local module dir=$1/lib/modules/$kernel
	once "$module_root" make_module_root
	for module in "${modules[@]}"; do
		case $module in
		*.ko) stage_own_module "$module" "$1" ;;
		*) stage_stock_module "$module" "$1" ;;
		esac
	done
	mkdir -p "$dir"
	cp "$stock_modules"/modules.{builtin,builtin.modinfo,order} "$dir/"
	/sbin/depmod -b "$1" "$kernel"
}

# stage_program FILE ROOT - with the shared libraries and the loader it names.
stage_program() {
	local library
	[ -x "$1" ] || fail "$1: no such program"
	install -D -m 755 "$1" "$2/usr/bin/${1##*/}"
	if is_foreign; then
		foreign_libraries "$1" | while read -r library; do
			install -D -m 755 "$library" "$2/lib/${library##*/}"
		done
		return
	fi
	ldd "$1" 2>/dev/null | grep -o '/[^ )]*' | while read -r library; do
		install -D -m 755 "$library" "$2$library"
	done || :
}

stage_file() { # FILE[:TO] ROOT
	local from=${1%%:*} to
	case $1 in
	*:*) to=${1#*:} ;;
	*) to=/root/${from##*/} ;;
	esac
	[ -e "$from" ] || fail "$from: no such file"
	mkdir -p "$2${to%/*}"
	cp -RL "$from" "$2$to"
}

# shell_settings - what the guest's shell starts with: our terminal's size and kind.
shell_settings() {
	local size
	size=$(stty size 2>/dev/null || :)
	echo "stty -F /dev/$arch_output_tty sane"
	case $size in
	'' | 0\ *) ;;
	*) echo "stty -F /dev/$arch_output_tty rows ${size% *} cols ${size#* }" ;;
	esac
	echo "export TERM=${TERM:-vt100}"
}

# make_initramfs SCRIPT ARG... - make $work/initramfs; without SCRIPT, for a shell.
make_initramfs() {
	local root=$work/layer base item stamp
	! is_foreign || foreign_root
	stamp=$(cat "$here/guest"/* "$here/arch/$arch.sh" "$here"/arch/*.bash "$here/lib/initramfs.sh" |
		sha256sum | cut -c 1-12)
	base=$store/base-$stamp.cpio
	once "$base" make_base

	mkdir -p "$root/vm"
	if [ -n "$1" ]; then
		cp "$1" "$root/vm/script"
		shift
		{
			printf 'set --'
			[ $# -eq 0 ] || printf ' %q' "$@"
			echo
		} >"$root/vm/args"
	else
		shell_settings >"$root/vm/shell"
	fi
	[ ${#modules[@]} -eq 0 ] || stage_modules "$root"
	for item in ${programs[@]+"${programs[@]}"}; do
		stage_program "$item" "$root"
	done
	for item in ${files[@]+"${files[@]}"}; do
		stage_file "$item" "$root"
	done
	[ -z "$own_root" ] || cp -a "$own_root" "$root/own-root"
	[ -z "$system" ] || : >"$root/vm/system"
	pack "$root" "$work/layer.cpio"
	cat "$base" "$work/layer.cpio" >"$work/initramfs"
}
