# SPDX-License-Identifier: GPL-2.0-or-later
# Modules for the kernel's own livepatch core (pokepatch-build --format livepatch), on the stock kernel and
# without pokepatch's core.

load helpers

# klp NAME... - set $patched to the options of a guest that has the program pokepatch and the patch of
# each example or diff in test/vm/patches, for livepatch; of NAME=LEVEL a cumulative one.
klp() {
	local name module program level=() options
	program=$(own_program bin/pokepatch) || return 1
	patched=(--program "$program")
	for name; do
		level=() options=()
		[[ $name != mark-* ]] || options=(--instrument)
		[[ $name != *=* ]] || level=(--level "${name#*=}")
		name=${name%=*}
		[[ $name == /* ]] || name=$top/examples/$name.patch
		module=$(patch_module "$name" "klp-$(basename "$name" .patch)${level[1]:+-level-${level[1]}}" \
			--format livepatch "${level[@]}" "${options[@]}") || return 1
		patched+=(--module "$module")
	done
}

setup() {
	needs livepatch
}

words='
is_new() { has /proc/version "$(cat /proc/version)" Live-patched; }
is_old() { lacks /proc/version "$(cat /proc/version)" Live-patched; }
klp() { echo /sys/kernel/livepatch/pokepatch_klp_$(echo $1 | tr - _)/$2; }
shown() { [ -e "$(klp $1 enabled)" ]; }
markers() { echo /sys/module/pokepatch_klp_$(echo $1 | tr - _)/parameters/markers; }
gone() { ! shown $1; }
# ends STATUS COMMAND... - the command ends with that status.
ends() {
	_wanted=$1 _status=0
	shift
	"$@" || _status=$?
	same "the status of $*" $_status $_wanted
}
# one_processor - livepatch looks again only after a second at the tasks of idle processors.
one_processor() { for _online in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 0 >"$_online"; done; }
# no_core - nothing of pokepatch itself is needed.
no_core() { [ ! -e /sys/kernel/pokepatch ] || die "pokepatch has been loaded"; }
# state NAME - as the table of pokepatch list has it.
state() { pokepatch list | awk -v name=klp_$(echo $1 | tr - _) "\$1 == name { print \$2, \$3, \$4 }"; }
'

@test "examples by the kernel's livepatch: on, off, unloaded, many times" {
	local times examples=(proc-version proc-uptime proc-oom-adj proc-net-cookie binfmt-misc-status sys-uname
		mark-reclaim mark-tcp-retransmits eventfd-writes)
	times=$(rounds 100 3)
	klp "${examples[@]}"
	guest --timeout $((150 + times * 25)) --exact-slabs --module binfmt_misc --module brd --module dummy \
		--program "$(test_program sockets)" --program "$(test_program eventfds)" "${patched[@]}" <<<"$words"'
		examples="'"${examples[*]}"'" times='"$times"'
		# behaves EXAMPLE old|new
		behaves() {
			case $1:$2 in
			proc-version:*) is_$2 ;;
			proc-uptime:old) same "words of uptime" "$(wc -w </proc/uptime)" 2 ;;
			proc-uptime:new) same "words of uptime" "$(wc -w </proc/uptime)" 3 ;;
			proc-oom-adj:old) same oom_adj "$(cat /proc/self/oom_adj)" 0 ;;
			proc-oom-adj:new) has oom_adj "$(cat /proc/self/oom_adj)" "0 forks=*delayacct=off" ;;
			eventfd-writes:old) lacks fdinfo "$(eventfds 4 25)" writes ;;
			eventfd-writes:new) has fdinfo "$(eventfds 4 25)" "*eventfd-writes:*100*eventfd-first-writer:*" ;;
			proc-net-cookie:*) for file in tcp udp raw; do socket_is $2 $file; done ;;
			binfmt-misc-status:old) same status "$(cat $status)" enabled ;;
			binfmt-misc-status:new) same status "$(cat $status)" "enabled (live-patched)" ;;
			sys-uname:old) lacks version "$(uname -v)" Live-patched ;;
			sys-uname:new) has version "$(uname -v)" "Live-patched *" ;;
			mark-*:old) [ ! -e "$(markers $1)" ] || die "there are markers" ;;
			mark-reclaim:new) told mark-reclaim reclaim freed reclaims ;;
			mark-tcp-retransmits:new) told mark-tcp-retransmits tcp_retransmit again sends ;;
			*) die "what does $1 do?" ;;
			esac
		}
		# told EXAMPLE MARKER COUNTER COMMAND - the numbers that the marker tells during the command
		# are in all what the kernel counts.
		told() {
			echo 1-$1 >"$(markers $1)"
			_before=$($3)
			$4
			_after=$($3)
			echo >"$(markers $1)"
			_told=$(sed -n "s/.* $2: \([0-9]*\) .*/\1/p" $tracing/instances/1-$1/trace |
				awk "{ n += \$1 } END { print n + 0 }")
			rmdir $tracing/instances/1-$1
			[ $_told -ge 1 ] || die "nothing of $1"
			same "what $1 tells" $_told $((_after - _before))
		}
		freed() { awk "\$1 ~ /^pgsteal_(anon|file)\$/ { n += \$2 } END { print n }" /proc/vmstat; }
		reclaims() {
			sh -c "echo \$\$ >/tmp/cgroup/user/cgroup.procs
				dd if=/dev/zero of=/tmp/pages/file bs=64k count=32 2>/dev/null"
			echo 1M >/tmp/cgroup/user/memory.reclaim
			rm /tmp/pages/file
		}
		again() { awk "/^Tcp:/ && n++ { print \$13 }" /proc/net/snmp; }
		sends() { nc -w 2 10.77.0.2 8765 </dev/null && die "there was an answer" || :; }
		# socket_is old|new FILE - cookies count from 1, on each CPU from a multiple of 4096.
		socket_is() {
			{ read -r _ && read -r _ _ _ _ _ _ _ _ _ _ _ _id _; } </proc/net/$2
			case $1:$_id in
			new:00000000000?????) ;;
			*:0000000000000000 | new:* | old:00000000000?????) die "/proc/net/$2 shows $_id, $1" ;;
			esac
		}
		load_all() {
			for name in $examples; do
				behaves $name old
				insmod "$(patch_file klp-$name)"
				until_true 60 grep -qx 0 "$(klp $name transition)"
				same "$name" "$(cat "$(klp $name enabled)")" 1
			done
			for name in $examples; do behaves $name new; done
		}
		# The first of them is switched off last.
		unload_all() {
			for name in $(echo $examples | tr " " "\n" | tac); do
				echo 0 >"$(klp $name enabled)"
				until_true 60 gone $name
				until_true 5 rmmod pokepatch_klp_$(echo $name | tr - _)
				behaves $name old
			done
		}
		modprobe binfmt_misc
		mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
		status=/proc/sys/fs/binfmt_misc/status
		reclaimable
		modprobe dummy
		ip link add test0 type dummy
		ip addr add 10.77.0.1/24 dev test0
		ip link set test0 up
		sockets &
		until_true 10 grep -q ":04D2 " /proc/net/udp
		no_core
		load_all
		[ -d "$(klp proc-version vmlinux/version_proc_show,1)" ] || die "no folder of the function"
		unload_all
		# Of few rounds, what anything else holds on to would look like a leak.
		[ $times -lt 20 ] || inventory /tmp/before
		one_processor
		for round in $(seq 2 $times); do
			echo "== round $round"
			load_all
			unload_all
		done
		[ $times -lt 20 ] || same_inventory /tmp/before $times
		no_core
	'
	cat "$guest_output"
}

@test "markers: pokepatch trace leaves nothing behind, by signals, killed, and with a loaded patch" {
	# A text that asks for a capability.
	cat >"$BATS_TEST_TMPDIR/inner.patch" <<-'END'
		--- a/fs/proc/version.c
		+++ b/fs/proc/version.c
		@@ -8,3 +8,4 @@
		 static int version_proc_show(struct seq_file *m, void *v)
		 {
		+	POKEPATCH_MARK(outer, "%pK", m);
		 	seq_printf(m, linux_proc_banner,
	END
	klp proc-version
	patched+=(--module "$(patch_module fs/proc/version.c klp-marks --instrument --format livepatch \
		--mark-functions version_proc_show)" \
		--module "$(patch_module "$BATS_TEST_TMPDIR/inner.patch" klp-inner --instrument --format livepatch \
		--mark-functions has_capability_noaudit kernel/capability.c)" \
		--module "$(patch_module fs/seq_file.c klp-void --instrument --format livepatch \
		--mark-functions seq_vprintf)" \
		--module "$(patch_module fs/proc/version.c klp-level --instrument --format livepatch --level 2 \
		--mark-functions version_proc_show)")
	guest "${patched[@]}" --timeout 240 --expect "^pokepatch_klp_marks: .* invalid for parameter .markers.\$" <<<"$words"'
		instances() { ls $tracing/instances | grep -c pokepatch || :; }
		nothing_left() {
			gone marks
			same modules "$(grep -c "^pokepatch_klp_marks " /proc/modules || :)" 0
			same instances "$(instances)" 0
		}
		started() { grep -q "is on; Ctrl-C" /tmp/err 2>/dev/null; }
		start() {
			rm -f /tmp/out /tmp/err
			pokepatch trace $1 >/tmp/out 2>/tmp/err &
			tracer=$!
			until_true 60 started
		}
		# stop SIGNAL - after three calls.
		stop() {
			for _n in 1 2 3; do cat /proc/version >/tmp/version; done
			until_true 10 sh -c "grep -c version_proc_show_return /tmp/out | grep -qx 3"
			kill -$1 $tracer
			wait $tracer || die "trace ended with $?: $(cat /tmp/err)"
			cat /tmp/out
			same entries "$(grep -c "version_proc_show_entry: m=[0-9a-f]* v=[0-9a-f]*\$" /tmp/out)" 3
			same returns "$(grep -c "version_proc_show[.a-z]*: version_proc_show_return: 0\$" /tmp/out)" 3
		}
		file=$(patch_file klp-marks)
		echo "== a file"
		start $file
		stop TERM
		nothing_left
		start $file
		stop HUP
		nothing_left

		echo "== it is killed"
		start $file
		kill -9 $tracer
		wait $tracer || :
		until_true 60 sh -c "grep -q \"trace was killed; .klp_marks. is as it was before\" /tmp/err"
		nothing_left

		start "$(patch_file klp-inner)"
		echo 1 >/proc/sys/kernel/kptr_restrict
		cat /proc/version >/tmp/version
		until_true 20 grep -q "version_proc_show[.a-z]*: outer: [0-9a-f]*\$" /tmp/out
		kill $tracer
		wait $tracer || die "trace ended with $?: $(cat /tmp/err)"
		has "what it said" "$(cat /tmp/err)" "*[1-9]* markers are missing: they were reached while another one was being recorded*"
		gone inner

		# A call at the end of a function, which would be a jump, tells the function, too.
		echo "== a function that returns nothing"
		start "$(patch_file klp-void)"
		cat /proc/version >/tmp/version
		until_true 20 grep -q seq_vprintf_return /tmp/out
		kill $tracer
		wait $tracer || die "trace ended with $?: $(cat /tmp/err)"
		same "other functions" "$(grep seq_vprintf_ /tmp/out | grep -cv " seq_vprintf[.a-z]*: " || :)" 0
		gone void

		echo "== without the option trace_printk there is nothing to see"
		echo 0 >$tracing/options/trace_printk
		ends 1 pokepatch trace $file >/tmp/second 2>&1
		has "what it said" "$(cat /tmp/second)" "*the tracing option trace_printk is off*"
		echo 1 >$tracing/options/trace_printk
		nothing_left

		echo "== one that is loaded"
		pokepatch load $file
		same "a marker that is off" "$(grep -c "^version_proc_show_entry fs/proc/version.c:[0-9]* 0 0 m=" "$(markers marks)")" 1
		start klp-marks
		same "a marker that is on" "$(grep -c "^version_proc_show_entry fs/proc/version.c:[0-9]* 1 0 m=" "$(markers marks)")" 1
		ends 1 pokepatch trace klp_marks >/tmp/second 2>&1
		has "a second" "$(cat /tmp/second)" "*markers of ?klp_marks? cannot be shown*busy*"
		echo "-pokepatch-klp_marks-1" >"$(markers marks)" && die "another instance was left" || :
		stop TERM
		same instances "$(instances)" 0
		same state "$(state marks)" "enabled 1 livepatch"

		echo "== killed, together with its keeper: the next one can trace"
		start klp-marks
		kill -9 $(pidof pptrace-keeper) $tracer
		wait $tracer || :
		same instances "$(instances)" 1
		start klp-marks
		stop TERM
		same instances "$(instances)" 0
		same "off again" "$(grep -c "version.c:[0-9]* 0 0 " "$(markers marks)")" 2

		echo "== it is unloaded while it has an instance"
		echo pokepatch-by-hand >"$(markers marks)"
		cat /proc/version
		refused rmdir $tracing/instances/pokepatch-by-hand
		pokepatch unload klp-marks
		same "entries" "$(grep -c version_proc_show_entry: $tracing/instances/pokepatch-by-hand/trace)" 1
		rmdir $tracing/instances/pokepatch-by-hand
		nothing_left
		refused insmod $file markers=pokepatch-by-hand
		nothing_left
		echo "== one that is off, one with a level, one without markers"
		pokepatch load $file
		pokepatch disable klp-marks
		ends 2 pokepatch trace klp-marks >/tmp/second 2>&1
		has "off" "$(cat /tmp/second)" "*livepatch switches no patch on again*"
		pokepatch unload klp-marks
		ends 1 pokepatch trace "$(patch_file klp-level)" >/tmp/second 2>&1
		has "a level" "$(cat /tmp/second)" "*has a level, and would replace all other livepatches*"
		gone level
		ends 3 pokepatch trace "$(patch_file klp-proc-version)" >/tmp/second 2>&1
		has "without markers" "$(cat /tmp/second)" "*has no markers*"
		gone proc-version
		no_core
	'
	cat "$guest_output"
}

# another_build FILE - make other.ko, the same module with another build id.
another_build() {
	local place
	place=$(readelf -SW "$1" | sed -n 's/.*\.note\.gnu\.build-id *NOTE *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	cp "$1" other.ko
	printf '\0\0' | dd of=other.ko bs=1 seek=$((16#$place + 16)) conv=notrunc status=none
	run -1 cmp -s "$1" other.ko
}

@test "pokepatch load, list, info, disable and unload of modules for livepatch" {
	klp proc-version
	cd "$BATS_TEST_TMPDIR" || return
	another_build "${patched[-1]}"
	guest "${patched[@]}" --file other.ko <<<"$words"'
		pokepatch load "$(patch_file klp-proc-version)"
		is_new
		no_core
		same state "$(state proc-version)" "enabled 1 livepatch"
		pokepatch info klp-proc-version >/tmp/info
		grep -q "^core: *livepatch$" /tmp/info
		grep -q "^version_proc_show  *vmlinux  *livepatch" /tmp/info
		ends 3 pokepatch load "$(patch_file klp-proc-version)"
		ends 1 pokepatch load other.ko 2>said
		has "what load says" "$(cat said)" "another build of patch ?klp_proc_version? is loaded; unload it first"
		ends 3 pokepatch enable klp-proc-version
		pokepatch disable klp-proc-version
		is_old
		ends 2 pokepatch enable klp-proc-version
		ends 1 pokepatch load "$(patch_file klp-proc-version)"
		pokepatch unload klp-proc-version
		pokepatch load "$(patch_file klp-proc-version)"
		is_new
		pokepatch unload klp-proc-version
		is_old
		[ ! -e /sys/module/pokepatch_klp_proc_version ] || die "the module is still there"
	'
}

@test "a signal ends a load, which is undone, and a disable, which says how it is completed" {
	klp "$top/test/vm/patches/sleepers.patch" proc-version
	guest --timeout 240 "${patched[@]}" <<<"$words"'
		# interrupted NAME COMMAND... - it gets a signal while that patch is being switched.
		interrupted() {
			_name=$1
			shift
			"$@" >/tmp/said 2>&1 &
			_pid=$!
			until_true 60 grep -qsx 1 "$(klp $_name transition)"
			sleep 2
			kill -TERM $_pid
			_status=0
			wait $_pid || _status=$?
			cat /tmp/said
			same "the status of $*" $_status 1
			has "what it said" "$(cat /tmp/said)" interrupted
		}
		pokepatch load "$(patch_file klp-sleepers)"
		echo 1001 >/proc/sys/kernel/panic
		cat /proc/version &
		until_true 10 asleep_in $! version_proc_show
		interrupted proc-version pokepatch load "$(patch_file klp-proc-version)"
		[ ! -e /sys/module/pokepatch_klp_proc_version ] || die "the module is still there"
		interrupted sleepers pokepatch disable klp-sleepers
		has "what it said" "$(cat /tmp/said)" "still being switched off; *pokepatch unload klp_sleepers"
		same state "$(state sleepers)" "disabling 2 livepatch"
		echo 0 >/proc/sys/kernel/panic
		pokepatch unload klp-sleepers
		[ ! -e /sys/module/pokepatch_klp_sleepers ] || die "the module is still there"
	'
}

@test "a patch is not off while a task sleeps in any of its code" {
	local cold=''
	! can cold-parts || cold='sleeps 1002 version_proc_show.cold'
	klp "$top/test/vm/patches/sleepers.patch"
	guest "${patched[@]}" <<<"$words"'
		panic=/proc/sys/kernel/panic
		# sleeps NUMBER FUNCTION - a task sleeps in that function; the patch must wait for it.
		sleeps() {
			insmod "$(patch_file klp-sleepers)"
			until_true 60 grep -qx 0 "$(klp sleepers transition)"
			echo $1 >$panic
			cat /proc/version >/dev/null &
			_pid=$!
			until_true 10 asleep_in $_pid $2
			echo 0 >"$(klp sleepers enabled)"
			# Livepatch looks again once a second.
			sleep 4
			same "a transition with a task in $2" "$(cat "$(klp sleepers transition)")" 1
			echo 0 >$panic
			kill -KILL $_pid || :
			wait $_pid || :
			until_true 60 gone sleepers
			until_true 5 rmmod pokepatch_klp_sleepers
		}
		sleeps 1001 version_proc_show
		# The function has jumped to this one, and is not on the stack.
		sleeps 1004 "sleep_elsewhere*"
		'"$cold"'
	'
}

@test "a function without an entry: no task is looked for in the old one, and each in the new one" {
	klp "$top/test/vm/patches/flock-body.patch"
	guest "${patched[@]}" --program "$(test_program flocker)" <<<"$words"'
		flock_first
		same "the old error" "$(flock_error)" 22
		flock_second
		old=$second
		insmod "$(patch_file klp-flock-body)"
		until_true 60 grep -qx 0 "$(klp flock-body transition)"
		same "the new error" "$(flock_error)" 33
		flock_second
		has "the stack" "$(cat /proc/$second/stack)" "*__do_sys_flock*pokepatch_klp_flock_body*"
		echo 0 >"$(klp flock-body enabled)"
		# Livepatch looks again once a second.
		sleep 4
		same "a transition with a task in the new function" "$(cat "$(klp flock-body transition)")" 1
		kill $second
		wait $second || :
		until_true 60 gone flock-body
		until_true 5 rmmod pokepatch_klp_flock_body
		same "the old error" "$(flock_error)" 22
		# This one has been in the old function all the time, and gets the lock there.
		kill $first
		until_true 10 grep -q locked /tmp/second
		kill $old
	'
}

@test "shadow variables, from all CPUs, in interrupts and NMIs" {
	klp "$top/test/vm/patches/shadows.patch" eventfd-writes
	guest --timeout 300 "${patched[@]}" --program "$(test_program shadows)" \
		--program "$(test_program eventfds)" <<<"$words"'
		times=2000
		can spin || times=40
		pokepatch load "$(patch_file klp-shadows)"
		shadows $times
		line=$(dmesg | sed -n "s/^.*shadows: \(.*constructed.*\)/\1/p" | tail -n 1)
		echo "$line"
		for pair in $(echo "$line" | sed "s/^[^,]*, //; s/,//g; s/ \([0-9]\)/=\1/g"); do
			eval "$pair"
		done
		same "wrong" $wrong 0
		same "destroyed" $destroyed $constructed
		[ $constructed -gt $((times / 2)) ] || die "constructed only $constructed"
		[ $failed -gt $((times / 20)) ] || die "only $failed constructions failed"
		[ $irqs -gt $((times / 10)) ] || die "only $irqs in interrupts"
		# The address of its NMI handler has escaped, and no core looks for tasks once more.
		pokepatch disable klp-shadows
		has "the log" "$(dmesg)" "its module stays loaded: pokepatch_withdrawn() has no effect"
		refused rmmod pokepatch_klp_shadows

		# A callback detaches what is still there.
		lacks fdinfo "$(eventfds 4 25)" writes
		pokepatch load "$(patch_file klp-eventfd-writes)"
		has fdinfo "$(eventfds 4 25)" "*eventfd-writes:*100*eventfd-first-writer:*"
		mkfifo /tmp/go
		shadows 9 wait <>/tmp/go >/dev/null &
		written() { cat /proc/$!/fdinfo/* | grep "^eventfd-writes:"; }
		until_true 10 written
		pokepatch unload klp-eventfd-writes
		refused written
		pokepatch load "$(patch_file klp-eventfd-writes)"
		refused written
		echo >/tmp/go
		wait $!
		pokepatch unload klp-eventfd-writes
		no_core
	'
}

@test "livepatch switches a module that comes after the patch" {
	klp binfmt-misc-status
	guest --module binfmt_misc "${patched[@]}" <<<"$words"'
		status=/proc/sys/fs/binfmt_misc/status
		insmod "$(patch_file klp-binfmt-misc-status)"
		until_true 60 grep -qx 0 "$(klp binfmt-misc-status transition)"
		modprobe binfmt_misc
		mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
		new=$(cat $status)
		same "patched" "$(cat "$(klp binfmt-misc-status binfmt_misc/patched)")" 1
		pokepatch unload klp-binfmt-misc-status
		old=$(cat $status)
		same old "$old" enabled
		[ "$new" != "$old" ] || die "the module is as it was"
		echo "with the patch: $new"
		# And now when the module is there already.
		pokepatch load "$(patch_file klp-binfmt-misc-status)"
		same "the second time" "$(cat $status)" "$new"
		pokepatch unload klp-binfmt-misc-status
		umount /proc/sys/fs/binfmt_misc
	'
}

@test "the right one of several functions of a name" {
	needs cpuinfo-start
	klp "$top/test/vm/patches/cpuinfo-odd.patch"
	guest --smp 2 "${patched[@]}" <<<"$words"'
		count() { grep -c ^processor /proc/cpuinfo || :; }
		same "processors" "$(count)" 2
		pokepatch load "$(patch_file klp-cpuinfo-odd)"
		same "processors that the new function shows" "$(count)" 1
		ls /sys/kernel/livepatch/*/vmlinux
		cat /proc/consoles >/dev/null
		pokepatch unload klp-cpuinfo-odd
		same "processors again" "$(count)" 2
	'
}

@test "callbacks, of the kernel and of a module that comes and goes" {
	klp "$top/test/vm/patches/callbacks.patch"
	guest --module dummy --module tun --expect '^livepatch: pre-patch callback failed for object .vmlinux.' \
		--expect '^livepatch: failed to' "${patched[@]}" <<<"$words"'
		# said WHAT LINE... - what the callbacks have told since the last time.
		said() {
			_what=$1
			shift
			dmesg -c | sed -n "s/^.*callback: klp_callbacks //p" >/tmp/said
			for _line; do echo "$_line"; done >/tmp/wanted
			diff /tmp/wanted /tmp/said || die "$_what: not what was wanted"
		}
		dmesg -c >/tmp/before
		insmod "$(patch_file klp-callbacks)"
		until_true 60 grep -qx 0 "$(klp callbacks transition)"
		said on "pre-patch of vmlinux, old" "post-patch of vmlinux, new"
		modprobe dummy
		said coming "pre-patch of dummy, dummy coming" "post-patch of dummy, dummy coming"
		same mtu "$(cat /sys/class/net/dummy0/mtu)" 1234
		rmmod dummy
		said going "pre-unpatch of dummy, dummy going" "post-unpatch of dummy, dummy going"
		pokepatch disable klp-callbacks
		said off "pre-unpatch of vmlinux, new" "post-unpatch of vmlinux, old"
		pokepatch unload klp-callbacks
		# A callback of the kernel forbids the switch: -EIO.
		echo -1005 >/proc/sys/kernel/panic
		refused pokepatch load "$(patch_file klp-callbacks)"
		said forbidden "pre-patch of vmlinux, old"
		[ ! -e /sys/module/pokepatch_klp_callbacks ] || die "the module is there"
		echo 0 >/proc/sys/kernel/panic
		modprobe dummy
		pokepatch load "$(patch_file klp-callbacks)"
		said again "pre-patch of vmlinux, old" "pre-patch of dummy, dummy live" \
			"post-patch of vmlinux, new" "post-patch of dummy, dummy live"
		pokepatch unload klp-callbacks
		said "off again" "pre-unpatch of vmlinux, new" "pre-unpatch of dummy, dummy live" \
			"post-unpatch of vmlinux, old" "post-unpatch of dummy, dummy live"
	'
}

@test "a patch whose addresses escape can be disabled, but stays loaded" {
	klp "$top/test/vm/patches/escape.patch"
	guest "${patched[@]}" <<<"$words"'
		pokepatch load "$(patch_file klp-escape)"
		cat /proc/cmdline >/dev/null
		pokepatch disable klp-escape
		refused rmmod pokepatch_klp_escape
		for command in "unload klp-escape" "load $(patch_file klp-escape)"; do
			ends 2 pokepatch $command 2>said
			has "what $command says" "$(cat said)" "stays until the next boot: refused [[]address-escapes]"
		done
		sleep 2
		has "kernel log" "$(dmesg)" "escaped: the timer ran"
	'
}

@test "a cumulative patch replaces the others" {
	klp proc-version proc-uptime proc-version=1
	guest "${patched[@]}" <<<"$words"'
		uptime_words() { wc -w </proc/uptime; }
		pokepatch load "$(patch_file klp-proc-version)"
		pokepatch load "$(patch_file klp-proc-uptime)"
		same "words of uptime" "$(uptime_words)" 3
		pokepatch load "$(patch_file klp-proc-version-level-1)"
		is_new
		same "words of uptime" "$(uptime_words)" 2
		pokepatch list
		same "what livepatch shows" "$(ls /sys/kernel/livepatch)" pokepatch_klp_proc_version_level_1
		[ ! -e /sys/module/pokepatch_klp_proc_uptime ] || die "a replaced module is still there"
		pokepatch unload klp-proc-version-level-1
		is_old
	'
}

@test "fixes of the catalogue by the kernel's livepatch: their effect comes and goes" {
	run "$top/patches/check" --format livepatch --rounds "$(rounds 100 2)" \
		tx-queue-len exfat-bitmap xt-hashlimit-rate
	echo "$output"
	[ "$status" -eq 0 ]
}
