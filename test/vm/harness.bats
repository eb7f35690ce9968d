# SPDX-License-Identifier: GPL-2.0-or-later
# The VM harness itself: what goes wrong in a guest must be told, and as what it is.

load helpers

@test "harness: output, arguments, files, programs, modules" {
	echo "text of a file" >"$BATS_TEST_TMPDIR/note"
	guest --file "$BATS_TEST_TMPDIR/note" --file "$BATS_TEST_TMPDIR/note":/etc/deep/note \
		--program "$(own_program bin/pokepatch)" --module zram -- one 'two words' "${arch_most_cpus:-4}" <<-'END'
		same "number of arguments" $# 3
		same "second argument" "$2" "two words"
		same user "$(id -u)" 0
		same processors "$(nproc)" $3
		same file "$(cat note)" "text of a file"
		same "deep file" "$(cat /etc/deep/note)" "text of a file"
		has "a program with libraries" "$(/usr/bin/pokepatch --version)" pokepatch
		modprobe zram
		has modules "$(lsmod)" zsmalloc
		echo to stderr >&2
		echo "the end"
	END
	[ "$(tail -n 1 "$guest_output")" = "the end" ]
	grep -qx "to stderr" "$guest_output"
	grep -q "Linux version $(kernel_release)" "$guest_log"
	grep -q "reboot: Restarting system" "$guest_log"
}

# What does not need more is booted with one processor, which is quicker.
@test "harness: the script's own status, and the place where it failed" {
	guest_fails 7 --smp 1 <<-'END'
		exit 7
	END
	guest_fails 1 --smp 1 <<-'END'
		false
		exit 0
	END
	guest_fails 1 --smp 1 <<-'END'
		same colour red blue
	END
	grep -q "FAILED: colour: got 'red', wanted 'blue'" "$guest_output"
}

@test "harness: a line at warning level is a finding, and no other; 10,000 lines come back whole" {
	guest_fails 123 --smp 1 <<-'END'
		echo "<4>something odd" >/dev/kmsg
	END
	grep -q "something odd" "$guest_complaint"
	guest --smp 1 <<-'END'
		echo "<5>something noted" >/dev/kmsg
		seq 10000
	END
	cmp "$guest_output" <(seq 10000)
}

@test "harness: an expected line is no finding, and must appear" {
	guest --smp 1 --expect '^something odd$' <<-'END'
		echo "<4>something odd" >/dev/kmsg
	END
	guest_fails 123 --smp 1 --expect '^something odd$' <<-'END'
		true
	END
	grep -q "expected, but not in the log" "$guest_complaint"
}

@test "harness: WARN is a finding, told by its name" {
	guest_fails 123 --smp 1 --module "$(test_module pp_trouble)" <<-'END'
		modprobe pp_trouble trouble=warn
		rmmod pp_trouble
		modprobe pp_trouble trouble=warn_text
	END
	grep -q make_warn "$guest_complaint"
	grep -q "pp_trouble warns" "$guest_complaint"
	# One report is one finding.
	cat "${guest_log%/*}/findings"
	[ "$(wc -l <"${guest_log%/*}/findings")" -eq 2 ]
	guest --smp 1 --expect 'WARNING: .*make_warn\+' --module "$(test_module pp_trouble)" <<-'END'
		modprobe pp_trouble trouble=warn
	END
}

@test "harness: BUG, oops and panic kill the guest, with the log complete" {
	local trouble
	for trouble in "bug:kernel BUG" "oops:unable to handle .*\(page fault\|paging request\)\|NULL pointer" \
		"panic:Kernel panic - not syncing: pp_trouble panics"; do
		guest_fails 122 --module "$(test_module pp_trouble)" -- "${trouble%%:*}" <<-'END'
			echo before
			modprobe pp_trouble trouble="$1"
			echo after
		END
		grep -iq "${trouble#*:}" "$guest_log"
		# The log goes on to the very end: where the processors were.
		grep -q "$arch_last_words" "$guest_log"
		grep -q "the guest died" "$guest_complaint"
		[ "$(cat "$guest_output")" = before ]
	done
}

@test "harness: a script that does not end" {
	# The boot is within that time.
	local seconds=12
	[ "$arch" = "$("$top/test/host-arch")" ] || seconds=40
	guest_fails 124 --smp 1 --timeout $seconds <<-'END'
		echo waiting
		sleep 1000
	END
	grep -q "not done after $seconds seconds" "$guest_complaint"
	[ "$(cat "$guest_output")" = waiting ]
}

@test "harness: what a script waits for other programs does not count" {
	local hogs=() seconds started status=0 TIMEFORMAT='%2U %2S'
	local script='n=40000; while [ $n -gt 0 ]; do n=$((n - 1)); done'
	taskset -cp 0 $BASHPID
	# What it takes of the processor alone, as much again, and what it sleeps.
	guest --smp 1 <<<true # which makes what guests have in common
	{ time guest --smp 1 <<<"$script" 2>"$BATS_TEST_TMPDIR/said"; } 2>"$BATS_TEST_TMPDIR/used" || cat "$BATS_TEST_TMPDIR/said"
	seconds=$(awk '{ print int(($1 + $2) * 2) + 2 }' "$BATS_TEST_TMPDIR/used")
	for _ in 1 2 3; do
		timeout 300 sh -c 'while :; do :; done' &
		hogs+=($!)
	done
	started=$SECONDS
	guest --smp 1 --timeout "$seconds" <<<"$script" || status=$?
	kill "${hogs[@]}"
	echo "$((SECONDS - started)) seconds, of at most $seconds"
	[ $status -eq 0 ]
	[ $((SECONDS - started)) -gt "$seconds" ]
}

@test "harness: a processor that hangs says where" {
	needs hang-report
	guest_fails 124 --timeout 30 --module "$(test_module pp_trouble)" <<-'END'
		modprobe pp_trouble trouble=lockup
	END
	grep -q "make_lockup" "$guest_log"
}

@test "harness: a guest that stops without a word" {
	guest_fails 122 --smp 1 <<-'END'
		reboot -f
	END
	grep -q "the guest died" "$guest_complaint"
}

# In QEMU's place: a program that writes $said where the guest would write its log, and says that the guest has come to
# its end.
no_qemu() {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/$arch_qemu" <<-'END'
		#!/bin/bash
		for argument; do
			case $argument in
			file,id=log,path=*) log=${argument#*path=} ;;
			file,id=control,path=*) control=${argument#*path=} ;;
			esac
		done
		cp "$said" "${log%,append=on}"
		echo "pokepatch-vm: exit 0" >"${control%,append=on}"
		exit "$ends_with"
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/$arch_qemu"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "harness: a guest has failed if its log is empty or breaks off, or QEMU ends otherwise than it should" {
	export said=$BATS_TEST_TMPDIR/said ends_with=0
	no_qemu
	printf '<%s\n' '5>[ 0.0] Linux version' '0>[ 9.0] reboot: Restarting system' >"$said"
	guest <<<true
	ends_with=1 guest_fails 122 <<<true
	grep -q "QEMU ended with status 1" "$guest_complaint"
	sed -i '$d' "$said"
	guest_fails 123 <<<true
	grep -q "the log breaks off" "$guest_complaint"
	# A log without levels is none.
	printf '%s\n' '[ 0.0] BUG: unable to handle' '[ 9.0] reboot: Restarting system' >"$said"
	guest_fails 123 <<<true
	grep -q "no log of a kernel" "$guest_complaint"
	: >"$said"
	guest_fails 123 <<<true
}

@test "harness: what crashes or is not there has refused nothing" {
	guest --smp 1 <<-'END'
		refused false
		(refused true) && die "true was taken for a refusal"
		(refused no-such-command) && die "a command that is not there was taken for a refusal"
		(refused sh -c 'kill -ABRT $$') && die "a crash was taken for a refusal"
		true
	END
}

@test "harness: usage errors" {
	guest_fails 121 --module no_such_module <<<true
	grep -q "module no_such_module" "$guest_complaint"
	guest_fails 121 --kernel 1.2.3-none <<<true
	guest_fails 121 --arch vax <<<true
	guest_fails 121 --no-such-option <<<true
	guest_fails 121 --append "$(printf 'x%.0s' {1..2100})" <<<true
	grep -q "the kernel's command line has 2[0-9]* characters" "$guest_complaint"
	guest_fails 121 --file /no/such/file <<<true
}

@test "harness: counted instructions" {
	guest --icount <<-'END'
		same processors "$(nproc)" 1
	END
}

@test "harness: nothing is left behind" {
	mkdir "$BATS_TEST_TMPDIR/tmp"
	TMPDIR=$BATS_TEST_TMPDIR/tmp guest --smp 1 <<<true
	TMPDIR=$BATS_TEST_TMPDIR/tmp guest_fails 124 --smp 1 --timeout 8 <<<'sleep 100'
	run -0 ls -A "$BATS_TEST_TMPDIR/tmp"
	[ -z "$output" ]
	run -1 pgrep -f "$BATS_TEST_TMPDIR/tmp"
}

@test "harness: a log may end within a report that is allowed, and no other" {
	local log=$BATS_TEST_TMPDIR/log allow=$BATS_TEST_TMPDIR/allow
	printf '# a reason\n^WARNING: known\n' >"$allow"
	report() { # NAME LAST-LINE...
		printf '<%s\n' '4>[ 1.0] ------------[ cut here ]------------' "4>[ 1.1] WARNING: $1" \
			'4>[ 1.2] CPU: 0 PID: 1' "${@:2}" >"$log"
	}
	for last in '' '4>[' '4>[ 1.' '4>[ 1.3] Stac'; do
		report known "$last"
		awk -f "$top/test/vm/scan.awk" -v allow="$allow" "$log"
		report other "$last"
		run -1 awk -f "$top/test/vm/scan.awk" -v allow="$allow" "$log"
		[ "$output" = "2 WARNING: other" ]
	done
	report known '4>[' '4>[ 1.3] Call Trace:'
	run -1 awk -f "$top/test/vm/scan.awk" -v allow="$allow" "$log"
	[ "$output" = "4 not a kernel message: <4>[" ]
	report known '4>[ 1.3] ---[ end trace 0 ]---' '6>[ 1.4] more' '4>['
	run -1 awk -f "$top/test/vm/scan.awk" -v allow="$allow" "$log"
	# Or within a line that begins once the machine restarts.
	printf '<0>[ 1.0] %s\n<4>[ 1.' 'reboot: Restarting system' >"$log"
	judge() { "$vm" scan "$log"; }
	judge
	printf '1] odd' >>"$log"
	judge
	printf '\n' >>"$log" # it is whole
	run -1 judge
	printf '<%s\n' '0>[ 1.0] reboot: Restarting system' '4>[ 1.1] ------------[ cut here ]------------' >"$log"
	printf '<4>[ 1.2] WARNING: kno' >>"$log"
	judge
	printf 'wn\n' >>"$log"
	run -1 judge
	[ "$output" = "3 WARNING: known" ]
	printf '<4>[ 1.3] CPU: 0 PI' >>"$log" # its first line is whole
	run -1 judge
	printf '<0>[ 1.0] %s\n<4>[ 1.1] odd\n<6>[ 1.' 'reboot: Restarting system' >"$log"
	run -1 judge
	printf '<0>[ 1.0] %s\n<4>[ 1.' 'reboot: Power down' >"$log"
	run -1 judge
}

@test "harness: what begins within the head of a report that is allowed is judged by itself" {
	local log=$BATS_TEST_TMPDIR/log allow=$BATS_TEST_TMPDIR/allow line
	printf '# a reason\n^WARNING: known\n' >"$allow"
	for line in 'BUG: scheduling while atomic: x/1/2' 'WARNING: CPU: 1 PID: 5 at stop.c:1 stop_write+0x1/0x2 [pokepatch]'; do
		printf '<%s\n' '4>[ 1.0] ------------[ cut here ]------------' '4>[ 1.1] WARNING: known' \
			"4>[ 1.2] $line" '4>[ 1.3] CPU: 0 PID: 1' '4>[ 1.4] ---[ end trace 0 ]---' >"$log"
		run -1 awk -f "$top/test/vm/scan.awk" -v allow="$allow" "$log"
		[[ $output == *" $line" ]]
	done
	# Where WARN()'s text follows, it is of the head.
	printf '<%s\n' '4>[ 1.0] ------------[ cut here ]------------' '4>[ 1.1] WARNING: known' \
		'4>[ 1.2] some text' '4>[ 1.3] CPU: 0 PID: 1' '4>[ 1.4] ---[ end trace 0 ]---' >"$log"
	run -0 awk -f "$top/test/vm/scan.awk" -v allow="$allow" "$log"
}

@test "harness: clocks may complain, but not of a stop of ours that was too long" {
	local log=$BATS_TEST_TMPDIR/log line
	log_of() { # MICROSECONDS LINE...
		printf '<%s\n' '6>[ 1.0] starts' "${@:2}" \
			"6>[ 9.2] pokepatch: fix: enabled, 1 function, the machine stopped for $1 us" >"$log"
	}
	for line in 'hrtimer: interrupt took 9999999 ns' \
		"clocksource: timekeeping watchdog on CPU0: Marking clocksource 'tsc' as unstable because the skew is too large:"; do
		log_of 200 "4>[ 9.1] $line"
		run -0 "$vm" scan "$log"
		log_of 2000000 "4>[ 5.1] $line"
		run -0 "$vm" scan "$log"
		log_of 2000000 "4>[ 9.1] $line"
		run -1 "$vm" scan "$log"
		[ "$output" = "2 $line (near a stop of 2000000 us)" ]
		log_of 2000000
		echo "<4>[ 9.5] $line" >>"$log"
		run -1 "$vm" scan "$log"
		[ "$output" = "3 $line (near a stop of 2000000 us)" ]
	done
}

@test "harness: a warning is allowed on its architecture, and for its own trace alone" {
	local log=$BATS_TEST_TMPDIR/log allow=$BATS_TEST_TMPDIR/allow
	printf '# a reason\n@arch arm64 mips64el\n@trace stop_this\n@no-trace pp_\n^WARNING: at smp\n' >"$allow"
	scan() { # ARCH TRACE-LINE...
		printf '<%s\n' '4>[ 1.0] ------------[ cut here ]------------' '4>[ 1.1] WARNING: at smp' \
			'4>[ 1.2] CPU: 0 PID: 1 Comm: pp_x 6.1.0-pp_kernel #1' "${@:2}" '4>[ 1.9] ---[ end trace 0 ]---' >"$log"
		awk -f "$top/test/vm/scan.awk" -v allow="$allow" -v arch="$1" "$log"
	}
	stopped='4>[ 1.3]  stop_this_cpu+0x1/0x2' ours='4>[ 1.4]  pp_stop+0x1/0x2'
	run -0 scan mips64el "$stopped"
	# A frame of a trampoline of ftrace has no name.
	run -0 scan mips64el '4>[ 1.3]  0xffffffffc0442083' "$stopped"
	run -1 scan x86_64 "$stopped"
	run -1 scan mips64el '4>[ 1.3]  other+0x1/0x2'
	[ "$output" = "2 WARNING: at smp" ]
	run -1 scan mips64el "$stopped" "$ours"
	[ "$output" = "2 WARNING: at smp" ]
	printf '# a reason\n@no-such-word\n^x\n' >"$allow"
	run -1 scan mips64el "$stopped"
	[[ $output == *"no such word"* ]]
}

@test "harness: a data race is a finding if the core made one of the two accesses" {
	local log=$BATS_TEST_TMPDIR/log line='=================================================================='
	race() { # FRAME..., the second stack
		printf '<3>[ 1.0] %s\n' "$line" 'BUG: KCSAN: data-race in do_exit / next' '' \
			'write to 0xffff888003 of 4 bytes by task 5 on cpu 1:' ' do_exit+0x1/0x2' ' do_group_exit+0x1/0x2' '' \
			'read (marked, reordered) to 0xffff888003 of 4 bytes by interrupt on cpu 0:' "$@" \
			'  |' '  +-> reordered to: next+0x5/0x9' '' 'value changed: 0x0000 -> 0x0001' '' \
			'Reported by Kernel Concurrency Sanitizer on:' 'CPU: 0 PID: 7 Comm: sh Tainted: G' \
			'Workqueue: events watch_work_fn [pokepatch]' "$line"
	}
	race ' next+0x1/0x2' ' kernel_clone+0x1/0x2' >"$log"
	race ' pp_other+0x1/0x2 [pokepatch_other]' >>"$log"
	# The core has called, or was interrupted by, what did it.
	race ' next+0x1/0x2' ' pp_stop+0x1/0x2 [pokepatch]' >>"$log"
	run -0 "$vm" scan "$log"
	race ' pp_stop+0x1/0x2 [pokepatch]' ' next+0x1/0x2' >"$log"
	run -1 "$vm" scan "$log"
	[[ $output == *"BUG: KCSAN: data-race in do_exit / next" ]]
	race ' memcpy+0x1/0x2' ' pp_stop+0x1/0x2 [pokepatch]' >"$log"
	run -1 "$vm" scan "$log"
	# What comes within a report, and is not of it, is a finding as anywhere else.
	{
		race ' next+0x1/0x2' | head -n 5
		echo '<4>[ 1.1] WARNING: something else'
	} >"$log"
	run -1 "$vm" scan "$log"
	[ "$output" = "6 WARNING: something else" ]
}

@test "harness: every entry of the allow-list has a reason" {
	run -0 "$vm" scan /dev/null
	sed '/^#/d' "$top/test/vm/allow-list" >"$BATS_TEST_TMPDIR/bare"
	run -1 awk -f "$top/test/vm/scan.awk" -v allow="$BATS_TEST_TMPDIR/bare" /dev/null
	[[ $output == *"no reason is given"* ]]
}

@test "harness: an accelerator is used only after a guest ran under it" {
	local tree=$BATS_TEST_TMPDIR/tree item
	mkdir -p "$tree/build" "$BATS_TEST_TMPDIR/bin"
	# Its own build folder, which keeps the verdict, and a file in place of KVM's device.
	ln -s "$top/test" "$tree/test"
	for item in "$top"/build/*; do
		[ "${item##*/}" = vm ] || ln -s "$item" "$tree/build/"
	done
	export POKEPATCH_KVM=$BATS_TEST_TMPDIR/kvm
	if [ -n "$cross" ]; then
		run -0 "$tree/test/vm/vm" accel
		[[ $output == "tcg: the guest is $arch, this machine "* ]]
		return
	fi
	run -0 "$tree/test/vm/vm" accel
	[ "$output" = "tcg: $POKEPATCH_KVM is not there for us" ]
	touch "$POKEPATCH_KVM"
	# QEMU, but what it is to run under KVM it runs under TCG; or it fails.
	cat >"$BATS_TEST_TMPDIR/bin/$arch_qemu" <<-END
		#!/bin/bash
		args=()
		for arg; do
			[ "\$arg" != kvm ] || { [ -e "$BATS_TEST_TMPDIR/works" ] || exit 1; arg=tcg,thread=single; }
			[ "\$arg" != host ] || arg=${arch_cpu_tcg[1]}
			args+=("\$arg")
		done
		exec "$(command -v "$arch_qemu")" "\${args[@]}"
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/$arch_qemu"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	run -0 "$tree/test/vm/vm" accel
	[ "$output" = "tcg: $POKEPATCH_KVM is there, but a trial guest did not run under it" ]
	touch "$BATS_TEST_TMPDIR/works"
	# The verdict holds.
	run -0 "$tree/test/vm/vm" accel
	[[ $output == tcg:* ]]
	rm "$tree"/build/vm/accel-*
	run -0 "$tree/test/vm/vm" accel
	[ "$output" = "kvm: a trial guest ran under KVM" ]
}

@test "demo: it passes, and notices a patch that has no effect" {
	local tree=$BATS_TEST_TMPDIR/tree
	run -0 "$top/test/demo"
	[[ ${lines[-1]} == "Demo passed in "* ]]
	# A tree like this one, in which the example changes nothing that is shown.
	mkdir "$tree"
	cp -r "$top"/{test,examples,Makefile} "$tree"
	ln -s "$top"/{build,core-module,patches} "$tree"
	sed -i 's/"Live-patched Linux"/"Linux"/' "$tree/examples/proc-version.patch"
	run -1 "$tree/test/demo"
	[[ ${lines[-1]} == "Demo FAILED "* ]]
}
