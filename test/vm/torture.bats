# SPDX-License-Identifier: GPL-2.0-or-later
# Everything at once and at random, on four processors: for POKEPATCH_TORTURE_SECONDS (60),
# with the seed POKEPATCH_TORTURE_SEED.  See programs/torture, modules/pp_torture and
# modules/pp_torture_klp.

load helpers

# include LINE - what atomics are declared by, instead of what the file needs of that; no line
# moves.  (The compiler's own are calls on arm64, of functions that no kernel has.)
include() {
	cat <<-END
		@@ -$1 +$1 @@
		-#include <linux/export.h>
		+#include <linux/module.h>
	END
}

# hunk FUNCTION NUMBER - the change by which it returns NUMBER more, and counts its calls.
hunk() {
	local counted="({ static atomic_long_t torture_$1; atomic_long_inc(&torture_$1); $2; })"
	case $1 in
	int_pow) include 8 ;;
	int_sqrt) include 9 ;;
	gcd | lcm) include 4 ;;
	esac
	case $1 in
	int_pow) cat <<-END
		@@ -21 +21 @@
		-	u64 result = 1;
		+	u64 result = 1 + $counted;
	END
		;;
	int_sqrt) cat <<-END
		@@ -39 +39 @@
		-	return y;
		+	return y + $counted;
	END
		;;
	gcd) cat <<-END
		@@ -28 +28 @@
		-		return r;
		+		return r + $counted;
	END
		;;
	lcm) cat <<-END
		@@ -13 +13 @@
		-		return 0;
		+		return $counted;
	END
		;;
	dummy_setup) cat <<-END # of a module, whose device has another MTU then
		@@ -136 +136 @@
		-	dev->max_mtu = 0;
		+	dev->max_mtu = 0; dev->mtu = 1500 + $2;
	END
		;;
	esac
}

# make_patch NUMBER FUNCTION... - in the order of their files; the same one again stays.
make_patch() {
	local number=$1 patch=$build/torture/torture-$1.patch file='' next function new
	shift
	new=$(mktemp "$patch.XXXXXX") # another architecture's run may be here, too
	for function; do
		case $function in
		dummy_setup) next=drivers/net/dummy.c ;;
		*) next=lib/math/$function.c ;;
		esac
		[ "$next" = "$file" ] || printf -- '--- a/%s\n+++ b/%s\n' "$next" "$next"
		file=$next
		hunk "$function" "$number"
	done >"$new"
	if cmp -s "$new" "$patch"; then rm "$new"; else mv "$new" "$patch"; fi
}

@test "patches in all modes, called from every context, with tracers, probes, hotplug" {
	local number module seconds=${POKEPATCH_TORTURE_SECONDS:-$(rounds 60 30)} names=() transition=() preempt=() slow=1
	local seed=${POKEPATCH_TORTURE_SEED:-$RANDOM}
	mkdir -p "$build/torture"
	# As in programs/torture/patches.c.
	make_patch 1 int_pow int_sqrt
	make_patch 2 int_sqrt gcd
	make_patch 3 gcd lcm
	make_patch 4 int_pow lcm
	make_patch 5 int_pow int_sqrt gcd lcm dummy_setup
	make_patch 6 int_pow gcd dummy_setup
	make_patch 7 int_sqrt lcm dummy_setup
	make_patch 8 int_pow int_sqrt gcd
	for number in 1 2 3 4 5 7; do
		names+=("$build/torture/torture-$number.patch")
	done
	with_patches "${names[@]}"
	! can live || transition=(--transition live)
	for number in 6 8; do
		module=$(patch_module "$build/torture/torture-$number.patch" "torture-$number" \
			"${transition[@]}")
		patched+=(--module "$module")
	done
	say "torture for $seconds s, seed $seed"
	if can livepatch; then
		patched+=(--module "$(test_module pp_torture_klp)"
			--expect '^pokepatch: [a-z_]+ cannot be switched \(-16\): another live patch'
			--expect '^livepatch: failed to')
	fi
	# Where tasks that wait keep their turn, patches are blocked most of the time.
	can spin || slow=3
	! can preempt-modes || preempt=(--append preempt=full)
	! can bpf || patched+=(--program "$(test_program bpf-attach)")
	guest --exact-slabs "${patched[@]}" --module dummy \
		--module "$(test_module pp_torture)" --program "$(test_program torture)" \
		--program "$(test_program texthist)" \
		"${preempt[@]}" \
		--expect '^pokepatch: torture_[1-8]: [a-z_]+ cannot be switched in [a-z]+ mode' \
		--timeout $(((seconds * 4 + 240) * slow)) -- "$seconds" "$seed" <<-'END'
		start() {
			# Little is kept of the text history but for readers.
			modprobe pokepatch history_kb=32 snapshots_kb=256
			modprobe pp_torture
			rm -f /tmp/torture-reader
			torture "$1" "$2" "$arch_lacks" >/tmp/counts || die "$(cat /tmp/counts /tmp/torture-reader)"
			# Who had its last result was kept from counting it.
			sleep 1
			cp /sys/module/pp_torture/parameters/counts /tmp/returned
		}
		stop() {
			rmmod pp_torture
			# A site with a BPF program of which ftrace was told only now.
			until_true 10 rmmod pokepatch 2>/dev/null
		}
		# Once round before counting: what is allocated at the first time stays.
		start 5 1
		stop
		inventory /tmp/before
		start "$1" "$2"
		cat /tmp/counts
		grep -v ^returned /tmp/returned
		count() { awk -v name="$1" '$1 == name { print $2 }' /tmp/returned /tmp/counts; }
		at_least() { [ "$(count $1)" -ge "$2" ] || die "$1: $(count $1), less than $2"; }
		same "wrong results" "$(count wrong)" 0
		[ "$(count unsure)" -lt $(($(count process) / 100)) ] || die "most calls were not judged"
		on_each_processor() { # CONTEXT CALLS
			awk -v name=$1 -v least=$2 -v last=$((2 + $(nproc))) '
				$1 == name { for (i = 3; i <= last; i++) if ($i < least) exit 1 }
			' /tmp/returned || die "$1: a processor has made fewer than $2 calls"
		}
		for context in preemptible process softirq hardirq; do
			on_each_processor $context 1000
		done
		if can nmi; then
			on_each_processor nmi 1000
			on_each_processor nmi-in-stop 4
			# Four calls in each: a thousand NMIs a second.
			at_least nmi $(($1 * 4000))
		fi
		for count in loads unloads enables disables replaces enables-in-entry modules readers; do
			at_least $count 1
		done
		! can nested-probes || at_least probes 1
		! can ftrace || { at_least enables-in-ftrace 1; at_least tracers 1; }
		! can hotplug || at_least hotplugs 1
		! can direct || at_least enables-in-direct 1
		! can bpf || at_least bpf-programs 1
		if can livepatch; then
			at_least refused-for-livepatches 1
			# More than the ones that are done once at the start.
			at_least livepatches 2
			at_least livepatches-with-effect 1
			at_least livepatches-refused 3
		fi
		# All of the text history while a reader was there.
		awk '{ n += $2; lost += $4 } END { exit n < 100 || lost }' /tmp/torture-reader ||
			die "of the text history was read: $(cat /tmp/torture-reader)"
		# The new functions were called as often as they have returned.
		sed -n "s/^returned-\([1-9]\)/\1/p" /tmp/returned | sort >/tmp/results
		sed -n "s/^called-//p" /tmp/counts | sort >/tmp/calls
		cmp /tmp/calls /tmp/results ||
			die "counts differ: $(diff /tmp/calls /tmp/results)"
		# Of 23; some can have been below others all the time.
		[ "$(wc -l </tmp/results)" -ge 10 ] || die "few functions were called: $(cat /tmp/results)"
		stop
		same_inventory /tmp/before 100
	END
	cat "$guest_output" >&3
}
