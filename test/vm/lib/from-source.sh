# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of vm and of its other parts
# What a guest needs whose architecture Debian has no programs for, only a cross compiler and its C
# library: Debian's sources, compiled for it; laid out as Debian's packages are (foreign.sh).

source_packages=(busybox zlib elfutils json-c capstone kmod)

# fetch_sources FOLDER - the upstream archives, by apt's own lists of sources.
fetch_sources() {
	local dir=$1/apt list
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial,sources.d} "$1/archives"
	: >"$dir/status"
	for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		# Debian's own: of what others offer nothing is needed.
		grep -qs debian-archive-keyring "$list" || [ "${list##*/}" = sources.list ] || continue
		[ ! -e "$list" ] || sed -e 's/^Types:.*/Types: deb-src/' -e 's/^deb /deb-src /' \
			"$list" >"$dir/sources.d/${list##*/}"
	done
	[ ! -e "$dir/sources.d/sources.list" ] ||
		mv "$dir/sources.d/sources.list" "$dir/sources.d/system.list"
	cat >"$dir/apt.conf" <<-END
		#clear Acquire::Languages;
		Acquire::Languages { "none"; };
		APT::Sandbox::User "root";
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$dir/sources.d";
		Dir::State "$dir/state";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir/cache";
	END
	(
		export APT_CONFIG=$dir/apt.conf
		apt-get -q update && cd "$1/archives" &&
			apt-get -q source --download-only "${source_packages[@]}"
	) >"$work/apt.log" 2>&1 || fail "sources for $arch: $(tail -n 1 "$work/apt.log")"
}

# unpack_source NAME - into $sources/NAME.
unpack_source() {
	mkdir -p "$sources/$1"
	tar -xf "$(printf '%s\n' "$sources/archives/$1"_*.orig.tar.* | grep -v '\.asc$' | head -n 1)" \
		-C "$sources/$1" --strip-components=1
	cd "$sources/$1" || return
}

# compile_library NAME SONAME OPTION... - all .c files of here into a shared library.
compile_library() {
	"${arch_cross}gcc-12" -O2 -w -fPIC -shared -Wl,-soname,"$2" -o "$libs/$2" "${@:3}" &&
		ln -s "$2" "$libs/lib$1.so"
}

make_busybox() {
	unpack_source busybox
	tar -xf "$sources"/archives/busybox_*.debian.tar.* debian/config/pkg/static
	# And what init needs for a port without an interrupt.
	sed -e "s/^CONFIG_CROSS_COMPILER_PREFIX=.*/CONFIG_CROSS_COMPILER_PREFIX=\"$arch_cross\"/" \
		-e 's/^# CONFIG_SETSERIAL is not set/CONFIG_SETSERIAL=y/' debian/config/pkg/static >.config
	local options=(ARCH=mips "CC=${arch_cross}gcc-12" EXTRA_CFLAGS=-w)
	# yes ends with an error when make stops reading.
	{ yes '' 2>/dev/null || :; } | make -s "${options[@]}" oldconfig &&
		make -s -j"$(nproc)" "${options[@]}" busybox && install -D busybox "$root/bin/busybox"
}

make_zlib() {
	unpack_source zlib
	cp zlib.h zconf.h "$root/usr/include/"
	compile_library z libz.so.1 -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN -DHAVE_UNISTD_H adler32.c \
		crc32.c deflate.c infback.c inffast.c inflate.c inftrees.c trees.c zutil.c compress.c \
		uncompr.c gzclose.c gzlib.c gzread.c gzwrite.c
}

make_elfutils() {
	unpack_source elfutils
	./configure -q --host="${arch_cross%-}" CC="${arch_cross}gcc-12" AR="${arch_cross}ar" \
		CFLAGS='-O2 -w' CPPFLAGS="-I$root/usr/include" LDFLAGS="-L$libs" --prefix=/usr \
		--libdir="/usr/lib/${arch_cross%-}" --disable-libdebuginfod --disable-debuginfod \
		--disable-nls --without-bzlib --without-lzma --without-zstd &&
		for part in lib libelf libcpu backends libebl libdwelf libdwfl libdw; do
			# libdw takes archives of the others.
			make -s -j"$(nproc)" -C $part || return
		done
	cp libelf/{libelf,gelf}.h libdw/dwarf.h "$root/usr/include/"
	install -D -m 644 -t "$root/usr/include/elfutils" libdw/{libdw,known-dwarf}.h \
		libdwfl/libdwfl.h libdwelf/libdwelf.h libebl/libebl.h version.h libelf/elf-knowledge.h
	cp libelf/libelf.so "$libs/libelf.so.1" && ln -s libelf.so.1 "$libs/libelf.so"
	cp libdw/libdw.so "$libs/libdw.so.1" && ln -s libdw.so.1 "$libs/libdw.so"
}

make_json_c() {
	local name
	unpack_source json-c
	: >config.h
	for name in STDLIB_H STRING_H STRINGS_H UNISTD_H STDARG_H STDINT_H INTTYPES_H LIMITS_H \
		SYS_TYPES_H SYS_STAT_H FCNTL_H LOCALE_H SYS_RANDOM_H GETRANDOM VASPRINTF SNPRINTF \
		VSNPRINTF STRDUP STRERROR STRNCASECMP STRTOLL STRTOULL SETLOCALE USELOCALE OPEN \
		REALLOC DECL_INFINITY DECL_NAN DECL_ISNAN DECL_ISINF; do
		echo "#define HAVE_$name 1" >>config.h
	done
	cat >>config.h <<-'END'
		#define SIZEOF_INT 4
		#define SIZEOF_INT64_T 8
		#define SIZEOF_LONG 8
		#define SIZEOF_LONG_LONG 8
		#define SIZEOF_SIZE_T 8
		#define SIZEOF_SSIZE_T 8
	END
	printf '#define JSON_C_HAVE_INTTYPES_H 1\n#define JSON_C_HAVE_STDINT_H 1\n' >json_config.h
	sed 's/@.*@//' json.h.cmakein >json.h
	install -D -m 644 -t "$root/usr/include/json-c" ./*.h
	compile_library json-c libjson-c.so.5 -D_GNU_SOURCE -I. ./*.c
}

make_capstone() {
	unpack_source capstone
	cp -r include/capstone "$root/usr/include/"
	compile_library capstone libcapstone.so.4 -Iinclude -DCAPSTONE_HAS_MIPS -DCAPSTONE_USE_SYS_DYN_MEM \
		./*.c arch/Mips/*.c
}

make_kmod() {
	unpack_source kmod
	cp libkmod/libkmod.h "$root/usr/include/"
	: >config.h
	compile_library kmod libkmod.so.2 -std=gnu11 -D_GNU_SOURCE -include config.h -I. -DPACKAGE='"kmod"' \
		-DVERSION='"30"' -DSYSCONFDIR='"/etc"' -DROOTPREFIX='""' -DHAVE_SECURE_GETENV \
		-DHAVE_STRUCT_STAT_ST_MTIM -DHAVE_DECL_STRNDUPA=1 \
		-DHAVE_DECL_BE32TOH=1 -DHAVE_STATIC_ASSERT=1 -DHAVE_NORETURN=1 -DENABLE_LOGGING \
		libkmod/*.c shared/*.c
}

# make_libcrypto - of it only sums are needed (common/sha256.c, history/export.c), and OpenSSL takes
# longer to compile than all the others.
make_libcrypto() {
	cd "$here/lib/libcrypto" || return
	install -D -m 644 -t "$root/usr/include/openssl" evp.h
	compile_library crypto libcrypto.so.3 -I. evp.c
}

# make_from_source FOLDER - what make_foreign makes of packages.
make_from_source() (
	set -eu -o pipefail
	root=$1 libs=$1/usr/lib/${arch_cross%-} sources=$work/sources
	mkdir -p "$libs" "$root/usr/include" "$root/lib/${arch_cross%-}" "$sources"
	cp -a "/usr/${arch_cross%-}"/lib{,64}/*.so* "$root/lib/${arch_cross%-}/"
	fetch_sources "$sources"
	for part in busybox zlib elfutils json_c capstone kmod libcrypto; do
		("make_$part") >"$work/$part.log" 2>&1 ||
			fail "$part for $arch: $(tail -n 3 "$work/$part.log")"
	done
)
