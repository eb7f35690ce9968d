# SPDX-License-Identifier: GPL-2.0-or-later
# Tracepoints in changed code, which are static keys and static calls.

load helpers

@test "an exported tracepoint: the event fires in the new function, also switched on later" {
	with_patches "$top/test/vm/patches/kfree-skb.patch"
	guest "${patched[@]}" <<-'END'
		ip link set lo up
		event=$tracing/events/skb/kfree_skb
		# A question to a name server that is not there: the datagram is dropped.
		drop() { timeout 2 nslookup nobody 127.0.0.1 >/dev/null 2>&1 || :; }
		reasons() { sed -n 's/.*kfree_skb:.* reason: //p' $tracing/trace | sort -u; }

		echo "== stock"
		echo 1 >$event/enable
		drop
		has "reasons" "$(reasons)" NO_SOCKET

		echo "== patched while the event is on"
		pokepatch load "$(patch_file kfree-skb)"
		echo >$tracing/trace
		drop
		same "reasons" "$(reasons)" NOT_SPECIFIED

		echo "== off and on again: the site in the patch follows"
		echo 0 >$event/enable
		echo >$tracing/trace
		drop
		same "reasons" "$(reasons)" ""
		echo 1 >$event/enable
		drop
		same "reasons" "$(reasons)" NOT_SPECIFIED

		echo "== rolled back while it is on"
		pokepatch unload kfree-skb
		echo >$tracing/trace
		drop
		has "reasons" "$(reasons)" NO_SOCKET
		echo 0 >$event/enable
	END
}
