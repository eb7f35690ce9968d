# SPDX-License-Identifier: GPL-2.0-or-later
# `pokepatch check`: what a load would say, with nothing changed; and `pokepatch status`.

load helpers

example=$top/examples/proc-version.patch

little_endian() { # NUMBER - of 8 bytes
	printf %016x "$1" | sed 's/\(..\)/\1\n/g' | tac | tr -d '\n'
}

@test "check says what load says, and changes nothing" {
	local bad=$BATS_TEST_TMPDIR/bad cache release file vmlinux show text id
	release=$(kernel_release)
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release
	with_patches "$example" "$top/test/vm/patches/callbacks.patch" \
		"$top/test/vm/patches/mutex-lock.patch" "$top/test/vm/patches/zsmalloc-percpu.patch"
	file=$(patch_module "$example")
	mkdir "$bad"
	head -c 1000 "$file" >"$bad/cut.ko"
	replace_bytes "$(hex version_proc_show)" "$(hex version_proc_shoq)" "$file" "$bad/name.ko"
	vmlinux=$cache/dbg/usr/lib/debug/boot/vmlinux-$release
	read -r show text < <(nm "$vmlinux" |
		awk '$3 == "version_proc_show" { s = $1 } $3 == "_stext" { t = $1 } END { print s, t }')
	show=$((0x$show - 0x$text))
	replace_bytes "$(little_endian $show)" "$(little_endian $((show + 16)))" "$file" "$bad/offset.ko"
	stock_module drivers/net/dummy "$BATS_TEST_TMPDIR/dummy.ko"
	id=$(readelf -n "$BATS_TEST_TMPDIR/dummy.ko" | sed -n 's/.*Build ID: //p')
	replace_bytes "$id" "${id:2}00" "$(patch_module "$top/test/vm/patches/callbacks.patch")" \
		"$bad/parent.ko"
	guest "${patched[@]}" --file "$bad" --module dummy --module zsmalloc \
		--expect '^pokepatch: .*(is refused|does not fit module)' <<-'END'
		checks() { # STATUS FILE TEXT
			cat /proc/modules /proc/sys/kernel/tainted >/tmp/before
			dmesg -c >/dev/null
			status=0
			pokepatch check "$2" >/tmp/said 2>&1 || status=$?
			cat /tmp/said
			same "status of check $2" $status "$1"
			same "lines" "$(wc -l </tmp/said)" 1
			has "what it said" "$(cat /tmp/said)" "$3"
			cat /proc/modules /proc/sys/kernel/tainted >/tmp/after
			cmp /tmp/before /tmp/after || die "check changed something"
			# The MIPS board has interrupts now and then that no device asked for.
			same "the log" "$(dmesg | grep -v "spurious 8259A interrupt")" ""
		}
		good() { for name in proc-version callbacks mutex-lock zsmalloc-percpu; do
			checks 0 "$(patch_file $name)" "can be loaded"
		done; }
		load_is_refused() {
			status=0
			pokepatch load "$1" >/tmp/said 2>&1 || status=$?
			cat /tmp/said
			same "status of load $1" $status 2
		}
		good
		[ ! -e $pokepatch ] || die "the core is loaded"
		mv "/lib/modules/$(uname -r)/extra/pokepatch.ko" /tmp/core.ko
		checks 1 "$(patch_file proc-version)" "there is no core module"
		mv /tmp/core.ko "/lib/modules/$(uname -r)/extra/pokepatch.ko"
		modprobe pokepatch
		good
		modprobe dummy
		modprobe zsmalloc
		good

		echo "== what the core would refuse"
		checks 1 bad/cut.ko bad/cut.ko
		for case in "name.ko vmlinux has no symbol version_proc_shoq,1" \
			"offset.ko version_proc_show,1 is not where the patch says" \
			"parent.ko another build of module dummy"; do
			checks 2 "bad/${case%% *}" "${case#* }"
			load_is_refused "bad/${case%% *}"
		done
		rmmod dummy
		checks 0 bad/parent.ko "can be loaded"

		echo "== without addresses, names are compared"
		sysctl -qw kernel.kptr_restrict=2
		checks 0 bad/offset.ko "only their names were compared"
		checks 2 bad/name.ko "has no symbol"
		sysctl -qw kernel.kptr_restrict=0

		echo "== what is loaded"
		pokepatch load "$(patch_file proc-version)"
		checks 3 "$(patch_file proc-version)" "enabled already"
		pokepatch disable proc-version
		checks 0 "$(patch_file proc-version)" "can be loaded"
		pokepatch unload proc-version

		echo "== no modules any more"
		sysctl -qw kernel.modules_disabled=1
		checks 1 "$(patch_file proc-version)" kernel.modules_disabled
	END
}

@test "status: the core, patches, who is in the way, what has no effect, what is installed" {
	with_patches "$example" "$top/test/vm/patches/sleeper.patch"
	guest "${patched[@]}" -- "${arch_instructions[0]}" <<-'END'
		body=$1
		status_is() {
			pokepatch status >/tmp/status
			printf '%s\n' "$@" >/tmp/wanted
			diff /tmp/wanted /tmp/status || die "not the status that was wanted"
		}
		status_is "core: not loaded"
		pokepatch install --no-unit "$(patch_file sleeper)"
		status_is "core: not loaded" "installed: sleeper"
		modprobe pokepatch
		version=$(cat $pokepatch/version)
		status_is "core: $version" "installed: sleeper"
		pokepatch load "$(patch_file proc-version)"
		modprobe pokepatch-sleeper
		status_is "core: $version" "proc_version: enabled" "sleeper: disabled" "installed: sleeper"
		mkfifo /tmp/fifo
		cat /tmp/fifo &
		until_true 10 asleep_in $! wait_for_partner
		refused pokepatch enable --timeout 200 sleeper
		status_is "core: $version" "proc_version: enabled" "sleeper: blocked" \
			"sleeper: blocked by: $! cat wait_for_partner" "installed: sleeper"
		address=$(awk '$3 == "version_proc_show" && !$4 { print "0x" $1 }' /proc/kallsyms)
		probe_body() { echo "p:pp/body $(printf "0x%x" $((address + body)))" >>$tracing/kprobe_events; }
		unguarded probe_body
		echo 1 >$tracing/events/pp/body/enable
		seen() { pokepatch status | grep -q "^proc_version: without effect on version_proc_show: kprobe$"; }
		until_true 5 seen
		pokepatch status --json >/tmp/json
		has JSON "$(cat /tmp/json)" '"installed"'
		stop_hits
		echo through >/tmp/fifo
		wait $!
	END
}
