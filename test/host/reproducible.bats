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

# compiled LOG - the units that a build with -V compiled itself, and those that it had kbuild compile.
compiled() {
	grep -o -- ' -c -o [^ ]* [^ ]*\.[cS]\( \|$\)' "$1" | awk '{ print $4 }' | sed 's,.*/pokepatch-[^/]*/,,'
	grep '^+ .* scripts/Makefile.build ' "$1" | grep -o ' \./[^ ]*\.o' | sed 's,^ \./,kbuild ,'
}

@test "a second build compiles what is patched, and nothing else, to the same bytes" {
	local own=$BATS_TEST_TMPDIR/cache/pokepatch/kernels/$release part file
	mkdir -p "$own" one two
	for part in packages image dbg headers source fetched; do
		[ ! -e "$kernel/$part" ] || ln -s "$kernel/$part" "$own/$part"
	done
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	edited fs/proc/version.c 's/utsname()->sysname,/"Patched",/'
	"$program" -V -k "$release" --report one/r.json -o one.ko -n x x.patch 2>one.log
	compiled one.log
	[ "$(compiled one.log | grep -c 'fs/proc/version\.[co]$')" -eq 3 ]

	# Another change of the same unit, with other symbols of the kernel's: original, exact object, modpost's
	# part and stubs are there.
	mv x.patch first.patch
	edited fs/proc/version.c 's/utsname()->sysname,/current->comm,/; 0,/return 0;/s//seq_puts(m, "patched"); return 0;/'
	mv x.patch second.patch
	mv first.patch x.patch # its name is in the report
	"$program" -V -k "$release" -o two.ko -n x second.patch 2>two.log
	compiled two.log
	[ "$(compiled two.log)" = fs/proc/version.c ]
	grep -q 'shadow && .* fs/proc/version.c' two.log
	modinfo two.ko | grep -qx 'name: *pokepatch_x'
	nm two.ko | grep -q ' U seq_puts$'

	# The first one again: the same bytes, and nothing to compile.
	"$program" -V -k "$release" --report two/r.json -o again.ko -n x x.patch 2>again.log
	[ -z "$(compiled again.log)" ]
	cmp one.ko again.ko
	for part in one two; do
		sed '/"timing"/,/}/d; /"file":"[a-z]*.ko"/d' $part/r.json >$part/r
	done
	cmp one/r two/r
	"$program" -V -k "$release" -o named.ko -n another-name x.patch 2>named.log
	[ -z "$(compiled named.log)" ]
	modinfo named.ko | grep -qx 'name: *pokepatch_another_name'

	# Damage: kept objects that are cut off, empty, or have another byte are made anew.
	local damage
	for damage in 'truncate -s 3000' 'truncate -s 0' change_byte; do
		for file in "$own"/tree-*/fs/proc/version.o "$own"/tree-*/.pokepatch/objects/* \
			"$own"/core-*/objects/*; do
			$damage "$file"
		done
		"$program" -V -k "$release" -o again.ko -n x x.patch 2>again.log
		compiled again.log
		[ "$(compiled again.log | grep -c 'fs/proc/version\.[co]$')" -eq 3 ]
		cmp one.ko again.ko
		"$program" -V -k "$release" -o again.ko -n x x.patch 2>again.log
		[ -z "$(compiled again.log)" ]
		cmp one.ko again.ko
	done

	# With a second file, only that is compiled, and only what is edited after that.
	mv x.patch first.patch
	edited fs/proc/uptime.c '/seq_printf/s/%lu.%02lu %lu/%lu.%03lu %lu/'
	cat first.patch x.patch >both.patch
	"$program" -V -k "$release" -o both.ko -n x both.patch 2>both.log
	[ "$(compiled both.log | grep -c 'fs/proc/uptime\.[co]$')" -eq 3 ]
	! compiled both.log | grep fs/proc/version || false
	sed -i 's/%lu.%03lu %lu/%lu.%04lu %lu/' both.patch
	"$program" -V -k "$release" -o both.ko -n x both.patch 2>both.log
	[ "$(compiled both.log)" = fs/proc/uptime.c ]

	# Another unit's changed source is included: the object's key lacks its text, so the object is not kept.
	rm x.patch
	edited fs/proc/version.c 's,internal.h,uptime.c,'
	edited fs/proc/uptime.c '/seq_printf/s/%lu.%02lu %lu/%lu.%05lu %lu/'
	for part in 1 2; do
		run "$program" -V -k "$release" -o included.ko -n x x.patch
		[[ $output != *"does not compile"* ]]
		echo "$output" >included.log
	done
	[ "$(compiled included.log)" = fs/proc/version.c ]

	# What was used longest ago goes first when the folder is full.  Without this file, the build looks
	# through the folder.
	file=$(echo "$own"/tree-*/.pokepatch/objects)
	rm "$file/growth"
	truncate -s 700M "$file/old" "$file/new"
	touch -d '2 days ago' "$file/old"
	touch -d '1 day ago' "$file/new"
	rm x.patch
	edited fs/proc/softirqs.c '/seq_printf/s/CPU%-8d/cpu%-8d/'
	"$program" -q -k "$release" -o three.ko -n x x.patch
	[ ! -e "$file/old" ]
	[ -e "$file/new" ]
	[ "$(find "$file" -type f | wc -l)" -lt 12 ]
}

# change_byte FILE - make a byte in the middle of it another one.
change_byte() {
	local byte at=$(($(stat -c %s "$1") / 2))
	byte=$(od -An -tu1 -j$at -N1 "$1")
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
}

# field NAME FILE - a control field of a package.
field() {
	dpkg-deb -f "$2" "$1"
}

@test "packages of levels: the same from two folders, with their fields; level 0 has no patch" {
	local name=linux-livepatch-${release//_/-} example=$top/examples/proc-version.patch arch folder package format
	arch=$(dpkg --print-architecture)
	# What debian/rules has the package pokepatch provide.
	format=$(sed -n 's/^#define POKEPATCH_FORMAT //p' "$top/core-module/include/pokepatch_format.h")
	export DEBFULLNAME='A Maintainer' DEBEMAIL=maintainer@example.org
	for folder in a b; do
		mkdir "$folder"
		(
			cd "$folder"
			[ $folder = a ] || umask 077
			"$program" -q -k "$release" --deb --level 12 --until 2030-02-03 --cve CVE-2026-2222,CVE-2026-11111 \
				--unfixed CVE-2026-3333 -j "$([ $folder = a ] && echo 1 || echo 8)" "$example"
		)
	done
	package=${name}_12_$arch.deb
	cmp "a/$package" "b/$package"
	dpkg-deb -f "a/$package" >fields
	cat fields
	diff - <(grep -v '^ \|^Description\|Build-Id' fields) <<-END
		Package: $name
		Version: 12
		Section: kernel
		Priority: optional
		Architecture: $arch
		Maintainer: A Maintainer <maintainer@example.org>
		Depends: pokepatch, pokepatch-format-$format
		Enhances: linux-image-$release
		Livepatch-Until: 2030-02-03
		Livepatch-CVE: CVE-2026-11111, CVE-2026-2222
		Livepatch-Unfixed: CVE-2026-3333
	END
	dpkg-deb -x "a/$package" x
	(cd x && find . -type f | LC_ALL=C sort) >files
	diff - files <<-END
		./usr/lib/modules/$release/livepatch/pokepatch-level-12.ko
		./usr/lib/modules/$release/livepatch/pokepatch.ko
		./usr/share/doc/$name/changelog.gz
		./usr/share/doc/$name/copyright
	END
	[ "$(field Livepatch-Build-Id "a/$package")" = \
		"$("$top/build/bin/pokepatch" info x/usr/lib/modules/*/livepatch/pokepatch-level-12.ko | sed -n 's/^build id: *//p')" ]
	[ "$(dpkg-deb -c "a/$package" | awk '{ print $1, $2 }' | sort -u)" = $'-rw-r--r-- root/root\ndrwxr-xr-x root/root' ]
	# Level 0, into a file that was named.
	"$program" -q -k "$release" --deb --level 0 -o zero.deb --report zero.json
	[ "$(field Version zero.deb)" = 0 ]
	[ "$(field Livepatch-CVE zero.deb)" = "" ]
	[ "$(dpkg-deb -c zero.deb | grep -c '\.ko$')" -eq 1 ]
	python3 -c 'import json; r = json.load(open("zero.json")); assert r["level"] == 0 and not r["functions"]'
}

@test "signed: module and core, alone and in a package; a key that is none is told" {
	local example=$top/examples/proc-version.patch file told
	openssl req -x509 -newkey rsa:2048 -nodes -sha256 -days 36500 -subj /CN=owner -outform DER -keyout k.pem -out k.der
	mkdir plain signed
	"$program" -q -k "$release" -o plain/pokepatch-p.ko "$example"
	"$program" -q -k "$release" -o signed/pokepatch-p.ko --sign k.pem,k.der --report r.json "$example"
	[ "$(modinfo -F signer signed/pokepatch-p.ko signed/pokepatch.ko)" = $'owner\nowner' ]
	# What is signed is what is made without.
	cmp -n "$(stat -c %s plain/pokepatch-p.ko)" plain/pokepatch-p.ko signed/pokepatch-p.ko
	[ "$(python3 -c 'import json; print(json.load(open("r.json"))["module"]["sha256"])')" = \
		"$(sha256sum signed/pokepatch-p.ko | cut -d ' ' -f 1)" ]
	"$program" -q -k "$release" --deb --level 1 -o p.deb --sign k.pem,k.der "$example"
	dpkg-deb -x p.deb x
	[ "$(modinfo -F signer x/usr/lib/modules/*/livepatch/*.ko)" = $'owner\nowner' ]
	while IFS='|' read -r file told; do
		run -1 "$program" -q -k "$release" -o no.ko --sign "$file" "$example"
		echo "$output"
		[[ $output == "pokepatch-build: $told"* && $output != *$'\n'* ]]
	done <<-'END'
		k.pem|--sign k.pem: not KEY,CERTIFICATE
		k.pem,none|--sign: cannot read 'none'
		none,k.der|--sign: cannot read 'none'
		k.der,k.der|--sign: cannot sign with 'k.der' and 'k.der': At main.c
	END
	[ ! -e no.ko ]
	[ ! -e pokepatch.ko ]
}

@test "packages of levels: what cannot be is told, and leaves no file" {
	local example=$top/examples/proc-version.patch arguments told before
	before=$(ls -A)
	while IFS='|' read -r arguments told; do
		# shellcheck disable=SC2086 # several words
		run "$program" -q -k "$release" $arguments
		[ "$status" -eq 1 ]
		[ "$output" = "pokepatch-build: $told" ]
	done <<-END
		--deb $example|--deb needs --level; 'pokepatch-build --help' lists the options
		--deb --level 0 $example|--level 0 is for --deb without any PATCH; 'pokepatch-build --help' lists the options
		--level 0 $example|--level 0 is for --deb without any PATCH; 'pokepatch-build --help' lists the options
		--deb --level 1|no PATCH given; 'pokepatch-build --help' lists the options
		--deb --level 1 -n x $example|--deb names the patch by its level; leave out --name; 'pokepatch-build --help' lists the options
		--sign k,k -o pokepatch.ko $example|-o pokepatch.ko: with --sign that is the core's name; choose another
		--deb --level 1 -o x.ko $example|-o x.ko: a package's name ends with .deb
		--level 1 -o x.deb $example|-o x.deb: a module's name ends with .ko
	END
	[ "$(ls -A)" = "$before" ]
}
