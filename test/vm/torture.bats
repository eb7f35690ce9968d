# SPDX-License-Identifier: GPL-2.0-or-later
# Everything at once and at random, on four processors: for POKEPATCH_TORTURE_SECONDS (60),
# with the seed POKEPATCH_TORTURE_SEED.  See programs/torture.c and modules/pp_torture.

load helpers

# hunk FUNCTION NUMBER - the change by which it returns NUMBER more.
hunk() {
	case $1 in
	int_pow) cat <<-END
		@@ -21 +21 @@
		-	u64 result = 1;
		+	u64 result = 1 + $2;
	END
		;;
	int_sqrt) cat <<-END
		@@ -39 +39 @@
		-	return y;
		+	return y + $2;
	END
		;;
	gcd) cat <<-END
		@@ -28 +28 @@
		-		return r;
		+		return r + $2;
	END
		;;
	lcm) cat <<-END
		@@ -13 +13 @@
		-		return 0;
		+		return $2;
	END
		;;
	esac
}

# make_patch NUMBER FUNCTION... - in the order of their files.
make_patch() {
	local number=$1 file='' next function
	shift
	for function; do
		next=lib/math/$function.c
		[ "$next" = "$file" ] || printf -- '--- a/%s\n+++ b/%s\n' "$next" "$next"
		file=$next
		hunk "$function" "$number"
	done >"$build/torture/torture-$number.patch"
}

@test "patches in all modes, called from every context, with tracers, probes, hotplug" {
	local number module seconds=${POKEPATCH_TORTURE_SECONDS:-60} names=()
	local seed=${POKEPATCH_TORTURE_SEED:-$RANDOM}
	mkdir -p "$build/torture"
	# As in programs/torture.c.
	make_patch 1 int_pow int_sqrt
	make_patch 2 int_sqrt gcd
	make_patch 3 gcd lcm
	make_patch 4 int_pow lcm
	make_patch 5 int_pow int_sqrt gcd lcm
	make_patch 6 int_pow gcd
	make_patch 7 int_sqrt lcm
	make_patch 8 int_pow int_sqrt gcd
	for number in 1 2 3 4 5 7; do
		names+=("$build/torture/torture-$number.patch")
	done
	with_patches "${names[@]}"
	for number in 6 8; do
		module=$(patch_module "$build/torture/torture-$number.patch" "torture-$number" \
			--transition live)
		patched+=(--module "$module")
	done
	say "torture for $seconds s, seed $seed"
	guest "${exact_slabs[@]}" "${patched[@]}" --module "$(test_module pp_torture)" --module dummy \
		--program "$(test_program torture)" --append preempt=full \
		--expect '^pokepatch: torture_[1-8]: [a-z_]+ cannot be switched in [a-z]+ mode' \
		--timeout $((seconds * 3 + 240)) -- "$seconds" "$seed" <<-'END'
		modprobe -a pokepatch pp_torture
		# Once round before counting: what is allocated at the first time stays.
		torture 5 1 >/dev/null
		rmmod pp_torture pokepatch
		inventory /tmp/before
		modprobe -a pokepatch pp_torture
		torture "$1" "$2"
		counts=/sys/module/pp_torture/parameters/counts
		cat $counts
		count() { awk -v name="$1" '$1 == name { print $2 }' $counts; }
		at_least() { [ "$(count $1)" -ge "$2" ] || die "$1: $(count $1), less than $2"; }
		same "wrong results" "$(count wrong)" 0
		[ "$(count unsure)" -lt $(($(count process) / 100)) ] || die "most calls were not judged"
		for context in preemptible process softirq hardirq; do
			at_least $context 1000
		done
		# Four calls in each: a thousand NMIs a second.
		at_least nmi $(($1 * 4000))
		at_least nmi-in-stop 4
		at_least patched 1000
		rmmod pp_torture pokepatch
		same_inventory /tmp/before 80
	END
	cat "$guest_output" >&3
}
