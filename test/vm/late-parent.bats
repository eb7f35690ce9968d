# SPDX-License-Identifier: GPL-2.0-or-later
# A patch whose function lives in a module that comes and goes.

load helpers

# instructions MODULE FUNCTION [PATTERN] - where in the function its instructions begin, or those
# that match.  NOPs may lie in front of the function, which then is not at the beginning of .text.
instructions() {
	"${cross}objdump" -dz --no-show-raw-insn "$1" | awk -v name="<$2>:" -v pattern="${3-.}" '
		$2 == name { print "begins", $1; inside = 1; next }
		!NF { inside = 0 }
		inside && $0 ~ pattern { sub(":", "", $1); print $1 }' | {
		local begins='' place
		read -r _ begins
		while read -r place; do
			printf '+0x%x\n' $((16#$place - 16#$begins))
		done
	}
}

# late_places MODULE FUNCTION - of those in which the core writes what it knows only when the
# parent is there: "TYPE .text + OFFSET" in the relocations of its tables.
late_places() {
	local begins all offset place last
	begins=$(readelf -sW "$1" | awk -v name="$2" '$8 == name && $4 == "FUNC" { print $2 }')
	all=$(instructions "$1" "$2")
	readelf -rW "$1" | awk '
		/^Relocation section/ { inside = $3 ~ /pokepatch.tables/ }
		inside && $5 == ".text" { print $7 }' |
		while read -r offset; do
			for place in $all; do
				((place > 16#$offset - 16#$begins)) || last=$place
			done
			echo "$last"
		done
}

@test "a parent that is loaded later is switched before its init runs" {
	local patch late new
	with_patches "$top/test/vm/patches/dummy-setup.patch"
	patch=$(patch_module "$top/test/vm/patches/dummy-setup.patch")
	# Two addresses in dummy.ko are stored; the MTU is.
	late=$(late_places "$patch" dummy_setup)
	new=$(instructions "$patch" dummy_setup '[$#]0x4d2[^0-9a-f]|,1234$')
	[ "$(wc -w <<<"$late")" -ge 2 ]
	[ -n "$new" ]
	guest "${patched[@]}" --module dummy --expect 'pokepatch: dummy_setup: there is a probe at ' \
		--expect 'pokepatch: module dummy is refused: ' -- "$late" "$new" <<-'END'
		late=$1 new=$2
		mtu() { cat "/sys/class/net/$1/mtu"; }

		echo "== stock"
		modprobe dummy
		same mtu "$(mtu dummy0)" 1500
		rmmod dummy

		echo "== the patch first, then the parent; again and again"
		pokepatch load "$(patch_file dummy-setup)"
		for _round in $(seq 20); do
			modprobe dummy
			same mtu "$(mtu dummy0)" 1234
			rmmod dummy
		done

		echo "== probes in the new function, where addresses in the parent are written"
		for place in $late; do
			echo "p:pp/late pokepatch_dummy_setup:dummy_setup$place" >$tracing/kprobe_events
			echo 1 >$tracing/events/pp/enable
			dmesg -c >/dev/null
			if modprobe dummy 2>/dev/null; then die "dummy comes, with a probe at $place"; fi
			has "the log" "$(dmesg)" "dummy_setup: there is a probe at dummy_setup$place"
			lacks "the loaded modules" "$(cat /proc/modules)" "dummy "
			stop_hits
		done
		echo "== and elsewhere in it"
		echo "p:pp/late pokepatch_dummy_setup:dummy_setup$new" >$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		modprobe dummy
		same mtu "$(mtu dummy0)" 1234
		same hits "$(hits late)" 1
		stop_hits
		rmmod dummy

		echo "== disabled, while the parent is there"
		modprobe dummy
		same mtu "$(mtu dummy0)" 1234
		enabled dummy-setup 0
		ip link add late type dummy
		same mtu "$(mtu late)" 1500
		enabled dummy-setup 1
		ip link add later type dummy
		same mtu "$(mtu later)" 1234

		echo "== the parent goes while the patch is disabled, and comes again"
		enabled dummy-setup 0
		rmmod dummy
		modprobe dummy
		same mtu "$(mtu dummy0)" 1500
		rmmod dummy
		enabled dummy-setup 1
		modprobe dummy
		same mtu "$(mtu dummy0)" 1234

		echo "== the patch goes first"
		pokepatch unload dummy-setup
		ip link add last type dummy
		same mtu "$(mtu last)" 1500
		rmmod dummy
	END
}

# Or else the machine would be without that module.
@test "a mode that a patch prefers does not keep a parent away that is loaded later" {
	needs ftrace
	with_patches "$top/test/vm/patches/dummy-setup.patch"
	guest "${patched[@]}" --module dummy <<-'END'
		mtu() { cat "/sys/class/net/$1/mtu"; }
		pokepatch load --mode entry "$(patch_file dummy-setup)"
		echo function >$tracing/current_tracer
		modprobe dummy
		same mtu "$(mtu dummy0)" 1234
		echo nop >$tracing/current_tracer
		pokepatch unload dummy-setup
		rmmod dummy
	END
}

@test "a parent that is there already, in use" {
	with_patches "$top/test/vm/patches/dummy-setup.patch"
	guest "${patched[@]}" --module dummy <<-'END'
		modprobe dummy
		count() { ls -d "$(sysfs dummy-setup dummy)"/dummy_setup,* | wc -l; }
		for _round in $(seq 10); do
			pokepatch load "$(patch_file dummy-setup)"
			same "functions in sysfs" "$(count)" 1
			ip link add new type dummy
			same mtu "$(cat /sys/class/net/new/mtu)" 1234
			ip link del new
			pokepatch unload dummy-setup
			ip link add old type dummy
			same mtu "$(cat /sys/class/net/old/mtu)" 1500
			ip link del old
		done
	END
}

@test "the core tells of a tracer without effect, also on a parent that was loaded later" {
	needs ftrace
	with_patches "$top/test/vm/patches/dummy-setup.patch"
	guest "${patched[@]}" --module dummy <<-'END'
		mode_is() { [ "$(cat "$(sysfs dummy-setup dummy/dummy_setup,1/mode)")" = "$1" ]; }
		pokepatch load "$(patch_file dummy-setup)"
		for _round in 1 2; do
			# What the core looks for once a second, if anything is hooked, has ended.
			sleep 3
			modprobe dummy
			same mode "$(cat "$(sysfs dummy-setup dummy/dummy_setup,1/mode)")" entry
			grep -n "^dummy_setup \[dummy\]$" $tracing/available_filter_functions | cut -d: -f1 \
				>$tracing/set_ftrace_filter
			dmesg -c >/dev/null
			echo function >$tracing/current_tracer
			until_true 5 mode_is entry,shadows:tracer
			has "the log" "$(dmesg)" "dummy_setup: a tracer has no effect on 1 function"
			echo nop >$tracing/current_tracer
			echo >$tracing/set_ftrace_filter
			until_true 5 mode_is entry
			rmmod dummy
		done
	END
}
