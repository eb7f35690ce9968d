# SPDX-License-Identifier: GPL-2.0-or-later
# A patch whose function lives in a module that comes and goes.

load helpers

@test "a parent that is loaded later is switched before its init runs" {
	with_patches "$top/test/vm/patches/dummy-setup.patch"
	guest "${patched[@]}" --module dummy <<-'END'
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
