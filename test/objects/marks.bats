# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Markers: nothing in a normal build, and what an instrumented one makes of them.

load helpers

# A function with and without markers, which stand in lines of their own in neither.
source_text='
	struct page { unsigned long flags; int count; const char *name; };
	extern int sink(int);
	extern void each(struct page *);
	int f(struct page *page, int n)
	{
		int i, total = 0;
		for (i = 0; i < n; i++) { total += sink(page->count + i); M(loop, "%d of %d", i, n) }
		M(end, "%s %lx %px: %d", page->name, page->flags, page, total)
		return total;
	}
	static inline int g(int a) { M(inner, "a %d", a) return sink(a) + 1; }
	int h(int a) { M(outer, "a %d", a) return g(a) + g(a + 1); }
	void empty(struct page *page) { M(empty, "%px %d", page, page->count) each(page); }
'

# compiled NAME OPTION... - the text above, as NAME.o.
compiled() {
	local name=$1
	shift
	"${cc[@]}" "${flags[@]}" -idirafter "$top/core-module/include" "$@" -o "$name.o" unit.c
}

with_markers=(-include pokepatch_mark.h '-DM(...)=POKEPATCH_MARK(__VA_ARGS__);')

nothing_in_a_normal_build() {
	echo "$source_text" >unit.c
	compiled without -g0 '-DM(...)='
	compiled with -g0 "${with_markers[@]}"
	cmp without.o with.o
	# The same with line numbers, which have the header's name in them.
	local name
	for name in without with; do
		local markers=('-DM(...)=')
		[ "$name" = without ] || markers=("${with_markers[@]}")
		compiled "$name" -g "${markers[@]}"
		readelf -SW "$name.o" | sed -n 's/^ *\[ *[0-9]*\] \([._a-z][^ ]*\) .*/\1/p' |
			grep -vE '^\.rela|^\.debug|^\.(sym|str|shstr)tab$' | sort -u >"$name.sections"
		while read -r section; do
			echo "$section $(readelf -x "$section" "$name.o" 2>&1 | md5sum)"
		done <"$name.sections" >"$name.sums"
	done
	[ -s with.sums ]
	diff without.sums with.sums
	# Instrumented, it would not be nothing.
	compiled with -g0 -DPOKEPATCH_INSTRUMENT "${with_markers[@]}"
	run ! cmp -s without.o with.o
}

@test "not one byte of a normal build" {
	with_all_compilers nothing_in_a_normal_build
}

for_the_others() {
	nothing_in_a_normal_build
}

@test "not one byte of it on other machines" {
	each_compiler arm64 for_the_others
	compilers=gcc-12 each_compiler riscv64 for_the_others
}

# format_is ok|wrong FORMAT ARGUMENT...
format_is() {
	local wanted=$1 got=ok format=$2
	shift 2
	local arguments
	arguments=$(printf ', %s' "$@")
	echo "struct s { int a; char *n; }; void f(struct s *s, int i, unsigned long l)
		{ M(m, \"$format\"$arguments) }" >unit.c
	# As the kernel has clang compile; without -w, which would hush errors too.
	"${cc[@]/#-w/-Wno-format}" -Wno-format -g0 -idirafter "$top/core-module/include" \
		-DPOKEPATCH_INSTRUMENT "${with_markers[@]}" -o format.o unit.c 2>format.err || got=wrong
	[ "$got" = "$wanted" ] || {
		echo "$format is $got, not $wanted"
		cat format.err
		return 1
	}
	[ "$got" = ok ] || grep -q -- '-W\(error,-W\|error=\)\?format' format.err
}

formats() {
	format_is ok '%d %lu %s' i l s-\>n
	format_is ok '%px %pS %p' s s s
	format_is ok '%*d' i i
	format_is wrong '%s' i
	format_is wrong '%d' l
	format_is wrong '%d %d' i
	format_is wrong '%d' i i
	format_is wrong '%s' s
}

@test "the format must fit the arguments" {
	with_all_compilers formats
}

# How many instructions a function has up to where it returns.
until_return() { # FILE FUNCTION
	objdump -d -j ".text.$2" "$1" | awk -F '\t' '
		$3 ~ /^(ret|jmp +[0-9a-f]+ <__x86_return|jmp.*<'"$2"'\+0x[0-9a-f]+>$)/ { exit }
		$3 ~ /^[a-z]/ && $3 !~ /^(nop|data16|cs nop)/ { count++ }
		END { print count + 0 }'
}

# costs FUNCTION - how many more with the marker; fails if that is none, or over ten.
costs() {
	local without with
	compiled without -g0 '-DM(...)='
	compiled with -g0 -DPOKEPATCH_INSTRUMENT "${with_markers[@]}"
	without=$(until_return without.o "$1") with=$(until_return with.o "$1")
	echo "$1: instructions to the return: $without without, $with with the marker"
	[ "$without" -ge 1 ]
	[ $((with - without)) -ge 2 ]
	[ $((with - without)) -le 10 ]
}

costs_little() {
	echo 'void f(int a, long b, char *c) { asm volatile(""); M(m, "%d %ld %s %px", a, b, c, c) }' >unit.c
	costs f
	# As many values as there are registers, the arguments among them; a call would have what
	# it clobbers saved.
	cat >unit.c <<-'END'
		struct page;
		int f(long *p, struct page *page, const char *name, const int n)
		{
			long a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6];
			long h = p[7], i = p[8], j = p[9], k = p[10];
			M(many, "%ld %ld %ld %ld %d %s %px", a, b, c, d, n, name, page)
			p[0] = (a ^ b) + c; p[1] = d * e - f; p[2] = g + h * i; p[3] = j - k + a;
			p[4] = i + a * c; p[5] = b * f; p[6] = e + d; p[7] = j * g; p[8] = h ^ k;
			return n;
		}
		int g(long *p)
		{
			long a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6];
			M(few, "%ld", a)
			p[7] = a + b; p[8] = c * d; p[9] = e - f; p[10] = g ^ a; p[0] = b + g;
			return 0;
		}
	END
	costs f
	costs g
	# As kernels are compiled: a variable whose address is taken would have to be guarded.
	flags+=(-fstack-protector-strong -mstack-protector-guard=tls)
	cat >unit.c <<-'END'
		int f(int a, int b)
		{
			int c = a * b;
			M(six, "%d %d %d %d %d %d", a, b, c, a + b, a - b, 6)
			return c + a;
		}
	END
	costs f
}

@test "with no probe attached, at most ten instructions, however many values are live" {
	with_all_compilers costs_little
}

all_arguments() {
	# Promotions, strings, bit-fields, constants; as many as there may be, and one more.
	cat >unit.c <<-'END'
		struct t;
		struct s { unsigned int bits : 3; char name[8]; };
		enum e { E };
		void f(struct s *s, unsigned char c, _Bool b, short h, enum e e, const struct t *t,
		       void (*fn)(void))
		{
			const int number = h;
			M(m, "%u %s %d %d %d %d %px %px %d %lu %s %c", s->bits, s->name, c, b, h, e, t, fn,
			  number, sizeof(*s), "text", 'c')
			M(none, "none")
			M(sixteen, "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
			  13, 14, 15, 16)
		}
	END
	compiled with -g0 -DPOKEPATCH_INSTRUMENT "${with_markers[@]}"
	sed -i 's/1, 2,/0, 1, 2,/; s/"%d/"%d%d/' unit.c
	run ! compiled with -g0 -DPOKEPATCH_INSTRUMENT "${with_markers[@]}"
	[[ $output == *too_many_arguments* ]]
}

@test "arguments of all types, up to sixteen" {
	with_all_compilers all_arguments
}

carried() {
	flags=(-g -idirafter "$top/core-module/include")
	echo "$source_text" >unit.c
	compiled orig '-DM(...)='
	compiled patched -DPOKEPATCH_INSTRUMENT "${with_markers[@]}"
	diff_objects orig.o patched.o
	carries "empty changed" "f changed" "h changed"
	# Not one that lets an address go: the core takes markers in and gives them back.
	warned
	undefined pokepatch_mark_met
	same "the markers" "$(sections | grep '^\.pokepatch\.markers' | sed 's/\.[0-9]*$//')" \
		"$(lines .pokepatch.markers.{empty,end,inner,loop,outer})"
	local section
	for section in $(sections | grep '^\.pokepatch\.markers'); do
		same "size of $section" "$(size_of "$section")" 56
	done
}

@test "the differ carries the markers of what it carries, and no others" {
	with_all_compilers carried
}
