// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of judging from preprocessed text whether a changed header matters
 * (pokepatch-build/declarations.c).
 *
 * A case has one text with both sides: "{-old|new-}" is "old" on one side and "new" on the other.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "pokepatch-build/declarations.h"

static void make_side(const char *both, bool second, struct buffer *ret)
{
	const char *open;

	for (; (open = strstr(both, "{-")); both = strstr(open, "-}") + 2) {
		const char *bar = strchr(open, '|'), *close = strstr(open, "-}");

		assert_true(bar && close && bar < close);
		buffer_add(ret, both, (size_t)(open - both));
		if (second)
			buffer_add(ret, bar + 1, (size_t)(close - bar - 1));
		else
			buffer_add(ret, open + 2, (size_t)(bar - open - 2));
	}
	buffer_add_string(ret, both);
}

/*
 * @before and @after surround the text: with nothing else in it, and within much text, the equal
 * bytes of both sides end elsewhere.
 */
static void check(const char *both, const char *before, const char *after, bool differs,
		  bool reaches)
{
	struct buffer a = {}, b = {};
	bool found;

	for (int second = 0; second < 2; second++) {
		struct buffer *side = second ? &b : &a;

		buffer_add_string(side, before);
		make_side(both, second, side);
		buffer_add_string(side, after);
	}
	for (int swapped = 0; swapped < 2; swapped++) {
		const struct buffer *x = swapped ? &b : &a, *y = swapped ? &a : &b;

		found = preprocessed_differs(x->text, x->length, y->text, y->length);
		if (found != differs)
			fail_msg("preprocessed_differs() is %d:\n%s", found, both);
		found = declarations_reach_code(x->text, x->length, y->text, y->length);
		if (found != reaches)
			fail_msg("declarations_reach_code() is %d:\n%s", found, both);
	}
	buffer_deinit(&a);
	buffer_deinit(&b);
}

static void check_everywhere(const char *both, bool differs, bool reaches)
{
	static const char filler[] = "\n# 7 \"x.h\" 2\nextern int filler_%d(struct filler *f);\n";
	struct buffer much = {}, other = {};

	for (int i = 0; i < 200; i++)
		buffer_printf(&much, filler, i);
	check(both, "", "", differs, reaches);
	check(both, "int first;\n", "\nint last;\n", differs, reaches);
	check(both, much.text, much.text, differs, reaches);
	buffer_printf(&other, "# 1 \"/tree{-|/shadow-}\"\n%s", both);
	check(other.text, "", much.text, differs, reaches);
	buffer_deinit(&other);
	buffer_deinit(&much);
}

static void equal(const char *both)
{
	check_everywhere(both, false, false);
}

static void dropped(const char *both)
{
	check_everywhere(both, true, false);
}

static void kept(const char *both)
{
	check_everywhere(both, true, true);
}

static void test_tokens(void **state)
{
	(void)state;
	equal("int a;\n");
	equal("{-|# 12 \"a.h\" 1 3\n-}int a;\n");
	equal("{-# 12 \"a.h\"|# 13 \"b.h\" 2-}\nint a;\n");
	equal("int a;{-|\n\n# 1 \"a.h\"\n\n-}int b;");
	equal("int{- |\n\t-}a{-| -};");
	equal("int a = b+{-|\n-}c{-\n# 9 \"x\"\n|-};\n");
	equal("int a;{-|\n#pragma GCC diagnostic ignored \"-Wx\"-}\n");
	kept("int a = {-1|2-};\n");	       /* as __LINE__ */
	kept("int a{-|b-};\n");
	kept("int a = b{-+ +|++-}c;\n");
	kept("int a = b{-< <=|<<=-}c;\n");
	kept("int a = b{- |-}c;\n");
	kept("int a = b -{- |-}> c;\n");
	kept("int a = 1{- |-}2;\n");
	kept("char *a = \"x{- |\t-}y\";\n");
	kept("char *a = \"x{-\\\"|\\-}\";\n");
	kept("char a = '{-x|y-}';\n");
	kept("int a;\n{-|int c;-}");
	kept("int a{-;|-}\n");
	kept("double a = 0x1p{- |-}+1;\n");
	kept("int a;\n{-|# pragma-}\n");
}

/* Nothing that emits code mentions what changed. */
static void test_unused(void **state)
{
	(void)state;
	dropped("static inline int f(int a) { return {-a|a + 1-}; }\nint g(void) { return 1; }\n");
	dropped("static int f(int a) { return {-a|a + 1-}; }\nint g(void) { return 1; }\n");
	dropped("{-|static inline void f(void) { while (1) { } }-}\nint g(void) { return 1; }\n");
	dropped("{-|void f(int a);-}\nint g(void) { return 1; }\n");
	dropped("struct s { {-int|long-} a; };\nint g(void) { return 1; }\n");
	dropped("typedef {-int|long-} t;\nint g(void) { return 1; }\n");
	dropped("enum e { A{-|= 3-}, B };\nint g(void) { return 1; }\n");
	dropped("struct s { int a; };\nstatic inline int f(struct s *s) { return s{-|++-}->a; }\n"
		"int g(struct s *s) { return s->a; }\n");
	dropped("static inline int f(void) { return {-1|2-}; }\n"
		"static inline int h(void) { return f(); }\nint g(void) { return 1; }\n");
	dropped("extern inline __attribute__((__gnu_inline__)) int f(void) { return {-1|2-}; }\n"
		"int g(void) { return 1; }\n");
	dropped("static const int table[] = { 1, {-2|3-} };\nint g(void) { return 1; }\n");
	dropped("extern int table[{-2|3-}];\nint g(void) { return 1; }\n");
	dropped("_Static_assert(sizeof(int) == {-4|2 + 2-}, \"x\");\nint g(void) { return 1; }\n");
	dropped("{-int x(void);|-}\n;;int g(void) { return 1; }\n");
	dropped("struct s;\nint g(void) { return 1; }\n{-struct s;|-}\n");
	dropped("static inline __attribute__((__unused__)) __attribute__((section(\".init\")))\n"
		"int f(void) { return {-1|2-}; }\nint g(void) { return 1; }\n");
	dropped("static inline int f(void) { static _Bool once __attribute__((section(\"o\")));\n"
		"return {-once|!once-}; }\nint g(void) { return 1; }\n");
	dropped("static int f(void) { static _Bool once __attribute__((section(\"o\")));\n"
		"return {-once|!once-}; }\nint g(void) { return 1; }\n");
	/* Where the equal ends of both texts begin, a declaration begins in one of them only. */
	dropped("static {-int x;\n|-}int f(void);\nint g(void) { return 1; }\n");
	dropped("{-|;;-}\nint g(void) { return 1; }\n");
	dropped("{-extern int x; extern int y;|extern int y;-}\nint g(void) { return 1; }\n");
	dropped("static inline int f(char c) { return c == {-'}'|'{'-}; }\nint g(void) { return 1; }\n");
	dropped("static inline char *f(void) { return {-\"\\\"}\"|\"{\"-}; }\nint g(void) { return 1; }\n");
}

/* What emits code or data changes itself. */
static void test_roots(void **state)
{
	(void)state;
	kept("int f(void) { return {-1|2-}; }\n");
	kept("struct s { int a; } f(void) { return {-x|y-}; }\n");
	kept("struct s *f(void) __attribute__((cold)) { return {-x|y-}; }\n");
	kept("int (*f(int a))(void) { return {-x|y-}; }\n");
	kept("int a = {-1|2-};\n");
	kept("{-|int a;-}\n");
	kept("int a[{-1|2-}];\n");
	kept("{-|int (*a)(void);-}\n");
	kept("{-|struct s { int a; } a;-}\n");
	kept("extern int a = {-1|2-};\n");
	kept("inline int f(void) { return {-1|2-}; }\n");
	kept("extern inline int f(void) { return {-1|2-}; }\n");
	kept("inline __attribute__((gnu_inline)) int f(void) { return {-1|2-}; }\n");
	kept("asm(\"{-nop|hlt-}\");\n");
	kept("__asm__ volatile (\"{-nop|hlt-}\");\n");
	kept("static int a __attribute__((used)) = {-1|2-};\n");
	kept("static int a __attribute__((__section__(\"x\"))) = {-1|2-};\n");
	kept("static int __attribute__((section(\"x\"))) f(void) { return {-1|2-}; }\n");
	kept("static inline __attribute__((__used__)) int f(void) { return {-1|2-}; }\n");
	kept("static __attribute__((constructor)) void f(void) { g({-1|2-}); }\n");
	kept("static inline int f(void) { static int a __attribute__((used)) = {-1|2-}; }\n");
	kept("{-|long f(void) __attribute__((alias(\"g\")));-}\n");
	kept("{-|struct { int a; };-}\nint g(void) { return 1; }\n");
	kept("{-|register unsigned long sp asm(\"rsp\");-}\n");
	kept("#pragma pack({-1|2-})\nstruct s { int a; };\n");
	kept("struct s { int a; };\n#pragma GCC push_options\n{-|#pragma GCC optimize(\"O3\")-}\n");
	kept("static inline void f(void) { int a;\n#pragma GCC ivdep {-|x-}\n}\n");
	kept("extern void *memcpy(void *a, const void *b, unsigned long n){-| asm(\"copy\")-};\n");
	kept("extern void __asan_load1(unsigned long a{-|, int b-});\n");
}

/* What emits code leads to what changed. */
static void test_reached(void **state)
{
	(void)state;
	kept("static inline int f(void) { return {-1|2-}; }\nint g(void) { return f(); }\n");
	kept("static inline int f(void) { return {-1|2-}; }\n"
	     "static inline int h(void) { return f(); }\nint g(void) { return h(); }\n");
	kept("static int f(void) { return {-1|2-}; }\nint (*g)(void) = f;\n");
	kept("struct s { {-int|long-} a; };\nint g(struct s *s) { return s->a; }\n");
	kept("struct s { {-int|long-} a; };\nstruct t { struct s s; };\n"
	     "extern struct t *f(void);\nint g(void) { return f()->s.a; }\n");
	kept("struct s { {-int|long-} a; };\nasm(\"\" : : \"i\" (sizeof(struct s)));\n");
	kept("union s { {-int|long-} a; };\nint g(union s *s) { return s->a; }\n");
	kept("struct __attribute__((packed)) s { {-int|long-} a; };\n"
	     "int g(struct s *s) { return s->a; }\n");
	kept("struct s { int a; }{-| __attribute__((packed))-};\nint g(struct s *s) { return s->a; }\n");
	kept("struct s { struct t { {-int|long-} a; } t; };\nint g(struct t *t) { return t->a; }\n");
	kept("typedef {-int|long-} t;\nint g(t a) { return a; }\n");
	kept("typedef struct { {-int|long-} a; } t, *u;\nint g(u a) { return a->a; }\n");
	kept("typedef int (*t)({-int|long-});\nint g(t a) { return a(1); }\n");
	kept("typedef u8 t[{-1|2-}];\nint g(void) { return sizeof(t); }\n");
	kept("enum e { A, {-|C, -}B };\nint g(void) { return B; }\n");
	kept("enum e { A = {-1|2-} };\nint g(void) { return A; }\n");
	kept("enum { A __attribute__((unused)) = 1, B = {-1|2-} };\nint g(void) { return B; }\n");
	kept("struct s { enum { A, {-|C, -}B } e; };\nint g(void) { return B; }\n");
	kept("extern u32 f(u32 a){-| __attribute__((const))-};\nint g(void) { return f(1); }\n");
	kept("extern u32 f(u32){-| __attribute__((const))-};\nint g(void) { return f(1); }\n");
	kept("extern u32 (f)(u32 a){-| __attribute__((const))-};\nint g(void) { return f(1); }\n");
	kept("extern int (f)(u32 a){-| __attribute__((const))-};\nint g(void) { return f(1); }\n");
	kept("extern u32 (*f)({-int|long-} a);\nint g(void) { return f(1); }\n");
	kept("extern u32 (*const f[2])({-int|long-} a);\nint g(void) { return f[0](1); }\n");
	kept("extern u32 (__attribute__((x)) *f)({-int|long-} a);\nint g(void) { return f(1); }\n");
	kept("extern void (*f(int a))({-int|long-} a);\nint g(void) { return f(1)(2); }\n");
	kept("extern int x, f({-int|long-} a), y;\nint g(void) { return f(1); }\n");
	kept("extern int x, y[{-1|2-}];\nint g(void) { return sizeof(y); }\n");
	kept("extern {-int|long-} x;\nextern typeof(x) y;\nint g(void) { return y; }\n");
	kept("static inline void f(int *a) { *a{-++|---}; }\n"
	     "int g(void) { int a __attribute__((cleanup(f))) = 0; }\n");
	kept("static int f(void) { return {-1|2-}; }\n"
	     "extern int h(void) __attribute__((alias(\"f\")));\n");
	kept("static int f(void) { return {-1|2-}; }\n"
	     "static void *h __attribute__((used)) = f;\n");
	kept("static const int table[] = { 1, {-2|3-} };\nint g(void) { return table[1]; }\n");
	kept("static inline int ffs(int a) { return {-a|1-}; }\n"
	     "int g(int a) { return __builtin_ffs(a); }\n");
	kept("static inline int popcount(int a) { return {-a|1-}; }\n"
	     "int g(int a) { return __builtin_popcount(a); }\n");
	kept("extern inline __attribute__((gnu_inline)) int f(void) { return {-1|2-}; }\n"
	     "int g(void) { return f(); }\n");
	/* The function is new, and so is what it shadows. */
	kept("{-int f(int);|static inline int f(int a) { return a; }-}\nint g(void) { return f(1); }\n");
}

/* The order of declarations may matter. */
static void test_moved(void **state)
{
	(void)state;
	kept("{-|int h(void) { return 2; }\n-}int g(void) { return 1; }\n"
	     "{-int h(void) { return 2; }\n|-}");
	kept("{-struct s { int a; };|-}\n#pragma pack(1)\n{-|struct s { int a; };-}\n"
	     "int g(struct s *s) { return s->a; }\n");
	dropped("{-struct t;|-}struct s;{-|struct t;-}\nint g(void) { return 1; }\n");
	/* Names that are declared once mean the same before and after. */
	dropped("{-static inline int f(void) { return 1; }\n|-}struct s { int a; };\n"
		"static inline int h(int i) { return i; }\n"
		"{-|static inline int f(void) { return 1; }\n-}"
		"int g(struct s *s) { return f() + h(s->a); }\n");
	dropped("{-struct s *f(struct s *s);\n|-}struct s { int a; };\nint x(void);\n"
		"{-|struct s *f(struct s *s);\n-}int g(struct s *s) { return f(s)->a + x(); }\n");
	dropped("struct s;\nstruct s;\n{-static inline int f(struct s *s) { return !s; }\n|-}"
		"struct s { int a; };\nint x(void);\n"
		"{-|static inline int f(struct s *s) { return !s; }\n-}"
		"int g(struct s *s) { return f(s) + s->a + x(); }\n");
	dropped("{-|struct s;\n-}int f(struct s *s);\nint g(struct s *s) { return f(s); }\n");
	dropped("#pragma pack(1)\n{-struct s { int a; };\n|-}struct t { int b; };\n"
		"{-|struct s { int a; };\n-}#pragma pack()\n"
		"int g(struct s *s, struct t *t) { return s->a + t->b; }\n");
	/* The second declaration may change what a mention means. */
	kept("extern int a[];\n{-static inline int f(void) { return a[1]; }\n|-}extern int a[2];\n"
	     "int x(void);\n{-|static inline int f(void) { return a[1]; }\n-}"
	     "int g(void) { return f() + x(); }\n");
	kept("int f(void);\n{-int f(void) __attribute__((const));\n|-}"
	     "static inline int h(void) { return f(); }\nint x(void);\n"
	     "{-|int f(void) __attribute__((const));\n-}int g(void) { return h() + x(); }\n");
	kept("{-int f(void);\n|-}int f(void) __attribute__((const));\n{-|int f(void);\n-}"
	     "int g(void) { return f(); }\n");
	kept("{-static inline int f(void) { return 1; }\n|-}int x(void);\nint y(void);\n"
	     "{-|static inline int f(void) { return 2; }\n-}int g(void) { return f() + x(); }\n");
	kept("{-void *memset(void *);\n|-}int x(void);\nint y(void);\n{-|void *memset(void *);\n-}"
	     "int g(void) { return x() + y(); }\n");
	kept("struct s { int a; };\n{-|struct s { int a; };\n-}int g(struct s *s) { return s->a; }\n");
}

/* A header that uses __COUNTER__ once more changes numbers in names behind it. */
static void test_counted(void **state)
{
	(void)state;
	dropped("static int __UNIQUE_ID_x{-7|8-} __attribute__((used)) = 1;\n");
	dropped("int g(void) { int __UNIQUE_ID_x_{-99|100-}, __UNIQUE_ID_y_{-100|101-};\n"
		"return __UNIQUE_ID_x_{-99|100-} + __UNIQUE_ID_y_{-100|101-}; }\n");
	dropped("int g(void) { extern void __compiletime_assert_{-7|8-}(void); }\n");
	dropped("asm(\".local \" \"__BTF_ID__struct__s__{-47182|47282-}\" \";\");\n");
	dropped("asm(\"__initcall__kmod_m__{-7|8-}_31_f6\" \":\");\n");
	kept("asm(\"__initcall__kmod_m__{-7|8-}x\" \":\");\n");
	kept("asm(\"__initcall__kmod_m__7_{-31|32-}_f6\" \":\");\n");
	kept("int g(void) { int __UNIQUE_ID_x7, __UNIQUE_ID_x8; return __UNIQUE_ID_x{-7|8-}; }\n");
	kept("int g(void) { return __UNIQUE_ID_x7 + __UNIQUE_ID_y{-7|8-}; }\n");
	kept("int g(void) { return __UNIQUE_ID_{-x|y-}7; }\n");
	kept("int g(void) { return __UNIQUE_ID_x{-7|-}; }\n");
	kept("int g(void) { return UNIQUE_ID_x{-7|8-}; }\n");
	kept("int g(void) { return {-7|8-}; }\n");
}

/* Text that is not understood is compiled. */
static void test_unsure(void **state)
{
	static const char *const texts[] = {
		"%s int f(a) int a; { return a; }\n", "%s extern \"C\" { int a; }\n",
		"%s int f(void) { return (1; }\n",    "%s int f(void) { return 1;\n",
		"%s int a }\n",			      "%s int a\n",
		"%s int a = 1 /* why */;\n",	      "%s int a = 1; // why\n",
		"%s int a @ 1;\n",		      "%s char *a = \"x\n;\";\n",
		"%s int a : b;\n",		      "%s\n#pragma weak a = b\n",
		"%s\n#ident \"x\"\n",		      "%s [[y]] int a;\n",
		"%s int g(void) { return __builtin_LINE(); }\n",
		"%s int a = 1 \\ 2;\n",
		"%s int \"a\" b;\n",
		"%s int 3 b;\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char both[256];

		snprintf(both, sizeof(both), texts[i], "static inline int x(void) { return {-1|2-}; }");
		check(both, "", "", true, true);
		check(both, "int first;\n", "", true, true);
	}
}

/* The same without what they do not understand, so that it is that which decides. */
static void test_sure(void **state)
{
	(void)state;
	dropped("static inline int x(void) { return {-1|2-}; } int f(int a) { return a; }\n"
		"int *a = &(int){ 1 };\nint b = c ? 1 : 2;\nvoid (*d)(int (*)[2], ...);\n"
		"__extension__ typedef struct { int a:3; union { int b; }; } t;\n"
		"extern typeof(a) e, f;\nasm(\".globl x\\n\" : : \"i\" (1));\n"
		"static const struct s k = { .a = { [0 ... 3] = 1 }, };\n"
		"struct s *__attribute__((warn_unused_result)) m(struct s *s, int (*f)(void));\n"
		"\n#pragma pack(push, 1)\nstruct p { char *s, c; };\n#pragma pack(pop)\n"
		"void n(void)\n{\n\tswitch (a) {\n\tcase 'x': b = ({ int q = 1; q; });\n\t}\n}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens), cmocka_unit_test(test_unused),
		cmocka_unit_test(test_roots),  cmocka_unit_test(test_reached),
		cmocka_unit_test(test_moved),  cmocka_unit_test(test_unsure),
		cmocka_unit_test(test_sure),   cmocka_unit_test(test_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
