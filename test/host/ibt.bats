# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build for a kernel with IBT, whose objtool ran on the linked kernel: Linux 6.12.

load helpers
# shellcheck source=../variant.sh
. "$top/test/variant.sh"

setup_file() {
	use_kernel x86_64 6.12
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# version SED... - x.patch: an edit of fs/proc/version.c, which sees nr_processes() too.
version() {
	rm -f x.patch
	edited fs/proc/version.c -e '/"internal.h"/i #include <linux/sched/stat.h>' "$@"
}

# made - make a module of x.patch.
made() {
	"$program" -q -k "$release" -o x.ko x.patch
}

# refused_with CODE TEXT
refused_with() {
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"refused [$1]: $2"* ]] || {
		echo "$output"
		false
	}
}

# places TABLE - of the module, as offsets in .text.
places() {
	readelf -rW x.ko | awk -v section="'.rela$1'" '
		/^Relocation section/ { inside = $3 == section }
		inside && $5 == ".text" { print "0x" $7 }'
}

@test "examples that have a form for this kernel, and those that need none" {
	local patch
	for patch in "$top"/examples/*.patch; do
		patch=$(variant "$release" "$patch")
		case ${patch##*/} in
		mark-*) "$program" -q -k "$release" -o x.ko --instrument "$patch" ;;
		*) "$program" -q -k "$release" -o x.ko "$patch" ;;
		esac
	done
}

# nr_processes() is called directly only, so objtool sealed it.
@test "the address of a sealed function, in code and in data, is refused; a call is not" {
	version -e '/^static int version_proc_show/i int (*volatile taken)(void);' \
		-e '0,/^\treturn 0;/s//\ttaken = nr_processes;\n\tseq_printf(m, "%d", taken());\n&/'
	refused_with no-landing-pad "'version_proc_show' takes the address of 'nr_processes'"
	version -e '/^static int version_proc_show/i int (*taken)(void) = nr_processes;' \
		-e '0,/^\treturn 0;/s//\tseq_printf(m, "%d", taken());\n&/'
	refused_with no-landing-pad "'taken' takes the address of 'nr_processes'"
	version -e '0,/^\treturn 0;/s//\tseq_printf(m, "%d", nr_processes());\n&/'
	made
}

@test "a new function that is called indirectly has a landing pad that is not sealed" {
	version -e '/^static int version_proc_show/i static noinline int mine(void)\n{\n\treturn nr_processes();\n}\nint (*taken)(void) = mine;' \
		-e '0,/^\treturn 0;/s//\tseq_printf(m, "%d", taken());\n&/'
	made
	local at place
	at=$(readelf -sW x.ko | awk '$8 == "mine" { print $2 }')
	objdump -d --start-address="0x$at" --stop-address="$((16#$at + 4))" -j .text x.ko | grep -q endbr64
	for place in $(places .ibt_endbr_seal); do
		[ $((place)) -ne $((16#$at)) ]
	done
}

@test "calls that the core relocates are not in .call_sites; others are" {
	version -e '0,/^\treturn 0;/s//\tseq_printf(m, "%d", nr_processes());\n&/'
	made
	# __fentry__ and two of seq_printf(), but not nr_processes()
	[ "$(objdump -d -j .text x.ko | grep -c '\bcall\b')" -eq 4 ]
	[ "$(places .call_sites | wc -l)" -eq 3 ]
}

# Debian's 6.12 has USER_PTR_MAX in the code of vmlinux.
@test "code reads the variables that the kernel has as constants" {
	"$program" -q -k "$release" -o x.ko "$top/examples/6.12/proc-oom-adj.patch"
	[ "$(readelf -SW x.ko | grep -c runtime_)" -eq 0 ]
	readelf -sW x.ko | grep -q 'UND USER_PTR_MAX'
}

# The table has entries of 12 bytes in older kernels and of 14 here; 18 of these are as long as 21 of the others.
@test "a table whose size fits entries of two sizes" {
	edited drivers/net/vxlan/vxlan_vnifilter.c \
		's/NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr))/{ .type = NLA_BINARY, .len = sizeof(struct in6_addr) }/'
	"$program" -q -k "$release" --keep kept x.patch
	size=$(size -A kept/patched/*/unit.o | awk '$1 == ".altinstructions" { print $2 }')
	[ "$((size % 12))" -eq 0 ]
	[ "$((size % 14))" -eq 0 ]
	[ "$size" -gt 0 ]
}
