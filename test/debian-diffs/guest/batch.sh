# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # tracing and pokepatch are those of vm/guest/lib.sh
# One batch, in the guest: work without patches, then load all, work, count, roll all back.
# /root/batch has a line for each patch: number, parents, functions.  Prints a line for each:
# number, loaded, enabled, the functions' hits, rolled back.

# shellcheck source=work.sh
. /root/work.sh
event() { # NUMBER FUNCTION - the name of its probe
	echo "h$1_$2" | tr -c 'A-Za-z0-9_\n' _ | cut -c 1-60
}

set +e
echo 0 >/proc/sys/kernel/printk_ratelimit
while read -r number parents functions; do
	for parent in $(echo "$parents" | tr , ' '); do
		[ "$parent" = vmlinux ] || modprobe "$parent" 2>/dev/null ||
			echo "parent $number $parent is not loaded"
	done
done </root/batch
insmod "/lib/modules/$(uname -r)/extra/pokepatch.ko"
work
sed 's/^/log /' /tmp/work.log
echo "<6>debian-diffs: the first round is done" >/dev/kmsg
# What is allocated with the first patch and the first probe stays.
read -r number parents functions </root/batch
if pokepatch load "$(patch_file "h$number")"; then
	for function in $functions; do
		echo "p:pp/$(event "$number" "$function") pokepatch_h$number:$function" \
			>>"$tracing/kprobe_events"
	done
	echo 1 >"$tracing/events/pp/enable"
	sleep 1
	echo 0 >"$tracing/events/pp/enable"
	echo >"$tracing/kprobe_events"
	pokepatch unload "h$number"
fi >/dev/null 2>&1
inventory /tmp/before

while read -r number parents functions; do
	if ! pokepatch load "$(patch_file "h$number")" >/tmp/load 2>&1; then
		echo "failed $number $(tr '\n' ' ' </tmp/load)"
		continue
	fi
	echo "state $number $(file "h$number" state)"
	for function in $functions; do
		echo "p:pp/$(event "$number" "$function") pokepatch_h$number:$function" \
			>>"$tracing/kprobe_events" 2>/dev/null || echo "noprobe $number $function"
	done
done </root/batch
[ ! -e "$tracing/events/pp" ] || echo 1 >"$tracing/events/pp/enable"
work
[ ! -e "$tracing/events/pp" ] || echo 0 >"$tracing/events/pp/enable"
cat "$tracing/kprobe_profile" >/tmp/profile
while read -r number parents functions; do
	for function in $functions; do
		echo "hits $number $function $(awk -v name="$(event "$number" "$function")" \
			'$1 == name { print $2 }' /tmp/profile)"
	done
done </root/batch
echo >"$tracing/kprobe_events"
sort -r /root/batch >/tmp/batch
while read -r number parents functions; do
	[ -d "$pokepatch/h$number" ] || continue
	pokepatch disable "h$number" 2>&1 || continue
	echo "disabled $number $(file "h$number" state)"
	if [ "$1" = leaves ]; then
		pokepatch unload "h$number" >/tmp/unload 2>&1 && echo "unloaded $number" ||
			echo "stays $number $(tr '\n' ' ' </tmp/unload)"
	else
		pokepatch unload "h$number" 2>&1 && echo "unloaded $number"
	fi
done </tmp/batch
echo "<6>debian-diffs: rolled back" >/dev/kmsg
inventory /tmp/after
# What grew; the work itself leaves something, and patches that stay loaded do.
awk 'NR == FNR { was[$1 " " $2] = $3; next }
	$3 - was[$1 " " $2] >= ($1 == "slab" ? 80 : 1) {
		print "grown", $1, $2, was[$1 " " $2] + 0, $3 }' /tmp/before /tmp/after
echo complete
