# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # tracing and pokepatch are those of lib.sh
# Words for scripts that work with patches; read after lib.sh.

# patch_id NAME - the patch's folder in sysfs: dashes become underscores.
patch_id() {
	echo "$1" | tr - _
}

# unload_when_free NAME - unload a patch that was live once no task is in its code any more.
unload_when_free() {
	until_true 20 rmmod "pokepatch_$(patch_id "$1")" 2>/dev/null
}

# patch_file NAME - where the harness put the patch module.
patch_file() {
	echo "/lib/modules/$(uname -r)/extra/pokepatch-$1.ko"
}

# sysfs NAME FILE - the path of a patch's file.
sysfs() {
	echo "$pokepatch/$(patch_id "$1")/$2"
}

# file NAME FILE - what a patch's file holds.
file() {
	cat "$(sysfs "$1" "$2")"
}

# versions - of the three functions that test/vm/patches/agree-*.patch change, by a read of three
# bytes; nothing if none is changed.
versions() {
	dd if=/dev/null bs=3 count=1 2>/dev/null | od -An -tu1 | tr -d " "
}

# enabled NAME VALUE - write it; the script ends if the kernel refuses.
enabled() {
	echo "$2" >"$(sysfs "$1" enabled)" || cannot_be "$1" "$2"
}

# cannot_be NAME VALUE - end the script: the kernel did not take it.
cannot_be() {
	die "enabled=$2 for $1: state is $(file "$1" state), blocked by: $(file "$1" blocked_by)"
}

# count_hits NAME FUNCTION... - from now on, count the calls of the patch module's own
# functions, the new ones.
count_hits() {
	_module=pokepatch_$(patch_id "$1")
	shift
	for _function; do
		echo "p:pp/$_function $_module:$_function" >>"$tracing/kprobe_events"
	done
	echo 1 >"$tracing/events/pp/enable"
}

# hits FUNCTION - how many there were.
hits() {
	awk -v name="$1" '$1 == name { print $2 }' "$tracing/kprobe_profile"
}

# stop_hits - forget the probes.
stop_hits() {
	echo 0 >"$tracing/events/pp/enable"
	echo >"$tracing/kprobe_events"
}

# unguarded COMMAND... - run it while kprobes is switched off, and with it the core's guard, so that only
# the watch notices users of patched code.
unguarded() {
	echo 0 >/sys/kernel/debug/kprobes/enabled
	_status=0
	"$@" || _status=$?
	echo 1 >/sys/kernel/debug/kprobes/enabled
	return $_status
}

# asleep_in PID FUNCTION - is the task in it?
asleep_in() {
	grep -q "$2" "/proc/$1/stack"
}

# sleep_in_fifo - have a task, $sleeper, sleep in wait_for_partner(), by the pipe /tmp/fifo.
sleep_in_fifo() {
	cat /tmp/fifo &
	sleeper=$!
	until_true 10 asleep_in $sleeper wait_for_partner
}

# wake_up - let it go on, and end.
wake_up() {
	echo through >/tmp/fifo
	wait "$sleeper"
}

# start_load COMMAND... - keep each CPU busy with the command until stop_load.
start_load() {
	_load=
	for _cpu in $(seq 0 $(($(nproc) - 1))); do
		(
			while :; do
				"$@" >/dev/null 2>&1 || :
			done
		) &
		_load="$_load $!"
		taskset -p -c "$_cpu" $! >/dev/null
		# Other tasks on this CPU must make progress.
		renice -n 19 -p $! >/dev/null
	done
}

stop_load() {
	# shellcheck disable=SC2086 # several processes
	kill $_load
	# shellcheck disable=SC2086 # several processes
	wait $_load 2>/dev/null || :
}

# settle - let everything that is freed later be freed now: what waits for RCU, caches
# that can shrink, each CPU's spare slabs.  Opening a file takes from some caches, so
# those are shrunk once more at the end.
settle() {
	sleep 1
	sync
	echo 3 >/proc/sys/vm/drop_caches
	for _shrink in /sys/kernel/slab/*/shrink; do
		echo 1 >"$_shrink" 2>/dev/null || :
	done
	# Each of these files left something to kfree_rcu(), which is in no hurry.
	sleep "${_patience:-1}"
	for _shrink in filp lsm_file_cache kmalloc-96 kmalloc-16 kmalloc-8; do
		# Not each kernel has all of them.
		[ ! -e "/sys/kernel/slab/$_shrink" ] || echo 1 >"/sys/kernel/slab/$_shrink/shrink"
	done
}

# vmalloc_areas - how many each function has.  Stacks of tasks come and go there, and are left out.
# The kernel shows a page of the list at a time, and goes on at the same number, not at the same area:
# when an area in front goes away meanwhile, it leaves one out.  So two readings have to agree.
vmalloc_areas() {
	: >/tmp/areas
	for _reading in 1 2 3 4 5 6 7 8; do
		mv /tmp/areas /tmp/areas.before
		grep -v -e kernel_clone -e copy_process -e alloc_thread_stack -e unpurged -e vm_map_ram /proc/vmallocinfo |
			awk '{ n[$3]++ } END { for (i in n) print "vmalloc", i, n[i] }' | sort >/tmp/areas
		! cmp -s /tmp/areas /tmp/areas.before || break
	done
	cat /tmp/areas
}

# look FILE - what the kernel holds: objects of each slab cache, vmalloc areas, modules;
# the least of this look and those before it.  A slab that a CPU allocates from counts as
# full, so this is done on one CPU, after all have given theirs back, and a look may still
# see too much: the free objects of one slab.  Of the small caches, whose slabs hold
# hundreds, that would hide or pretend a leak, so the guest is to be booted with
# --exact-slabs (vm help): a cache that is debugged has no slab of a CPU's own.
# Left out are vmap_area, of which the areas that are not yet purged hold some, and what the debug
# kernel keeps in stock to watch other objects by.
look() {
	taskset -p -c 0 $$ >/dev/null
	settle
	cat /proc/slabinfo >/tmp/slabinfo
	vmalloc_areas >/tmp/vmalloc
	cat /proc/modules >/tmp/modules
	taskset -p -c "0-$(($(nproc) - 1))" $$ >/dev/null
	{
		awk 'NR > 2 && $1 !~ /^(vmap_area|debug_objects_cache)$/ { print "slab", $1, $2 }' /tmp/slabinfo
		cat /tmp/vmalloc
		awk '{ print "module", $1, 1 }' /tmp/modules
	} >/tmp/look
	[ -e "$1" ] || cp /tmp/look "$1"
	awk '
		NR == FNR { least[$1 " " $2] = $3; next }
		{
			key = $1 " " $2
			if (key in least)
				print key, (least[key] < $3 ? least[key] : $3)
		}' "$1" /tmp/look >/tmp/least
	mv /tmp/least "$1"
}

# owners FILE - how many objects each function has of the caches that --exact-slabs names.
owners() {
	for _traces in /sys/kernel/debug/slab/*/alloc_traces; do
		# Not each kernel tells.
		[ -e "$_traces" ] || continue
		awk -v cache="$(basename "${_traces%/*}")" '
			/^ *[0-9]+ [^ ]/ { n[cache " " $2] += $1 }
			END { for (i in n) print i, n[i] }' "$_traces"
	done >"$1"
}

# inventory FILE - what the kernel holds, to compare with later.  The core's text history
# would grow up to its bounds; from here on it keeps nothing.
inventory() {
	for _bound in history_kb snapshots_kb; do
		[ ! -e "/sys/module/pokepatch/parameters/$_bound" ] ||
			echo 0 >"/sys/module/pokepatch/parameters/$_bound"
	done
	grep -q slub_debug=F /proc/cmdline || die "not booted with --exact-slabs (vm help)"
	rm -f "$1"
	# A file in debugfs that has been read keeps some memory.
	owners "$1.owners"
	look "$1"
	look "$1"
	look "$1"
	owners "$1.owners"
}

# same_inventory BEFORE ROUNDS - fail if anything grew: modules and vmalloc areas not at all, those slab
# caches whose counts are exact by three quarters of the number of rounds, so that an object lost in each
# is found, others by 80 objects.  What is lost stays lost; anything else is gone at one of several looks.
same_inventory() {
	rm -f /tmp/after
	for _look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		[ $_look -le 12 ] || _patience=7
		look /tmp/after
		if awk -v exact="$(($2 * 3 / 4))" '
			function bound(kind, name) {
				if (kind != "slab")
					return 1
				return name ~ /^kmalloc-(cg-)?(8|16|32|64|96|128|192|256|512|1k)$/ && exact < 80 ? exact : 80
			}
			NR == FNR { was[$1 " " $2] = $3; next }
			{
				more = $3 - was[$1 " " $2]
				if (more >= bound($1, $2)) {
					print "  " $1 " " $2 ": " was[$1 " " $2] + 0 " became " $3
					bad = 1
				}
			}
			END { exit bad }' "$1" /tmp/after >/tmp/grown; then
			return 0
		fi
	done
	cat /tmp/grown
	owners /tmp/after.owners
	awk '
		NR == FNR { was[$1 " " $2] = $3; next }
		$3 - was[$1 " " $2] >= 10 { print "    " $1 ": " $2 " has " $3 " instead of " was[$1 " " $2] + 0 }
	' "$1.owners" /tmp/after.owners
	die "the kernel holds more than before"
}

# reclaimable - memory that can be reclaimed: a cgroup, /tmp/cgroup/user, and a tmpfs, /tmp/pages, that can be
# swapped out.  It needs the module brd.
reclaimable() {
	modprobe brd rd_size=16384
	mkswap /dev/ram0 >/dev/null
	swapon /dev/ram0
	mkdir -p /tmp/cgroup /tmp/pages
	mount -t cgroup2 none /tmp/cgroup
	echo +memory >/tmp/cgroup/cgroup.subtree_control
	mkdir /tmp/cgroup/user
	mount -t tmpfs none /tmp/pages
}

# With the program flocker and the patch flock-body: the error of a lock of an unknown kind; $first holds the
# lock of /tmp/file; $second waits for it.
flock_error() { flocker /tmp/file error; }
# shellcheck disable=SC2034 # the scripts use it
flock_first() {
	flocker /tmp/file >/tmp/first &
	first=$!
	until_true 10 grep -q locked /tmp/first
}
flock_second() {
	flocker /tmp/file >/tmp/second &
	second=$!
	until_true 10 asleep_in $second flock
}

# exercise ROUNDS NAME FUNCTION... - all that must hold for an example.  The script defines
#   behaves old|new      fail unless the kernel behaves so
#   busy                 a command that calls the functions, run in a loop on all CPUs
# and may define
#   before_load, after_load   to be called there, each time the patch is loaded
before_load() { :; }
after_load() { :; }

load_it() {
	before_load
	pokepatch load "$(patch_file "$_name")"
	after_load
	same "enabled of $_name" "$(file "$_name" enabled)" 1
	same "state of $_name" "$(file "$_name" state)" enabled
	behaves new
}

unload_it() {
	pokepatch unload "$_name"
	behaves old
	lacks modules "$(cat /proc/modules)" "pokepatch_$(patch_id "$_name")"
	[ ! -e "$pokepatch/$(patch_id "$_name")" ] || die "$_name is still in sysfs"
}

exercise() {
	_rounds=$1
	_name=$2
	shift 2

	echo "== before, with, after"
	behaves old
	load_it
	count_hits "$_name" "$@"
	behaves new
	for _function; do
		[ "$(hits "$_function")" -gt 0 ] || die "the new $_function() was never called"
		echo "the new $_function() was called $(hits "$_function") times"
	done
	pokepatch disable "$_name"
	same "state of $_name" "$(file "$_name" state)" disabled
	_hits=$(hits "$1")
	behaves old
	same "calls of the new $1() while disabled" "$(hits "$1")" "$_hits"
	stop_hits
	unload_it

	# Once round before counting: what is allocated at the first time stays.
	load_it
	start_load busy
	sleep 2
	stop_load
	unload_it
	inventory /tmp/before

	echo "== $_rounds rounds under load"
	load_it
	start_load busy
	# A process costs an emulated machine more than a switch, so a round starts few.
	_enabled=$(sysfs "$_name" enabled)
	_round=0
	while [ $((_round += 1)) -le "$_rounds" ]; do
		echo 0 >"$_enabled" || cannot_be "$_name" 0
		behaves old
		echo 1 >"$_enabled" || cannot_be "$_name" 1
		behaves new
	done
	stop_load
	unload_it
	same_inventory /tmp/before "$_rounds"

	echo "== loaded again"
	load_it
	unload_it
}
