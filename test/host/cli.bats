# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch on this machine, without a network: `fetch` gets tiny kernels from a package
# repository that is made here, and every command is given bad input.

bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
pokepatch=$top/build/bin/pokepatch
arch=$(dpkg --print-architecture)
flavour=tiny-$arch
release=1.2.3-4-$flavour
version=1.2.3-1

# ---- a repository ----------------------------------------------------------

# put FILE TEXT - a file of the package that is being made.
put() {
	mkdir -p "$tree/$(dirname "$1")"
	printf '%s\n' "$2" >"$tree/$1"
}

# deb NAME VERSION ARCH DEPENDS [INSTALLED-KIB] - make $tree a package; add it to the index.
deb() {
	local file=$repo/${1}_${2}_$3.deb
	mkdir -p "$tree/DEBIAN"
	{
		echo "Package: $1"
		echo "Version: $2"
		echo "Architecture: $3"
		echo "Maintainer: nobody <nobody@example.org>"
		echo "Installed-Size: ${5:-8}"
		[ -z "$4" ] || echo "Depends: $4"
		echo "Description: a test"
	} >"$tree/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$tree" "$file" >/dev/null
	{
		cat "$tree/DEBIAN/control"
		echo "Filename: ./${file##*/}"
		echo "Size: $(stat -c %s "$file")"
		echo "SHA256: $(sha256sum "$file" | cut -d' ' -f1)"
		echo
	} >>"$repo/Packages"
	rm -rf "$tree"
}

# index - the Release file, which the index's checksum is in.
index() {
	{
		echo "Date: $(LC_ALL=C date -u -R)"
		echo "SHA256:"
		echo " $(sha256sum "$repo/Packages" | cut -d' ' -f1) $(stat -c %s "$repo/Packages") Packages"
	} >"$repo/Release"
}

# add_kernel ABI VERSION - all packages of a tiny kernel.
add_kernel() {
	local r=$1-$flavour v=$2
	put "boot/vmlinuz-$r" "vmlinuz $v"
	put "boot/config-$r" CONFIG_TINY=y
	put "lib/modules/$r/kernel/tiny.ko" module
	deb "linux-image-$r" "$v" "$arch" "kmod, linux-base (>= 4.3~)"
	put "usr/lib/debug/boot/vmlinux-$r" "vmlinux $v"
	put "usr/lib/debug/lib/modules/$r/kernel/tiny.ko" module
	deb "linux-image-$r-dbg" "$v" "$arch" ""
	put "usr/src/linux-headers-$r/Makefile" "include /usr/src/linux-headers-$1-common/Makefile"
	ln -s ../../lib/linux-kbuild-1.2/scripts "$tree/usr/src/linux-headers-$r/scripts"
	mkdir -p "$tree/lib/modules/$r"
	ln -s "/usr/src/linux-headers-$r" "$tree/lib/modules/$r/build"
	ln -s /not/in/the/package "$tree/lib/modules/$r/elsewhere"
	deb "linux-headers-$r" "$v" "$arch" \
		"linux-headers-$1-common (= $v), linux-kbuild-1.2 (>= $v), linux-compiler-gcc-99"
	put "usr/src/linux-headers-$1-common/Makefile" "all:; @echo made in \$(CURDIR) by \$(shell cat scripts/tool)"
	deb "linux-headers-$1-common" "$v" all ""
	put usr/lib/linux-kbuild-1.2/scripts/tool "kbuild-$v"
	deb linux-kbuild-1.2 "$v" "$arch" "libc6 (>= 2.34)"
	put usr/src/linux-source-1.2.tar.xz "source of $v"
	deb linux-source-1.2 "$v" all ""
}

# metapackage VERSION ABI - what says which release is the newest of the flavour.
metapackage() {
	mkdir -p "$tree"
	deb "linux-image-$flavour" "$1" "$arch" "linux-image-$2-$flavour (= $1)"
}

setup_file() {
	repo=$BATS_FILE_TMPDIR/repo tree=$BATS_FILE_TMPDIR/tree
	mkdir -p "$repo"
	add_kernel 1.2.3-4 "$version"
	metapackage "$version" 1.2.3-4
	# A newer one whose debug package has not come yet, and an even newer version of
	# two packages: the release to take is the one that all of them agree on.
	put "boot/vmlinuz-1.2.3-5-$flavour" newer
	deb "linux-image-1.2.3-5-$flavour" 1.2.3-2 "$arch" ""
	metapackage 1.2.3-2 1.2.3-5
	put usr/src/linux-source-1.2.tar.xz "source of 1.2.3-3"
	deb linux-source-1.2 1.2.3-3 all ""
	put "usr/src/linux-headers-$release/Makefile" "all:"
	deb "linux-headers-$release" 1.2.3-3 "$arch" "linux-headers-1.2.3-4-common (= 1.2.3-3)"
	index
}

setup() {
	repo=$BATS_TEST_TMPDIR/repo
	tree=$BATS_TEST_TMPDIR/tree
	cp -r "$BATS_FILE_TMPDIR/repo" "$repo"
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache LC_ALL=C
	cache=$XDG_CACHE_HOME/pokepatch
	kernel=$cache/kernels/$release
	use_repository copy:"$repo"
}

# use_repository URI [LINE...] - apt reads nothing but this one; more lines of configuration.
use_repository() {
	mkdir -p "$BATS_TEST_TMPDIR/etc/parts"
	echo "deb [trusted=yes] $1 ./" >"$BATS_TEST_TMPDIR/etc/sources.list"
	{
		echo "Dir::Etc::sourcelist \"$BATS_TEST_TMPDIR/etc/sources.list\";"
		echo "Dir::Etc::sourceparts \"$BATS_TEST_TMPDIR/etc/parts\";"
		echo "Acquire::Retries \"0\";"
		printf '%s\n' "${@:2}"
	} >"$BATS_TEST_TMPDIR/etc/apt.conf"
	export APT_CONFIG=$BATS_TEST_TMPDIR/etc/apt.conf
}

teardown() {
	[ -z "${server:-}" ] || kill "$server"
}

# fails STATUS TEXT COMMAND... - it ends with that status and one line on standard error,
# begun "pokepatch: ", that has TEXT in it; progress lines may come before it.
fails() {
	run --separate-stderr "${@:3}"
	[ "$status" -eq "$1" ] && [ -z "$output" ] &&
		[ "$(grep -c '^pokepatch: ' <<<"$stderr")" -eq 1 ] &&
		[[ $(tail -n 1 <<<"$stderr") == "pokepatch: "*"$2"* ]] && return
	printf 'status %s, output "%s", standard error:\n%s\n' "$status" "$output" "$stderr"
	return 1
}

# change_byte FILE - make its byte at 200 another one, whatever it is: packages differ in each run.
change_byte() {
	local byte
	byte=$(od -An -tu1 -j200 -N1 "$1")
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$1" bs=1 seek=200 conv=notrunc status=none
}
export -f change_byte

whole() {
	[ "$(cat "$kernel/image/boot/vmlinuz-$release")" = "vmlinuz $version" ]
	[ "$(cat "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release")" = "vmlinux $version" ]
	[ "$(cat "$kernel/source/usr/src/linux-source-1.2.tar.xz")" = "source of $version" ]
	[ -f "$kernel/image/lib/modules/$release/kernel/tiny.ko" ]
	[ -f "$kernel/dbg/usr/lib/debug/lib/modules/$release/kernel/tiny.ko" ]
	[ -f "$kernel/headers/usr/src/linux-headers-$release/scripts/tool" ]
	[ "$(wc -l <"$kernel/fetched")" -eq 6 ]
	while read -r name has sum; do
		[ "$(sha256sum "$kernel/packages/${name}_${has}"_*.deb | cut -d' ' -f1)" = "$sum" ]
	done <"$kernel/fetched"
	# Nothing but what belongs there.
	[ "$(ls "$kernel")" = "$(printf '%s\n' dbg fetched headers image packages source)" ]
	[ "$(find "$kernel/packages" -mindepth 1 | wc -l)" -eq 6 ]
}

# ---- fetch -----------------------------------------------------------------

@test "fetch --latest takes the newest release that all packages agree on" {
	run --separate-stderr "$pokepatch" fetch --latest "$flavour" --quiet
	[ "$status" -eq 0 ]
	[ "$output" = "$release" ]
	[[ $stderr == *"newest release of flavour $flavour: $release ($version)"* ]]
	whole
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

@test "an index that is not what Release says is not used" {
	echo >>"$repo/Packages"
	fails 1 "cannot update the package lists" "$pokepatch" fetch "$release"
	[ ! -e "$kernel" ]
}

@test "a repository that nobody vouches for is not used" {
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
	fails 1 "no 'linux-image-1.2.3-5-$flavour-dbg' of version 1.2.3-2" \
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

@test "too little space is told before anything is downloaded" {
	local all=$((1 << 50)) # KiB: more than any disk has
	sed -i "/^Package: linux-source-1.2/,/^\$/s/^Installed-Size: .*/Installed-Size: $all/" \
		"$repo/Packages"
	index
	fails 1 "not enough space in" "$pokepatch" fetch "$release"
	[ -z "$(find "$kernel" -name '*.deb')" ]
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
		sleep 0.2
		if kill -0 "$server" 2>/dev/null; then
			use_repository "http://127.0.0.1:$port" "$@"
			return
		fi
	done
	return 1
}

# until_exists FILE - within ten seconds.
until_exists() {
	for _ in $(seq 200); do
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
	for program in scripts/{basic/fixdep,mod/modpost,genksyms/genksyms,kconfig/conf} \
		scripts/{kallsyms,recordmcount,sign-file,unifdef} certs/extract-cert; do
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

# built - the headers have the programs, and nothing of the build is left.
built() {
	local headers=$kernel/headers/usr/src/linux-headers-$release
	[ "$(cat "$headers/scripts/mod/modpost")" = "modpost of $version" ]
	[ "$(cat "$headers/scripts/recordmcount")" = "recordmcount of $version" ]
	[ "$(cat "$headers/scripts/Makefile.lib")" = makefile ]
	[[ $(cat "$headers/tools/objtool/objtool") == "objtool by gcc"* ]]
	[ "$(find "$kernel/headers/usr/lib/linux-kbuild-1.2" -type f | wc -l)" -eq 12 ]
	[ "$(wc -l <"$kernel/fetched")" -eq 5 ]
	[ "$(ls "$kernel")" = "$(printf '%s\n' dbg fetched headers image packages source)" ]
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

# ---- the cache -------------------------------------------------------------

# format tree|core - what files ready of trees and cores that are of use begin with.
format() {
	sed -n "s/^#define CACHE_${1^^}_FORMAT /format /p" "$top/build-tool/common/cache.h"
}

# make_tree NAME LINE... - a prepared tree in the cache, made from what the lines name.
make_tree() {
	mkdir -p "$kernel/tree-$1/.pokepatch"
	printf '%s\n' "${@:2}" >"$kernel/tree-$1/.pokepatch/ready"
}

# input FILE - the line of a file ready for a file, as it is now.
input() {
	stat -c '%n %s %.9Y' "$1"
}

# hold PATH - lock PATH shared, as a build does, until let_go.
hold() {
	exec 9>>"$1.lock"
	flock -s 9
}

let_go() {
	exec 9>&-
}

@test "cache list shows kernels with their sizes and states" {
	run --separate-stderr "$pokepatch" cache
	[ "$status" -eq 0 ]
	[[ $output == "$cache: "*"of package lists"* ]]
	"$pokepatch" fetch "$release"
	make_tree 1 "$(format tree)"
	head -c 100000 /dev/zero >"$kernel/tree-1/file"
	mkdir -p "$cache/kernels/9.9-own/tree-2"
	run --separate-stderr "$pokepatch" cache list
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == "RELEASE "*"STATE "*"PACKAGES "*"FILES "*"TREES "*"SIZE"* ]]
	[[ ${lines[1]} == "$release  complete  "* ]]
	[[ ${lines[2]} == "9.9-own "*" local "* ]]
	run --separate-stderr "$pokepatch" cache list --json
	[ "$(jq -r '.kernels[0].release' <<<"$output")" = "$release" ]
	[ "$(jq '.kernels[0] | .trees > 100000 and .size == .packages + .files + .trees' \
		<<<"$output")" = true ]
	rm "$kernel/fetched"
	run --separate-stderr "$pokepatch" cache list
	[[ ${lines[1]} == "$release  incomplete  "* ]]
}

@test "cache prune removes packages that are unpacked, and the kernel stays complete" {
	"$pokepatch" fetch "$release"
	run --separate-stderr "$pokepatch" cache prune
	[ "$status" -eq 0 ]
	[[ $output == "removed $kernel/packages ("*" freed" ]]
	[ ! -e "$kernel/packages" ]
	mv "$repo" "$repo.away"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	mv "$repo.away" "$repo"
	run --separate-stderr "$pokepatch" cache prune
	[ "$output" = "nothing to remove" ]
	# A part that is damaged later is downloaded again, and nothing else.
	rm "$kernel/image/boot/vmlinuz-$release"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ "$(grep -c '^downloading' <<<"$stderr")" -eq 1 ]
	[ "$(cat "$kernel/image/boot/vmlinuz-$release")" = "vmlinuz $version" ]
}

@test "cache prune keeps the packages of an incomplete kernel, and removes what was left" {
	"$pokepatch" fetch "$release"
	rm "$kernel/fetched"
	mkdir -p "$kernel"/{dbg.tmp/usr,programs.tmp,packages/partial}
	"$pokepatch" cache prune
	[ ! -e "$kernel/dbg.tmp" ]
	[ ! -e "$kernel/programs.tmp" ]
	"$pokepatch" fetch "$release"
	whole
}

@test "cache prune removes trees and cores that no build will use again" {
	"$pokepatch" fetch "$release"
	local config=$kernel/image/boot/config-$release
	local tarball=$kernel/source/usr/src/linux-source-1.2.tar.xz
	local good
	good=$(printf '%s\n' "$(format tree)" "source $tarball 00ff" "$(input "$config")")
	make_tree good "$good"
	make_tree used "format 0"
	make_tree older "format 0"
	make_tree changed "$(format tree)" "$config 1 2.000000000"
	make_tree gone "$(format tree)" "$(input "$config" | sed 's/config-/gone-/')"
	make_tree sourceless "$(format tree)" "source $tarball.gone 00ff"
	mkdir "$kernel/tree-half" "$kernel/core-good" "$kernel/core-older"
	format core >"$kernel/core-good/ready"
	echo "format 0" >"$kernel/core-older/ready"
	hold "$kernel/tree-used"
	"$pokepatch" cache prune
	let_go
	[ "$(find "$kernel" -maxdepth 1 \( -name 'tree-*' -o -name 'core-*' \) ! -name '*.lock' \
		-printf '%f\n' | sort)" = "$(printf '%s\n' core-good tree-good tree-used)" ]
	"$pokepatch" cache prune
	[ ! -e "$kernel/tree-used" ]
	[ ! -e "$kernel/tree-used.lock" ]
	[ -e "$kernel/tree-good" ]
}

@test "cache prune removes the trees of a release that a newer one replaces" {
	add_kernel 1.2.3-6 1.2.3-9
	index
	"$pokepatch" fetch "$release"
	make_tree 1 "$(format tree)"
	"$pokepatch" cache prune
	[ -e "$kernel/tree-1" ]
	"$pokepatch" fetch "1.2.3-6-$flavour"
	kernel=$cache/kernels/1.2.3-6-$flavour make_tree 2 "$(format tree)"
	"$pokepatch" cache prune
	[ ! -e "$kernel/tree-1" ]
	[ -e "$cache/kernels/1.2.3-6-$flavour/tree-2" ]
	"$pokepatch" fetch "$release" # it is still complete
}

@test "a kernel that a build uses is neither pruned nor removed" {
	"$pokepatch" fetch "$release"
	hold "$kernel"
	run --separate-stderr "$pokepatch" cache prune
	[ "$status" -eq 0 ]
	[ "$output" = "nothing to remove" ]
	[[ $stderr == "$release is in use"* ]]
	fails 1 "a running pokepatch uses '$release'" "$pokepatch" cache remove "$release"
	# A fetch with nothing to do does not wait for the build.
	timeout 5 "$pokepatch" fetch "$release"
	let_go
	whole
	# A build by an older version holds the locks of its tree and core alone.
	make_tree 1 "$(format tree)"
	hold "$kernel/tree-1"
	fails 1 "a running pokepatch uses '$release'" "$pokepatch" cache remove "$release"
	let_go
	[ -e "$kernel/fetched" ]
}

@test "cache remove removes one kernel, and the next fetch brings it back" {
	"$pokepatch" fetch "$release"
	mkdir "$cache/kernels/9.9-own"
	run --separate-stderr "$pokepatch" cache remove "$release"
	[ "$status" -eq 0 ]
	[[ $output == "removed $kernel ("* ]]
	[ "$(ls "$cache/kernels")" = 9.9-own ]
	fails 3 "'$release' is not in the cache" "$pokepatch" cache remove "$release"
	"$pokepatch" cache remove 9.9-own
	[ -z "$(ls "$cache/kernels")" ]
	"$pokepatch" fetch "$release"
	whole
}

@test "cache prune removes package lists older than a day" {
	"$pokepatch" fetch "$release"
	"$pokepatch" cache prune
	[ -e "$cache/apt/$arch/updated" ]
	touch -d '2 days ago' "$cache/apt/$arch/updated"
	"$pokepatch" cache prune
	[ ! -e "$cache/apt/$arch" ]
	rm -r "$kernel"
	"$pokepatch" fetch "$release"
	whole
}

@test "wrong uses of cache" {
	fails 1 "unknown command 'cache purge'" "$pokepatch" cache purge
	fails 1 "'pokepatch cache prune' takes no argument" "$pokepatch" cache prune x
	fails 1 "give the release to remove" "$pokepatch" cache remove
	fails 1 "is not a kernel release" "$pokepatch" cache remove ../..
}

# ---- the command line ------------------------------------------------------

@test "help, of the program and of every command" {
	run --separate-stderr "$pokepatch" --help
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	for command in fetch cache load unload enable disable install uninstall check status list info \
		version; do
		[[ $output == *"  $command "* ]] || return 1
	done
	for command in fetch cache load unload enable disable install uninstall check status list info \
		version; do
		run --separate-stderr "$pokepatch" "$command" --help
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ $output == "usage: pokepatch $command"* ]] || return 1
	done
}

@test "usage errors" {
	fails 1 "no command given" "$pokepatch"
	fails 1 "unknown command 'lode'" "$pokepatch" lode
	fails 1 "unknown option '--frob'" "$pokepatch" list --frob
	fails 1 "unknown option '-z'" "$pokepatch" list -z
	fails 1 "option '--core' needs a value" "$pokepatch" load --core
	fails 1 "too few arguments; usage: pokepatch load FILE|NAME" "$pokepatch" load
	fails 1 "option '--replace=' has an empty value" "$pokepatch" load --replace= x
	fails 1 "too many arguments; usage: pokepatch unload NAME" "$pokepatch" unload a b
}

@test "standard output that cannot be written" {
	local status=0
	"$pokepatch" --help >/dev/full 2>"$BATS_TEST_TMPDIR/err" || status=$?
	[ "$status" -eq 1 ]
	grep -q "cannot write to standard output" "$BATS_TEST_TMPDIR/err"
}

@test "files that are no patch modules" {
	echo text >"$BATS_TEST_TMPDIR/text.ko"
	: >"$BATS_TEST_TMPDIR/empty.ko"
	for command in info load; do
		fails 1 "No such file" "$pokepatch" "$command" "$BATS_TEST_TMPDIR/none.ko"
		fails 1 "not a kernel module" "$pokepatch" "$command" "$BATS_TEST_TMPDIR/text.ko"
		fails 1 "not a kernel module" "$pokepatch" "$command" "$BATS_TEST_TMPDIR/empty.ko"
		fails 1 "not a kernel module" "$pokepatch" "$command" "$pokepatch"
		fails 1 "is not a file" "$pokepatch" "$command" "$BATS_TEST_TMPDIR/"
	done
	fails 1 "give the file's path" "$pokepatch" load no-such-patch
}

@test "patches that are not loaded" {
	export POKEPATCH_SYSFS=$BATS_TEST_TMPDIR/sys
	mkdir -p "$POKEPATCH_SYSFS/kernel/pokepatch"
	for command in enable disable unload info; do
		fails 1 "no patch 'x-y' is loaded" "$pokepatch" "$command" x-y
		fails 1 "no patch '.' is loaded" "$pokepatch" "$command" .
	done
	rm -r "$POKEPATCH_SYSFS/kernel/pokepatch"
	fails 1 "the core module is not loaded" "$pokepatch" enable x
	run --separate-stderr "$pokepatch" list
	[ "$status" -eq 0 ]
	[ "$output" = "no patch is loaded, nor is the core module" ]
}
