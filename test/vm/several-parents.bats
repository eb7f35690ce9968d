# SPDX-License-Identifier: GPL-2.0-or-later
# One patch that changes vmlinux and many modules: those that are there and those that come later.

load helpers

# NAME FILE FUNCTION: the parents, of which pp_outside is no module of the kernel's.  What makes a device or mounts calls the function.
parents='vmlinux fs/proc/version.c static int version_proc_show
dummy drivers/net/dummy.c static void dummy_setup
veth drivers/net/veth.c static void veth_setup
bridge net/bridge/br_device.c void br_dev_setup
isofs fs/isofs/inode.c static .*isofs_\(mount\|init_fs_context\)
vfat fs/fat/namei_vfat.c static .*vfat_\(mount\|init_fs_context\)
exfat fs/exfat/super.c static int exfat_init_fs_context
squashfs fs/squashfs/super.c static int squashfs_init_fs_context
pp_outside parts/scale.c noinline int pp_outside_scale'

# touching - a diff that touches each file of the kernel's: its build unpacks their folders.
touching() {
	local name file begin
	while read -r name file begin; do
		[ "$name" = pp_outside ] || printf '%s\n' "--- a/$file" "+++ b/$file" '@@ -1,0 +1,1 @@' '+/* */'
	done <<<"$parents"
}

# diff_of TREE FOLDER - a diff of the kernel's source, and of the module's in FOLDER, that has the function of each parent say the parent's name.
# vmlinux's does so by a function of a new file.
diff_of() {
	local name file begin from
	while read -r name file begin; do
		mkdir -p "a/${file%/*}" "b/${file%/*}"
		from=$1
		[ "$name" != pp_outside ] || from=$2
		cp "$from/$file" "a/$file"
		sed "/^$begin(/,/^{/s/^{/{\n\tint said __maybe_unused = printk(KERN_INFO \"several: $name\\\\n\");\n/" \
			"a/$file" >"b/$file"
		[ "$name" = vmlinux ] || diff -u "a/$file" "b/$file" || [ $? -eq 1 ]
	done <<<"$parents"
	cp "$1/fs/proc/Makefile" a/fs/proc/
	sed 's/^proc-y.*version.o$/&\nproc-y += several.o/' a/fs/proc/Makefile >b/fs/proc/Makefile
	printf '%s\n' '#include <linux/printk.h>' 'int several_said(void);' 'static int times;' \
		'int several_said(void) { times++; return printk(KERN_INFO "several: vmlinux\n"); }' >b/fs/proc/several.c
	sed -i -e 's/^static int version_proc_show/int several_said(void);\n&/' \
		-e 's/= printk(KERN_INFO "several: vmlinux\\n")/= several_said()/' b/fs/proc/version.c
	diff -uNr a/fs/proc b/fs/proc || [ $? -eq 1 ]
}

words='
all="vmlinux dummy veth bridge isofs vfat exfat squashfs pp_outside"
modules=${all#* }

# call NAME - call the function of a parent, whose module is there.
call() {
	case $1 in
	vmlinux) cat /proc/version >/dev/null ;;
	dummy | veth | bridge)
		ip link add several0 type "$1"
		ip link del several0
		;;
	pp_outside) cat /sys/module/pp_outside/parameters/told >/dev/null ;;
	isofs) mount_null iso9660 ;;
	*) mount_null "$1" ;;
	esac
}

mount_null() { if mount -t "$1" /dev/null /tmp 2>/dev/null; then die "/dev/null is mounted"; fi; }

# new, old NAME... - the parents have the new code, or their own.
new() { for _name; do says "$_name" "$_name"; done; }
old() { for _name; do says "$_name" ""; done; }
says() {
	dmesg -c >/dev/null
	call "$1"
	same "what $1 says" "$(dmesg | sed -n "s/^.*several: //p" | sort -u)" "$2"
}

# there NAME... - the core has found the functions of these parents, and of no others.
there() {
	for _name in $all; do
		_found=no
		case " $* " in *" $_name "*) _found=yes ;; esac
		for _function in "$(sysfs several $_name)"/*,1; do
			[ $(($(cat $_function/old_addr))) -ne 0 ] && _is=yes || _is=no
			same "$_function is found" $_is $_found
		done
	done
}
'

setup() {
	local tree release diff outside
	release=$(kernel_release)
	diff=$build/several/$release.patch
	mkdir -p "${diff%/*}"
	with_patches
	outside=$build/modules/$release/outside
	mapfile -t tools < <("$top/test/kernel-tools" "$release")
	"$top/test/vm/shared/make" --outside "$outside" "$release" "${make_modules[@]}" "${tools[@]}"
	cd "$BATS_TEST_TMPDIR" || return
	touching >touching.patch
	tree=$("$top/build/bin/pokepatch-build" -V -k "$release" --dry-run touching.patch 2>&1 |
		grep -o "/[^ =]*/kernels/$release/tree-[0-9a-f]*" | sort -u)
	# A diff that did not change keeps its time, so that the module is not made again.  It gets
	# another one if pp_outside was made again.
	diff_of "$tree" "$outside" | sed -E 's/^((---|\+\+\+) [^\t]*)\t.*/\1/; s,^--- a/fs/proc/several.c,--- /dev/null,' >several.patch
	if ! cmp -s several.patch "$diff" || [ "$outside/pp_outside.ko" -nt "$diff" ]; then
		mv several.patch "$diff"
	fi
	patched+=(--module "$(patch_module "$diff" several --module-source "$outside")"
		--module "$outside/pp_outside.ko")
	for name in dummy veth bridge isofs vfat exfat squashfs; do patched+=(--module "$name"); done
}

@test "vmlinux and modules: there, later, removed and loaded again, while it is on and off" {
	guest "${patched[@]}" --expect "/dev/null: Can't (open|lookup) blockdev" <<<"$words"'
		echo "== stock"
		for name in dummy veth isofs; do modprobe $name; done
		old vmlinux dummy veth isofs

		echo "== some parents are there"
		pokepatch load "$(patch_file several)"
		there vmlinux dummy veth isofs
		new vmlinux dummy veth isofs

		echo "== the others come, one after the other"
		come="vmlinux dummy veth isofs"
		for name in bridge pp_outside vfat exfat squashfs; do
			modprobe $name
			come="$come $name"
			there $come
			new $come
		done

		echo "== off and on, for all"
		enabled several 0
		old $all
		enabled several 1
		new $all

		echo "== each goes and comes; the others stay as they are"
		for name in $modules; do
			rmmod $name
			there $(echo "$all " | sed "s/$name //")
			new vmlinux
			modprobe $name
			there $all
			new $all
		done

		echo "== half go, come while it is off, and are switched with the rest"
		rmmod dummy bridge vfat
		enabled several 0
		modprobe -a dummy bridge vfat
		old $all
		enabled several 1
		new $all

		echo "== all go and come at the same time"
		rmmod $modules
		there vmlinux
		new vmlinux
		for name in $modules; do modprobe $name & done
		wait
		there $all
		new $all

		echo "== the patch goes, and comes to parents that are all there"
		pokepatch unload several
		old $all
		pokepatch load "$(patch_file several)"
		new $all
		pokepatch unload several
		old $all
		rmmod $modules
	'
}
