# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The work that the guest does, once without patches and once with: file systems, network,
# devices.  Each command may fail; what counts is what the kernel ran.

# Not busybox's own.
ip() { /usr/bin/ip "$@"; }
tc() { /usr/bin/tc "$@"; }

fresh() { # SIZE - a file of that size on a loop device, $loop
	rm -f /tmp/disk
	truncate -s "$1" /tmp/disk
	loop=$(losetup -f)
	losetup "$loop" /tmp/disk
}

mounted() { # TYPE OPTIONS COMMAND - run the command with the file system on $loop at /mnt
	mkdir -p /mnt
	if mount -t "$1" -o "$2" "$loop" /mnt; then
		"$3"
		sync
		umount /mnt
	fi
}

some_files() {
	mkdir -p /mnt/folder/deeper
	for _file in 1 2 3 4 5 6 7 8; do
		echo "a few bytes $_file" >/mnt/folder/a-rather-long-name-$_file
	done
	cat /mnt/folder/* >/mnt/all
	ls -lR /mnt >/dev/null
	dd if=/dev/zero of=/mnt/large bs=64k count=32
	mv /mnt/large /mnt/folder/large
	rm -r /mnt/folder
}

on_ext4() {
	some_files
	mkdir /mnt/secret
	fsctl encrypt /mnt/secret
	echo small >/mnt/small
	sync
	echo 3 >/proc/sys/vm/drop_caches
	cat /mnt/small
	truncate -s 100k /mnt/small
	dd if=/dev/zero of=/mnt/swap bs=1M count=4
	mkswap /mnt/swap
	swapon /mnt/swap
	swapoff /mnt/swap
	workload /mnt
	fsctl shutdown /mnt
}

on_xfs() {
	some_files
	dd if=/dev/zero of=/mnt/one bs=64k count=16
	sync
	fsctl clone /mnt/one /mnt/two
	dd if=/dev/zero of=/mnt/two bs=64k count=4 conv=notrunc
	dd if=/dev/zero of=/mnt/two bs=64k count=4 seek=8 conv=notrunc oflag=direct
	sync
}

on_btrfs() {
	some_files
	btrfs balance start --full-balance /mnt
}

on_iso() {
	cat /mnt/link
	ls -l /mnt
}

file_systems() {
	fresh 64M
	mkfs.ext4 -q -O inline_data,encrypt "$loop"
	mounted ext4 rw on_ext4
	losetup -d "$loop"
	fresh 400M
	mkfs.xfs -q -f "$loop"
	mounted xfs rw on_xfs
	losetup -d "$loop"
	fresh 256M
	mkfs.btrfs -q -f -R ^free-space-tree "$loop"
	mounted btrfs space_cache=v1 on_btrfs
	mounted btrfs space_cache=v1 some_files
	losetup -d "$loop"
	fresh 32M
	mkfs.exfat "$loop"
	mounted exfat rw some_files
	losetup -d "$loop"
	loop=$(losetup -f)
	losetup -r "$loop" /root/disk.iso
	mounted iso9660 ro on_iso
	mounted udf ro on_iso
	losetup -d "$loop"
	modprobe brd rd_nr=1 rd_size=4096
	dd if=/dev/ram0 of=/dev/null bs=4k count=4
	rmmod brd
	fresh 8M
	modprobe dm_mod
	dmsetup create plain --table "0 16384 linear $loop 0"
	dmsetup message plain 0 @stats_create - /10 1 histogram:100
	dd if=/dev/dm-0 of=/dev/null bs=64k count=16
	dmsetup message plain 0 @stats_print 0
	dmsetup remove plain
	losetup -d "$loop"
}

network() {
	ip link add d0 type dummy
	ip addr add 10.9.0.1/24 dev d0
	ip -6 addr add fd00::1/64 dev d0
	ip link set d0 up
	ip route add 10.8.0.0/16 dev d0
	ip -6 rule add lookup main suppress_prefixlength 0
	ip -6 route get fd00::2
	ip -6 route show table all
	ip -6 rule del lookup main suppress_prefixlength 0
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
	echo 0 >/proc/sys/net/ipv6/conf/all/forwarding
	ip link add link d0 macsec0 type macsec
	ip macsec add macsec0 tx sa 0 pn 1 on key 00 01234567890123456789012345678901
	ip link set macsec0 up
	ip addr add 10.7.0.1/24 dev macsec0
	ping -c 1 -W 1 10.7.0.2
	ip link del macsec0
	ip link add br0 type bridge
	ip link set br0 up
	ip link del br0
	for mode in balance-alb broadcast; do
		ip link add bond9 type bond mode $mode miimon 50
		ip link add d1 type dummy
		ip link add d2 type dummy
		ip link set d1 master bond9
		ip link set d2 master bond9
		ip link set bond9 up
		ip addr add 10.6.0.1/24 dev bond9
		ping -c 1 -W 1 10.6.0.2
		sleep 1
		ip link del bond9
		ip link del d1
		ip link del d2
	done
	for qdisc in "cake bandwidth 10mbit" "htb default 1" fq_codel codel; do
		# shellcheck disable=SC2086 # several words
		tc qdisc replace dev d0 root handle 1: $qdisc
		tc class add dev d0 parent 1: classid 1:1 htb rate 1mbit
		tc filter add dev d0 parent 1: protocol ip prio 1 route to 10 classid 1:1
		ip route replace 10.8.0.0/16 dev d0 realm 10
		ping -c 1 -W 1 10.8.0.1
		tc -s qdisc show dev d0
		tc filter del dev d0 parent 1:
		tc qdisc del dev d0 root
	done
	tc qdisc add dev lo clsact
	tc filter add dev lo egress prio 1 protocol ip matchall action ct pipe
	tc filter add dev lo egress prio 2 protocol ip bpf bytecode '1,6 0 0 4294967295' action ok
	workload /tmp
	ping -c 2 -W 1 127.0.0.1
	tc qdisc del dev lo clsact
	ip -f mpls route show
	ip -f mpls route get 100
	ip link del d0
	unshare -n true
}

there() { PATH=/usr/bin:$PATH /usr/bin/ip netns exec there "$@"; }

# Two ends of a cable: v0 here, v1 in a network namespace of its own.
two_hosts() {
	ip netns add there
	ip link add v0 numtxqueues 4 type veth peer name v1 netns there
	ip addr add 10.5.0.1/24 dev v0
	ip -6 addr add fd05::1/64 dev v0 nodad
	ip link set v0 up
	there ip addr add 10.5.0.2/24 dev v1
	there ip -6 addr add fd05::2/64 dev v1 nodad
	there ip link set v1 up
	there ip link set lo up
	ping -c 1 -W 2 10.5.0.2
	ping -6 -c 1 -W 2 fd05::2
	queues
	packet_filters
	routes
	tipc bearer enable media eth device v0
	there tipc bearer enable media eth device v1
	tipc node set key 0x6120736563726574206f66203230206279746573
	there tipc node set key 0x6120736563726574206f66203230206279746573
	workload /tmp tipc
	sleep 1
	tipc bearer disable media eth device v0
	there tipc bearer disable media eth device v1
	ip link del v0
	ip netns del there
}

queues() {
	tc qdisc replace dev v0 root multiq
	ping -c 1 -W 1 10.5.0.2
	tc qdisc del dev v0 root
	# A slow line, so that the queue behind it gets full and drops early.
	tc qdisc add dev v0 root handle 1: tbf rate 64kbit burst 2k limit 60k
	tc qdisc add dev v0 parent 1:1 handle 2: red limit 60000 min 1000 max 3000 avpkt 500 \
		burst 4 probability 1 bandwidth 64kbit qevent early_drop block 10
	tc filter add block 10 matchall action ok
	ping -c 40 -i 0.02 -s 900 -W 1 10.5.0.2 ||
		for _i in 1 2 3 4 5 6 7 8 9; do ping -c 1 -s 8000 -W 1 10.5.0.2; done
	tc qdisc del dev v0 root
	tc qdisc add dev v0 clsact
	tc filter add dev v0 egress prio 1 protocol ip matchall action sample rate 1 group 5
	ping -c 1 -W 1 10.5.0.2
	tc filter del dev v0 egress
	tc filter add dev v0 egress prio 1 protocol ip matchall action ife encode type 0xed3e \
		use mark 5 dst ff:ff:ff:ff:ff:ff
	there tc qdisc add dev v1 clsact
	there tc filter add dev v1 ingress prio 1 protocol 0xed3e matchall action ife decode
	ping -c 1 -W 1 10.5.0.2
	tc qdisc del dev v0 clsact
}

packet_filters() {
	iptables-legacy -A OUTPUT -j RATEEST --rateest-name est --rateest-interval 250ms \
		--rateest-ewmalog 500ms
	iptables-legacy -A INPUT -m rateest --rateest est --rateest-lt --rateest-bps1 10mbit
	iptables-legacy -A INPUT -m hashlimit --hashlimit-above 1/sec --hashlimit-name hl
	iptables-legacy -A INPUT -p tcp -m connlimit --connlimit-above 1
	ip6tables-legacy -A OUTPUT -m rt --rt-type 0
	ip6tables-legacy -A OUTPUT -m conntrack --ctstate NEW
	ebtables-legacy -A FORWARD -j ACCEPT
	ebtables-legacy -F
	ping -c 2 -W 1 10.5.0.2
	ping -6 -c 1 -s 4000 -W 1 fd05::2
	workload /tmp tcp
	iptables-legacy -F
	ip6tables-legacy -F
}

routes() {
	# an IPv6 segment that unpacks what comes
	there ip -6 route add fd06::1/128 encap seg6local action End.DX6 nh6 fd05::1 dev v1
	ip -6 route add fd07::/64 encap seg6 mode encap segs fd06::1 dev v0
	ip -6 route add fd06::/64 via fd05::2
	ping -6 -c 1 -W 1 fd07::1
	# authentication headers, both ways
	for _where in "" there; do
		for _way in "fd05::1 fd05::2" "fd05::2 fd05::1"; do
			$_where ip xfrm state add src "${_way% *}" dst "${_way#* }" proto ah spi 7 \
				mode transport auth "hmac(sha1)" 0x0123456789012345678901234567890123456789
		done
	done
	ip xfrm policy add src fd05::1 dst fd05::2 dir out tmpl proto ah mode transport
	ping -6 -c 1 -W 1 fd05::2
	ip xfrm policy flush
	ip xfrm state flush
	# a router that knows a better way on the same line
	there sh -c 'for f in all v1; do
		echo 1 >/proc/sys/net/ipv4/conf/$f/forwarding
		echo 1 >/proc/sys/net/ipv4/conf/$f/send_redirects; done'
	there ip route add 10.4.0.0/24 via 10.5.0.3 dev v1
	ip route add 10.4.0.0/24 via 10.5.0.2
	ping -c 2 -W 1 10.4.0.1
}

# A mirror of two loop devices, through md's files in sysfs.
mirror() {
	modprobe md_mod
	echo md_test >/sys/module/md_mod/parameters/new_array
	_md=/sys/block/md_test/md
	echo none >$_md/metadata_version
	echo raid1 >$_md/level
	echo 2 >$_md/raid_disks
	_loops=
	for _i in 1 2; do
		truncate -s 8M /tmp/half$_i
		_loop=$(losetup -f)
		losetup "$_loop" /tmp/half$_i
		_loops="$_loops $_loop"
		echo "7:${_loop#/dev/loop}" >$_md/new_dev
		echo $((_i - 1)) >"$_md/dev-${_loop#/dev/}/slot"
	done
	echo 8192 >$_md/component_size
	echo active >$_md/array_state
	cat $_md/array_state $_md/sync_action
	# shellcheck disable=SC2046 # two numbers
	mknod /dev/md_test b $(tr : ' ' </sys/block/md_test/dev)
	dd if=/dev/md_test of=/dev/null bs=64k count=8
	rm /dev/md_test
	echo clear >$_md/array_state
	# shellcheck disable=SC2086 # several words
	for _loop in $_loops; do losetup -d $_loop; done
	rm -f /tmp/half1 /tmp/half2
}

machine() {
	find /proc/sys /proc/1 /proc/self -maxdepth 2 -type f -exec head -c 4096 {} \;
	find /sys/firmware /sys/block /sys/class/ -maxdepth 3 -type f -exec head -c 4096 {} \;
	cat /sys/devices/system/cpu/hotplug/states /proc/net/[a-z]* /proc/meminfo /proc/vmstat /proc/slabinfo
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online
	echo 4 >/proc/sys/vm/nr_hugepages
	mkdir -p /tmp/cpuset /tmp/cgroup
	mount -t cgroup -o cpuset cpuset /tmp/cpuset
	mkdir -p /tmp/cpuset/one
	echo 0 >/tmp/cpuset/one/cpuset.cpus
	echo 0 >/tmp/cpuset/one/cpuset.mems
	echo 1 >/tmp/cpuset/one/cpuset.memory_migrate
	sh -c 'echo $$ >/tmp/cpuset/one/tasks; echo 0 >/tmp/cpuset/one/cpuset.mems'
	rmdir /tmp/cpuset/one
	umount /tmp/cpuset
	mount -t cgroup2 none /tmp/cgroup
	echo +memory >/tmp/cgroup/cgroup.subtree_control
	mkdir -p /tmp/cgroup/one
	sh -c 'echo $$ >/tmp/cgroup/one/cgroup.procs; dd if=/dev/zero of=/tmp/some bs=1M count=8
		cat /bin/busybox >/dev/null; echo 4M >/tmp/cgroup/one/memory.reclaim'
	rmdir /tmp/cgroup/one
	umount /tmp/cgroup
	echo 0 >/proc/sys/vm/nr_hugepages
	for _clock in /sys/bus/pnp/drivers/rtc_cmos/00:*; do
		echo "${_clock##*/}" >/sys/bus/pnp/drivers/rtc_cmos/unbind
		echo "${_clock##*/}" >/sys/bus/pnp/drivers/rtc_cmos/bind
	done
	echo j >/proc/sysrq-trigger
	for module in softdog ecrdsa_generic ccm; do
		modprobe $module
		rmmod $module
	done
}

work() {
	# shellcheck disable=SC2013 # one word a line
	for module in $(cat /root/modules); do
		modprobe "$module"
	done
	mknod /dev/btrfs-control c 10 234
	file_systems
	network
	two_hosts
	mirror
	machine
	rm -f /tmp/disk /tmp/some
} >/tmp/work.log 2>&1
