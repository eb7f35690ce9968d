# SPDX-License-Identifier: GPL-2.0-or-later
# The whole delivery: a Debian with systemd and apt gets pokepatch and levels of linux-livepatch-RELEASE from a
# signed repository.  Its disk outlives a guest, so that each guest of a test is a boot of one machine.

load helpers
load debian

setup() {
	needs host-programs
	cd "$BATS_TEST_TMPDIR" || return
	release=$(kernel_release)
	name=linux-livepatch-$release
	repository_owner
	"$top/build-tool/repo/pokepatch-repo" init r owner@example.org
	mkdir files
	"$top/build-tool/repo/pokepatch-repo" client r file:/srv/livepatch stable >client.txt
	sed -n '/^Types/,/^$/p' client.txt >files/pokepatch.sources
	sed -n '/^Unattended/p' client.txt >files/52pokepatch
}

teardown() {
	without_owner
}

# level_diff NUMBER [LINE...] - a patch with which /proc/version begins with its level, and readers sleep while
# the sysctl kernel.panic is 1001; with these lines in front of the function.
level_diff() {
	printf '%s\n' '--- a/fs/proc/version.c' '+++ b/fs/proc/version.c' "@@ -5,10 +5,$((15 + $# - 1)) @@" \
		' #include <linux/proc_fs.h>' ' #include <linux/seq_file.h>' ' #include <linux/utsname.h>' \
		'+#include <linux/panic.h>' '+#include <linux/sched.h>' ' #include "internal.h"' ' ' "${@:2}" \
		' static int version_proc_show(struct seq_file *m, void *v)' ' {' \
		'+	while (READ_ONCE(panic_timeout) == 1001)' '+		schedule_timeout_uninterruptible(HZ / 20);' \
		"+	seq_puts(m, \"Level $1: \");" \
		' 	seq_printf(m, linux_proc_banner,' ' 		utsname()->sysname,' ' 		utsname()->release,'
}

# package NUMBER [OPTION...] - make the package of a level, NUMBER.deb, from NUMBER.patch if that is there.
package() {
	local diff=()
	[ ! -e "$1.patch" ] || diff=("$1.patch")
	"$top/build/bin/pokepatch-build" -q -k "$release" --deb --level "$1" -o "$1.deb" "${@:2}" "${diff[@]}"
}

# newer_kernel - set newer, a kernel of Debian's of a later series than the guest's, whose package it
# copies to files/newer.deb.
newer_kernel() {
	local folder
	newer=$("$top/test/fetch-kernel" "${POKEPATCH_ARCH:-$("$top/test/host-arch")}" 6.12 | tail -n 1)
	[ "$newer" != "$release" ] || skip "$arch has no kernel of a later series than the guest's"
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$newer/packages
	cp "$folder/linux-image-${newer}_"*.deb files/newer.deb
}

# deliver NUMBER FILE.deb... - have the repository offer these to all machines; files/repo/NUMBER is how it is then.
deliver() {
	"$top/build-tool/repo/pokepatch-repo" add r "${@:2}"
	"$top/build-tool/repo/pokepatch-repo" promote r
	mkdir -p files/repo
	cp -al r "files/repo/$1"
}

# next_kernel - make packages of a kernel that is newer than any: a stand-in, kernel.deb, of which only the hooks
# are as in Debian's, and level 0 of its live patches, next.deb.
next_kernel() {
	local next=9$release file
	mkdir -p kernel/DEBIAN kernel/boot "kernel/usr/lib/modules/$next" unpacked
	echo kernel >"kernel/boot/vmlinuz-$next"
	echo module >"kernel/usr/lib/modules/$next/module.ko"
	printf '%s\n' "Package: linux-image-$next" 'Version: 1' "Architecture: $(dpkg --print-architecture)" \
		'Maintainer: A <a@example.org>' 'Description: a kernel' >kernel/DEBIAN/control
	printf '%s\n' '#!/bin/sh' 'set -e' \
		"run-parts --report --exit-on-error --arg=$next --arg=/boot/vmlinuz-$next /etc/kernel/postinst.d" \
		>kernel/DEBIAN/postinst
	chmod 755 kernel/DEBIAN/postinst
	dpkg-deb --root-owner-group -b kernel files/kernel.deb >kernel.log
	# What unattended-upgrades has there, in effect.
	printf '%s\n' '#!/bin/sh' 'touch /run/reboot-required' \
		'echo "$DPKG_MAINTSCRIPT_PACKAGE" >>/run/reboot-required.pkgs' >files/unattended-upgrades
	chmod 755 files/unattended-upgrades
	dpkg-deb -R 0.deb unpacked
	for file in "unpacked/usr/lib/modules/$release" "unpacked/usr/share/doc/$name"; do
		mv "$file" "${file%"$release"}$next"
	done
	sed -i "s/$release/$next/g" unpacked/DEBIAN/*
	dpkg-deb --root-owner-group -b unpacked next.deb >next.log
}

# machine [OPTION...] - boot it; the script is on standard input.
machine() {
	# Kernels depend on initramfs-tools.
	[ -e disk ] || system_disk disk "$(debian machine "systemd, systemd-sysv, kmod, initramfs-tools, $(depends "$(own_package pokepatch)")")"
	guest --system "$PWD/disk" --memory 1024 --timeout 400 --file files "$@" < <(echo "$words" && cat)
}

# machine_dies [OPTION...] - the same, and it goes down in the script.
machine_dies() {
	guest_fails 122 --system "$PWD/disk" --memory 1024 --timeout 400 --file files "$@" < <(echo "$words" && cat)
}

# shellcheck disable=SC2016 # for the guest
words='
package=linux-livepatch-$(uname -r)
export DEBIAN_FRONTEND=noninteractive
# initramfs-tools has nothing to do then: what a machine boots from is the harness.
export INITRD=No
is() { same "$2 of $1" "$(systemctl show -P "$2" "$1")" "$3"; }
boots() { # HOW - wait until the boot is over, which must end so
	same "process 1" "$(cat /proc/1/comm)" systemd
	same "the system" "$(systemctl is-system-running --wait)" "$1"
}
# offers NUMBER - the repository is as it was then.
offers() {
	ln -sfn /root/files/repo/$1 /srv/livepatch
	apt-get -qq update
}
apt() { # ARGUMENT... - its output is in /tmp/apt
	_status=0
	apt-get -qq -y -o DPkg::Lock::Timeout=60 "$@" >/tmp/apt 2>&1 </dev/null || _status=$?
	cat /tmp/apt
	[ $_status -eq 0 ] || die "apt-get $* fails: $_status"
}
# level NUMBER - this one is on, and is what the machine is to have; none: the kernel runs its own code.
level() {
	case $1 in
	none) lacks /proc/version "$(cat /proc/version)" "Level " ;;
	*)
		has /proc/version "$(cat /proc/version)" "Level $1: "
		status_is 0 "livepatch: level $1, enabled"
		;;
	esac
}
# status_is STATUS TEXT... - what pokepatch status says has these.
status_is() {
	_wanted=$1 _status=0
	shift
	pokepatch status >/tmp/status 2>&1 || _status=$?
	cat /tmp/status
	same "exit status of pokepatch status" $_status $_wanted
	for _text; do has "pokepatch status" "$(cat /tmp/status)" "$_text"; done
}
is_installed() { [ "$(dpkg-query -W -f "\${db:Status-Status}" $1 2>/dev/null)" = installed ]; }
after_apt() { [ "$(systemctl show -P ActiveState pokepatch-after-apt.service)" = inactive ]; }
grep_journal() { journalctl -b | grep -q "$1"; }
installed() { # PACKAGE VERSION
	same "$1" "$(dpkg-query -W -f "\${db:Status-Abbrev}\${Version}" $1 2>&1)" "ii $2"
}
'

@test "from nothing to levels 0, 1, 2; a reboot, a blocked level, one that crashes, back, and off" {
	level_diff 1 >1.patch
	level_diff 2 >2.patch
	level_diff 3 >3.patch
	level_diff 4 '+#include <pokepatch_patch.h>' '+static void crash(const struct pokepatch_parent *parent)' '+{' \
		'+	panic("%s crashes", parent->patch);' '+}' '+POKEPATCH_POST_PATCH(crash);' '+' >4.patch
	level_diff 5 >5.patch
	local number
	for number in 0 1 2 3 4; do
		package $number
	done
	package 5 --unfixed CVE-2026-5555
	next_kernel
	deliver 0 "$(own_package pokepatch)" 0.deb
	for number in 1 2 3; do
		deliver $number $number.deb
	done
	deliver next next.deb
	for number in 4 5; do
		deliver $number $number.deb
	done

	machine <<-'END'
		boots running
		rm -f /etc/apt/sources.list
		cp files/pokepatch.sources /etc/apt/sources.list.d/
		cp files/52pokepatch /etc/apt/apt.conf.d/
		[ ! -e /usr/sbin/pokepatch ] || die "pokepatch is there already"
		offers 0
		echo "== the package of a kernel without fixes, and pokepatch with it"
		apt install $package
		installed $package 0
		[ ! -e $pokepatch ] || die "something was loaded"
		level none
		echo "== upgraded"
		offers 1
		apt upgrade
		installed $package 1
		level 1
		same "is the unit enabled" "$(systemctl is-enabled pokepatch.service)" enabled
		offers 2
		apt upgrade
		level 2
		[ ! -e /sys/module/pokepatch_level_1 ] || die "level 1 is still loaded"
		apt upgrade
		level 2
	END

	machine <<-'END'
		echo "== after a reboot"
		boots running
		is pokepatch.service ActiveState active
		level 2
		echo "== a task is in the way"
		echo 1001 >/proc/sys/kernel/panic
		cat /proc/version &
		until_true 10 asleep_in $! version_proc_show
		offers 3
		apt upgrade
		has "what apt says" "$(cat /tmp/apt)" "$! cat version_proc_show"
		installed $package 3
		status_is 2 "livepatch: level 3, blocked" "level_3: blocked since: 20" "level_3: blocked by: $! cat"
		same "level 2" "$(file level-2 state)" enabled

		echo "== a new kernel, of whose live patches apt does not know yet"
		cp files/unattended-upgrades /etc/kernel/postinst.d/
		next=9$(uname -r)
		apt install /root/files/kernel.deb
		until_true 30 [ -e /var/lib/pokepatch/new-kernels/$next ]
		has "who wants a reboot" "$(cat /run/reboot-required.pkgs)" linux-image-$next
		until_true 30 grep_journal "apt does not know linux-livepatch-$next"
		offers next
		until_true 60 is_installed linux-livepatch-$next
		until_true 30 [ ! -e /var/lib/pokepatch/new-kernels/$next ]

		echo "== the task has left"
		echo -1 >/proc/sys/kernel/panic
		wait $!
		until_true 90 grep -qx 1 "$(sysfs level-3 enabled)"
		level 3

		echo "== a new kernel, of whose live patches apt knows, and a reboot that can wait"
		apt purge linux-livepatch-$next
		apt install --reinstall /root/files/kernel.deb
		until_true 60 is_installed linux-livepatch-$next
		until_true 30 after_apt
		[ ! -e /run/reboot-required ] || die "a reboot is wanted by $(cat /run/reboot-required.pkgs)"
	END

	machine_dies --expect "Kernel panic - not syncing: level_4 crashes" <<-'END'
		echo "== a level with which the machine goes down"
		boots running
		level 3
		offers 4
		apt upgrade
		die "it is still there"
	END
	"$vm" scan --expect 'Kernel panic - not syncing: level_4 crashes' "$guest_log"

	machine --expect 'system.journal corrupted or uncleanly shut down' --expect '^systemd\[1\]: pokepatch.service: ' \
		--expect '^systemd\[1\]: Failed to start pokepatch.service' <<-'END'
		echo "== it comes back without that level, and says so"
		boots degraded
		same "what failed" "$(systemctl --failed --plain --no-legend | cut -d " " -f 1)" pokepatch.service
		has "the journal" "$(journalctl -b -u pokepatch.service)" "level_4*refused ?crashed?"
		status_is 2 "livepatch: level 4, crashed"
		level none
		echo "== dpkg goes on where it was, and that level stays off"
		dpkg --configure -a
		installed $package 4
		level none
		echo "== back to the one before; the crash may have cost apt its lists, which it does not sync"
		offers 4
		apt install --allow-downgrades $package=3
		installed $package 3
		level 3
		echo "== a newer one"
		offers 5
		apt upgrade
		status_is 2 "livepatch: level 5, enabled" "level 5 does not fix CVE-2026-5555"
		has /proc/version "$(cat /proc/version)" "Level 5: "
		systemctl restart pokepatch.service
		boots running
		echo "== which does not fix all, so that a reboot is due"
		offers 5
		until_true 30 [ -e /run/reboot-required ]
		same "who wants a reboot" "$(cat /run/reboot-required.pkgs)" pokepatch
		echo "== off, and nothing is left"
		apt remove $package
		level none
		apt purge $package pokepatch
		[ ! -e /var/lib/pokepatch ] || die "/var/lib/pokepatch is left"
		[ ! -L /etc/systemd/system/sysinit.target.wants/pokepatch.service ] || die "the unit is enabled"
	END
}

@test "a machine that takes only signed modules gets signed levels, and says what is wrong with others" {
	needs module-signatures firmware
	local number own=$PWD/own
	signing_key "$own"
	for number in 1 2 3; do
		level_diff $number >$number.patch
	done
	package 1 --sign "$own.pem,$own.der"
	package 2
	package 3 --sign "$own.pem,$own.der"
	deliver 1 "$(own_package pokepatch)" 1.deb
	deliver 2 2.deb
	deliver 3 3.deb
	efi_variables variables db="$own.der"
	machine --firmware "$PWD/variables" --append module.sig_enforce=1 <<-'END'
		boots running
		same "sig_enforce" "$(cat /sys/module/module/parameters/sig_enforce)" Y
		rm -f /etc/apt/sources.list
		cp files/pokepatch.sources /etc/apt/sources.list.d/
		offers 1
		apt install $package
		level 1
		echo "== not signed"
		offers 2
		apt upgrade
		has "what apt says" "$(cat /tmp/apt)" "sign the core and the patch with one"
		installed $package 2
		status_is 2 "livepatch: level 2, not loaded" "level_1: enabled"
		has /proc/version "$(cat /proc/version)" "Level 1: "
		echo "== signed again"
		offers 3
		apt upgrade
		level 3
		# 13: a module that is not signed.
		same "taint by an unsigned module" $(($(cat /proc/sys/kernel/tainted) >> 13 & 1)) 0
	END
}

@test "a newer kernel, by apt: its live patches are on when it first boots" {
	local newer
	newer_kernel
	level_diff 1 >1.patch
	level_diff 2 >2.patch
	package 1
	release=$newer package 2
	deliver 1 "$(own_package pokepatch)" 1.deb
	deliver 2 2.deb
	machine <<-'END'
		boots running
		rm -f /etc/apt/sources.list
		cp files/pokepatch.sources /etc/apt/sources.list.d/
		offers 1
		apt install $package
		level 1
		offers 2
		newer=$(dpkg-deb -f files/newer.deb Package)
		newer=${newer#linux-image-}
		[ "$newer" != "$(uname -r)" ] || die "this is no newer kernel"
		[ ! -e /boot/vmlinuz-$newer ] || die "it is there already"
		apt install /root/files/newer.deb
		[ -e /boot/vmlinuz-$newer ] || die "it was not installed"
		until_true 40 is_installed linux-livepatch-$newer
		until_true 30 after_apt
		level 1
	END
	POKEPATCH_KERNEL=$newer machine <<-'END'
		boots running
		same "packages of live patches" "$(dpkg-query -W -f "\${Package} \${Version}\n" "linux-livepatch-*" | wc -l)" 2
		is pokepatch.service ActiveState active
		level 2
		installed $package 2
	END
}
