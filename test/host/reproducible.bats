# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The same input gives the same bytes, whoever builds it where, and by how many processes.  A build that was
# killed does the next one no harm.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# several_units - x.patch, which changes five files.
several_units() {
	edited fs/proc/version.c 's/utsname()->sysname,/"Patched",/'
	edited fs/proc/uptime.c '/seq_printf/s/%lu.%02lu %lu/%lu.%03lu %lu/'
	edited fs/proc/loadavg.c '/seq_printf/s/%u\/%d/%u:%d/'
	edited fs/proc/softirqs.c '/seq_printf/s/CPU%-8d/cpu%-8d/'
	edited fs/eventfd.c '/seq_printf/s/eventfd-count: /eventfd-number: /'
}

@test "several units: the same bytes from two folders, by one process and by eight" {
	several_units
	mkdir one another
	cp x.patch one
	cp x.patch another
	(cd one && "$program" -j1 -k "$release" --report r.json x.patch)
	(cd another && "$program" -j8 -k "$release" --report r.json x.patch)
	cmp one/pokepatch-x.ko another/pokepatch-x.ko
	[ "$(grep -c '"unit"\|"source" *: *"fs/' one/r.json)" -ge 5 ]
	# All but the times.
	for report in one another; do
		sed '/"timing"/,/}/d' $report/r.json >$report/r
	done
	cmp one/r another/r
}

# The capability lets it read what is root's: the cache is in a folder that nobody else may enter.
@test "the same bytes for another user, with a cache of another path" {
	[ "$(id -u)" = 0 ] || skip "only root becomes another user"
	several_units
	local theirs=$BATS_TEST_TMPDIR/their/cache/pokepatch/kernels/$release part
	mkdir -p "$theirs" their/tmp
	for part in packages image dbg headers source fetched; do
		[ ! -e "$kernel/$part" ] || ln -s "$kernel/$part" "$theirs/$part"
	done
	chown -R 65534:65534 their
	"$program" -k "$release" x.patch
	run setpriv --reuid=65534 --regid=65534 --clear-groups \
		--securebits=+no_setuid_fixup --inh-caps=+dac_override \
		--ambient-caps=+dac_override env -C their HOME="$PWD/their" USER=nobody \
		XDG_CACHE_HOME="$PWD/their/cache" TMPDIR="$PWD/their/tmp" \
		"$program" -k "$release" -o x.ko -n x ../x.patch
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(stat -c %u their/x.ko)" = 65534 ]
	cmp pokepatch-x.ko their/x.ko
}

@test "a build that was killed at any moment does the next one no harm" {
	local count=5
	[ "${POKEPATCH_CHECK:-}" != short ] || count=2 # one with, one without a prepared tree
	"$top/test/kills" "${POKEPATCH_KILLS:-$count}"
}
