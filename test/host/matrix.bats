# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# test/matrix/run, with programs that only pretend: what it notes of each kind of failure.

bats_require_minimum_version 1.5.0

# program FILE - the script from standard input.
program() {
	mkdir -p "$(dirname "$1")"
	{
		echo "#!/bin/bash"
		cat
	} >"$1"
	chmod +x "$1"
}

setup() {
	local top
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	mine=$BATS_TEST_TMPDIR/tree
	mkdir -p "$mine/examples" "$mine/test/vm"
	cd "$mine" || return
	cp -r "$top/test/matrix" "$top/test/variant.sh" test/
	echo "# none" >test/matrix/results.tsv
	printf '%s\n' above '<!-- matrix: begin -->' old '<!-- matrix: end -->' below >README.md
	touch examples/{good,bad,ugly}.patch
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache PATH=$mine/bin:$PATH MATRIX_ROUNDS=7
	# What the pretenders do, beside what is right: a list of words.
	export PRETEND=''
	program build/bin/pokepatch <<'END'
dir=$XDG_CACHE_HOME/pokepatch/kernels/${!#}
case $1:$PRETEND in
fetch:*gone*) echo "pokepatch: the archive has dropped it" >&2; exit 1 ;;
fetch:*) mkdir -p "$dir"; echo "linux-image-${!#} 1.2-3 00" >"$dir/fetched" ;;
cache:*) rm -r "$dir" ;;
esac
END
	program build/bin/pokepatch-build <<'END'
diff=${!#}
while [ $# -gt 1 ]; do
	case $1 in -o) out=$2 ;; --report) report=$2 ;; esac
	shift
done
case $diff:$PRETEND in
*bad*:*refused*) echo "pokepatch-build: refused:"; echo "  [section-unknown] bad.c"; exit 2 ;;
*:*core*) echo "pokepatch-build: the core module does not compile for kernel 1"; exit 1 ;;
esac
echo '{"verify": [{"result": "equal"}, {"result": "equal"}]}' >"$report"
touch "$out"
core=$XDG_CACHE_HOME/core-1
mkdir -p "$core/core-module"
touch "$core/core-module/pokepatch.ko"
case $PRETEND in
*warns*) echo "core-module/main.c:1:5: warning: unused variable 'i'" ;;
*differs*) echo "warning: the compiler differs from the one used to build the kernel" ;;
esac >"$core/make.log"
[[ $PRETEND != *silent* ]] || rm "$core/make.log"
echo "core module for this kernel: $core/core-module/pokepatch.ko"
END
	# examples.bats leaves the scripts of what was built.
	program bin/bats <<'END'
for file in build/test/patches/*/pokepatch-*.ko; do
	name=$(basename "$file" .ko) name=${name#pokepatch-}
	[[ $name:$PRETEND != bad:*ungathered* ]] || { echo "not ok 1 example bad"; status=1; continue; }
	echo true >"$POKEPATCH_GATHER/$name.sh"
	printf '%s\n' --module core --timeout 300 --expect "of $name" >"$POKEPATCH_GATHER/$name.options"
done
exit ${status:-0}
END
	program test/vm/vm <<'END'
echo "$*" >>boots
[[ $* == *"--module core"*"--module core"* ]] && exit 121
while [ "$1" != test/matrix/guest.sh ]; do
	[ "$1" != --out ] || out=$2
	shift
done
mkdir -p "$out"
: >"$out/findings" >"$out/output"
echo "<6>booted" >"$out/kernel.log"
status=0
for test in "${@:2}"; do
	echo "<6>[ 1] matrix: $test begins" >>"$out/kernel.log"
	case $test:$PRETEND in
	bad:*broken*) echo "FAILED: it does not work" >>"$out/output"; exit 1 ;;
	bad:*dies*) echo "vm: the guest died; the kernel said:"; exit 122 ;;
	bad:*oops*)
		echo "<4>[ 1] oops" >>"$out/kernel.log"
		echo "$(wc -l <"$out/kernel.log") oops" >"$out/findings"
		status=123
		;;
	esac
	echo "matrix: $test works" >>"$out/output"
done
[[ $PRETEND != *hangs* ]] || { echo "vm: the guest did not come to its end"; exit 124; }
exit $status
END
}

# row PRETEND FIELD... - the fields of the row, behind the version.
row() {
	local status=0
	PRETEND=$1 test/matrix/run 1.2-cloud-amd64 >out 2>&1 || status=$?
	cat out build/test/matrix/*.log
	printf '%s\n' "${@:2}" >wanted
	tail -n 1 test/matrix/results.tsv | cut -f 3- | tr '\t' '\n' | grep -v '^20..-..-..$' >got
	diff wanted got
	[ "$status" -eq "$([ "${!#}" = - ]; echo $?)" ]
	# Fetched for the row, and removed.
	[ ! -e "$XDG_CACHE_HOME/pokepatch/kernels/1.2-cloud-amd64" ]
}

@test "all is well: one guest, and the table has the row" {
	row '' yes yes 3/3 6/6 3/3 7 -
	[ "$(wc -l <boots)" -eq 1 ]
	[ "$(sed -n '1p;$p' README.md | tr '\n' ' ')" = "above below " ]
	grep -q '^| 1.2-cloud-amd64 | 1.2-3 | yes | yes | 3 | 6 | 3 | 7 | ' README.md
	! grep -q old README.md || return 1
	# A second run takes the place of the row.
	row broken yes yes 3/3 6/6 2/3 7 "bad: it does not work"
	[ "$(grep -c 1.2-cloud README.md)" -eq 1 ]
}

@test "a kernel that cannot be fetched" {
	row gone no no 0/0 0/0 0/0 7 "fetch: the archive has dropped it"
}

@test "a core that does not compile" {
	row core yes no 0/3 0/0 0/3 7 "bad not built: pokepatch-build: the core module does not compile for kernel 1"
}

@test "a core for which the compiler has a warning" {
	row warns yes warnings 3/3 6/6 3/3 7 "the core: core-module/main.c:1:5: warning: unused variable 'i'"
	row silent yes yes 3/3 6/6 3/3 7 "the core: no $XDG_CACHE_HOME/core-1/make.log"
	row differs yes yes 3/3 6/6 3/3 7 -
}

@test "two kernels: the second is built while the first runs, and both have their rows" {
	test/matrix/run 1.2-cloud-amd64 1.3-cloud-amd64 >out 2>&1 || { cat out build/test/matrix/*.log; return 1; }
	[ "$(cut -f 1,3-8 test/matrix/results.tsv | tail -n 2)" = "\
1.2-cloud-amd64	yes	yes	3/3	6/6	3/3	7
1.3-cloud-amd64	yes	yes	3/3	6/6	3/3	7" ]
	! PRETEND=gone test/matrix/run 1.2-cloud-amd64 1.3-cloud-amd64 >out 2>&1 || return 1
	[ "$(grep -c 'fetch: the archive has dropped it' test/matrix/results.tsv)" -eq 2 ]
}

@test "an example that is refused; the others go on" {
	row refused yes yes 2/3 4/4 2/3 7 "bad not built: [section-unknown] bad.c"
}

@test "an example that fails in the guest; those behind it get another" {
	row broken yes yes 3/3 6/6 2/3 7 "bad: it does not work"
	[ "$(wc -l <boots)" -eq 2 ]
	row dies yes yes 3/3 6/6 2/3 7 "bad: vm: the guest died; the kernel said:"
}

@test "an example of which the guest gets no script, and a guest that hangs when all is done" {
	row ungathered yes yes 3/3 6/6 2/3 7 "not ok 1 example bad"
	row hangs yes yes 3/3 6/6 3/3 7 "the guest: vm: the guest did not come to its end"
}

@test "a kernel log that is not clean" {
	row oops yes yes 3/3 6/6 2/3 7 "bad: the kernel log: 3 oops"
}
