# SPDX-License-Identifier: GPL-2.0-or-later
# Every example: it changes what it says, the new function itself runs, it reverts, 100
# times under load on all CPUs (20 where the time is short), and leaves nothing behind; see
# exercise in guest/patch.sh.

load helpers

# example NAME FUNCTION... [-- VM-OPTION...] - the script that defines behaves and busy
# comes from standard input.
example() {
	local name=$1 functions=() script
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		functions+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	with_patches "$top/examples/$name.patch"
	script=$(cat)
	in_guest "$name" --timeout 300 --exact-slabs "${patched[@]}" "$@" <<<"$script
exercise $(rounds 100 20) $name ${functions[*]}"
}

# in_guest NAME [VM-OPTION...] - run the script from standard input in a guest and show what it says; or
# leave script and options to test/matrix/run, which has one guest for all examples.
in_guest() {
	if [ -n "${POKEPATCH_GATHER:-}" ]; then
		cat >"$POKEPATCH_GATHER/$1.sh"
		printf '%s\n' "${@:2}" >"$POKEPATCH_GATHER/$1.options"
	else
		guest "${@:2}"
		cat "$guest_output"
	fi
}

@test "example proc-version: a changed line" {
	example proc-version version_proc_show <<-'END'
		busy() { cat /proc/version; }
		release=$(uname -r)
		behaves() {
			read -r text </proc/version
			case $1 in
			old) has /proc/version "$text" "Linux version $release" ;;
			new) has /proc/version "$text" "Live-patched Linux version $release" ;;
			esac
			[ "$1" = new ] || lacks /proc/version "$text" "Live-patched"
		}
	END
}

@test "example proc-uptime: a new static function and variable" {
	example proc-uptime uptime_proc_show count_uptime_read <<-'END'
		busy() { cat /proc/uptime; }
		after_load() {
			same "the first count" "$(cut -d ' ' -f 3 /proc/uptime)" 1001
			same "the second count" "$(cut -d ' ' -f 3 /proc/uptime)" 1002
		}
		behaves() {
			read -r text </proc/uptime
			set -- "$1" $text
			case $1 in
			old) same "numbers in /proc/uptime" $# 3 ;;
			new)
				same "numbers in /proc/uptime" $# 4
				[ "$4" -gt 1002 ] || die "the count went back to $4"
				;;
			esac
		}
	END
}

@test "example proc-net-cookie: three units of net/ipv4" {
	example proc-net-cookie tcp4_seq_show udp4_seq_show raw_seq_show inet_proc_sock_id \
		-- --program "$(test_program sockets)" <<-'END'
		sockets &
		until_true 10 grep -q ':04D2 ' /proc/net/udp
		busy() { cat /proc/net/tcp /proc/net/udp /proc/net/raw; }
		behaves() {
			for _file in tcp udp raw; do
				# The twelfth word of the second line.
				{ read -r _ && read -r _ _ _ _ _ _ _ _ _ _ _ _id _; } </proc/net/$_file
				# Cookies count from 1, on each CPU from a multiple of 4096.
				case $1:$_id in
				*:0000000000000000) die "$_file: no number" ;;
				new:00000000000?????) ;;
				new:*) die "/proc/net/$_file shows $_id, not a cookie" ;;
				old:00000000000?????) die "/proc/net/$_file shows $_id, not an address" ;;
				esac
			done
		}
	END
}

@test "example binfmt-misc-status: a module that is loaded afterwards" {
	example binfmt-misc-status bm_status_read -- --module binfmt_misc <<-'END'
		status=/proc/sys/fs/binfmt_misc/status
		mount_it() {
			modprobe binfmt_misc
			mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
		}
		before_load() {
			umount /proc/sys/fs/binfmt_misc
			rmmod binfmt_misc
		}
		after_load() { mount_it; }
		busy() { cat $status; }
		behaves() {
			read -r text <$status
			case $1 in
			old) same status "$text" "enabled" ;;
			new) same status "$text" "enabled (live-patched)" ;;
			esac
		}
		mount_it
	END
}

@test "example proc-oom-adj: a bit of everything" {
	example proc-oom-adj oom_adj_read -- --program "$(test_program badread)" \
		--expect 'WARNING: (.* at )?fs/proc/base\.c:[0-9]+ (at )?oom_adj_read\+.*\[pokepatch_proc_oom_adj\]' \
		<<-'END'
		field() { sed -n "s/.*$1=\([^ ]*\).*/\1/p"; }
		busy() { cat /proc/self/oom_adj; }
		behaves() {
			text=$(cat /proc/self/oom_adj)
			case $1 in
			old) same /proc/self/oom_adj "$text" 0 ;;
			new) has /proc/self/oom_adj "$text" "0 forks=" ;;
			esac
		}
		# Runs once, at the first load, when nothing else forks.
		after_load() {
			[ ! -e /tmp/looked ] || return 0
			touch /tmp/looked

			forks=$(sed -n 's/^processes //p' /proc/stat)
			text=$(cat /proc/self/oom_adj)
			got=$(echo "$text" | field forks)
			[ "$got" -ge "$forks" ] && [ "$got" -le $((forks + 10)) ] ||
				die "forks: $got, but /proc/stat says $forks"
			got=$(echo "$text" | field processes)
			count=$(ls -d /proc/[0-9]* | wc -l)
			[ "$got" -ge $((count - 5)) ] && [ "$got" -le $((count + 5)) ] ||
				die "processes: $got, but /proc has $count"
			has "this CPU's share" "$text" here=

			same "static key" "$(cat /proc/self/oom_adj | field delayacct)" off
			sysctl -w kernel.task_delayacct=1
			same "static key" "$(cat /proc/self/oom_adj | field delayacct)" on
			sysctl -w kernel.task_delayacct=0
			same "static key" "$(cat /proc/self/oom_adj | field delayacct)" off

			badread /proc/self/oom_adj >/tmp/badread
			same "a bad address" "$(cat /tmp/badread)" "mapped: read
		not mapped: Bad address
		half mapped: Bad address"

			event=$tracing/events/oom/oom_score_adj_update/enable
			echo 1 >$event
			cat /proc/self/oom_adj
			echo 0 >$event
			has trace "$(cat $tracing/trace)" "oom_score_adj_update: pid="
			has trace "$(cat $tracing/trace)" "comm=cat oom_score_adj=0"

			same "printk_once" "$(dmesg | grep -c 'oom_adj: first read')" 1

			control=/sys/kernel/debug/dynamic_debug/control
			has "dynamic debug" "$(cat $control)" "oom_adj_read =_"
			lacks "the log before" "$(dmesg)" "oom_adj: 0 of"
			echo "func oom_adj_read +p" >$control
			cat /proc/self/oom_adj
			has "the log after" "$(dmesg)" "oom_adj: 0 of cat"
			echo "func oom_adj_read -p" >$control

			(
				echo 412 >/proc/self/oom_score_adj
				cat /proc/self/oom_adj
			)
		}
	END
}

@test "example sys-uname: the body of a system call" {
	example sys-uname "${arch_syscall}sys_newuname" <<-'END'
		busy() { uname -v; }
		version=$(uname -v)
		patched=$(echo "Live-patched $version" | cut -c 1-64)
		behaves() {
			text=$(uname -v)
			case $1 in
			old) same "uname -v" "$text" "$version" ;;
			new) same "uname -v" "$text" "$patched" ;;
			esac
		}
	END
}

@test "example eventfd-writes: a shadow variable, and a callback" {
	example eventfd-writes eventfd_write eventfd_show_fdinfo eventfd_release \
		-- --program "$(test_program eventfds)" <<-'END'
		busy() { eventfds 8 50; }
		# is NAME - set $is to the word behind "NAME:".
		is() {
			set -- ${text#*$1:}
			is=$1
		}
		behaves() {
			text=$(eventfds 4 25)
			has fdinfo "$text" "eventfd-count: "
			case $1 in
			old) lacks fdinfo "$text" "writes" ;;
			new)
				has fdinfo "$text" "eventfd-writes:"
				has fdinfo "$text" "eventfd-first-writer:"
				is eventfd-writes
				same "writes" $is 100
				is pid
				pid=$is
				is eventfd-first-writer
				same "the first writer" $is $pid
				;;
			esac
		}
	END
}

# What the kernel itself counts must be the sum of what the markers tell.
@test "example mark-reclaim and example mark-tcp-retransmits : markers with local variables" {
	with_patches
	local name
	for name in mark-reclaim mark-tcp-retransmits; do
		patched+=(--module "$(patch_module "$top/examples/$name.patch" "$name" --instrument)")
	done
	in_guest mark-reclaim+mark-tcp-retransmits "${patched[@]}" --module brd --module dummy \
		--timeout 240 <<-'END'
		# start NAME - trace it; stop - until all has been shown.
		start() {
			rm -f /tmp/err
			pokepatch trace "$(patch_file "$1")" >/tmp/out 2>/tmp/err &
			tracer=$!
			until_true 30 grep -q "is on" /tmp/err 2>/dev/null
		}
		stop() {
			kill $tracer
			wait $tracer || die "trace ended with $?: $(cat /tmp/err)"
			head -n 3 /tmp/out
			lacks "what came" "$(cat /tmp/out)" LOST
		}

		echo "== pages that are reclaimed"
		freed() { awk '$1 ~ /^pgsteal_(anon|file)$/ { n += $2 } END { print n }' /proc/vmstat; }
		reclaimable
		sh -c 'echo $$ >/tmp/cgroup/user/cgroup.procs
			dd if=/dev/zero of=/tmp/pages/file bs=1M count=12 2>/dev/null'
		start mark-reclaim
		before=$(freed)
		echo 8M >/tmp/cgroup/user/memory.reclaim
		after=$(freed)
		stop
		told=$(sed -n 's/.* reclaim: \([0-9]*\) freed.*/\1/p' /tmp/out | awk '{ n += $1 } END { print n + 0 }')
		same "pages freed, by the markers and by the kernel" "$told" $((after - before))
		[ "$told" -ge 2048 ] || die "only $told pages"

		echo "== segments that are sent again"
		again() { awk '/^Tcp:/ && n++ { print $13 }' /proc/net/snmp; }
		modprobe dummy
		ip link add test0 type dummy
		ip addr add 10.77.0.1/24 dev test0
		ip link set test0 up
		before=$(again)
		start mark-tcp-retransmits
		nc -w 5 10.77.0.2 8765 </dev/null && die "somebody answers"
		stop
		told=$(sed -n 's/.*tcp_retransmit: \([0-9]*\) segments.* to 10.77.0.2:8765, mss [0-9]* window [0-9]*.*/\1/p' \
			/tmp/out | awk '{ n += $1 } END { print n + 0 }')
		same "by the markers and by the kernel" "$told" $(($(again) - before))
		[ "$told" -ge 2 ] || die "only $told"
		[ ! -e $pokepatch ] || die "the core is still there"
	END
}

@test "every example has its test" {
	local patch name
	for patch in "$top"/examples/*.patch; do
		name=$(basename "$patch" .patch)
		grep -q "example $name " "$BATS_TEST_FILENAME" || {
			echo "examples/$name.patch is in no test"
			return 1
		}
	done
}

@test "the module for the one-line example is small" {
	local file
	file=$(patch_module "$top/examples/proc-version.patch")
	"${cross}objcopy" --strip-debug "$file" "$BATS_TEST_TMPDIR/stripped.ko"
	size=$(stat -c %s "$BATS_TEST_TMPDIR/stripped.ko")
	say "pokepatch-proc-version.ko without debug sections: $size bytes"
	[ "$size" -lt 20000 ]
}
