# SPDX-License-Identifier: GPL-2.0-or-later
# What the kernel's own livepatch selftests look at, as far as no other file does; test/README.md
# says for each of their scenarios which test that is.

load helpers

patches=$top/test/vm/patches

words='
is_new() { has /proc/version "$(cat /proc/version)" Live-patched; }
is_old() { lacks /proc/version "$(cat /proc/version)" Live-patched; }
mode() { file proc-version vmlinux/version_proc_show,1/mode; }
mode_is() { [ "$(mode)" = "$1" ]; }
# said WORD WHAT LINE... - compare what callbacks have left in the log behind "WORD: ".
said() {
	_word=$1 _what=$2
	shift 2
	dmesg -c | sed -n "s/^.*$_word: //p" >/tmp/said
	for _line; do echo "$_line"; done >/tmp/wanted
	diff /tmp/wanted /tmp/said || die "$_what: not what was wanted"
}
dmesg -c >/tmp/before
'

@test "one patch, several, one that takes over from them; what sysfs says of each" {
	with_patches "$top/examples/proc-version.patch" "$patches"/agree-{1,2}.patch
	guest "${patched[@]}" <<<"$words"'
		order() {
			for _name in proc-version agree-1 agree-2; do
				[ ! -e "$(sysfs $_name enabled)" ] || file $_name stack_order
			done | tr -d "\n"
		}
		echo "== one"
		is_old
		pokepatch load "$(patch_file proc-version)"
		is_new
		same "rights of the folder" "$(stat -c %A "$(sysfs proc-version .)")" drwxr-xr-x
		while read -r name rights value; do
			same "rights of $name" "$(stat -c %A "$(sysfs proc-version $name)")" $rights
			[ "$value" = - ] || same $name "$(file proc-version $name)" "$value"
		done <<-END
			enabled -rw-r--r-- 1
			state -r--r--r-- enabled
			blocked_by -r--------
			timeout_ms -rw-r--r-- 5000
			blocked_since -r--r--r-- 0
			error -r--r--r-- 0
			replace -rw-r--r--
			stack_order -r--r--r-- 1
			stop_ns -r--r--r-- -
			build_id -r--r--r-- -
		END
		[ "$(file proc-version stop_ns)" -gt 0 ] || die "it took no time"
		[ ! -e "$(sysfs proc-version force)" ] || die "a switch can be forced"
		pokepatch disable proc-version
		same "order" "$(order)" 0
		pokepatch unload proc-version
		is_old

		echo "== several"
		pokepatch load "$(patch_file proc-version)"
		pokepatch load "$(patch_file agree-1)"
		is_new
		same versions "$(versions)" 111
		pokepatch load "$(patch_file agree-2)"
		same "versions, order" "$(versions) $(order)" "222 123"
		pokepatch disable agree-1
		same "versions, order" "$(versions) $(order)" "222 102"
		pokepatch enable agree-1
		same "versions, order" "$(versions) $(order)" "111 132"
		pokepatch unload agree-2
		same "versions, order" "$(versions) $(order)" "111 12"
		pokepatch unload proc-version
		is_old
		same "versions, order" "$(versions) $(order)" "111 1"

		echo "== one that takes over"
		pokepatch load "$(patch_file proc-version)"
		pokepatch load --replace "$(patch_file agree-2)"
		is_old
		same "versions, order" "$(versions) $(order)" "222 001"
		rmmod pokepatch_agree_1
		rmmod pokepatch_proc_version
		same "versions, order" "$(versions) $(order)" "222 1"
		pokepatch unload agree-2
		same versions "$(versions)" ""
		rmmod pokepatch
	'
}

@test "modules that are absent, there, several, in use, and that fail to load" {
	with_patches "$patches/callbacks.patch"
	guest "${patched[@]}" --module dummy --module tun --program "$(test_program tun)" \
		--expect '^dummy: .x. invalid for parameter' <<<"$words"'
		id=callbacks
		state_is() { [ "$(file $id state)" = "$1" ]; }
		kernel() { echo "callbacks $1 of vmlinux, $2"; }
		module() { echo "callbacks $1 of $2, $2 $3"; }
		mtu() { cat /sys/class/net/dummy0/mtu; }
		# What a read of nothing from a network device of tun comes to.
		is_new() { same "tun" "$(tun new)" "No data available"; }
		is_old() { same "tun" "$(tun old)" "nothing"; }
		reads() {
			tun sleeps read &
			reader=$!
			until_true 10 asleep_in $reader tun_do_read
		}
		goes() {
			kill $reader
			wait $reader || :
		}
		# patched MODULE - are the functions of the module there, and known?
		patched() {
			for _function in "$(sysfs $id $1)"/*; do
				[ $(($(cat $_function/old_addr))) -ne 0 ] || echo no
			done | grep -q no || echo yes
		}
		sysctl -qw kernel.panic=0
		# A reader is to stay.
		modprobe pokepatch ask_after_ms=0
		modprobe pokepatch-callbacks

		echo "== not there"
		enabled $id 1
		said callback "enabled" "$(kernel pre-patch old)" "$(kernel post-patch new)"
		same "tun, dummy" "$(patched tun)$(patched dummy)" ""
		enabled $id 0
		said callback "disabled" "$(kernel pre-unpatch new)" "$(kernel post-unpatch old)"

		echo "== there when it is enabled, and gone when it is disabled"
		modprobe tun
		is_old
		enabled $id 1
		said callback "enabled" "$(kernel pre-patch old)" "$(module pre-patch tun live)" \
			"$(kernel post-patch new)" "$(module post-patch tun live)"
		is_new
		same "tun, dummy" "$(patched tun)$(patched dummy)" yes
		rmmod tun
		said callback "gone" "$(module pre-unpatch tun going)" \
			"$(module post-unpatch tun going)"
		same "tun, dummy" "$(patched tun)$(patched dummy)" ""
		enabled $id 0
		said callback "disabled" "$(kernel pre-unpatch new)" "$(kernel post-unpatch old)"

		echo "== one is there, another comes and goes"
		modprobe tun
		enabled $id 1
		dmesg -c >/dev/null
		modprobe dummy
		same mtu "$(mtu)" 1234
		same "tun, dummy" "$(patched tun) $(patched dummy)" "yes yes"
		rmmod dummy
		said callback "the other" "$(module pre-patch dummy coming)" \
			"$(module post-patch dummy coming)" "$(module pre-unpatch dummy going)" \
			"$(module post-unpatch dummy going)"
		is_new
		enabled $id 0
		is_old
		said callback "disabled" "$(module pre-unpatch tun live)" "$(kernel pre-unpatch new)" \
			"$(module post-unpatch tun live)" "$(kernel post-unpatch old)"

		echo "== one is busy; another comes and goes meanwhile; then it is given up"
		reads
		echo 60000 >"$(sysfs $id timeout_ms)"
		(echo 1 >"$(sysfs $id enabled)") &
		writer=$!
		until_true 10 grep -q . "$(sysfs $id blocked_by)"
		same state "$(file $id state)" enabling
		same blocked_by "$(file $id blocked_by)" "$reader tun tun_do_read"
		said callback "waiting" "$(kernel pre-patch old)" "$(module pre-patch tun live)"
		modprobe dummy
		same mtu "$(mtu)" 1500
		is_old
		refused rmmod tun
		rmmod dummy
		dmesg -c >/tmp/log
		lacks "calls" "$(cat /tmp/log)" post-patch
		lacks "calls" "$(cat /tmp/log)" pre-unpatch
		same "calls for the other: as many before as after" \
			"$(grep -c "pre-patch of dummy" /tmp/log)" \
			"$(grep -c "post-unpatch of dummy" /tmp/log)"
		kill -KILL $writer
		wait $writer || :
		until_true 10 state_is disabled
		said callback "given up" "$(module post-unpatch tun live)" "$(kernel post-unpatch old)"
		is_old

		echo "== it becomes free; what is busy now is the new function"
		(echo 1 >"$(sysfs $id enabled)") &
		writer=$!
		until_true 10 grep -q . "$(sysfs $id blocked_by)"
		goes
		wait $writer
		same state "$(file $id state)" enabled
		is_new
		reads
		refused rmmod tun
		echo 300 >"$(sysfs $id timeout_ms)"
		(echo 0 >"$(sysfs $id enabled)") 2>/tmp/error && die "it was disabled"
		same "state, in the way" "$(file $id state), $(file $id blocked_by)" \
			"blocked, $reader tun tun_do_read"
		same error "$(file $id error)" 16
		goes
		dmesg -c >/dev/null
		rmmod tun
		said callback "gone" "$(module pre-unpatch tun going)" \
			"$(module post-unpatch tun going)"

		echo "== its init fails, in a function of the patch"
		failed() {
			refused modprobe dummy "$@" >/tmp/error
			# Two system calls load modules, and modprobe tries both.
			for _call in 1 2; do
				module pre-patch dummy coming
				module post-patch dummy coming
				module pre-unpatch dummy going
				module post-unpatch dummy going
			done >/tmp/all
			dmesg -c | sed -n "s/^.*callback: //p" >/tmp/said
			diff /tmp/all /tmp/said || die "not the callbacks that were wanted"
			lacks modules "$(cat /proc/modules)" dummy
			same "dummy" "$(patched dummy)" ""
			same enabled "$(file $id enabled)" 1
		}
		sysctl -qw kernel.panic=-4019
		failed
		has "the error" "$(cat /tmp/error)" "No such device"
		sysctl -qw kernel.panic=0
		echo "== it fails before its init"
		failed numdummies=x
		modprobe dummy
		same mtu "$(mtu)" 1234
		rmmod dummy
		pokepatch unload $id
		rmmod pokepatch
	'
}

@test "what a patch changes beside its functions is taken over by the next, if it can" {
	local second third
	with_patches "$patches/state.patch" "$top/examples/proc-version.patch"
	sed 's/STATE_VERSION 1/STATE_VERSION 2/' "$patches/state.patch" \
		>"$BATS_TEST_TMPDIR/second.patch"
	second=$(patch_module "$BATS_TEST_TMPDIR/second.patch" state-2)
	third=$(patch_module "$BATS_TEST_TMPDIR/second.patch" state-3)
	guest "${patched[@]}" --module "$second" --module "$third" <<<"$words"'
		level() { cut -f 1 /proc/sys/kernel/printk; }
		version() { sed -n "s/.* version //p" /proc/loadavg; }
		now() { same "$1: level, version" "$(level) $(version)" "$2 $3"; }
		was=$(level)

		echo "== it is changed, and changed back"
		pokepatch load "$(patch_file state)"
		now enabled 15 1
		said "log level" enabled "state, new" "state, changed"
		pokepatch unload state
		now disabled "$was" ""
		said "log level" disabled "state, changed back" "state, given up"

		echo "== the next version takes it over"
		pokepatch load "$(patch_file state)"
		said "log level" enabled "state, new" "state, changed"
		pokepatch load --replace "$(patch_file state-2)"
		said "log level" replaced "state_2, taken over"
		rmmod pokepatch_state
		now replaced 15 2
		pokepatch unload state-2
		now disabled "$was" ""
		said "log level" disabled "state_2, changed back" "state_2, given up"

		echo "== patches of one version, to and fro"
		pokepatch load "$(patch_file state-2)"
		pokepatch load --replace "$(patch_file state-3)"
		rmmod pokepatch_state_2
		pokepatch load --replace "$(patch_file state-2)"
		rmmod pokepatch_state_3
		now replaced 15 2
		said "log level" replaced "state_2, new" "state_2, changed" "state_3, taken over" \
			"state_2, taken over"

		echo "== one that is too old is refused, in place of the other or on top of it"
		for how in --replace --timeout=5000; do
			status=0
			pokepatch load $how "$(patch_file state)" >/tmp/error 2>&1 || status=$?
			cat /tmp/error
			same "exit status" $status 1
			has "the error" "$(cat /tmp/error)" "Invalid argument"
			said "log level" refused "state is too old for version 2"
			now refused 15 2
			[ ! -e "$(sysfs state enabled)" ] || die "it stays loaded"
		done
		pokepatch unload state-2
		now disabled "$was" ""
		dmesg -c >/dev/null

		echo "== one that cannot be switched on gives it back"
		mkfifo /tmp/fifo
		pokepatch load "$(patch_file state)"
		sleep_in_fifo
		status=0
		pokepatch load --replace --timeout 300 "$(patch_file state-2)" || status=$?
		same "exit status" $status 2
		now blocked 15 1
		wake_up
		pokepatch unload state
		now disabled "$was" ""
		said "log level" "in between" "state, new" "state, changed" "state_2, taken over" \
			"state_2, given back" "state, changed back" "state, given up"

		echo "== one that does not know of it ends it"
		pokepatch load "$(patch_file state-2)"
		pokepatch load --replace "$(patch_file proc-version)"
		now replaced "$was" ""
		pokepatch unload proc-version
		pokepatch unload state-2
		rmmod pokepatch
		lacks "the log" "$(dmesg)" "left behind"
	'
}

@test "the new function is traced; a probe that nothing else can share a function with" {
	with_patches "$top/examples/proc-version.patch"
	! can entry-probes || patched+=(--expect 'version_proc_show cannot be switched')
	guest "${patched[@]}" --module "$(test_module pp_probe)" <<<"$words"'
		for mode in $all_modes; do
			echo "== the new function is traced, in mode $mode"
			pokepatch load --mode $mode "$(patch_file proc-version)"
			echo version_proc_show:mod:pokepatch_proc_version >$tracing/set_ftrace_filter
			echo function >$tracing/current_tracer
			echo >$tracing/trace
			is_new
			same "traced calls" "$(grep -c " version_proc_show <-" $tracing/trace)" 1
			same mode "$(mode)" $mode
			pokepatch disable proc-version
			echo >$tracing/trace
			is_old
			same "traced calls" "$(grep -c " version_proc_show <-" $tracing/trace)" 0
			echo nop >$tracing/current_tracer
			echo >$tracing/set_ftrace_filter
			pokepatch unload proc-version
		done

		# Where the function starts, kprobes does not go by ftrace on every architecture.
		can entry-probes || exit 0
		at=at=$(awk "\$3 == \"version_proc_show\" { print \"0x\" \$1 }" /proc/kallsyms)
		hits() { cat /sys/module/pp_probe/parameters/hits; }
		echo "== a probe with a handler behind the function: refused, in every mode"
		modprobe pp_probe $at behind=1
		for mode in auto $all_modes; do
			refused pokepatch load --mode $mode "$(patch_file proc-version)"
			[ ! -e "$(sysfs proc-version enabled)" ] || die "it stays loaded"
		done
		is_old
		[ "$(hits)" -ge 1 ] || die "the probe was not hit"
		rmmod pp_probe

		echo "== when it comes later, it is refused"
		for mode in $all_modes; do
			pokepatch load --mode $mode "$(patch_file proc-version)"
			refused modprobe pp_probe $at behind=1
			is_new
			pokepatch unload proc-version
		done

		echo "== a probe without one"
		modprobe pp_probe $at
		pokepatch load "$(patch_file proc-version)"
		same mode "$(mode)" $shared_mode
		is_new
		[ "$(hits)" -ge 1 ] || die "the probe was not hit"
		rmmod pp_probe
		is_new
		pokepatch unload proc-version
		is_old
		until_true 5 rmmod pokepatch
	'
}

@test "a system call that all processors make all the time" {
	with_patches "$patches/getpid.patch"
	guest --timeout 300 "${patched[@]}" --program "$(test_program getpids)" <<<"$words"'
		mkfifo /tmp/ask
		getpids 8 </tmp/ask >/tmp/told &
		exec 3>/tmp/ask
		lines() { [ "$(wc -l </tmp/told)" -eq "$1" ]; }
		asked=0
		now() {
			asked=$((asked + 1))
			echo >&3
			until_true 20 lines $asked
			same "$1" "$(tail -n 1 /tmp/told)" "$2"
		}
		now "unpatched" "old=8 new=0"
		for mode in auto ${all_modes#entry }; do
			pokepatch load --mode $mode "$(patch_file getpid)"
			now "patched, mode $mode" "old=0 new=8"
			pokepatch unload getpid
			now "unpatched again" "old=8 new=0"
		done
		exec 3>&-
		wait
		rmmod pokepatch
	'
}
