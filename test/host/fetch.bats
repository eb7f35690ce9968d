# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch fetch, from a package repository that is made here.

load repository

@test "fetch --latest takes the newest release that all packages agree on" {
	run --separate-stderr "$pokepatch" fetch --latest "$flavour" --quiet
	[ "$status" -eq 0 ]
	[ "$output" = "$release" ]
	[[ $stderr == *"newest release of flavour $flavour: $release ($version)"* ]]
	whole
}

@test "fetch --list shows the releases that are complete in the archive, whatever the cache has" {
	add_kernel 1.2.3-10 1.2.3-8
	add_kernel 1.20.0-1 1.20.0-1
	index
	"$pokepatch" fetch "1.20.0-1-$flavour"
	# Of 1.2.3-5 a package is missing.
	run --separate-stderr "$pokepatch" fetch --list "1.2-$flavour"
	[ "$status" -eq 0 ]
	[ "$output" = "1.2.3-10-$flavour"$'\n'"$release" ]
	run --separate-stderr "$pokepatch" fetch --list "$flavour"
	[ "$output" = "1.20.0-1-$flavour"$'\n'"1.2.3-10-$flavour"$'\n'"$release" ]
	[ "$(cd "$cache/kernels" && echo *)" = "1.20.0-1-$flavour 1.20.0-1-$flavour.lock" ]
	fails 1 "no kernel '1-$arch'" "$pokepatch" fetch --list "1-$arch"
	fails 1 "or --list FLAVOUR" "$pokepatch" fetch --list "$flavour" "$release"
}

@test "fetch tells where the parts are, as lines and as JSON" {
	run --separate-stderr "$pokepatch" fetch "$release"
	[ "$status" -eq 0 ]
	[[ $output == *"vmlinux:"*"$kernel/dbg/usr/lib/debug/boot/vmlinux-$release"* ]]
	run --separate-stderr "$pokepatch" fetch "$release" --json
	[ "$status" -eq 0 ]
	[[ $output == *"\"kbuild\": \"$kernel/headers/usr/src/linux-headers-$release\""* ]]
}

@test "what is complete is not asked for again" {
	"$pokepatch" fetch "$release"
	rm -r "$repo"
	find "$cache" -newer "$kernel/fetched" >"$BATS_TEST_TMPDIR/before"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ "$output" = "$release" ]
	[ -z "$stderr" ]
	find "$cache" -newer "$kernel/fetched" >"$BATS_TEST_TMPDIR/after"
	cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	whole
}

@test "the headers work where they lie" {
	"$pokepatch" fetch "$release"
	run make -s -C "$kernel/headers/lib/modules/$release/build"
	[ "$status" -eq 0 ]
	[ "$output" = "made in $kernel/headers/usr/src/linux-headers-$release by kbuild-$version" ]
	[ "$(readlink "$kernel/headers/lib/modules/$release/elsewhere")" = /not/in/the/package ]
}

@test "a cache that is damaged anywhere repairs itself" {
	local image=$kernel/packages/linux-image-${release}_${version}_$arch.deb
	local damages=(
		"truncate -s 100 $image"
		"rm $image $kernel/fetched $kernel/image/boot/vmlinuz-$release"
		"rm $kernel/dbg/usr/lib/debug/boot/vmlinux-$release"
		"rm $kernel/image/boot/vmlinuz-$release"
		"truncate -s 3 $kernel/image/boot/vmlinuz-$release"
		"rm $kernel/headers/usr/lib/linux-kbuild-1.2/scripts/tool"
		"rm -r $kernel/source"
		"rm $kernel/fetched"
		"truncate -s 10 $kernel/fetched"
		"mkdir $kernel/dbg.tmp && rm $kernel/fetched"
		# The right size and the wrong contents, unnoticed until the stamp is gone too.
		"change_byte $image && rm $kernel/fetched"
		"rm -r $kernel/*"
	)
	"$pokepatch" fetch "$release"
	for damage in "${damages[@]}"; do
		echo "$damage"
		bash -c "$damage"
		"$pokepatch" fetch "$release"
		whole
	done
}

@test "files that others add to the cache are left alone" {
	"$pokepatch" fetch "$release"
	touch "$kernel/image/lib/modules/$release/modules.dep"
	mkdir "$kernel/tree-1234"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	rm "$kernel/packages/linux-source-1.2_${version}_all.deb" "$kernel/fetched"
	"$pokepatch" fetch "$release"
	[ -f "$kernel/image/lib/modules/$release/modules.dep" ]
	[ -d "$kernel/tree-1234" ]
}

@test "a newer version of the same release replaces the old one with --latest" {
	"$pokepatch" fetch --latest "$flavour"
	version=1.2.3-9
	add_kernel 1.2.3-4 "$version"
	metapackage "$version" 1.2.3-4
	index
	rm "$cache/apt/$arch/updated" # as if a day had passed
	"$pokepatch" fetch --latest "$flavour"
	whole
}

@test "a package that is not what the index says is refused" {
	local deb=$repo/linux-image-${release}_${version}_$arch.deb
	change_byte "$deb"
	fails 1 "is not what the signed package index says" "$pokepatch" fetch "$release"
	[ -z "$(find "$kernel" -name '*.deb')" ]
	[ ! -e "$kernel/fetched" ]
	cp "$BATS_FILE_TMPDIR/repo/${deb##*/}" "$deb"
	"$pokepatch" fetch "$release"
	whole
}

@test "packages of an index with stronger sums, too, are fetched" {
	local file line
	while IFS= read -r line; do
		echo "$line"
		case $line in
		Filename:*) file=$repo/${line#*./} ;;
		SHA256:*) echo "SHA512: $(sha512sum "$file" | cut -d' ' -f1)" ;;
		esac
	done <"$repo/Packages" >"$BATS_TEST_TMPDIR/Packages"
	[ "$(grep -c '^SHA512: [0-9a-f]' "$BATS_TEST_TMPDIR/Packages")" -ge 6 ]
	cp "$BATS_TEST_TMPDIR/Packages" "$repo/Packages"
	index
	"$pokepatch" fetch "$release"
	whole
}

@test "an index that is not what Release says is not used" {
	echo >>"$repo/Packages"
	fails 1 "cannot update the package lists" "$pokepatch" fetch "$release"
	[ ! -e "$kernel" ]
}

@test "a repository without a trusted signature is not used" {
	sed -i 's/\[trusted=yes\] //' "$BATS_TEST_TMPDIR/etc/sources.list"
	fails 1 "is not signed" "$pokepatch" fetch "$release"
	[ ! -e "$kernel" ]
}

@test "without a network --latest takes the newest complete kernel of that flavour" {
	"$pokepatch" fetch "$release"
	rm -r "$repo" "$cache/apt"
	run --separate-stderr "$pokepatch" fetch --latest "$flavour" -q
	[ "$status" -eq 0 ]
	[ "$output" = "$release" ]
	[[ $stderr == *"cannot update the package lists"*"using $release, which is in the cache"* ]]
	# An incomplete one will not do, nor one of another flavour.
	rm "$kernel/image/boot/vmlinuz-$release"
	fails 1 "cannot update the package lists" "$pokepatch" fetch --latest "$flavour" -q
	fails 1 "cannot update the package lists" "$pokepatch" fetch --latest "$arch" -q
}

@test "without a network a release that is not there is one clear line" {
	rm -r "$repo"
	fails 1 "cannot update the package lists" "$pokepatch" fetch "$release"
	[ ! -e "$kernel" ]
	cp -r "$BATS_FILE_TMPDIR/repo" "$repo"
	"$pokepatch" fetch "$release"
	whole
}

@test "lists of an earlier day do when they cannot be updated" {
	"$pokepatch" fetch "$release"
	rm -r "$kernel/fetched" "$repo"
	touch -d '2 days ago' "$cache/apt/$arch/updated"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[[ $stderr == *"using the lists of an earlier day"* ]]
	whole
}

@test "releases and flavours that are not there" {
	fails 1 "no 'linux-image-9.9.9-9-$arch'" "$pokepatch" fetch "9.9.9-9-$arch"
	fails 1 "no kernel of flavour 'none-$arch'" "$pokepatch" fetch --latest "none-$arch"
	fails 1 "no 'linux-image-1.2.3-5-$flavour-dbg', 'linux-headers-1.2.3-5-$flavour', 'linux-source' of version 1.2.3-2" \
		"$pokepatch" fetch "1.2.3-5-$flavour"
	fails 1 "is not a kernel release" "$pokepatch" fetch ../../etc
	fails 1 "is not a kernel release" "$pokepatch" fetch ""
	fails 1 "$(uname -r)" "$pokepatch" fetch # the running kernel is not in this repository
	fails 1 "either a RELEASE or --latest" "$pokepatch" fetch --latest "$flavour" "$release"
	[ -z "$(ls "$cache/kernels" 2>/dev/null)" ]
}

@test "fetch without a release takes the running kernel's" {
	release=$(uname -r)
	[[ $release =~ ^[0-9][a-z0-9+.~-]*$ ]] || skip "no package can be called linux-image-$release"
	local flavour=${release##*-}
	[[ $release == *-* ]] || skip "the release '$release' has no flavour"
	add_kernel "${release%-*}" 1.2.3-7
	index
	run --separate-stderr "$pokepatch" fetch -q
	[ "$status" -eq 0 ]
	[ "$output" = "$release" ]
	[ -e "$cache/kernels/$release/fetched" ]
}

@test "the common headers of rt flavours have another name" {
	put "usr/src/linux-headers-1.2.3-4-common-rt/Makefile" "all:"
	deb linux-headers-1.2.3-4-common-rt "$version" all ""
	sed -i "s/linux-headers-1.2.3-4-common (=/linux-headers-1.2.3-4-common-rt (=/" "$repo/Packages"
	index
	"$pokepatch" fetch "$release"
	[ -e "$kernel/headers/usr/src/linux-headers-1.2.3-4-common-rt/Makefile" ]
	[ ! -e "$kernel/headers/usr/src/linux-headers-1.2.3-4-common" ]
}

@test "fetch reports too little space before it downloads anything" {
	local all=$((1 << 50)) # KiB: more than any disk has
	sed -i "/^Package: linux-source-1.2/,/^\$/s/^Installed-Size: .*/Installed-Size: $all/" \
		"$repo/Packages"
	index
	fails 1 "not enough space in" "$pokepatch" fetch "$release"
	[ -z "$(find "$kernel" -name '*.deb')" ]
	# Of the debug package vmlinux alone is unpacked, unless all modules are wanted.
	sed -i "/^Package: linux-source-1.2/,/^\$/s/^Installed-Size: .*/Installed-Size: 8/
		/^Package: linux-image-.*-dbg/,/^\$/s/^Installed-Size: .*/Installed-Size: $all/" "$repo/Packages"
	index
	rm -r "$cache"
	fails 1 "not enough space in" "$pokepatch" fetch --modules "$release"
	"$pokepatch" fetch "$release"
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n --preserve-env "$@"; fi
}

# The index says that the source unpacks to 8 KiB; it is 90 MB of zeros, on a disk of 70 MB.
@test "a disk that fills up meanwhile is one clear line, and the next run goes on" {
	local disk=$BATS_TEST_TMPDIR/disk
	mkdir "$disk"
	mkdir -p "$tree/usr/src"
	head -c 90000000 /dev/zero >"$tree/usr/src/linux-source-1.2.tar.xz"
	sed -i "/^Package: linux-source-1.2/,/^\$/d" "$repo/Packages"
	deb linux-source-1.2 "$version" all ""
	index
	export XDG_CACHE_HOME=$disk pokepatch release
	fails 1 "No space left on device; make room" as_root unshare -m sh -c '
		mount -t tmpfs -o size=70m none "$XDG_CACHE_HOME" &&
		"$pokepatch" fetch "$release"'
	as_root unshare -m sh -c '
		mount -t tmpfs -o size=70m none "$XDG_CACHE_HOME" || exit
		"$pokepatch" fetch "$release" && exit 1
		cd "$XDG_CACHE_HOME/pokepatch/kernels/$release" || exit
		test ! -e fetched && test -z "$(find . -name "*.tmp")" || exit
		mount -o remount,size=300m none "$XDG_CACHE_HOME" &&
		"$pokepatch" fetch "$release" && test -e fetched'
}

# serve LINE... - the repository over HTTP, at the speed that lines of apt's configuration give.
serve() {
	local port
	for port in 18081 18453 18927 19311 19793; do
		busybox httpd -f -p "127.0.0.1:$port" -h "$repo" 3>&- &
		server=$!
		# Another program may have the port: then this one ends, and what is there is not ours.
		until busybox wget -q -O - "http://127.0.0.1:$port/Release" 2>/dev/null | cmp -s - "$repo/Release"; do
			kill -0 "$server" 2>/dev/null || continue 2
			sleep 0.05
		done
		use_repository "http://127.0.0.1:$port" "$@"
		return
	done
	return 1
}

# until_exists FILE - within a minute, or more on a busy machine.
until_exists() {
	for _ in $(seq 1200); do
		[ ! -s "$1" ] || return 0
		sleep 0.05
	done
	return 1
}

@test "an interrupted download goes on where it was" {
	local deb=linux-source-1.2_${version}_all.deb
	local partial=$kernel/packages/partial/$deb
	mkdir -p "$tree/usr/src"
	head -c 2000000 /dev/urandom >"$tree/usr/src/linux-source-1.2.tar.xz"
	sed -i "/^Package: linux-source-1.2/,/^\$/d" "$repo/Packages"
	deb linux-source-1.2 "$version" all ""
	index
	serve 'Acquire::http::Dl-Limit "500";' # kB/s
	"$pokepatch" fetch "$release" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	local pid=$!
	until_exists "$partial"
	sleep 0.5
	kill -TERM "$pid"
	local status=0
	wait "$pid" || status=$?
	[ "$status" -eq 1 ]
	grep -q '^pokepatch: .*interrupted$' "$BATS_TEST_TMPDIR/out"
	[ ! -e "$kernel/fetched" ]
	local had
	had=$(stat -c %s "$partial")
	[ "$had" -gt 0 ]
	[ "$had" -lt 2000000 ]
	# Served from another place where the beginning of the file is different: were it
	# read again, the sum would be wrong.
	cp "$repo/$deb" "$BATS_TEST_TMPDIR/$deb"
	touch -r "$repo/$deb" "$BATS_TEST_TMPDIR/stamp"
	printf XXXX | dd of="$repo/$deb" bs=1 seek=100 conv=notrunc status=none
	touch -r "$BATS_TEST_TMPDIR/stamp" "$repo/$deb" "$partial"
	"$pokepatch" fetch "$release"
	cmp "$kernel/packages/$deb" "$BATS_TEST_TMPDIR/$deb"
	[ -e "$kernel/fetched" ]
}

@test "what is damaged of an interrupted download is thrown away" {
	local deb=linux-source-1.2_${version}_all.deb
	serve
	mkdir -p "$kernel/packages/partial"
	head -c 300 /dev/zero >"$kernel/packages/partial/$deb"
	touch -r "$repo/$deb" "$kernel/packages/partial/$deb"
	"$pokepatch" fetch "$release"
	whole
}

@test "fetches of one release at the same time follow each other" {
	local pids=() pid
	for _ in 1 2 3 4; do
		"$pokepatch" fetch "$release" -q >>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
	[ "$(sort -u "$BATS_TEST_TMPDIR/out")" = "$release" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq 4 ]
	whole
}

@test "the system's own package lists and caches are not touched" {
	touch "$BATS_TEST_TMPDIR/start"
	"$pokepatch" fetch "$release"
	[ -z "$(find /var/lib/apt /var/cache/apt /var/lib/dpkg -newer "$BATS_TEST_TMPDIR/start" 2>/dev/null)" ]
}

@test "a home folder that cannot be written to" {
	touch "$BATS_TEST_TMPDIR/file"
	XDG_CACHE_HOME=$BATS_TEST_TMPDIR/file fails 1 "cannot make the cache folder" \
		"$pokepatch" fetch "$release"
}

# ---- kernels whose linux-kbuild has gone from the archive -------------------

# make_source VERSION - $tree with a source whose Makefiles "build" programs, as the kernel's do.
make_source() {
	local source=$BATS_TEST_TMPDIR/linux-source-1.2 program
	rm -rf "$source"
	mkdir -p "$source/arch/$kernel_arch" "$source"/{include,tools/{objtool,lib,include,arch,build,scripts}}
	touch "$source/Kbuild" "$source/tools/Makefile"
	for program in scripts/{basic/fixdep,mod/modpost,genksyms/genksyms,recordmcount,sign-file,bin2c}; do
		mkdir -p "$source/${program%/*}"
		echo "${program##*/} of $1" >"$source/$program.c"
	done
	echo makefile >"$source/scripts/Makefile.lib"
	cat >"$source/scripts/Makefile.build" <<'EOF'
first: $(obj)/fixdep
%: %.c ; @cp $< $@
EOF
	cat >"$source/Makefile" <<'EOF'
include include/config/auto.conf
Q := @
build := -f scripts/Makefile.build obj
.PHONY: scripts_basic tools/objtool
scripts_basic: ; $(Q)$(MAKE) $(build)=scripts/basic
tools/objtool:
	@[ ! -e $(HOME)/broken ] || { echo 'x.c:1: error: it is broken' >&2; exit 1; }
	@[ ! -e $(HOME)/slow ] || { touch $(HOME)/slow.begun; sleep 100; }
	@echo "objtool by $(HOSTCC)" >tools/objtool/objtool
EOF
	mkdir -p "$tree/usr/src"
	tar -C "$BATS_TEST_TMPDIR" -cJf "$tree/usr/src/linux-source-1.2.tar.xz" linux-source-1.2
}

# drop NAME - take all versions of a package from the index.
drop() {
	sed -i "/^Package: $1\$/,/^\$/d" "$repo/Packages"
}

# without_kbuild - the archive has the kbuild package of another version alone, and a real source.
without_kbuild() {
	case $arch in
	amd64) kernel_arch=x86 ;;
	*) kernel_arch=$arch ;;
	esac
	drop linux-source-1.2
	drop linux-kbuild-1.2
	drop "linux-headers-$release"
	make_source "$version"
	deb linux-source-1.2 "$version" all ""
	put usr/lib/linux-kbuild-1.2/scripts/tool kbuild-1.2.9
	deb linux-kbuild-1.2 1.2.9-1 "$arch" ""
	local headers=usr/src/linux-headers-$release
	put "$headers/.config" CONFIG_OBJTOOL=y
	put "$headers/include/config/auto.conf" CONFIG_OBJTOOL=y
	put "$headers/include/generated/autoconf.h" ""
	put "$headers/arch/$kernel_arch/include/generated/asm/x.h" ""
	ln -s ../../lib/linux-kbuild-1.2/scripts "$tree/$headers/scripts"
	ln -s ../../lib/linux-kbuild-1.2/tools "$tree/$headers/tools"
	deb "linux-headers-$release" "$version" "$arch" \
		"linux-headers-1.2.3-4-common (= $version), linux-kbuild-1.2 (>= $version)"
	index
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir "$HOME"
}

# built - the headers have the programs, and nothing of the build is left but the source.
built() {
	local headers=$kernel/headers/usr/src/linux-headers-$release
	[ "$(cat "$headers/scripts/mod/modpost")" = "modpost of $version" ]
	[ "$(cat "$headers/scripts/recordmcount")" = "recordmcount of $version" ]
	[ "$(cat "$headers/scripts/bin2c")" = "bin2c of $version" ]
	[ "$(cat "$headers/scripts/Makefile.lib")" = makefile ]
	[[ $(cat "$headers/tools/objtool/objtool") == "objtool by gcc"* ]]
	[ "$(find "$kernel/headers/usr/lib/linux-kbuild-1.2" -type f | wc -l)" -eq 9 ]
	[ "$(wc -l <"$kernel/fetched")" -eq 5 ]
	[ "$(ls "$kernel")" = "$(printf '%s\n' dbg fetched headers image packages source tree-unpacked)" ]
	# The source, for the first build: nothing but what the tarball has.
	rm -rf "$BATS_TEST_TMPDIR/whole"
	mkdir "$BATS_TEST_TMPDIR/whole"
	tar -C "$BATS_TEST_TMPDIR/whole" -xJf "$kernel/source/usr/src/linux-source-1.2.tar.xz"
	diff -r --exclude .pokepatch "$BATS_TEST_TMPDIR/whole/linux-source-1.2" "$kernel/tree-unpacked"
}

@test "programs of a kbuild package that is gone are built from the source" {
	without_kbuild
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ "$output" = "$release" ]
	[[ $stderr == *"building the programs of linux-kbuild from the source"* ]]
	built
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ -z "$stderr" ]
}

@test "built programs that are damaged, or half built, are built again" {
	without_kbuild
	local programs=$kernel/headers/usr/lib/linux-kbuild-1.2
	local damages=(
		"rm $programs/scripts/mod/modpost"
		"truncate -s 1 $programs/tools/objtool/objtool"
		"rm -r $programs"
		"rm -r $kernel/headers $kernel/fetched"
		"mkdir -p $kernel/programs.tmp/scripts $kernel/headers.tmp && rm -r $kernel/headers"
	)
	"$pokepatch" fetch "$release"
	for damage in "${damages[@]}"; do
		echo "$damage"
		bash -c "$damage"
		"$pokepatch" fetch "$release"
		built
	done
}

@test "a source that does not build is one clear line, and the next run goes on" {
	without_kbuild
	touch "$HOME/broken"
	fails 1 "cannot build the programs of linux-kbuild for '$release' from" \
		"$pokepatch" fetch "$release"
	[[ $stderr == *"x.c:1: error: it is broken"* ]]
	[ ! -e "$kernel/fetched" ]
	[ "$(ls "$kernel")" = "$(printf '%s\n' dbg image packages source)" ]
	rm "$HOME/broken"
	"$pokepatch" fetch "$release"
	built
}

@test "an interrupted build of programs leaves nothing behind" {
	without_kbuild
	touch "$HOME/slow"
	"$pokepatch" fetch "$release" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	local pid=$! status=0
	for _ in $(seq 600); do
		[ ! -e "$HOME/slow.begun" ] || break
		sleep 0.05
	done
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 1 ]
	grep -q '^pokepatch: .*interrupted$' "$BATS_TEST_TMPDIR/out"
	[ "$(ls "$kernel")" = "$(printf '%s\n' dbg image packages source)" ]
	rm "$HOME/slow"
	"$pokepatch" fetch "$release"
	built
}

@test "tools that building programs needs are named with the command that installs them" {
	without_kbuild
	local bin=$BATS_TEST_TMPDIR/bin folder program
	mkdir "$bin"
	for folder in /usr/local/bin /usr/bin /bin /usr/sbin /sbin; do
		for program in "$folder"/*; do
			case ${program##*/} in flex | bison) ;; *) ln -sf "$program" "$bin/" ;; esac
		done
	done
	PATH=$bin fails 1 "run 'apt install flex bison'" "$pokepatch" fetch "$release"
	[ -z "$(find "$kernel" -name '*.deb')" ]
}

@test "a kbuild package that comes back is taken instead" {
	without_kbuild
	"$pokepatch" fetch --latest "$flavour"
	built
	put usr/lib/linux-kbuild-1.2/scripts/tool "kbuild-$version"
	deb linux-kbuild-1.2 "$version" "$arch" ""
	index
	rm "$cache/apt/$arch/updated" # as if a day had passed
	"$pokepatch" fetch --latest "$flavour"
	[ "$(cat "$kernel/headers/usr/src/linux-headers-$release/scripts/tool")" = "kbuild-$version" ]
	[ ! -e "$kernel/headers/usr/src/linux-headers-$release/scripts/mod" ]
	[ "$(wc -l <"$kernel/fetched")" -eq 6 ]
}
