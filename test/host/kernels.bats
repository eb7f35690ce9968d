# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2086 # $everything is several words
# test/vm/kernels/build, with a source that takes no time: what is broken, damaged or half done
# is made good, and nothing is done twice.

bats_require_minimum_version 1.5.0

# With one job, so that make is asked for one thing after the other.
build=${BATS_TEST_DIRNAME}/../vm/kernels/build

# The source: its makefile records its targets, and fails or hangs if the test wants it to.
setup() {
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	cache=$XDG_CACHE_HOME/pokepatch
	store=$cache/debug-kernel-1.2-3-0123456789ab tree=$store/tree
	export asked=$cache/asked
	local source=$BATS_TEST_TMPDIR/linux-source-1
	mkdir -p "$source/scripts/kconfig" "$source/include"
	cat >"$source/Makefile" <<-END
		.RECIPEPREFIX = >
		note = @echo \$@ >>$asked
		tinyconfig olddefconfig: ; \$(note)
		bzImage:
		> \$(note)
		> @[ ! -e $cache/broken ] && [ ! -e broken ]
		> @[ ! -e $cache/hang ] || { touch $cache/hanging; sleep 60; }
		> @mkdir -p arch/x86/boot include/config
		> @cp include/header vmlinux; cp vmlinux arch/x86/boot/bzImage; echo >some.o
		> @touch Module.symvers System.map
		> @sed -n 's/^CONFIG_LOCALVERSION="\(.*\)"/1.2\1/p' .config >include/config/kernel.release
		modules: ; \$(note)
		modules_install:
		> \$(note)
		> @mkdir -p \$(INSTALL_MOD_PATH)/lib/modules/\$\$(cat include/config/kernel.release)
		> @touch \$(INSTALL_MOD_PATH)/lib/modules/\$\$(cat include/config/kernel.release)/x.ko
	END
	printf '#!/bin/sh\ncat "$3" >.config\n' >"$source/scripts/kconfig/merge_config.sh"
	chmod +x "$source/scripts/kconfig/merge_config.sh"
	echo text >"$source/include/header"
	put_source 1.2 1.2-3 0123456789abcdef
}

# put_source RELEASE VERSION SUM - a kernel in the cache, with that source.
put_source() {
	mkdir -p "$cache/kernels/$1/source/usr/src"
	echo "linux-source-1 $2 $3" >"$cache/kernels/$1/fetched"
	tar -cJf "$cache/kernels/$1/source/usr/src/linux-source-1.tar.xz" -C "$BATS_TEST_TMPDIR" linux-source-1
}

# asks WORDS - what make was asked for since the last time.
asks() {
	local got
	got=$(tr '\n' ' ' 2>/dev/null <"$asked" || :)
	rm -f "$asked"
	[ "$got" = "$*${*:+ }" ] || {
		echo "make was asked for: $got, wanted: $*"
		return 1
	}
}

everything='tinyconfig olddefconfig bzImage modules modules_install'

@test "the debug kernel is built once, and found where a release is looked for" {
	run --separate-stderr "$build" debug 1.2 1
	release=$output
	[[ $release == 1.2-pokepatch-debug-???????? ]]
	asks $everything
	for file in image/boot/vmlinuz-$release image/lib/modules/$release/x.ko \
		dbg/usr/lib/debug/boot/vmlinux-$release image/boot/config-$release \
		headers/usr/src/linux-headers-$release/Module.symvers source/usr/src/linux-source-1.tar.xz; do
		[ -e "$cache/kernels/$release/$file" ]
	done
	[ ! -e "$tree/some.o" ]
	run --separate-stderr "$build" debug 1.2 1
	[ "$output" = "$release" ]
	[ -z "$stderr" ]
	asks
	# A link that is gone comes back, no more.
	rm -r "$cache/kernels/$release"
	run --separate-stderr "$build" debug 1.2 1
	[ -e "$cache/kernels/$release/image/boot/vmlinuz-$release" ]
	asks
}

@test "a debug kernel that is damaged is built from the start" {
	"$build" debug 1.2 1
	asks $everything
	for damage in "rm $tree/include/header" "truncate -s 1 $tree/Makefile" "truncate -s 0 $store/sums" \
		"touch -r / $tree/vmlinux $tree/new; echo TEXT >$tree/vmlinux" "rm -r $store/modules"; do
		echo "== $damage"
		eval "$damage"
		"$build" debug 1.2 1
		asks $everything
		[ "$(cat "$tree/vmlinux")" = text ]
	done
	"$build" debug 1.2 1
	asks
}

@test "a build of the debug kernel that was interrupted or has failed goes on" {
	touch "$cache/broken"
	run ! "$build" debug 1.2 1
	asks tinyconfig olddefconfig bzImage
	rm "$cache/broken"
	touch "$cache/hang" "$tree/goes-on"
	setsid "$build" debug 1.2 1 &
	while [ ! -e "$cache/hanging" ]; do sleep 0.05; done
	# With all that it has started.
	kill -KILL -- -$!
	wait $! || :
	rm "$cache/hang"
	asks bzImage
	"$build" debug 1.2 1
	[ -e "$tree/goes-on" ]
	asks bzImage modules modules_install

	# What cannot be gone on with is made again, once.
	rm "$store/ready"
	touch "$tree/broken"
	"$build" debug 1.2 1
	asks bzImage $everything
}

@test "a debug kernel of another configuration has another release" {
	local copy=$BATS_TEST_TMPDIR/copy
	mkdir -p "$copy/test/vm/kernels"
	cp "${build%/*}"/{build,debug.*} "$copy/test/vm/kernels"
	cp "$BATS_TEST_DIRNAME/../source.sh" "$copy/test"
	copy=$copy/test/vm/kernels
	first=$("$copy/build" debug 1.2 1)
	echo CONFIG_MORE=y >>"$copy/debug.config"
	second=$("$copy/build" debug 1.2 1)
	asks $everything $everything
	[ "$first" != "$second" ]
	[ ! -e "$cache/kernels/$first" ]
	[ -e "$cache/kernels/$second" ]
}

@test "a kernel of our own is made from the source that is named, whatever else is in the cache" {
	first=$("$build" debug 1.2 1)
	asks $everything
	# A newer kernel, whose source is another.
	echo newer >"$BATS_TEST_TMPDIR/linux-source-1/include/header"
	put_source 1.12 1.12-1 ba9876543210
	[ "$("$build" debug 1.2 1)" = "$first" ]
	asks
	[ "$(cat "$tree/vmlinux")" = text ]
	# Both can be there.
	second=$("$build" debug 1.12 1)
	asks $everything
	[ "$first" != "$second" ]
	[ "$(cat "$cache/kernels/$second/dbg/usr/lib/debug/boot/vmlinux-$second")" = newer ]
	[ "$(cat "$cache/kernels/$first/dbg/usr/lib/debug/boot/vmlinux-$first")" = text ]
	[ "$("$build" debug 1.2 1)" = "$first" ]
	asks
	# Another version of the same release: neither its tree nor what an interrupted run left of it is taken.
	rm "$store/ready"
	put_source 1.2 1.2-4 0123456789ff
	third=$("$build" debug 1.2 1)
	asks $everything
	[ "$(cat "$cache/kernels/$third/dbg/usr/lib/debug/boot/vmlinux-$third")" = newer ]
	# A tree that was not used for long goes.
	touch -d '20 days ago' "$store/.used"
	"$build" debug 1.12 1
	[ ! -e "$store" ]
	run --separate-stderr ! "$build" debug 1.3 1
	[[ $stderr == *"the cache has no source of 1.3"*"pokepatch fetch 1.3" ]]
}
