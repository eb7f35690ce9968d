# SPDX-License-Identifier: GPL-2.0-or-later
# The text history: what the device says, that perf and tracefs say the same, and that it is
# true of those who run the text. programs/texthist.c reads and compares.

load helpers

patches=$top/test/vm/patches

# history_patches - $patched: history-null in both kinds, if there are two, and the program.
history_patches() {
	local program module transition=live
	can live || transition=stop
	with_patches "$patches"/{history-null,dummy-setup}.patch
	module=$(patch_module "$patches/history-null.patch" history-null-live \
		--transition $transition) || return 1
	program=$(test_program texthist) || return 1
	patched+=(--module "$module" --program "$program")
}

words='
# Processors with a clock each: all on one of them, and so is who makes the changes.
can common-clock || taskset -p 1 $$ >/dev/null
parameter() { echo "$2" >/sys/module/pokepatch/parameters/$1; }
mode() { # PATCH MODE: of both functions
	echo "$2" >"$(sysfs "$1" vmlinux/read_null,1/mode)"
	echo "$2" >"$(sysfs "$1" vmlinux/write_null,1/mode)"
}
# switching PATCH TIMES - a command that switches it on and off so often.
switching() {
	echo "for _ in \$(seq $2); do echo 1 >$(sysfs $1 enabled) && echo 0 >$(sysfs $1 enabled) ||
		exit 1; done"
}
# info WORD - the number behind WORD in what the device says of itself.
info() { texthist dump | sed -n "s/^info.* $1 \([0-9]*\).*/\1/p"; }
'

@test "the device, perf and tracefs tell of the same changes, each once, in all modes" {
	history_patches
	# Debian's, of this machine; formats do not differ by architecture.
	local readers=()
	[ -n "$cross" ] || readers=(--program "$(command -v trace-cmd)")
	guest "${patched[@]}" "${readers[@]}" --module dummy --timeout 300 <<<"$words"'
		modprobe pokepatch-history-null
		modprobe pokepatch-history-null-live
		for patch in history-null history-null-live; do
			for mode in $all_modes; do
				echo "== $patch $mode"
				mode $patch $mode
				texthist agree sh -c "$(switching $patch 2)"
			done
		done
		echo "== two patches on the same functions, with a tracer that comes and goes"
		# Where the switch writes text.
		stacked=direct
		can direct || stacked=entry
		mode history-null $stacked
		mode history-null-live $stacked
		enabled history-null 1
		texthist agree sh -c "$(switching history-null-live 2)"
		enabled history-null 0
		shown() {
			trace-cmd record -q -o /tmp/trace.dat -e pokepatch sh -c "$(switching history-null-live 1)"
			trace-cmd report -q -i /tmp/trace.dat >/tmp/trace
			for seen in "transition: .* enable begins patch=history_null_live" \
				"transition: .* disable ends patch=history_null_live live error=0" \
				"text_poke: .* before int3 addr=" \
				"text_poke: .* after int3 addr=.* patch=history_null_live"; do
				grep -q "$seen" /tmp/trace || die "no $seen in: $(cat /tmp/trace)"
			done
		}
		echo "== as those show the events who have nothing but their formats"
		[ "$(uname -m)" != x86_64 ] || shown
		echo "== a parent that comes and goes"
		modprobe pokepatch-dummy-setup
		enabled dummy-setup 1
		texthist agree sh -c "modprobe dummy && rmmod dummy"
		texthist dump | grep "^transition .* kind 3 ends dummy_setup error 0"
		texthist dump | grep "^transition .* kind 4 ends dummy_setup error 0"
		texthist dump | grep "^appear dummy "
		texthist dump | grep "^snapshot dummy "
	'
	# Those that have to be exact are, in number too.
	local live=int3 exact=8 ftrace=ftrace
	can exact-live || live=store exact=0
	can live || live=stop_machine
	can ftrace || ftrace=
	# What prepares an entry of several words is not counted.
	awk -v live=$live -v exact=$exact -v ftrace=$ftrace '/^== /{ what = $0 }
		/^text after/ && !(live == "stop_machine" && $3 == "store") {
			n[what]++; exacts[what] += / exact/; m[what] = $3
		}
		END {
			if (n["== history-null entry"] != 8 || m["== history-null entry"] != "stop_machine" ||
			    n["== history-null-live entry"] != 8 || exacts["== history-null-live entry"] != exact ||
			    m["== history-null-live entry"] != live ||
			    m["== history-null ftrace"] != ftrace)
				exit 1
		}' "$guest_output"
}

@test "which function answered a call is what the history says" {
	history_patches
	guest "${patched[@]}" --timeout 500 <<<"$words"'
		modprobe pokepatch-history-null
		modprobe pokepatch-history-null-live
		predicted() { # PATCH MODE TIMES RESULT
			mode $1 $2
			echo "== $1 $2"
			texthist predict sh -c "$(switching $1 $3)" >/tmp/result
			cat /tmp/result
			grep -q "^predict: $((2 * $3)) changes$4, .* 0 wrong" /tmp/result
		}
		predicted history-null entry 40 ""
		exact=", all exact"
		if can ftrace; then
			predicted history-null ftrace 10 ""
			predicted history-null-live ftrace 10 "$exact"
		fi
		can exact-live || exact=
		predicted history-null-live entry 40 "$exact"
		if can direct; then
			predicted history-null direct 5 ""
			predicted history-null-live direct 5 "$exact"
		fi
	'
	grep -E '^(==|[0-9]+ calls)' "$guest_output" | sed 's/^/# /' >&3
}

@test "a history that is full, readers that do not read, are killed, are in the way of unloading" {
	history_patches
	guest "${patched[@]}" --module dummy --timeout 300 \
		--expect 'the core is being removed by force; this waits' \
		--expect '^Disabling lock debugging due to kernel taint' <<<"$words"'
		modprobe pokepatch-history-null
		same "rights of the device" "$(stat -c "%a %u" /dev/pokepatch_history)" "400 0"
		mode history-null entry

		echo "== full"
		parameter history_kb 64
		for _n in 1 2 3 4 5 6; do sh -c "$(switching history-null 10)"; done
		texthist dump >/tmp/dump
		grep "^lost [1-9]" /tmp/dump
		[ "$(info bytes)" -le 65536 ] || die "$(info bytes) bytes are kept"
		texthist tiny | grep -q "^lost [1-9]"

		echo "== a reader that has not read yet"
		texthist hold >/tmp/held &
		holder=$!
		until_true 10 grep -q ready /tmp/held
		before=$(info lost)
		for _n in 1 2 3; do sh -c "$(switching history-null 10)"; done
		same "records lost" "$(info lost)" $before
		[ "$(info bytes)" -gt 65536 ] || die "nothing more is kept"
		refused rmmod pokepatch

		echo "== that never reads: up to the bound"
		parameter history_held_kb 128
		for _n in 1 2 3 4 5 6; do sh -c "$(switching history-null 10)"; done
		[ "$(info bytes)" -le 131072 ] || die "$(info bytes) bytes are kept"
		[ "$(info lost)" -gt $before ] || die "nothing is lost"

		echo "== that is killed"
		kill -9 $holder
		wait $holder || :
		[ "$(info bytes)" -le 65536 ] || die "$(info bytes) bytes are kept"

		echo "== a reader that waits"
		parameter history_kb 1024
		texthist wait >/tmp/waits &
		until_true 10 grep -q ready /tmp/waits
		enabled history-null 1
		until_true 10 grep -q "read: a record" /tmp/waits
		enabled history-null 0

		echo "== code that goes"
		rmmod pokepatch_history_null
		texthist dump >/tmp/dump
		grep "^snapshot pokepatch_history_null .* bytes [1-9][0-9]*$" /tmp/dump
		grep "^symbol read_null .*pokepatch_history_null" /tmp/dump
		parameter snapshots_kb 0
		modprobe pokepatch-history-null
		rmmod pokepatch_history_null
		texthist dump >/tmp/dump
		same "snapshots without bytes" "$(grep -c "^snapshot pokepatch_history_null .* dropped" \
			/tmp/dump)" 2
		if grep -q "^snapshot pokepatch_history_null .* bytes [1-9]" /tmp/dump; then
			die "there are bytes"
		fi

		echo "== modules that the kernel loads for users without rights push out no record of the core"
		modprobe dummy
		dummy=$(modinfo -n dummy)
		before=$(info bytes)
		others=$(info others)
		# More than a chunk of 16 KiB.
		for _n in $(seq 100); do
			rmmod dummy
			insmod $dummy
		done
		same "bytes" "$(info bytes)" $before
		[ "$(info others)" -gt $others ] || die "there is no record of it"

		echo "== the core, while somebody follows"
		# The one before has said the same there.
		rm -f /tmp/held
		texthist hold >/tmp/held &
		holder=$!
		until_true 10 grep -q ready /tmp/held
		refused rmmod pokepatch
		echo "== by force: it waits until nobody has the device open"
		rmmod -f pokepatch &
		remover=$!
		until_true 10 sh -c "dmesg | grep -q \"removed by force; this waits\""
		kill -0 $remover
		kill $holder
		wait $holder || :
		wait $remover
		lacks modules "$(cat /proc/modules)" pokepatch
		[ ! -e /dev/pokepatch_history ]
	'
}
