# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# --explain and --html: what a patch does, in words and beside the code.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# explained - build x.patch; $output is the explanation alone.
explained() {
	run --separate-stderr "$program" -k "$release" --explain -q x.patch
	echo "$output"
}

# says TEXT... - the output has these, one behind the other, with other text between.
says() {
	local rest=$output text
	for text; do
		[[ $rest == *"$text"* ]] || {
			echo "missing, or not in this order: $text"
			return 1
		}
		rest=${rest#*"$text"}
	done
}

# Three kinds of change in one file: a helper that is inlined, a function, a new function; and one removed.
mixed() {
	mkdir -p a/fs b/fs
	cp "$source/fs/eventfd.c" a/fs/
	sed '/^static void eventfd_free_ctx/,/^}/s/kfree(ctx)/kfree_sensitive(ctx)/
		s/"eventfd-count: /"eventfd-<\&> count: /
		/^static int do_eventfd/i\
noinline u64 eventfd_added(void)\
{\
	return jiffies;\
}
		s/^static void eventfd_show_fdinfo.*/noinline u64 eventfd_added(void);\n&/
		/seq_printf/i\
	if (!eventfd_added())\
		return;' a/fs/eventfd.c >b/fs/eventfd.c
	diff -u a/fs/eventfd.c b/fs/eventfd.c >x.patch || [ $? -eq 1 ]
}

@test "the explanation says of each function why it is in the patch" {
	mixed
	explained
	[ "$status" -eq 0 ]
	says "Patch x for $release (x86), build id " "  x.patch" "Units" "  fs/eventfd.c, in vmlinux" \
		"    eventfd_added: new, " "The file has no such function without the patch." \
		"    eventfd_release: " "        Changed functions are inlined into it: eventfd_free_ctx." \
		"Its old code, as compiled here, is the kernel's." \
		"    eventfd_show_fdinfo: " "        Its source is changed." "Calls are rerouted at its entry (mode auto)."
	[ -e pokepatch-x.ko ]
	# Of a function that is as it was, nothing.
	[[ $output != *eventfd_poll* ]]
}

@test "the explanation of a refused change says what is refused, beside the types" {
	edited fs/eventfd.c 's/^	unsigned int flags;/	u64 flags;/'
	explained
	[ "$status" -eq 2 ]
	says "Types" "  struct eventfd_ctx: new code misreads what old code wrote" "    flags: " \
		"Refused, or warned of" "  [type-changed] "
	[[ $output == *"(unsigned int, 4 bytes at 40 -> u64, 8 bytes at 40)"* ]]
	[ ! -e pokepatch-x.ko ]
}

@test "the explanation of a series says which commits are in the patch" {
	edited fs/proc/version.c 's/utsname()->sysname,/"Patched",/'
	mkdir series
	{
		printf 'Subject: a version\n---\n'
		cat x.patch
	} >series/1.patch
	rm x.patch
	edited fs/eventfd.c 's/^	unsigned int flags;/	u64 flags;/'
	{
		printf 'Subject: a wider field\n---\n'
		cat x.patch
	} >series/2.patch
	run --separate-stderr "$program" -k "$release" --explain -q --series series --leave-out --html s.html
	echo "$output"
	[ "$status" -eq 0 ]
	says "Commits" '  1.patch ("a version"): in the patch' '  2.patch ("a wider field"): left out' "      fs/eventfd.c:30: refused [type-changed]: " \
		"Units" "  fs/proc/version.c, in vmlinux"
	grep -q '<td>1.patch (&quot;a version&quot;)</td><td></td><td>yes</td>' s.html
	grep -q '<td>2.patch (&quot;a wider field&quot;)</td><td></td><td>no</td><td>[^<]' s.html
}

@test "the page has source and code of each changed function, and all of it is in one file" {
	mixed
	"$program" -k "$release" -q --html x.html x.patch
	# XML's rules are stricter than HTML's: then every browser sees the same tree.
	sed '1d; s/<meta[^>]*>/&<\/meta>/g; s/<br>/<br\/>/g' x.html >x.xml
	python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' x.xml
	run grep -Ei '(src|href)="[^#]|@import|url\(|<script' x.html
	[ "$status" -eq 1 ]

	# A function that was changed: its lines, escaped, and its instructions with the names in them.
	sed -n '/<h3>eventfd_show_fdinfo</,/<h[23]/p' x.html >show
	grep -q '<span class="old">.* - .*&quot;eventfd-count: ' show
	grep -q '<span class="new">.* + .*&quot;eventfd-&lt;&amp;&gt; count: ' show
	grep -q '<span class="new">.* + callq *eventfd_added<' show
	grep -q '<span><i>.*callq *__fentry__<' show
	grep -q '<span.*callq *seq_printf<' show
	run grep 'eventfd_free_ctx' show
	[ "$status" -eq 1 ]
	# For a function whose source is not changed, the page has the source of what is inlined into it.
	sed -n '/<h3>eventfd_release</,/<h[23]/p' x.html >release
	grep -q '<span class="old">.* - .*kfree(ctx);<' release
	grep -q '<span class="new">.* + .*kfree_sensitive(ctx);<' release
	grep -q '<span class="old">.* - callq *kfree<' release
	grep -q '<span class="new">.* + callq *kfree_sensitive<' release
	# New functions have their file.
	sed -n '/<h3>eventfd_added</,/<h[23]/p' x.html >added
	file=$(grep -o 'href="#[a-z0-9-]*"' added | head -n 1 | tr -d '#')
	[ -n "$file" ]
	grep -q "<h2 ${file/href/id}>fs/eventfd.c</h2>" x.html
	# What is equal in both is not marked: most of it.
	[ "$(grep -c 'class="old"' release)" -lt "$(grep -c '<span><i>' release)" ]
}

@test "jumps over what is new are not marked as changed" {
	edited fs/eventfd.c '/^static __poll_t eventfd_poll/,/^}/s/poll_wait(file/cpu_relax();\n	&/'
	"$program" -k "$release" -q --html x.html x.patch
	sed -n '/<h3>eventfd_poll</,/<h[23]/p' x.html | sed -n '/<\/div><div>/,$p' >code
	cat code
	# The pause alone, though all that follows has moved.
	[ "$(grep -c 'class="new"' code)" -eq 1 ]
	grep -q 'class="new".*pause' code
	run grep -c 'class="old"' code
	[ "$output" = 0 ]
}

@test "neither a page nor a module is left behind where one of them cannot be written" {
	edited fs/proc/version.c 's/utsname()->sysname,/"Patched",/'
	run "$program" -k "$release" -q --html missing/x.html --report r.json x.patch
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"the page was not written: "*missing/x.html* ]]
	[ ! -e pokepatch-x.ko ]
	[ ! -e r.json ]
	run "$program" -k "$release" -q --html x.html --report r.json -o missing/x.ko x.patch
	[ "$status" -eq 1 ]
	[ ! -e x.html ]
	[ ! -e r.json ]

	run "$program" -k "$release" --explain --report - x.patch
	[ "$status" -eq 1 ]
	[[ $output == *"--explain and --report - both write to standard output"* ]]
}

@test "report and page go to a pipe, a device, or where a link leads, and these stay what they are" {
	local reader
	edited fs/proc/version.c 's/utsname()->sysname,/"Patched",/'
	mkfifo report page
	cat report >report.got &
	reader=$!
	cat page >page.got &
	"$program" -q -k "$release" --dry-run --report report --html page x.patch
	wait $reader $!
	[ -p report ]
	[ -p page ]
	jq -e .functions report.got >/dev/null
	grep -q '</html>' page.got
	ln -s there link
	"$program" -q -k "$release" --dry-run --report link x.patch
	[ -L link ]
	jq -e .functions there >/dev/null
	# Nor is one removed where the page cannot be written.
	cat report >report.got &
	run -1 "$program" -q -k "$release" --html no/such/page --report report -o x.ko x.patch
	wait $!
	[ -p report ]
	[ ! -e x.ko ]
}

@test "output that cannot be written, and a pipe whose reader has ended: no work folder stays" {
	edited fs/proc/version.c 's/utsname()->sysname,/"Patched",/'
	mkdir tmp
	local options status=0
	TMPDIR=$PWD/tmp "$program" -q -k "$release" --dry-run --explain x.patch >/dev/full || status=$?
	[ $status -eq 1 ]
	for options in -V --explain "--report -"; do
		# shellcheck disable=SC2086 # two words
		TMPDIR=$PWD/tmp "$program" -k "$release" --dry-run $options x.patch 2>&1 | true
		[ -z "$(ls tmp)" ]
	done
}

@test "the module is the same, whether it is explained or not" {
	mixed
	"$program" -k "$release" -q x.patch -o plain.ko
	"$program" -k "$release" -q --explain --html x.html x.patch -o explained.ko >/dev/null
	cmp plain.ko explained.ko
}

@test "functions of --return, and those with markers" {
	run --separate-stderr "$program" -k "$release" --explain -q --html x.html --return do_eventfd=-EPERM
	echo "$output"
	says "Patch return-do_eventfd for $release" "  do_eventfd=-EPERM" "    do_eventfd: " \
		"It returns at once, as --return has it." "Its old code, as compiled here, is the kernel's."
	sed -n '/<h3>do_eventfd</,/<h[23]/p' x.html | grep -q 'class="new".* + movq \|class="new".* + movl '
	run --separate-stderr "$program" -k "$release" --explain -q --instrument --mark-functions do_eventfd \
		fs/eventfd.c
	echo "$output"
	says "    do_eventfd: " "Its source is changed, by markers or by a diff."
}

# A macro makes the body of a system call, and functions that call it.
@test "functions without an entry, and what is replaced for them" {
	cp "$top/test/vm/patches/flock-body.patch" x.patch
	explained
	says "    __do_sys_flock: " "Its file is changed, but its own lines are not understood" \
		"It has no patchable entry; its callers call the new one: __ia32_sys_flock and __x64_sys_flock." \
		"    __x64_sys_flock: " "It calls __do_sys_flock. Such calls cannot be rerouted, so this caller is replaced instead."
	[[ $output != *"Its source is changed."* ]]
}

@test "functions of a module for the kernel's livepatch core" {
	edited fs/proc/version.c 's/utsname()->sysname,/"Patched",/'
	run --separate-stderr "$program" -k "$release" --explain -q --format livepatch --report r.json x.patch
	echo "$output"
	says "    version_proc_show: " "Its source is changed." "The kernel's livepatch core reroutes its calls."
	[ "$(jq -r '.format + " " + .functions[0].mode' r.json)" = "livepatch livepatch" ]
}
