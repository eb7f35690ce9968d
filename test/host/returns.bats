# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build --return as a user runs it; the functions themselves run in vm/returns.bats.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# build ARGUMENT... - run it for the kernel, without progress; $status, $output and $lines are bats'.
build() {
	run "$program" -q -k "$release" "$@"
}

# ends STATUS LINES [TEXT...] - the last build ended with STATUS and so many lines, and they have
# each TEXT.
ends() {
	local text
	for text in "${@:3}"; do
		[[ $output == *"$text"* ]] || {
			echo "no '$text' in:"
			echo "$output"
			return 1
		}
	done
	if [ "$status" -ne "$1" ] || [ ${#lines[@]} -ne "$2" ]; then
		echo "status $status, not $1, or not $2 lines:"
		echo "$output"
		return 1
	fi
}

# refused TEXT... - the last build was refused for one reason, in one line and a sum.
refused() {
	ends 2 2 "refused for 1 reason" "$@"
}

# texts MODULE - what the core compares old functions with, a byte a line; "-": it leaves it out.
# (Runs: how many bytes are left out, how many follow, these.)
texts() {
	objcopy -O binary --only-section=.pokepatch.texts --set-section-flags .pokepatch.texts=alloc \
		"$1" "$1.texts"
	od -An -v -tu1 -w1 "$1.texts" | awk '
		state == 0 { for (i = 0; i < $1; i++) print "-"; state = 1; next }
		state == 1 { rest = $1; state = rest ? 2 : 0; next }
		{ print $1 } --rest == 0 { state = 0 }'
}

@test "arguments that are none: a line that says why, and nothing is read" {
	build --return 'f=1x'
	ends 1 1 "--return f=1x: the value is none of these" "FUNCTION=VALUE"
	build --return '=1'
	ends 1 1 "no function is named"
	build --return f=1 --return 'a:b:f=1'
	ends 1 1 "two modules"
	build --return f=1 "$top/examples/proc-version.patch"
	ends 1 1 "--return makes the whole patch"
	build --return f=1 --instrument fs/proc/version.c
	ends 1 1 "--return makes the whole patch"
	build --return f=1 -D A=1
	ends 1 1 "--return makes the whole patch"
	build --return
	ends 1 1 "without its argument"
	build --return version_proc_show=1 --return version_proc_show=2
	ends 1 1 "another --return has a function of that name"
	build --return nosuch:f=1
	ends 1 1 "has no module 'nosuch'"
}

@test "values that a function's type does not allow" {
	build --return version_proc_show
	refused "fs/proc/version.c:" "[return-unfit]" "it returns int: give a number or -ENAME"
	build --return version_proc_show=0x80000000
	refused "it returns int, which does not hold 2147483648"
	build --return version_proc_show=-ENOSUCH
	refused "the kernel has no error ENOSUCH"
	build --return schedule=1
	refused "it returns void: give no value"
	build --return capable=2
	refused "it returns bool, which does not hold 2: give true or false"
	build --return proc_get_link=-EACCES
	refused "it returns const char *: give NULL or ERR_PTR(-ENAME)"
	build --return memcpy=NULL
	refused "the debug information does not say what 'memcpy' returns"
	build --return do_exit
	refused "'do_exit' never returns"
}

@test "functions that cannot return at once, or of which others have copies" {
	build --return nosuchfunction=1
	refused "[symbol-missing]" "the kernel has no function 'nosuchfunction'"
	build --return fs/proc/generic.c:version_proc_show=1
	refused "[symbol-missing]" "of fs/proc/generic.c, but of fs/proc/version.c"
	build --return c_start=NULL
	refused "[symbol-ambiguous]" "say which one: " "fs/proc/consoles.c:c_start"
	build --return dump_stack
	refused "lib/dump_stack.c:" "[no-entry]" "name its callers"
	build --return start_kernel
	refused "[init-changed]" "'start_kernel' runs only at initialisation"
	# Tasks sleep in it.
	build --dry-run --return do_epoll_wait=0
	ends 0 1 "fs/eventpoll.c: warning [may-block]: 'do_epoll_wait' sleeps in schedule_hrtimeout_range()"
	# Its callers are in its own file.
	build --return ns_capable=false
	refused "kernel/capability.c:" "[function-inlined]" "has inlined 'ns_capable' into " "capable"
	build --dry-run --return ns_capable=false --allow function-inlined:ns_capable
	ends 0 1 "warning [function-inlined]: allowed: "
	mapfile -t callers < <(sed -n "s/.*has inlined 'ns_capable' into \(.*\), which would.*/\1/p" \
		<<<"$output" | sed 's/,\| and/\n/g' | tr -d ' ')
	callers=("${callers[@]/#/--return=}")
	build --dry-run --return ns_capable=false "${callers[@]/%/=false}"
	ends 0 0
	# Any unit may have copies of a header's function.
	build --return gid_lt=false
	[[ $output == *"include/linux/uidgid.h:"*"[function-inlined]: 'gid_lt' is defined in a header"* ]]
}

@test "the module, its name and its report" {
	build --report x.json --return version_proc_show=-EPERM --return consoles.c:c_start=NULL
	ends 0 0
	"$top/build/bin/pokepatch" info ./pokepatch-return-version_proc_show.ko >said
	grep -q '^returns:  *version_proc_show=-EPERM$' said
	grep -q '^  *consoles.c:c_start=NULL$' said
	[ "$(jq -c '[.functions[] | [.name, .parent, .change]]' x.json)" = \
		'[["c_start","vmlinux","changed"],["version_proc_show","vmlinux","changed"]]' ]
	jq -e '.functions[1].first_change.source | startswith("fs/proc/version.c:")' x.json
	[ "$(jq -c '[.units[].source]' x.json)" = '["fs/proc/consoles.c","fs/proc/version.c"]' ]
	[ "$(jq -c '[.verify[].result] | unique' x.json)" = '["equal"]' ]
	[ "$(jq -c .returns x.json)" = '["version_proc_show=-EPERM","consoles.c:c_start=NULL"]' ]

	mkdir other kept
	(
		cd other
		"$program" -q -k "$release" -o ../x.ko --keep ../kept -n return-version_proc_show \
			--return version_proc_show=-EPERM --return consoles.c:c_start=NULL
	)
	cmp x.ko pokepatch-return-version_proc_show.ko
	[ -e kept/patched-0.o ]
	build --dry-run -o y.ko --return version_proc_show=0
	ends 0 0
	[ ! -e y.ko ]
}

@test "clones and cold parts, and functions of modules" {
	# Without them, tasks inside would not be seen.
	build -o x.ko --return ___neigh_create='ERR_PTR(-ENOBUFS)'
	ends 0 0
	strings x.ko | grep -qx ___neigh_create.cold
	clone=$(nm "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release" |
		sed -n 's/.* t \(__ep_eventpoll_poll\.isra\.[0-9]*\)$/\1/p')
	build --report x.json --return __ep_eventpoll_poll=0 -o x.ko
	ends 0 0
	[ "$(jq -r '.functions[].name' x.json)" = "$clone" ]
	# Exported; not exported, and only one module has it; in several modules.
	for function in zs_map_object=NULL obj_malloc=0 zsmalloc:mm/zsmalloc.c:obj_malloc=0; do
		build --report x.json --return $function -o x.ko
		ends 0 0
		[ "$(jq -r '.functions[].parent' x.json)" = zsmalloc ]
	done
	build --return init_module=0
	refused "[symbol-ambiguous]" "several modules have a function 'init_module'" ":init_module"
}

@test "the core compares the same bytes in memory as with a compiled original" {
	# The last has static branches, alternatives, retpolines, locks and a string.
	local functions=(version_proc_show uptime_proc_show vfs_write tcp_v4_rcv)
	edited fs/proc/version.c '/^static int version_proc_show/,/^}/s/return 0/return 1/'
	edited fs/proc/uptime.c '/^static int uptime_proc_show/,/^}/s/return 0/return 1/'
	edited fs/read_write.c '/^ssize_t vfs_write/,/^}/s/return -EBADF/return -EINVAL/'
	edited net/ipv4/tcp_ipv4.c '/^int tcp_v4_rcv/,/^}/s/return 0;/return 1;/'
	build -o diff.ko --report x.json x.patch
	ends 0 0
	[ "$(jq -r '.functions[] | select(.change == "changed") | .name' x.json | sort)" = \
		"$(printf '%s\n' "${functions[@]}" | sort)" ]
	functions=("${functions[@]/%/=0}")
	build -o return.ko "${functions[@]/#/--return=}"
	ends 0 0
	texts diff.ko >diff.txt
	texts return.ko >return.txt
	[ "$(wc -l <return.txt)" -gt 5000 ]
	[ "$(grep -c -- - return.txt)" -gt 100 ]
	# A relocated field may be left out that has the same value wherever the kernel is.
	run ! grep -v '^\([0-9-]*\)	\1$\|^-	[0-9]' <(paste diff.txt return.txt)
	[ "$(paste diff.txt return.txt | grep -c '^-	[0-9]')" -lt 40 ]
}

@test "no source is needed, and nothing is compiled but what all patch modules share" {
	local cache=$BATS_TEST_TMPDIR/cache/pokepatch/kernels/$release file
	mkdir -p "$cache"
	for file in "$kernel"/*; do
		[[ $file == */source || $file == */tree-* || $file == *.lock ]] || ln -s "$file" "$cache/"
	done
	build -o y.ko --return version_proc_show=-EIO
	ends 0 0
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	# The first time, what they share is compiled and kept.
	build -o x.ko --return version_proc_show=-EIO
	ends 0 0
	cmp x.ko y.ko
	build -o x.ko -V --return uptime_proc_show=-EIO
	[ "$status" -eq 0 ]
	[[ $output == *objtool* ]]
	[[ $output != *" -c "* ]]
	# A diff does need the source.
	build "$top/examples/proc-version.patch"
	ends 1 1 "no source of kernel $release in the cache"
}
