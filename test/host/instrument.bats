# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build --instrument as a user runs it; the markers themselves run in vm/marks.bats.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# build ARGS... - run it; $status and $output are bats'.
build() {
	run "$program" -k "$release" "$@"
}

# ends STATUS [TEXT...] - the last build ended with STATUS, and its output has each TEXT.
ends() {
	local text
	for text in "${@:2}"; do
		[[ $output == *"$text"* ]] || {
			echo "no '$text' in:"
			echo "$output"
			return 1
		}
	done
	[ "$status" -eq "$1" ] || {
		echo "status $status, not $1:"
		echo "$output"
		return 1
	}
}

changed() { # of x.json
	jq -r '.functions[] | select(.change == "changed") | .name' x.json | sort | tr '\n' ' '
}

same_changed() {
	[ "$(changed)" = "$1" ] || {
		echo "changed: $(changed)"
		return 1
	}
}

# How many markers a module has.
markers_of() {
	readelf -x .pokepatch.markers "$1" >/dev/null
	echo $((16#$(readelf -SW "$1" | sed -n 's/.* \.pokepatch\.markers  *PROGBITS  *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p') / 56))
}

@test "what goes with --instrument only, and what is left out" {
	build -D A "$top/examples/proc-version.patch"
	ends 1 "-D needs --instrument"
	build --mark-functions f "$top/examples/proc-version.patch"
	ends 1 "--mark-functions needs --instrument"
	build --instrument
	ends 1 "no FILE.c and no PATCH given"
	build --instrument -D 1A fs/proc/version.c
	ends 1 "-D wants NAME or NAME=VALUE, not 1A"
	build --instrument fs/proc/nothing.c
	ends 2 "refused [not-in-kernel]"
	build --instrument -n v fs/proc/version.c
	ends 3 "no marker in a function"
	# Without it, a marker is nothing.
	build "$top/examples/mark-reclaim.patch"
	ends 3 "nothing to do"
}

@test "markers of a diff, and of a define; the module is switched live" {
	build --instrument --report x.json -o x.ko "$top/examples/mark-reclaim.patch"
	ends 0 "changed functions:"
	[ "$(markers_of x.ko)" -eq 1 ]
	# shrink_folio_list() is inlined nowhere; one function alone.
	same_changed "shrink_folio_list "
	"$top/build/bin/pokepatch" info --json x.ko | jq -e '.transition == "live"'
	build --instrument --transition stop -o x.ko "$top/examples/mark-reclaim.patch"
	ends 0
	"$top/build/bin/pokepatch" info --json x.ko | jq -e '.transition == "stop"'

	cat >marks.patch <<-'END'
		--- a/fs/proc/version.c
		+++ b/fs/proc/version.c
		@@ -9,4 +9,7 @@
		 static int version_proc_show(struct seq_file *m, void *v)
		 {
		+#ifdef WANTED
		+	POKEPATCH_MARK(shown, "to %px, " WANTED " %d", m, NUMBER);
		+#endif
		 	seq_printf(m, linux_proc_banner,
		 		utsname()->sysname,
	END
	build --instrument -o x.ko marks.patch
	ends 3 "nothing to do"
	build --instrument -o x.ko -D 'WANTED="level"' -DNUMBER=42 --report x.json marks.patch
	ends 0 "changed functions: version_proc_show"
	grep -q 'to %px, level %d' x.ko
	jq -e '.instrument.defines == ["WANTED=\"level\"", "NUMBER=42"]' x.json
	# A format that does not fit is no module.
	build --instrument -o y.ko -D 'WANTED="%s"' -DNUMBER=42 marks.patch
	ends 1 "does not compile with the change"
	[ ! -e y.ko ]
}

@test "entry and return of functions by name" {
	build --instrument -n m -o x.ko --report x.json \
		--mark-functions "tcp_fragment,tcp_event_new_data_sent" \
		--mark-functions tcp_schedule_loss_probe net/ipv4/tcp_output.c
	ends 0
	same_changed "tcp_event_new_data_sent tcp_fragment tcp_schedule_loss_probe tcp_write_xmit "
	[ "$(markers_of x.ko)" -eq 6 ]
	grep -q 'sk=%px tcp_queue=%u skb=%px len=%u mss_now=%u gfp=%u' x.ko
	grep -q 'sk=%px advancing_rto=%u' x.ko
	local name
	for name in tcp_fragment tcp_event_new_data_sent tcp_schedule_loss_probe; do
		grep -qa "${name}_entry" x.ko
		grep -qa "${name}_return" x.ko
	done
	# The same once more, from another folder and with a path in the source: the same bytes.
	mkdir other && cd other
	build --instrument -n m -o x.ko -s "$source" -q \
		--mark-functions tcp_fragment,tcp_event_new_data_sent \
		--mark-functions tcp_schedule_loss_probe ./net/ipv4/tcp_output.c
	ends 0
	cmp x.ko ../x.ko
	# A static function without calls from elsewhere is covered through its callers.
	cd ..
	build --instrument -n m -o x.ko --report x.json --mark-functions tcp_cwnd_test net/ipv4/tcp_output.c
	ends 0
	[[ $(changed) == *tcp_write_xmit* ]]
	[ "$(markers_of x.ko)" -eq 2 ]
}

@test "a fix and its markers in one module" {
	build --instrument -o x.ko --report x.json --mark-functions version_proc_show \
		"$top/examples/proc-version.patch" fs/proc/version.c
	ends 0 "changed functions: version_proc_show"
	[ "$(markers_of x.ko)" -eq 2 ]
	grep -q Live-patched x.ko
	[ "$(jq -r '.patch[].file' x.json | tr '\n' ' ')" = "proc-version.patch fs/proc/version.c " ]
}

@test "what is not understood is refused by name" {
	build --instrument -n v --dry-run --mark-functions nothing_there,get_task_comm,__do_sys_uname,umh_keys_init \
		kernel/sys.c
	ends 2 "refused [function-not-marked]: --mark-functions: 'nothing_there': the files define no such function" \
		"'__do_sys_uname': a macro defines it"
	build --instrument -n v --dry-run --mark-functions proc_version_init fs/proc/version.c
	ends 2 "'proc_version_init': it is in section .init.text"
	build --instrument -n v --dry-run --mark-functions utsname fs/proc/version.c
	ends 2 "'utsname': it is defined in " include/linux/utsname.h
	build --instrument -n v --dry-run --mark-functions do_nmi,exc_nmi,default_do_nmi arch/x86/kernel/nmi.c
	ends 2 "'default_do_nmi': it is in section .noinstr.text"
	# The diff has taken the line away that DWARF knows.
	cat >moved.patch <<-'END'
		--- a/fs/proc/version.c
		+++ b/fs/proc/version.c
		@@ -8,3 +8,3 @@

		-static int version_proc_show(struct seq_file *m, void *v)
		+static int version_proc_show(struct seq_file *m,  void *v)
		 {
	END
	build --instrument -n v --dry-run --mark-functions version_proc_show moved.patch
	ends 2 "the diffs change the line with its name"
	# Or another one of its declaration: what the markers would show comes from the old one.
	edited net/ipv4/tcp_output.c '/^static bool tcp_tso_should_defer/,/^{/s/u32 max_segs/u64 max_segs/'
	build --instrument -n v --dry-run --mark-functions tcp_tso_should_defer x.patch
	ends 2 "the diffs change its declaration"
	rm -r a b x.patch
	edited net/ipv4/igmp.c '/^static int$/{N;s/static int\nigmp_scount/static u64\nigmp_scount/}'
	build --instrument -n v --dry-run --mark-functions igmp_scount x.patch
	ends 2 "the diffs change its declaration"
	rm -r a b x.patch
	edited net/ipv4/igmp.c -e '/^static int$/{N;s/static int\nigmp_scount/static int added;\n\n&/}' \
		-e '/^igmp_scount/,/^}/s/scount = 0/scount = added/'
	build --instrument -n v --dry-run --mark-functions igmp_scount x.patch
	ends 0
	for file in fs/../fs/proc/version.c fs//proc/version.c ../kernel/kallsyms.c; do
		build --instrument -n v --dry-run --mark-functions version_proc_show $file
		ends 1 "$file: give its path in the kernel's source"
	done
	build --instrument -n v --dry-run --mark-functions m_start fs/namespace.c fs/proc/task_mmu.c
	ends 2 "'m_start': fs/namespace.c has one of that name, too"
}
