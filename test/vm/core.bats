# SPDX-License-Identifier: GPL-2.0-or-later
# What only the core module sees: images that no build tool makes, and its neighbours.

load helpers

example=$top/examples/proc-version.patch

@test "hostile images are refused, each for its reason" {
	local hostile=$BATS_TEST_TMPDIR/hostile
	with_patches "$example"
	mkdir "$hostile"
	# One with two callbacks.
	"$(host_program hostile)" "$(patch_module "$top/test/vm/patches/withdraw.patch")" "$hostile" \
		>"$hostile/cases"
	# And one that is called as the core's own file is.
	LC_ALL=C sed 's/\([^_]\)proc_version\x00/\1trace_entry\x00\x00/g' "$(patch_module "$example")" \
		>"$hostile/own-name.ko"
	echo "own-name a patch cannot be called trace_entry" >>"$hostile/cases"
	guest "${patched[@]}" --file "$hostile" --timeout 240 \
		--expect '^pokepatch: .* is refused: ' <<-'END'
		modprobe pokepatch
		while read -r case text; do
			# The core does not look where stubs are if it cannot use them.
			case $case in *-stubs) can direct || continue ;; esac
			echo "== $case"
			dmesg -c >/dev/null
			# insmod tries two system calls, and the module is elsewhere the second time.
			refused insmod "/root/hostile/$case.ko"
			dmesg | sed -n 's/.*pokepatch: //p' | sed 's/: place [0-9a-f]*;/: place N;/' | sort -u >/tmp/said
			cat /tmp/said
			same "lines said" "$(wc -l </tmp/said)" 1
			has "what it said" "$(cat /tmp/said)" "$text"
			[ -z "$(ls -d $pokepatch/*/ 2>/dev/null)" ] || die "left in sysfs: $(ls $pokepatch)"
		done </root/hostile/cases
		[ "$(wc -l </root/hostile/cases)" -ge 75 ] || die "cases are missing"
		lacks "the loaded modules" "$(cat /proc/modules)" pokepatch_
		pokepatch load "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version
		rmmod pokepatch
	END
}

@test "a second registration, and one that somebody else makes" {
	local hostile=$BATS_TEST_TMPDIR/hostile
	with_patches "$example" "$top/test/vm/patches/dummy-setup.patch"
	mkdir "$hostile"
	for name in again dummy; do
		"$(host_program hostile)" --rename "$(patch_module "$example")" "$hostile" $name
	done
	guest "${patched[@]}" --file "$hostile" --module dummy --module "$(test_module pp_register)" \
		--expect '^pokepatch: module again is refused: a patch called proc_version is loaded' \
		--expect '^pokepatch: dummy_setup is refused: its parent dummy is itself a patch' \
		--expect '^pokepatch: an image (is refused|stays): ' <<-'END'
		id=pokepatch_proc_version
		said() { # TEXT; insmod tries two system calls
			same "lines of the log with '$1'" \
				"$(dmesg -c | sed 's/^[^]]*] //' | sort -u | grep -c "$1")" 1
		}
		still() {
			[ -d $pokepatch/proc_version ] || die "it is not in sysfs"
			has /proc/version "$(cat /proc/version)" Live-patched
		}
		misuse() { echo "$*" >/sys/module/pp_register/parameters/do; }
		pokepatch load "$(patch_file proc-version)"

		echo "== its patch in a module of another name"
		dmesg -c >/dev/null
		refused insmod /root/hostile/again.ko
		said "again is refused: a patch called proc_version is loaded"
		still

		echo "== its image once more; what is no image; who it does not belong to"
		modprobe pp_register
		# Not every kernel lists variables in kallsyms.
		image=$(sed s/0x// /sys/module/$id/sections/.pokepatch.image)
		for address in $image 0 1 deadbeef ffffffffffffffff; do
			misuse register $address
			dmesg | grep -q "pp_register: register: -22" || die "registered: $address"
			said "an image is refused: it is not the pokepatch_image of a module"
			misuse unregister $address
			said "an image stays: "
			still
		done
		pokepatch unload proc-version

		echo "== somebody was first: then its own is the second, and its init fails"
		for _round in 1 2 3; do
			misuse first $id
			refused insmod "$(patch_file proc-version)"
			dmesg | grep -q "register first: 0" || die "it was not registered first"
			said "an image is refused: it is not the pokepatch_image of a module"
			[ ! -e $pokepatch/proc_version ] || die "it is in sysfs"
			lacks modules "$(cat /proc/modules)" $id
			misuse first nobody
			pokepatch load "$(patch_file proc-version)"
			still
			pokepatch unload proc-version
		done

		echo "== a parent that is a patch itself"
		insmod /root/hostile/dummy.ko
		dmesg -c >/dev/null
		refused pokepatch load "$(patch_file dummy-setup)"
		said "dummy_setup is refused: its parent dummy is itself a patch"
		rmmod dummy
		pokepatch load "$(patch_file dummy-setup)"
		insmod /root/hostile/dummy.ko
		same "its parent: not there" "$(cat $pokepatch/dummy_setup/dummy/*/old_addr)" 0x0
		rmmod dummy
		pokepatch unload dummy-setup
		rmmod pp_register
		rmmod pokepatch
	END
}

# core_that_needs SYMBOL - path of a core that needs the address of this one, too.
core_that_needs() {
	local dir=$BATS_TEST_TMPDIR/$1
	cp -r "$top/core-module" "$dir"
	sed -i "/PP_NEED_FUNCTION(find_module,/i PP_NEED_ADDRESS($1, pp_kernel.stext)," "$dir/kernel_symbols.c"
	# Without vmlinux, by which its build would notice.
	make_module "$dir" "$(kernel_release)" || return 1
	echo "$dir/pokepatch.ko"
}

@test "symbols that the kernel has twice, or that a module alone has, are not taken" {
	needs data-symbols
	local symbol file files=()
	for symbol in init_once crowd_000; do
		file=$(core_that_needs $symbol) || return 1
		files+=(--file "$file:/root/$symbol.ko")
	done
	with_patches
	guest "${patched[@]}" "${files[@]}" --module "$(test_module pp_crowd)" \
		--expect '^pokepatch: this kernel has ' <<-'END'
		# not_loaded SYMBOL TEXT - insmod tries two system calls.
		not_loaded() {
			dmesg -c >/dev/null
			refused insmod /root/$1.ko
			same "what it said" "$(dmesg | sed -n 's/.*pokepatch: \(this kernel \)/\1/p' | sort -u)" "$2"
			[ ! -e $pokepatch ] || die "the core is there"
		}
		several=$(grep -c " init_once$" /proc/kallsyms)
		[ $several -gt 1 ]
		not_loaded init_once \
			"this kernel has $several symbols init_once, and the core cannot tell which one it needs"
		modprobe pp_crowd
		grep -q " crowd_000.*pp_crowd" /proc/kallsyms
		not_loaded crowd_000 "this kernel has no symbol crowd_000, which the core needs"
		modprobe pokepatch
		rmmod pokepatch pp_crowd
	END
}

# switch_under ROUNDS - the example, switched off and on, and seen each time.
switches='
switch_rounds() {
	for _round in $(seq "$1"); do
		enabled proc-version 1
		has /proc/version "$(cat /proc/version)" Live-patched
		enabled proc-version 0
		lacks /proc/version "$(cat /proc/version)" Live-patched
	done
}
'

@test "next to the kernel's tracers" {
	needs ftrace
	with_patches "$example"
	# One processor: QEMU 7.2 can lose a change of code that another one makes just
	# as it translates it, and these tracers change 37,000 places.
	guest "${patched[@]}" --smp 1 --append preempt=full --timeout 400 <<<"$switches"'
		echo "== kretprobes, on the function and under it"
		# Before the patch is loaded: then there are two functions of that name.
		echo "r:pp/show version_proc_show" >$tracing/kprobe_events
		echo "r:pp/read vfs_read" >>$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		modprobe pokepatch-proc-version
		start_load cat /proc/version
		switch_rounds 10
		echo 0 >$tracing/events/pp/enable
		echo >$tracing/kprobe_events
		for tracer in function function_graph; do
			echo "== $tracer"
			echo $tracer >$tracing/current_tracer
			switch_rounds 3
			enabled proc-version 1
			echo nop >$tracing/current_tracer
			has /proc/version "$(cat /proc/version)" Live-patched
			enabled proc-version 0
		done
		stop_load
		pokepatch unload proc-version
	'
}

@test "kernel.ftrace_enabled cannot switch a patch off" {
	needs ftrace
	with_patches "$example"
	! can direct || patched+=(--expect 'version_proc_show cannot be switched in direct mode')
	guest "${patched[@]}" --expect '^pokepatch: ftrace cannot be used' <<-'END'
		off() { echo 0 >/proc/sys/kernel/ftrace_enabled; }
		for mode in ${all_modes#entry }; do
			pokepatch load --mode $mode "$(patch_file proc-version)"
			refused off
			has /proc/version "$(cat /proc/version)" Live-patched
			pokepatch unload proc-version
			off
			refused pokepatch load --mode $mode "$(patch_file proc-version)"
			lacks /proc/version "$(cat /proc/version)" Live-patched
			echo 1 >/proc/sys/kernel/ftrace_enabled
		done
		off

		echo "== the entry mode does not need it"
		pokepatch load "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		echo 1 >/proc/sys/kernel/ftrace_enabled
		has /proc/version "$(cat /proc/version)" Live-patched
		off
		pokepatch disable proc-version
		lacks /proc/version "$(cat /proc/version)" Live-patched
		echo 1 >/proc/sys/kernel/ftrace_enabled
		echo ftrace >"$(sysfs proc-version vmlinux/version_proc_show,1/mode)"
		pokepatch enable proc-version
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version
	END
}

@test "processors that come and go" {
	needs hotplug
	with_patches "$example"
	guest "${patched[@]}" --append preempt=full --timeout 240 <<<"$switches"'
		cpu() { echo "$2" >/sys/devices/system/cpu/cpu$1/online; }
		modprobe pokepatch-proc-version
		# Not start_load: its loops are bound to processors.
		readers=
		for _reader in 1 2 3 4; do
			while :; do cat /proc/version >/dev/null; done &
			readers="$readers $!"
		done
		for _round in 1 2 3; do
			for cpu in 1 2 3; do cpu $cpu 0; done
			for cpu in 1 2 3; do cpu $cpu 1; done
		done &
		hotplug=$!
		switch_rounds 20
		wait $hotplug
		switch_rounds 5
		kill $readers
		pokepatch unload proc-version
	'
}

@test "a patch of what offline processors run waits until there is none" {
	needs hotplug
	[ "$arch" = x86_64 ] || skip "$arch has no code that offline processors run"
	cat >"$BATS_TEST_TMPDIR/offline.patch" <<-'END'
		--- a/arch/x86/kernel/smpboot.c
		+++ b/arch/x86/kernel/smpboot.c
		@@ -1892,2 +1892,3 @@
		 	play_dead_common();
		+	barrier_data(&jiffies_64);
		 	tboot_shutdown(TB_SHUTDOWN_WFS);
	END
	with_patches "$example" "$BATS_TEST_TMPDIR/offline.patch"
	guest "${patched[@]}" <<-'END'
		cpu() { echo "$2" >/sys/devices/system/cpu/cpu$1/online; }
		message="cannot be switched while a processor is offline, which may be in native_play_dead"
		cpu 1 0
		refused pokepatch load "$(patch_file offline)"
		has log "$(dmesg | tail -n 3)" "$message"
		# Other patches do not mind.
		pokepatch load "$(patch_file proc-version)"
		pokepatch unload proc-version
		cpu 1 1
		pokepatch load "$(patch_file offline)"
		cpu 2 0
		refused pokepatch disable offline
		has log "$(dmesg | tail -n 3)" "$message"
		refused pokepatch unload offline
		same enabled "$(file offline enabled)" 1
		cpu 2 1
		pokepatch unload offline
		cpu 1 0
		cpu 1 1
	END
}
