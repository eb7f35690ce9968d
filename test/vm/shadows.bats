# SPDX-License-Identifier: GPL-2.0-or-later
# Shadow variables: attached, looked at and detached from everywhere at once.

load helpers

patches=$top/test/vm/patches

words='
# The last line that the patch left: its numbers, as variables.
stats() {
	line=$(dmesg | sed -n "s/^.*shadows: \(.*constructed.*\)/\1/p" | tail -n 1)
	echo "$line"
	for pair in $(echo "$line" | sed "s/^[^,]*, //; s/,//g; s/ \([0-9]\)/=\1/g"); do
		eval "$pair"
	done
}
'

@test "from all CPUs, in interrupts and NMIs; what is constructed is destroyed" {
	with_patches "$patches/shadows.patch"
	guest --timeout 300 "${patched[@]}" --program "$(test_program shadows)" \
		--append slub_debug=FZPU,kmalloc-64,kmalloc-32,kmalloc-128 \
		--expect '^\*\*' <<<"$words"'
		slabs() { # of the caches that they are in
			# kfree_rcu() may wait for 5 seconds before it begins (6.12).
			_patience=7
			settle
			awk '\''$1 ~ /^kmalloc-(32|64)$/ { print $2 }'\'' /proc/slabinfo
		}
		pokepatch load "$(patch_file shadows)"
		times=2000
		can spin || times=40
		shadows $((times / 10))
		slabs >/tmp/before
		shadows $times
		stats
		same "wrong" $wrong 0
		same "destroyed" $destroyed $constructed
		[ $constructed -gt $((times / 2)) ] || die "constructed only $constructed"
		[ $failed -gt $((times / 20)) ] || die "only $failed constructions failed"
		can nmi || nmis=$times
		least=$((times / 2))
		[ $(nproc) -gt 1 ] || least=$((times / 5))
		[ $found -gt $least ] && [ $irqs -gt $((times / 10)) ] && [ $nmis -gt $((times / 10)) ] ||
			die "found $found, irqs $irqs, nmis $nmis"
		slabs >/tmp/after
		grew=$(awk '\''NR == FNR { was[FNR] = $1; next }
			$1 - was[FNR] > most { most = $1 - was[FNR] }
			END { print most + 0 }'\'' /tmp/before /tmp/after)
		echo "objects more: $grew"
		[ $grew -lt 80 ] || die "$grew objects more than before"
		# The NMI handler is new code: a callback withdraws it.
		pokepatch unload shadows
		rmmod pokepatch
		lacks "the log" "$(dmesg)" "left behind"
	'
	cat "$guest_output"
}

@test "a variable outlives its patch, and the next one finds it; the core frees the rest" {
	with_patches "$patches/shadows.patch"
	guest "${patched[@]}" --program "$(test_program shadows)" <<<"$words"'
		mkfifo /tmp/go
		pokepatch load "$(patch_file shadows)"
		shadows 9 2 9 2 9 wait 9 4 9 wait <>/tmp/go &
		keeper=$!
		until_true 10 sh -c "dmesg | grep -c constructed | grep -qx 3"
		same "there" "$(dmesg | sed -n "s/.*shadows: \([a-z ]*\), constructed.*/\1/p" | tr "\n" ,)" \
			"not there,there,there,"
		stats
		same "constructed, destroyed: attaching twice" "$constructed $destroyed" "1 0"
		# It stands in a read of a FIFO, not in the patch.
		pokepatch unload shadows
		pokepatch load "$(patch_file shadows)"
		dmesg -c >/dev/null
		echo >/tmp/go
		until_true 10 sh -c "dmesg | grep -c constructed | grep -qx 2"
		same "there" "$(dmesg | sed -n "s/.*shadows: \([a-z ]*\), constructed.*/\1/p" | tr "\n" ,)" \
			"there,not there,"
		stats
		same "constructed, destroyed" "$constructed $destroyed" "0 1"
		echo >/tmp/go
		wait $keeper

		echo "== left behind"
		for _one in 1 2 3; do
			shadows 2 2
		done
		pokepatch unload shadows
		rmmod pokepatch
		# One after the other, they may have had the same address.
		has "the log" "$(dmesg)" "pokepatch: [1-3] shadow variables that patches left behind are freed"
	'
}

# kpatch_diff - a diff as authors write it for kpatch; __do_sys_newuname() has no entry.
kpatch_diff() {
	cat <<-'END'
		diff -Nupr src.orig/kernel/sys.c src/kernel/sys.c
		--- src.orig/kernel/sys.c	2023-01-12 11:20:06.597707083 -0500
		+++ src/kernel/sys.c	2023-01-12 11:20:38.032893465 -0500
		@@ -1281,12 +1281,44 @@ static int override_release(char __user
		 	return ret;
		 }
		 
		-SYSCALL_DEFINE1(newuname, struct new_utsname __user *, name)
		+#include "kpatch-syscall.h"
		+
		+#define CALLS 7
		+
		+/* In a variable that has a number, and in one that has a name, as in old diffs. */
		+static void count_calls(struct new_utsname *name)
		+{
		+	int *numbered = klp_shadow_get(&uts_sem, CALLS);
		+	int *named = kpatch_shadow_get(&uts_sem, "calls");
		+
		+	if (!numbered)
		+		numbered = klp_shadow_alloc(&uts_sem, CALLS, sizeof(int), GFP_KERNEL, NULL, NULL);
		+	if (!named)
		+		named = kpatch_shadow_alloc(&uts_sem, "calls", sizeof(int), GFP_KERNEL);
		+	if (numbered && named)
		+		snprintf(name->nodename, sizeof(name->nodename), "kpatch-%d-%d",
		+			 ++*numbered, *named += 2);
		+}
		+
		+static void calls_end(void *obj, void *data)
		+{
		+	KPATCH_PRINTK(KERN_INFO "%s: %d calls\n", obj == &uts_sem ? "kpatch" : "wrong", *(int *)data);
		+}
		+
		+static void forget_calls(patch_object *obj)
		+{
		+	klp_shadow_free_all(CALLS, calls_end);
		+	kpatch_shadow_free(&uts_sem, "calls");
		+}
		+KPATCH_POST_UNPATCH_CALLBACK(forget_calls);
		+
		+KPATCH_SYSCALL_DEFINE1(newuname, struct new_utsname __user *, name)
		 {
		 	struct new_utsname tmp;
		 
		 	down_read(&uts_sem);
		 	memcpy(&tmp, utsname(), sizeof(tmp));
		 	up_read(&uts_sem);
		+	count_calls(&tmp);
		 	if (copy_to_user(name, &tmp, sizeof(tmp)))
		 		return -EFAULT;
	END
}

@test "a diff for kpatch, as it is: its macros for a system call, and its shadow variables" {
	kpatch_diff >"$BATS_TEST_TMPDIR/kpatch-uname.patch"
	with_patches "$BATS_TEST_TMPDIR/kpatch-uname.patch"
	guest "${patched[@]}" <<<'
		own=$(uname -n)
		pokepatch load "$(patch_file kpatch-uname)"
		for _round in 1 2; do
			dmesg -c >/dev/null
			same "the first" "$(uname -n)" kpatch-1-2
			same "the second" "$(uname -n)" kpatch-2-4
			pokepatch disable kpatch-uname
			same "unpatched" "$(uname -n)" "$own"
			has "the log" "$(dmesg)" "kpatch: 2 calls"
			pokepatch enable kpatch-uname
		done
	'
}
