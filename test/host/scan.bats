# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # run --separate-stderr sets stderr
# pokepatch-scan as a user runs it, on the kernel that the tests use: it has all fixes of the catalogue.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	scan=$top/build/bin/pokepatch-scan
}

# says STATUS LINE... - the last run ended with STATUS, and its last lines begin so, blanks apart.  Other tests may
# have made it wait.
says() {
	local line lines=() i
	mapfile -t lines < <(grep -v '^waiting for another pokepatch ' <<<"$output")
	i=$((${#lines[@]} - $# + 1))
	[ "$status" -eq "$1" ] || { echo "status $status, not $1: $output" && return 1; }
	for line in "${@:2}"; do
		[[ $(tr -s ' ' <<<"${lines[i]}") = "$line"* ]] || { echo "'${lines[i]}', not '$line'" && return 1; }
		i=$((i + 1))
	done
}

@test "a fix is found by its CVE, its commit and its name, and the kernel has it" {
	run "$scan" -k "$release" CVE-2024-53187
	says 3 io-uring-pin-pages.patch " $release has it vmlinux"
	run "$scan" -k "$release" 0C0a4eae26ac
	says 3 io-uring-pin-pages.patch " $release has it vmlinux"
	run "$scan" -k "$release" xt-hashlimit-rate
	says 3 xt-hashlimit-rate.patch " $release has it xt_hashlimit"
	# A header, and a C file.
	run "$scan" -k "$release" CVE-2026-90058
	says 3 qdisc-pkt-len.patch " $release has it vmlinux"
	# A fix whose last lines equal the lines in front of it, so that it applies once more.
	run "$scan" -k "$release" cls-u32-offshift
	says 3 cls-u32-offshift.patch " $release has it cls_u32"
	# A header alone.
	run "$scan" -k "$release" virtio-net-gso-size
	says 3 virtio-net-gso-size.patch " $release has it"
}

@test "a fix that the kernel does not have, one whose file it does not compile, one that does not fit" {
	edited net/sched/sch_drr.c 's/Specified DRR quantum cannot be zero/A quantum of zero/'
	edited kernel/time/namespace.c 's/tv_nsec >= NSEC_PER_SEC/tv_nsec > NSEC_PER_SEC - 1/'
	run "$scan" -k "$release" ./x.patch
	says 0 x.patch " $release affected sch_drr, vmlinux"
	sed -i 's/^-.*DRR quantum.*/-something else/' x.patch
	run "$scan" -k "$release" x.patch
	says 3 x.patch " $release unclear hunk 1 does not apply to net/sched/sch_drr.c"
	# It has the line that this one adds.
	rm -r a b x.patch
	edited kernel/time/namespace.c '/tv_nsec >= NSEC_PER_SEC/p'
	run "$scan" -k "$release" x.patch
	says 3 x.patch " $release unclear the lines that the fix adds are there"
	cat >y.patch <<-'PATCH'
		--- a/net/sched/not_there.c
		+++ b/net/sched/not_there.c
		@@ -1,2 +1,3 @@
		 int one;
		+int two;
		 int three;
	PATCH
	run "$scan" -k "$release" ./y.patch
	says 3 y.patch " $release unclear net/sched/not_there.c: there is no such file"
	# It makes that file, and changes one that is there.
	rm -r a b x.patch y.patch
	edited kernel/time/namespace.c 's/tv_nsec >= NSEC_PER_SEC/tv_nsec > NSEC_PER_SEC - 1/'
	cat >>x.patch <<-'PATCH'
		--- /dev/null
		+++ b/net/sched/not_there.c
		@@ -0,0 +1 @@
		+int one;
	PATCH
	run "$scan" -k "$release" ./x.patch
	says 0 x.patch " $release affected vmlinux"
	# One that is there, and not compiled.
	rm -r a b x.patch
	edited crypto/842.c 's/^MODULE_LICENSE("GPL");/MODULE_LICENSE("GPL v2");/'
	run "$scan" -k "$release" ./x.patch
	says 3 x.patch " $release not built"
}

@test "a fix of two changes of one file, and what is no diff" {
	edited kernel/time/namespace.c 's/tv_nsec >= NSEC_PER_SEC/tv_nsec > NSEC_PER_SEC/'
	mv x.patch first.patch
	cp -r b c
	sed -i 's/tv_nsec > NSEC_PER_SEC/tv_nsec > NSEC_PER_SEC - 1/' c/kernel/time/namespace.c
	diff -u b/kernel/time/namespace.c c/kernel/time/namespace.c >second.patch || :
	cat first.patch second.patch >x.patch
	run "$scan" -k "$release" ./x.patch
	says 0 x.patch " $release affected vmlinux"
	# The other way round, the kernel has both.
	diff -u c/kernel/time/namespace.c b/kernel/time/namespace.c >x.patch || :
	diff -u b/kernel/time/namespace.c a/kernel/time/namespace.c >>x.patch || :
	run "$scan" -k "$release" ./x.patch
	says 3 x.patch " $release has it vmlinux"
	echo "w" >ed.patch
	: >empty.patch
	for diff in ed empty; do
		run --separate-stderr "$scan" -k "$release" ./$diff.patch
		[ "$status" -eq 1 ]
		[[ $stderr == "pokepatch-scan: "*"$diff.patch: "* ]]
	done
	TMPDIR=$PWD/nowhere run --separate-stderr "$scan" -k "$release" ./x.patch
	[ "$status" -eq 1 ]
	[[ $stderr == "pokepatch-scan: "*nowhere* ]]
}

@test "what the catalogue does not have, and wrong usage" {
	run "$scan" -k "$release" CVE-2024-5318
	says 1 "pokepatch-scan: the catalogue has no 'CVE-2024-5318'; give the path"
	run "$scan" 0c0a4ea
	says 1 "pokepatch-scan: the catalogue has no '0c0a4ea'"
	run "$scan" ./none.patch
	says 1 "pokepatch-scan: ./none.patch: there is no such diff"
	run "$scan" -k 9.9-none xt-hashlimit-rate
	says 1 "pokepatch-scan: kernel 9.9-none is not in the cache; get it with: pokepatch fetch 9.9-none"
	run "$scan" -k nope xt-hashlimit-rate # no release's name
	says 1 "pokepatch-scan: kernel nope is not in the cache"
	run "$scan"
	says 1 "pokepatch-scan: give one CVE"
	XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache run "$scan" CVE-2024-53187
	says 1 "pokepatch-scan: no kernel in"
}
