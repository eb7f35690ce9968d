# SPDX-License-Identifier: GPL-2.0-or-later
# `pokepatch history` and `pokepatch text`: old text and ways, from the kernel and from a file,
# compared with what was in memory and with which function answered.

load helpers

patches=$top/test/vm/patches

words=$(words text-history)

# text_history_patches PROGRAM... - $patched: history-null, to be stopped for and, if it can be, live; programs.
text_history_patches() {
	local program module transition=live
	can live || transition=stop
	with_patches "$patches/history-null.patch"
	module=$(patch_module "$patches/history-null.patch" history-null-live \
		--transition $transition) || return 1
	patched+=(--module "$module")
	for program; do
		patched+=(--program "$program")
	done
}

@test "200 random operations, and others who write: records lead from the text at boot to that at any time, and back" {
	needs kcore
	text_history_patches "$(own_program test/text-history/replay)"
	guest "${patched[@]}" --timeout 500 <<<"$words"'
		modprobe pokepatch-history-null
		modprobe pokepatch-history-null-live
		parameter others_kb 16384
		parameter history_kb 4096
		# Stores, stops, breakpoints, ftrace and others.
		alone="" methods=0x3e library="[1-9][0-9]* equal, 0 wrong, 0 gaps, 0 unknown, 0 assumed"
		can others || {
			alone=--alone methods=0x1c
			library="0 equal, 0 wrong, 0 gaps, 0 unknown, [1-9][0-9]* assumed"
		}
		echo vfs_read vfs_write write_null >$tracing/set_ftrace_filter
		replay $alone 1 200 history_null history_null_live >/tmp/result
		cat /tmp/result
		grep -q "^1[0-9][0-9] operations, .* methods $methods, " /tmp/result
		for way in forwards backwards; do
			grep -q "^$way: [1-9][0-9]* equal, 0 wrong, 0 gaps, 0 unknown, 0 assumed," /tmp/result ||
				die "$way"
		done
		grep -q "^library: $library," /tmp/result
		grep -q "^dropped: 5 of 5 noticed" /tmp/result
		grep -q "^library without them: [0-9]* equal, 0 wrong, .* [1-9][0-9]* unknown" /tmp/result
		grep -q "^altered: 5 of 5 noticed" /tmp/result
		can others || exit 0

		echo "== the probe is switched off"
		echo 0 >/sys/kernel/debug/kprobes/enabled
		replay 2 20 history_null history_null_live >/tmp/result
		grep "^library" /tmp/result
		grep -q "^library: 0 equal, 0 wrong, 0 gaps, [1-9][0-9]* unknown, 0 assumed" /tmp/result
		# And on again: what is written then is heard.
		echo 1 >/sys/kernel/debug/kprobes/enabled
		echo 1 >$tracing/events/sched/sched_switch/enable
		replay 3 20 history_null history_null_live >/tmp/result
		grep "^library" /tmp/result
		grep -q "^library: [1-9][0-9]* equal, 0 wrong" /tmp/result

		echo "== never heard"
		echo 0 >/sys/kernel/debug/kprobes/enabled
		for patch in history-null history-null-live; do
			enabled $patch 0
			rmmod pokepatch-$patch
		done
		rmmod pokepatch
		modprobe pokepatch-history-null
		replay 4 20 history_null >/tmp/result
		grep "^library" /tmp/result
		grep -q "^library: [0-9]* equal, 0 wrong, 0 gaps, [0-9]* unknown, [1-9][0-9]* assumed" /tmp/result
	'
	grep -E '^(==|[0-9]+ operations|forwards|backwards|library|dropped|altered)' "$guest_output" |
		sed 's/^/# /' >&3
}

@test "text of the past, of this kernel and from a file, of code that is there and that has gone; following" {
	local others=() jump
	needs kcore
	read -ra jump <<<"$arch_jump"
	text_history_patches "$(test_program texthist)"
	! can others || others=(--module "$(test_module pp_meddle)" --module "$(test_module pp_redirect)")
	guest "${patched[@]}" "${others[@]}" --timeout 300 -- "${jump[@]}" <<<"$words"'
		jump=$1 site=$site$2 size=$3
		refused pokepatch history
		modprobe pokepatch-history-null
		look
		toggles 3
		enabled $patch 1
		look
		pokepatch text --json pokepatch_history_null:read_null 16 >/tmp/new
		moment=$(seconds "$(field time_ns /tmp/new)")
		enabled $patch 0
		look
		different=2
		if can others; then
			different=3
			echo read_null >$tracing/set_ftrace_filter
			echo function >$tracing/current_tracer
			look
			echo nop >$tracing/current_tracer
			look
		fi
		same "different bytes" "$(cut -d " " -f 2 /tmp/looks | sort -u | wc -l)" $different
		compare
		pokepatch history --export /tmp/exported
		compare --from /tmp/exported

		echo "== the instructions"
		pokepatch text --at "$moment" $site >/tmp/text
		cat /tmp/text
		grep -q "$jump #*0x" /tmp/text
		! can near-modules || grep -q "$jump 0x.*<read_null\(+0x4\)* \[pokepatch_history_null\]>" /tmp/text
		pokepatch text --from /tmp/exported --at "$moment" $site $size | grep -q "$jump #*0x"

		echo "== text that no record is about"
		refused pokepatch history --all-text
		refused pokepatch text --from /tmp/exported --at "$moment" vmlinux:do_exit 64
		pokepatch history --all-text --export /tmp/all
		pokepatch text --from /tmp/all --at "$moment" --json vmlinux:do_exit 64 >/tmp/then
		pokepatch text --json vmlinux:do_exit 64 >/tmp/now
		same "bytes of do_exit()" "$(field bytes /tmp/then)" "$(field bytes /tmp/now)"
		same unknown "$(field unknown /tmp/then)" 0
		same assumed "$(field assumed /tmp/then)" "$(assumed 64)"
		compare --from /tmp/all

		echo "== text that has gone"
		rmmod pokepatch_history_null
		refused pokepatch text pokepatch_history_null:read_null
		pokepatch history --export /tmp/exported
		for from in "" "--from /tmp/exported"; do
			pokepatch text $from --at "$moment" --json pokepatch_history_null:read_null 16 >/tmp/gone
			same "bytes" "$(field bytes /tmp/gone)" "$(field bytes /tmp/new)"
			same "unknown" "$(field unknown /tmp/gone)" 0
		done
		refused pokepatch text --at 0.1 $site
		refused pokepatch text --at 99999 $site

		echo "== following"
		modprobe pokepatch-history-null
		echo entry >"$(sysfs $patch vmlinux/read_null,1/mode)"
		pokepatch history --follow --json >/tmp/followed &
		follower=$!
		until_true 20 grep -q transition /tmp/followed
		refused rmmod pokepatch
		before=$(wc -l </tmp/followed)
		enabled $patch 1
		more() { [ "$(wc -l </tmp/followed)" -ge $((before + 8)) ]; }
		until_true 20 more
		# What others write comes as well, without anything of ours behind it.
		if can others; then
			echo function >$tracing/current_tracer
			until_true 20 grep -q "\"method\":\"other\".*\"symbol\":\"ftrace_call\"\|\"symbol\":\"ftrace_call\".*\"method\":\"other\"" /tmp/followed
			echo nop >$tracing/current_tracer
		fi
		kill -TERM $follower
		wait $follower
		enabled $patch 0

		echo "== a follower that is killed"
		pokepatch history --follow >/tmp/followed &
		follower=$!
		until_true 20 grep -q transition /tmp/followed
		kill -9 $follower
		wait $follower || :

		# A byte changes while the core does not listen.
		redirected() {
			altered=vmlinux:proc_sys_call_handler
			# altered - look at what that function is while a byte of it is another one: $moment, $bytes.
			altered() {
				modprobe pp_meddle symbol=proc_sys_call_handler offset=12
				pokepatch text --json $altered 16 >/tmp/look
				moment=$(seconds "$(field time_ns /tmp/look)") bytes=$(field bytes /tmp/look)
				rmmod pp_meddle
			}
			altered
			pokepatch text --at "$moment" --json $altered 16 >/tmp/then
			same "bytes" "$(field bytes /tmp/then)" "$bytes"
			same "unknown" "$(field unknown /tmp/then)" 0
			modprobe pp_redirect
			altered
			# What is there now is looked at.
			same "unknown bytes of the look" "$(field unknown /tmp/look)" 0
			unheard=$moment
			rmmod pp_redirect
			pokepatch text --at "$unheard" --json $altered 16 >/tmp/then
			same "unknown" "$(field unknown /tmp/then)" 16
			altered
			pokepatch text --at "$moment" --json $altered 16 >/tmp/then
			same "bytes, heard again" "$(field bytes /tmp/then)" "$bytes"
			same "unknown, heard again" "$(field unknown /tmp/then)" 0
			pokepatch text --at "$unheard" --json $altered 16 >/tmp/then
			same "unknown, still" "$(field unknown /tmp/then)" 16
		}
		echo "== somebody redirects the calls of who writes text"
		! can others || redirected

		echo "== one whose reader never reads: up to the bound, and then it is told"
		parameter history_kb 64
		parameter history_held_kb 128
		mkfifo /tmp/fifo
		pokepatch history --follow --json >/tmp/fifo &
		follower=$!
		exec 3</tmp/fifo
		toggles 150
		held=$(texthist dump | sed -n "s/^info.* stripped [0-9]* bytes \([0-9]*\) .*/\1/p")
		[ "$held" -gt 65536 ] && [ "$held" -le 131072 ] || die "$held bytes are held"
		cat <&3 >/tmp/followed &
		cat=$!
		until_true 20 grep -q "\"type\":\"lost\"" /tmp/followed
		exec 3<&-
		kill $follower
		wait $follower || :
		wait $cat
		rmmod pokepatch_history_null
		rmmod pokepatch
	'
	grep -E '^(==|looks)' "$guest_output" | sed 's/^/# /' >&3
}

# TEXT_HISTORY_SWITCHES=1000: how often it is switched, on and off counted apart.
@test "the way that each call took while a patch is switched" {
	text_history_patches "$(test_program pathcalls)"
	guest "${patched[@]}" --smp 2 --timeout 500 -- "${TEXT_HISTORY_SWITCHES:-200}" <<<"$words"'
		modprobe pokepatch-history-null
		modprobe pokepatch-history-null-live
		parameter history_kb 16384
		# told PATCH MODE TIMES - switch on and off, call, and ask of the times before and after each call.
		told() {
			patch=$1
			echo "$2" >"$(sysfs $1 vmlinux/read_null,1/mode)"
			pathcalls /tmp/calls &
			caller=$!
			toggles $3
			kill $caller
			wait $caller
			awk "{ print \$1, \"vmlinux:read_null\"; print \$2, \"vmlinux:read_null\" }" \
				/tmp/calls >/tmp/times
			pokepatch history --path /tmp/times >/tmp/ways
			sed "1d; /^#/d" /tmp/ways | awk "{ print \$3 }" | paste -d " " - - | paste -d " " /tmp/calls - >/tmp/both
			awk -v what="$1 $2" "
				\$4 !~ /^(old|new|either)\$/ || \$5 !~ /^(old|new|either)\$/ { bad++ }
				\$4 == \"either\" || \$5 == \"either\" { within++; next }
				\$4 != \$5 { astride++; next }
				{ told[\$4]++; if (\$4 != \$3) wrong++ }
				END {
					printf \"ways, %s: %d calls, %d old, %d new, %d wrong, %d not told, %d begin or end within a switch, %d astride of one: %.3f %% ambiguous\n\",
						what, NR, told[\"old\"], told[\"new\"], wrong, bad, within, astride, 100 * (within + astride) / NR
					exit !(told[\"old\"] && told[\"new\"] && !wrong && !bad)
				}" /tmp/both
			grep "^#" /tmp/ways
		}
		# exactly LIVE - the routes of so many live switches each way are of no width.
		exactly() {
			# Ambiguous is only who looked at the clock between the two looks around the store:
			# here, where processors take turns, that can be long, but not often.
			pokepatch history --json | awk -F "[:,]" "
				/^  \{/ { route = 0 }
				/\"type\": *\"route\"/ { route = 1 }
				/\"begin_ns\"/ { begin = \$2 }
				/\"end_ns\"/ && route { print \$2 - begin }" | sort -n >/tmp/widths
			# On and off, of two functions.
			same "routes" "$(wc -l </tmp/widths)" $(($1 * 4))
			median=$(sed -n $(($1 * 2))p /tmp/widths)
			echo "ways: between the two looks, median: $median ns"
			[ "$median" -lt 100000 ]
			sed -n "s/^# int3: \([0-9]*\) of \([0-9]*\) .*/\1 \2/p" /tmp/ways |
				awk "{ exit !(\$2 && \$1 < \$2 / 100) }"
		}
		live=$(($1 * 3 / 10))
		told history-null-live entry $live
		! can exact-live || exactly $live
		told history-null entry $(($1 * 7 / 40))
		grep -q "^# stop_machine: [0-9]* of [1-9][0-9]* times" /tmp/ways
		! can ftrace || told history-null ftrace $(($1 / 40))
	'
	grep -E '^(ways|#)' "$guest_output" | sed 's/^/# /' >&3
}

@test "a timeline for Perfetto: the stop lies in the switch, and what it changed in the stop" {
	with_patches "$top/examples/proc-version.patch"
	guest "${patched[@]}" <<<"$words"'
		pokepatch load "$(patch_file proc-version)"
		pokepatch disable proc-version
		pokepatch unload proc-version
		pokepatch load "$(patch_file proc-version)"
		pokepatch history --perfetto /tmp/timeline >/dev/null
		pokepatch history --json >/tmp/records
		fails=$(pokepatch history --perfetto /nowhere/x 2>&1 || true)
		has "the error" "$fails" "/nowhere/x"
		echo "== the timeline"
		cat /tmp/timeline
		echo
		echo "== the records"
		cat /tmp/records
	'
	sed -n '/^== the timeline/,/^== the records/p' "$guest_output" | sed '1d;$d' >"$BATS_TEST_TMPDIR/timeline"
	sed '1,/^== the records/d' "$guest_output" >"$BATS_TEST_TMPDIR/records"
	python3 - "$BATS_TEST_TMPDIR/timeline" "$BATS_TEST_TMPDIR/records" <<-'END'
		import json, sys
		timeline, records = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
		events = timeline["traceEvents"]
		tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
		assert sorted(tracks.values()) == ["changes of text", "code of modules", "stops of the machine", "switches"], tracks
		on = lambda track: [e for e in events if e["ph"] == "X" and tracks[e["tid"]] == track]
		within = lambda a, b: b["ts"] - 0.001 <= a["ts"] and a["ts"] + a["dur"] <= b["ts"] + b["dur"] + 0.001
		switches, stops, texts = on("switches"), on("stops of the machine"), on("changes of text")
		assert [e["name"] for e in switches] == ["enable proc_version", "disable proc_version", "enable proc_version"], switches
		assert len(stops) == 3, stops
		for switch, stop in zip(switches, stops):
		    assert within(stop, switch), (stop, switch)
		    assert abs(stop["dur"] * 1000 - switch["args"]["stop_ns"]) < 1, stop
		    changed = [e for e in texts if e["args"]["transition"] == switch["args"]["transition"]]
		    assert any(e["name"].startswith("version_proc_show+") for e in changed), changed
		    assert all(e["ts"] + e["dur"] <= stop["ts"] + stop["dur"] + 0.001 for e in changed), (changed, stop)
		# Every change of text that the records tell is there.
		told = [r for r in records if r["type"] == "text" and r["phase"] == "after" and "end_ns" in r]
		assert len(told) == len(texts) >= 2, (len(told), len(texts))
		# The module has gone, and has come once more.
		ends = {phase: {e["id"]: e for e in events if e["ph"] == phase} for phase in "be"}
		assert ends["b"].keys() == ends["e"].keys(), ends
		lives = sorted((e["ts"], ends["e"][id]["ts"]) for id, e in ends["b"].items() if e["name"] == "pokepatch_proc_version")
		assert lives[0][0] < switches[0]["ts"] and switches[1]["ts"] < lives[0][1] < lives[-1][0] < switches[2]["ts"] < lives[-1][1], (lives, switches)
	END
}
