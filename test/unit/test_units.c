// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of finding the file that was changed after the kernel was built, of the shadow, and of
 * finding by names the units that a changed header matters to (name_filter.c).
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"
#include "pokepatch-build/name_filter.h"
#include "pokepatch-build/shadow_tree.h"
#include "pokepatch-build/units.h"

static char *depends[] = {
	"fs/proc/version.c",
	"include/linux/fs.h",
	"include/generated/autoconf.h",
	"arch/x86/include/generated/asm/x.h",
	"include/config/HZ",
	"/usr/include/x.h",
	"fs/proc/gone.h",
	NULL,
};

/* A file of the folder that was changed at a time. */
static void put(const char *name, time_t time)
{
	const struct timespec times[2] = {{time, 0}, {time, 0}};
	_free_ char *path = xasprintf("%s/%s", folder, name);
	_free_ char *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	assert_no_error(make_dirs(dir));
	assert_no_error(file_write(path, "x", 1));
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void finds(const struct build *build, const char *name)
{
	_free_ char *found = unit_find_edited(build, depends);

	assert_string_equal(found ?: "none", name);
}

static void test_the_last_one_counts(void **state)
{
	struct build build = {.own = true, .files = {.source = folder}};
	_free_ char *vmlinux = xasprintf("%s/vmlinux", folder);

	(void)state;
	build.files.vmlinux = vmlinux;
	put("vmlinux", 1000);
	put("fs/proc/version.c", 999);
	put("include/linux/fs.h", 1000);
	put("include/generated/autoconf.h", 2000);
	put("arch/x86/include/generated/asm/x.h", 2000);
	put("include/config/HZ", 2000);
	finds(&build, "none");
	put("include/linux/fs.h", 1001);
	finds(&build, "include/linux/fs.h");
	put("fs/proc/version.c", 1002);
	finds(&build, "fs/proc/version.c");
	put("vmlinux", 1003);
	finds(&build, "none");
}

/* Files from packages have the times at which they were unpacked, or any. */
static void test_only_a_kernel_that_was_built_there(void **state)
{
	struct build build = {.files = {.source = folder}};
	_free_ char *vmlinux = xasprintf("%s/vmlinux", folder);

	(void)state;
	build.files.vmlinux = vmlinux;
	put("vmlinux", 1000);
	put("fs/proc/version.c", 2000);
	finds(&build, "none");
	build.own = true;
	finds(&build, "fs/proc/version.c");
	build.options.source = folder;
	finds(&build, "none");
}

/* ---- the shadow of a tree ---------------------------------------------------- */

static struct shadow shadow;

/* A file of the shadow has this text; NULL: there is none. */
static void shadow_has(const char *path, const char *wanted)
{
	_free_ char *full = xasprintf("%s/%s", shadow.folder, path);
	_free_ char *text = NULL;
	size_t length;

	assert_int_equal(file_exists(full), wanted != NULL);
	if (!wanted)
		return;
	assert_no_error(file_read(full, &text, &length));
	assert_string_equal(text, wanted);
}

static void test_shadow(void **state)
{
	_free_ char *tree = xasprintf("%s/tree", folder);
	_free_ char *path = xasprintf("%s/shadow", folder);
	_free_ char *link = xasprintf("%s/tree/b/link.h", folder);

	(void)state;
	put("tree/a/x.h", 1);
	put("tree/a/y.h", 1);
	put("tree/a/x.o", 1);
	put("tree/b/c/z.h", 1);
	assert_int_equal(symlink("../a/x.h", link), 0);
	assert_no_error(shadow_init(&shadow, tree, path));
	assert_no_error(shadow_put(&shadow, "a/x.h", "new", 3));
	shadow_has("a/x.h", "new");
	shadow_has("a/y.h", "x");
	shadow_has("a/x.o", NULL);
	/* ".." behind a link to the tree's folder leads into the tree, until it is followed. */
	shadow_has("b/c/../../a/x.h", "x");
	assert_no_error(shadow_follow(&shadow, "b/c/../../a/x.h"));
	shadow_has("b/c/../../a/x.h", "new");
	shadow_has("b/link.h", "new");
	put("tree/a/late.h", 1);
	shadow_has("a/late.h", NULL);
	assert_no_error(shadow_refresh(&shadow));
	shadow_has("a/late.h", "x");
	shadow_has("a/x.h", "new");
	assert_no_error(shadow_take(&shadow, "b/c/z.h"));
	shadow_has("b/c/z.h", NULL);
	shadow_deinit(&shadow);

	/* The tree is as it was. */
	assert_no_error(remove_tree(path));
	assert_no_error(shadow_init(&shadow, tree, path));
	assert_no_error(shadow_open(&shadow, ""));
	shadow_has("a/x.h", "x");
	shadow_has("b/c/z.h", "x");
	assert_no_error(shadow_put(&shadow, "a/x.h", "new", 3));
	shadow_has("b/c/../../a/x.h", "new");
	shadow_deinit(&shadow);
}

/* ---- units by names --------------------------------------------------------- */

/* A unit includes a header, of which a part changes, and another one. */
static const struct name_case {
	const char *old, *new; /* the part that changes */
	const char *other, *source;
	bool keeps;
} name_cases[] = {
	/* A name that the source mentions, or not. */
	{"static inline int f(void) { return 1; }", "static inline int f(void) { return 2; }",
	 "int g(void);", "int a(void) { return f(); }", true},
	{"static inline int f(void) { return 1; }", "static inline int f(void) { return 2; }",
	 "int g(void);", "int a(void) { return g(); }", false},
	{"#define F 1", "#define F 2", "", "int a = F;", true},
	{"#define F 1", "#define F 2", "", "int a = 1;", false},
	{"#define F 1", "", "", "#define G F", true},
	{"", "int f(void);", "", "int a(void) { return g(); }", false},
	{"", "int f(void);", "", "int a(void) { return f(); }", true},
	{"/* old */", "/* new\n */", "", "int f;", false},
	/* By way of another header's items. */
	{"#define F 1", "#define F 2", "#define G F", "int a = G;", true},
	{"#define F 1", "#define F 2", "static inline int g(void) { return F; }", "int a = g();",
	 true},
	{"#define F 1", "#define F 2", "static inline int g(void) { return F; }", "int a = h();",
	 false},
	{"#define F 1", "#define F 2", "struct s { int a[F]; };\nextern struct s *s_of(int);",
	 "int a = s_of(1)->x;", true},
	{"#define F 1", "#define F 2", "struct s { int a[F]; };\nextern struct s *s_of(int);",
	 "int a = t_of(1)->x;", false},
	{"struct s { int a; };", "struct s { long a; };", "typedef struct { struct s s; } t;\n",
	 "t a;", true},
	{"struct s { int a; };", "struct s { long a; };",
	 "struct __packed u { int x; } __packed;\n"
	 "#define __packed __attribute__((__packed__))\n", "struct u a;", false},
	{"enum { A, B };", "enum { A, C, B };", "", "int a = B;", true},
	{"enum { A, B };", "enum { A, C, B };", "", "int a = D;", false},
	/* What code need not mention. */
	{"#define F 1", "#define F 2", "#if F > 1\nint g;\n#endif", "int a;", true},
	{"#define F 1", "#define F 2", "#if F > 1\n#include <x.h>\n#endif", "int a;", true},
	{"#define F 1", "#define F 2", "#include F", "int a;", true},
	/* Conditions lead to what is in their groups. */
	{"#define F 1", "#define F 2", "#if F > 1\nint g(int);\n#endif", "int a;", false},
	{"#define F 1", "#define F 2", "#if F > 1\nint g(int);\n#endif", "int a = g(1);", true},
	{"#define F 1", "#define F 2", "#if F > 1\n#else\n#define G 1\n#endif", "int a = G;", true},
	{"#define F 1", "#define F 2", "#if F > 1\n#else\n#define G 1\n#endif", "int a = H;", false},
	{"#define F 1", "#define F 2",
	 "#if F > 1\n#define G 1\n#endif\n#ifdef G\nint g(int);\n#endif", "int a = g(1);", true},
	{"#define F 1", "#define F 2", "struct s {\n#if F > 1\nint b;\n#endif\nint c; };",
	 "struct s a;", true},
	{"#define F 1", "#define F 2", "struct s {\n#if F > 1\nint b;\n#endif\nint c; };",
	 "struct t a;", false},
	{"#define F 1", "#define F 2", "#if X\n#elif F > 1\n#define G 1\n#endif", "int a = G;", true},
	{"#define F 1", "#define F 2", "#ifdef X\n#ifdef F\n#endif\n#define G 1\n#endif", "int a = G;",
	 false},
	{"#if X\nint f(int);\n#endif", "#if Y\nint f(int);\n#endif", "", "int a = f(1);", true},
	{"#if X\nint f(int);\n#endif", "#if Y\nint f(int);\n#endif", "", "int a = g(1);", false},
	{"#if X\nint f(int);\n#endif\nint g(int);", "#if X\nint f(int);\nint g(int);\n#endif", "",
	 "int a = g(1);", true},
	{"#if X\nint f(int);\n#endif\nint g(int);", "#if X\nint f(int);\nint g(int);\n#endif", "",
	 "int a = h(1);", false},
	{"#if X\nint f(int);\n#endif\nint g(int);", "#if X\nint f(int);\n#else\nint g(int);\n#endif",
	 "", "int a = f(1);", true},
	{"int f(int);", "#ifdef X\nint f(int);\n#endif", "", "int a = f(1);", true},
	{"int f(int);", "#ifdef X\nint f(int);\n#endif", "", "int a = g(1);", false},
	{"struct s {\n#ifdef X\nint b;\n#endif\nint c; };",
	 "struct s {\n#ifndef X\nint b;\n#endif\nint c; };", "", "struct s a;", true},
	{"struct s {\n#ifdef X\nint b;\n#endif\nint c; };",
	 "struct s {\n#ifndef X\nint b;\n#endif\nint c; };", "", "struct t a;", false},
	{"#ifdef X\n#include <x.h>\n#endif", "#ifdef Y\n#include <x.h>\n#endif", "", "int a;", true},
	{"#ifdef X\nDECLARE(f);\n#endif", "#ifdef Y\nDECLARE(f);\n#endif", "", "int a;", true},
	{"#ifdef X\nstatic inline int f(int x) { return __COUNTER__; }\n#endif",
	 "#ifdef Y\nstatic inline int f(int x) { return __COUNTER__; }\n#endif", "", "int a;", true},
	/* Conditions that the configuration decides: CONFIG_ON=y, CONFIG_PART=m. */
	{"#ifdef CONFIG_ON\nint f(int);\n#endif", "#ifndef CONFIG_OFF\nint f(int);\n#endif", "",
	 "int a = f(1);", false},
	{"#ifdef CONFIG_ON\nint f(int);\n#endif", "#ifdef CONFIG_OFF\nint f(int);\n#endif", "",
	 "int a = f(1);", true},
	{"#if defined(CONFIG_OFF)\nint f(int);\n#else\nint g(int);\n#endif",
	 "#if defined(CONFIG_OFF)\nlong f(int);\n#else\nint g(int);\n#endif", "", "int a = f(1);",
	 false},
	{"#if defined(CONFIG_OFF)\nint f(int);\n#else\nint g(int);\n#endif",
	 "#if defined(CONFIG_OFF)\nint f(int);\n#else\nlong g(int);\n#endif", "", "int a = g(1);",
	 true},
	{"#if IS_ENABLED(CONFIG_PART) && !defined(CONFIG_OFF)\nint f(int);\n#endif",
	 "#if IS_ENABLED(CONFIG_PART) && !defined(CONFIG_OFF)\nlong f(int);\n#endif", "",
	 "int a = f(1);", true},
	{"#if IS_BUILTIN(CONFIG_PART) || CONFIG_OFF\nint f(int);\n#endif",
	 "#if IS_BUILTIN(CONFIG_PART) || CONFIG_OFF\nlong f(int);\n#endif", "", "int a = f(1);",
	 false},
	{"#if IS_REACHABLE(CONFIG_PART)\nint f(int);\n#endif",
	 "#if IS_REACHABLE(CONFIG_PART)\nlong f(int);\n#endif", "", "int a = f(1);", true},
	{"#if IS_MODULE(CONFIG_ON) || CONFIG_NUMBER > 3\nint f(int);\n#endif",
	 "#if IS_MODULE(CONFIG_ON) || CONFIG_NUMBER > 3\nlong f(int);\n#endif", "", "int a = f(1);",
	 true},
	{"#if defined(CONFIG_ON) && X\n#else\nint f(int);\n#endif",
	 "#if defined(CONFIG_ON) && X\n#else\nlong f(int);\n#endif", "", "int a = f(1);", true},
	{"#if defined(CONFIG_OFF) || X\nint f(int);\n#endif",
	 "#if defined(CONFIG_OFF) || X\nlong f(int);\n#endif", "", "int a = f(1);", true},
	{"#if IS_REACHABLE(CONFIG_PART)\n#else\nint f(int);\n#endif",
	 "#if IS_REACHABLE(CONFIG_PART)\n#else\nlong f(int);\n#endif", "", "int a = f(1);", true},
	{"#if CONFIG_NUMBER\nint f(int);\n#endif", "#if CONFIG_NUMBER\nlong f(int);\n#endif", "",
	 "int a = f(1);", true},
	{"#if CONFIG_ON > 1\n#else\nint f(int);\n#endif", "#if CONFIG_ON > 1\n#else\nlong f(int);\n#endif",
	 "", "int a = f(1);", true},
	{"#if X\n#elif defined(CONFIG_OFF)\nint f(int);\n#endif",
	 "#if X\n#elif defined(CONFIG_OFF)\nlong f(int);\n#endif", "", "int a = f(1);", false},
	{"#ifdef CONFIG_OFF\n#elif X\nint f(int);\n#endif", "#ifdef CONFIG_OFF\n#elif Y\nint f(int);\n#endif",
	 "", "int a = f(1);", true},
	{"#ifdef CONFIG_ON\n#elif X\nint f(int);\n#endif", "#ifdef CONFIG_ON\n#elif Y\nlong f(int);\n#endif",
	 "", "int a = f(1);", false},
	{"struct s {\n#ifdef CONFIG_OFF\nint b;\n#endif\nint c; };",
	 "struct s {\n#ifdef CONFIG_OFF\nlong b;\n#endif\nint c; };", "", "struct s a;", false},
	{"struct s {\n#ifdef CONFIG_ON\nint b;\n#endif\nint c; };",
	 "struct s {\n#ifdef CONFIG_ON\nlong b;\n#endif\nint c; };", "", "struct s a;", true},
	{"static inline\n#ifdef CONFIG_ON\nint f(void) {\n#else\nint g(void) {\n#endif\nreturn 1; }",
	 "static inline\n#ifdef CONFIG_ON\nint f(void) {\n#else\nint g(void) {\n#endif\nreturn 2; }", "",
	 "int a = f();", true},
	{"#ifdef CONFIG_OFF\nint f(int);\n#endif", "#ifdef CONFIG_OFF\nlong f(int);\n#endif",
	 "#define CONFIG_OFF 1", "int a = f(1);", true},
	{"#ifdef CONFIG_OFF\nint f(int);\n#endif", "#ifdef CONFIG_OFF\nlong f(int);\n#endif",
	 "", "#define CONFIG_OFF 1\nint a = f(1);", true},
	{"#ifdef X\n#error x\n#endif", "#ifdef Y\n#error y\n#endif", "", "int a;", false},
	{"#pragma pack(1)", "", "", "int a;", true},
	{"int f(void);", "long f(void);", "#ifdef f\nextern int g;\n#endif", "int a;", false},
	{"#define F 1", "#define F 2", "static int g[F] = {1};", "int a;", false},
	{"#define F 1", "#define F 2", "int g[F];", "int a;", true},
	{"#define F 1", "#define F 2", "DECLARE(g, F);", "int a;", true},
	{"#define F 1", "#define F 2", "static DEFINE(g, F);\n#define DEFINE(n, v) int n = v",
	 "int a;", true},
	{"#define F", "#define F const", "extern int F g;", "int a = g;", true},
	{"int f(void);", "long f(void);", "void *g(void) __attribute__((alias(\"f\")));", "g();", true},
	/* Declarations that macros make, in part. */
	{"#define F 1", "#define F 2", "enum { LIST(X) Z = F };\n#define LIST(m) m(A) m(B)",
	 "int a = XA;", true},
	{"#define F 1", "#define F 2", "static inline int g(void) { return F; }\n#define g real_g",
	 "int a = real_g();", true},
	{"#define F 1", "#define F 2",
	 "static inline int NAME(g)(void) { return F; }\n#define NAME(n) x_##n", "x_g();", true},
	{"#define F 1", "#define F 2",
	 "#define __used __attribute__((__used__))\nstatic __used void g(void) { F; }", "int a;", true},
	/* Includes that the configuration leaves out: uses.h has an array of F elements. */
	{"#define F 1", "#define F 2", "#include <linux/uses.h>", "int a;", true},
	{"#define F 1", "#define F 2", "#ifdef X\n#include <linux/uses.h>\n#endif", "int a;", true},
	{"#define F 1", "#define F 2", "#ifdef CONFIG_ON\n#include <linux/uses.h>\n#endif", "int a;", true},
	{"#define F 1", "#define F 2", "#ifdef CONFIG_OFF\n#include <linux/uses.h>\n#endif", "int a;",
	 false},
	/* A header that changes, too, and that the unit does not include. */
	{"", "", "", "int a = APART;", false},
	{"", "", "#include <linux/apart.h>", "int a = APART;", true},
	/* Names that macros paste. */
	{"int xq(void);", "long xq(void);", "#define SIZE(i) __ASM_SEL(i##l, i##q)", "char *a = SIZE(x);",
	 false},
	{"int xq(void);", "long xq(void);", "#define SIZE(i) SELECT(i##l, i##q)", "char *a = SIZE(x);",
	 true},
	{"int xq(void);", "long xq(void);", "#define SIZE(i) static_assert(i##q) + i##q",
	 "int a = SIZE(x);", true},
	{"int xq(void);", "long xq(void);", "#define SIZE(i) static_assert(i##q)", "SIZE(x);", false},
	{"int test_dirty(void);", "long test_dirty(void);", "#define TEST(n) test_##n()",
	 "int a = TEST(dirty);", true},
	{"int test_dirty(void);", "long test_dirty(void);", "#define TEST(n) test_##n()",
	 "int a = TEST(clean);", false},
	{"int test_dirty(void);", "long test_dirty(void);", "#define TEST(n) test_##n()",
	 "int dirty;", false},
	{"int test_dirty(void);", "long test_dirty(void);",
	 "#define TEST(n) test_##n()\nstatic inline int g(void) { return TEST(dirty); }",
	 "int a = g();", true},
	{"int test_dirty(void);", "long test_dirty(void);",
	 "#define PASTE(a, b) a##b\n#define TEST(n) PASTE(test_, n)()", "int a = TEST(dirty);", true},
	{"int test_dirty(void);", "long test_dirty(void);",
	 "#define PASTE(a, b) a##b\n#define TEST(n) PASTE(test_, n)()", "int a = PASTE(x, y);",
	 true},
	{"int test_dirty(void);", "long test_dirty(void);",
	 "#define PASTE(a, b) a##b\n#define TEST(n) PASTE(test_, n)()", "int dirty = x(TEST);",
	 true},
	{"int test_dirty_1(void);", "long test_dirty_1(void);",
	 "#define ONE(n) n##_1\n#define TEST(n) ONE(test_##n)", "int a = TEST(dirty);", true},
	{"int test_dirty(void);", "long test_dirty(void);", "", "#define T(n) test_##n\nT(dirty);",
	 true},
	/* A tag alone. */
	{"struct s;", "", "int g(struct s *);", "int a = g(0);", false},
	{"struct s { int b; };", "", "int g(struct s);", "int a = g(0);", true},
	{"enum s;", "", "int g(enum s);", "int a = g(0);", true},
	{"struct s;", "", "#define s t\nint g(struct t);", "int a = g(0);", true},
	/* A pointer to a type is the same, and the type is used where the pointer is mentioned. */
	{"struct s { int a; };", "struct s { long a; };", "struct t { int b; const struct s *p; };",
	 "struct t a;", false},
	{"struct s { int a; };", "struct s { long a; };", "struct t { int b; const struct s *p; };",
	 "int a = x->p->a;", true},
	{"struct s { int a; };", "struct s { long a; };", "struct t { int b; struct s p; };",
	 "struct t a;", true},
	{"struct s { int a; };", "struct s { long a; };", "struct t { int b; struct s *p, q; };",
	 "struct t a;", true},
	{"struct s { int a; };", "struct s { long a; };", "struct t { int b[sizeof(struct s *)]; };",
	 "struct t a;", true},
	{"struct s { int a; };", "struct s { long a; };",
	 "struct t { struct { struct s *p[2], **q; } u; };", "x->q;", true},
	{"struct s { int a; };", "struct s { long a; };",
	 "struct t { struct { struct s *p[2], **q; } u; };", "x->u;", false},
	{"struct s { int a; };", "struct s { long a; };", "struct t { struct s *(*get)(int, long); };",
	 "x->get();", true},
	{"struct s { int a; };", "struct s { long a; };", "struct t { int (*put)(struct s *s, int); };",
	 "x->put();", false},
	{"struct s { int a; };", "struct s { long a; };", "struct t { int (*put)(struct s s, int); };",
	 "struct t a;", true},
	{"struct s { int a; };", "struct s { long a; };", "int f(int, const struct s *p);",
	 "int a = f(0);", false},
	{"struct s { int a; };", "struct s { long a; };", "struct s *f(int);", "int a = f(0);", true},
	{"struct s { int a; };", "struct s { long a; };", "int f(struct s);", "int a = f(0);", true},
	{"struct s { int a; };", "struct s { long a; };",
	 "static inline int f(struct s *p) { return *(int *)p; }", "int a = f(0);", true},
	{"struct s { int a; };", "struct s { long a; };", "struct t { int s; };", "struct t a;", false},
	{"typedef int s;", "typedef long s;", "struct t { s *p; };", "x->p;", true},
	{"typedef int s;", "typedef long s;", "struct t { s *p; };", "struct t a;", false},
	{"typedef int s;", "typedef long s;", "int f(const s);", "f(1);", true},
	{"enum { S = 1 };", "enum { S = 2 };", "extern int f(int);\nstatic int x = f(S * 2);", "int a = x;",
	 true},
	{"enum { S = 1 };", "enum { S = 2 };", "struct t { int a : S * 2; };", "struct t a;", true},
	{"#define S int", "#define S long", "struct t { S *p; };", "struct t a;", true},
	/* Declarations of macros that have one definition. */
	{"", "DECLARE(f);", "#define DECLARE(n) int n(void)", "int a;", false},
	{"", "DECLARE(f);", "#define DECLARE(n) int n(void)", "f();", true},
	{"", "DECLARE(f);", "#define DECLARE(n) int n(void)\n#define PREFIX p_", "p_f();", false},
	{"", "DECLARE(f);", "#define DECLARE(n) int JOIN(PREFIX, n)(void)\n#define PREFIX p_\n"
	 "#define JOIN(a, b) REALLY_JOIN(a, b)\n#define REALLY_JOIN(a, b) a##b", "p_f();", true},
	{"", "DECLARE(f);", "#define DECLARE(n) int JOIN(PREFIX, n)(void)\n#define PREFIX p_\n"
	 "#define JOIN(a, b) REALLY_JOIN(a, b)\n#define REALLY_JOIN(a, b) a##b", "PREFIXf();", false},
	{"", "DECLARE(f);", "#define DECLARE(n) typedef int n##_t; static inline n##_t n(void) { return 1; }",
	 "f_t a;", true},
	{"", "DECLARE(f);", "#define DECLARE(n) typedef int n##_t; static inline n##_t n(void) { return 1; }",
	 "f_u a;", false},
	{"", "DECLARE(f, int a, int b);", "#define DECLARE(n, args...) int n(args)", "f(1, 2);", true},
	{"", "DECLARE(f, int a, int b);", "#define DECLARE(n, args...) int n(args)", "g(1, 2);", false},
	{"", "DECLARE(f);", "#define DECLARE(n, ...) int n(int, ##__VA_ARGS__)", "g(1, 2);", false},
	{"", "DECLARE(f);", "#define DECLARE(n) int n(void)\n#define DECLARE(n) int n##_x(void)", "int a;",
	 true},
	{"", "DECLARE(f);", "#define DECLARE(n) int n = 1", "int a;", true},
	{"", "DECLARE(f);", "#define DECLARE(n) int n", "int a;", true},
	{"", "DECLARE(f);", "#define DECLARE(n) int n(void); DECLARE(n)", "int a;", true},
	{"", "DECLARE(f, g);", "#define DECLARE(n) int n(void)", "int a;", true},
	/* A name that a macro pastes, of which the declaration has no token. */
	{"struct pre_s { int a; };", "struct pre_s { long a; };",
	 "#define TYPE(n) struct pre_##n\nstruct t { TYPE(s) b; };", "struct t a;", true},
	{"int s_get(struct s *);", "long s_get(struct s *);",
	 "#define CALL(t) static inline int t##_call(void) { return t##_get(0); }\nCALL(s);",
	 "int a = s_call();", true},
	/* What only looks like a pointer. */
	{"extern int *s;", "extern long *s;", "struct t { typeof(*s) b; };", "struct t a;", true},
	{"enum { S = 1 };", "enum { S = 2 };", "struct t { int a : 2 * S; };", "struct t a;", true},
	{"enum { S = 1 };", "enum { S = 2 };", "enum { X = 1 };\nstruct t { int a : S * X; };",
	 "struct t a;", true},
	{"struct s { int a; };", "struct s { long a; };", "struct t { struct s\n#ifdef X\n*\n#endif\np; };",
	 "struct t a;", true},
	{"struct s { int a; };", "struct s { long a; };",
	 "struct t { struct s\n#ifdef CONFIG_OFF\n*\n#endif\np; };", "struct t a;", true},
	/* Text that the configuration leaves out of a declaration. */
	{"static inline\n#ifdef CONFIG_OFF\nint g(void)\n#else\nint f(void)\n#endif\n{ return 1; }",
	 "static inline\n#ifdef CONFIG_OFF\nint g(void)\n#else\nint f(void)\n#endif\n{ return 2; }", "",
	 "int a = f();", true},
	{"#ifdef CONFIG_ON\nint f(int);\n#else\nint f(int);\n#endif",
	 "#ifdef CONFIG_ON\nint f(int);\n#else\nlong f(int);\n#endif", "", "#undef CONFIG_ON\nint a = f(1);",
	 true},
	{"#if CONFIG_OFF && 1 ? 0 : 1\nint f(int);\n#endif",
	 "#if CONFIG_OFF && 1 ? 0 : 1\nlong f(int);\n#endif", "", "int a = f(1);", true},
	{"", "DECLARE(f);", "#define DECLARE(n) int n(void) _Pragma(\"pack(1)\")", "int a;", true},
	/* Not understood. */
	{"#include <a.h>", "", "", "int a;", true},
	{"int f;", "long f;", "", "int a;", true},
	{"DECLARE(f);", "DECLARE(g);", "", "int a;", true},
	{"#define F {", "#define F", "", "int a;", true},
	{"static inline int f(int x) { return x; }",
	 "static inline int f(int x) { return x + __COUNTER__; }", "", "int a;", true},
	{"#define F 1", "#define F 2", "static inline int g(void) { return F + __COUNTER__; }", "int a;",
	 true},
	{"#define F 1", "#define F 2", "", "#include \"made.h\"", true},
	/* Left out of C. */
	{"#ifdef __ASSEMBLY__\n.macro F\n#endif", "#ifdef __ASSEMBLY__\n.macro F G\n#endif", "",
	 "int F;", false},
	{"#ifdef __ASSEMBLY__\n#else\nextern int f;\n#endif",
	 "#ifdef __ASSEMBLY__\n#else\nextern long f;\n#endif", "", "int a = f;", true},
	/* What a condition within a function leaves out. */
	{"static inline int f(int a)\n{\n#ifdef NEVER\n\ta = 1;\n#endif\n\treturn a;\n}",
	 "static inline int f(int a)\n{\n#ifdef NEVER\n#endif\n\ta = 1;\n\treturn a;\n}", "",
	 "int g(int a) { return f(a); }", true},
	/* With arguments, and without. */
	{"#define F(x) (x)", "#define F (x) (x)", "", "int x, a = F(1);", true},
	/* A comment that begins on a macro's line, and hides none of the next ones. */
	{"", "#define show_b show_c", "",
	 "#define A 1 /* a\ncomment */\n#define PASTE(x) show_##x\nint a = PASTE(b);", true},
};

/* Write a file of a tree. */
static void write_file(const char *name, const char *text)
{
	_free_ char *path = xasprintf("%s/%s", folder, name);
	_free_ char *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	assert_no_error(make_dirs(dir));
	assert_no_error(file_write(path, text, strlen(text)));
}

static char *header_text(const char *part)
{
	return xasprintf("#ifndef H\n#define H\nint before(void);\n%s\nint after(void);\n#endif\n",
			 part);
}

static void split_text(const char *text, struct text_lines *ret)
{
	text_lines_split(text, strlen(text), ret);
	for (size_t i = 0; i < ret->count; i++)
		ret->list[i].origin = 0;
}

static void add_change(struct changes *changes, const char *path, const char *old, const char *new)
{
	struct changed_file *file = changes_add(changes, path);

	split_text(old, &file->old_lines);
	split_text(new, &file->new_lines);
}

static void changes_deinit(struct changes *changes)
{
	for (size_t i = 0; i < changes->files.count; i++) {
		text_lines_deinit(&changes->files.list[i].old_lines);
		text_lines_deinit(&changes->files.list[i].new_lines);
		free(changes->files.list[i].path);
	}
	vec_deinit(&changes->files);
	map_deinit(&changes->by_path);
}

/* As diffs make the other header, before and after. */
static const char *other_now;

/* @row: its source is the whole one, its other header, too */
static bool keeps(const struct name_case *row)
{
	_free_ char *old = header_text(row->old), *new = header_text(row->new);
	_free_ char *kept = xasprintf("%s/.pokepatch/graph", folder);
	static const char apart[] = "#define APART 1\n";
	struct changes changes = {}, same = {};
	struct include_graph graph;
	struct name_filter filter;
	const char *path;
	bool result;

	write_file("include/linux/h.h", old);
	write_file("include/linux/other.h", row->other);
	write_file("include/linux/uses.h", "int uses[F];\n");
	write_file("include/linux/apart.h", apart);
	write_file("a.c", row->source);
	write_file("include/generated/autoconf.h",
		   "#define CONFIG_ON 1\n#define CONFIG_PART_MODULE 1\n#define CONFIG_NUMBER 4\n");
	write_file(".pokepatch/ready", "");
	unlink(kept); /* of the case before */
	add_change(&changes, "include/linux/h.h", old, new);
	add_change(&changes, "include/linux/apart.h", apart, "#define APART 2\n");
	if (other_now)
		add_change(&same, "include/linux/other.h", "", other_now);
	assert_no_error(include_graph_load(folder, "x86", &graph));
	for (size_t i = 0; i < changes.files.count; i++)
		include_graph_change(&graph, changes.files.list[i].path,
				     &changes.files.list[i].new_lines);
	path = map_get(&graph.files, "a.c");
	assert_no_error(name_filter_init(&filter, folder, &changes, other_now ? &same : NULL,
					 &graph));
	if (name_filter_any(&filter))
		assert_no_error(name_filter_load(&filter, path));
	name_filter_decide(&filter);
	result = name_filter_keeps(&filter, &path, 1);
	name_filter_deinit(&filter);
	include_graph_deinit(&graph);
	changes_deinit(&changes);
	changes_deinit(&same);
	return result;
}

static bool keeps_unit(const struct name_case *row)
{
	_free_ char *source = xasprintf("#include <linux/h.h>\n#include <linux/other.h>\n%s\n",
					row->source);
	_free_ char *other = xasprintf("%s\n", row->other);
	const struct name_case whole = {row->old, row->new, other, source, row->keeps};

	return keeps(&whole);
}

static void test_units_by_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(name_cases); i++) {
		const struct name_case *row = &name_cases[i];

		/* A change matters in both directions. */
		for (int swapped = 0; swapped < 2; swapped++) {
			const struct name_case sides = {swapped ? row->new : row->old,
							swapped ? row->old : row->new, row->other,
							row->source, row->keeps};

			if (keeps_unit(&sides) != row->keeps)
				fail_msg("name_filter_keeps() is %d: %s => %s; %s; %s", !row->keeps,
					 sides.old, sides.new, row->other, row->source);
		}
	}
}

/*
 * A header that diffs change before and after; "other" is what they make of another, which the tree
 * has as an empty file.
 */
static const struct name_case changed_cases[] = {
	{"#define F 1", "#define F 2", "", "int x = 1;", false},
	{"#define F 1", "#define F 2", "", "int x = F;", true},
	{"#define F 1", "#define F 2", "#define G F", "int x = G;", true},
	{"#define F 1", "#define F 2", "#define G 1", "int x = G;", false},
	/* A line that diffs have added to both has another number. */
	{"#define F 1\nstatic inline int g(void) { WARN_ON(1); }", "static inline int g(void) { WARN_ON(1); }\n#define F 1", "",
	 "int x(void) { return g(); }", true},
	{"#define F 1\nstatic inline int g(void) { WARN_ON(1); }", "static inline int g(void) { WARN_ON(1); }", "",
	 "int x(void) { return g(); }", true},
	{"#define F 1\nstatic inline int g(void) { WARN_ON(1); }", "#define F 2\nstatic inline int g(void) { WARN_ON(1); }", "",
	 "int x(void) { return g(); }", false},
};

static void test_units_of_two_changes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changed_cases); i++) {
		const struct name_case *row = &changed_cases[i];
		_free_ char *now = xasprintf("%s\n", row->other);
		const struct name_case unit = {row->old, row->new, "", row->source, row->keeps};
		bool kept;

		other_now = now;
		kept = keeps_unit(&unit);
		other_now = NULL;
		if (kept != row->keeps)
			fail_msg("name_filter_keeps() is %d: %s => %s; %s; %s", !row->keeps,
				 row->old, row->new, row->other, row->source);
	}
}

#define OTHER "<linux/other.h>"
#define GUARDED(text) "#ifndef O\n#define O\n" text "\n#endif\n"

/* A header that changes includes another; "source" has what comes before the header. */
static const struct name_case include_cases[] = {
	{"", "#include " OTHER, GUARDED("int o;"), "#include " OTHER, false},
	{"", "#include " OTHER, GUARDED("int o;"), "", true},
	{"", "#include " OTHER, "int o;\n", "#include " OTHER, true},
	{"#include " OTHER "\nextern int quiet;", "extern int quiet;\n#include " OTHER, GUARDED(""), "#include " OTHER,
	 false},
	{"#include " OTHER "\nextern int quiet;", "extern int quiet;\n#include " OTHER, GUARDED(""), "", true},
	{"", "#include_next " OTHER, GUARDED("int o;"), "#include " OTHER, true},
	{"", "#include OTHER", GUARDED("int o;"), "#include " OTHER, true},
	/* Whether the other one is there already may depend on a macro. */
	{"", "#include " OTHER, GUARDED(""), "#ifdef X\n#include " OTHER "\n#endif", true},
	{"", "#include " OTHER, GUARDED(""), "#ifdef X\n#else\n#include " OTHER "\n#endif", true},
	{"", "#include " OTHER, GUARDED(""), "#ifdef CONFIG_ON\n#include " OTHER "\n#endif",
	 false},
	{"", "#include " OTHER, GUARDED(""), "#ifdef CONFIG_OFF\n#include " OTHER "\n#endif",
	 true},
	{"", "#include " OTHER, GUARDED(""),
	 "#if X\n#elif defined(CONFIG_ON)\n#include " OTHER "\n#endif", true},
	/* A comment includes nothing. */
	{"", "#include " OTHER, GUARDED(""), "/*\n#include " OTHER "\n*/", true},
	/* Something else includes it. */
	{"", "#include " OTHER, GUARDED(""), "#include <linux/by.h>", false},
	{"", "#include " OTHER, GUARDED(""), "#include <linux/maybe.h>", true},
	{"", "#include " OTHER, GUARDED(""), "#include \"by.c\"", false},
	{"#include <linux/by.h>", "#include <linux/by.h>\n#include " OTHER, GUARDED(""), "", false},
	{"#include <linux/by.h>", "#include " OTHER "\n#include <linux/by.h>", GUARDED(""), "",
	 true},
	{"#include <linux/maybe.h>", "#include <linux/maybe.h>\n#include " OTHER, GUARDED(""), "",
	 true},
	/* It begins before the header, and the header is a part of it. */
	{"", "#include " OTHER, GUARDED("#include <linux/h.h>"), "#include " OTHER, false},
	/* The header may come before it, too. */
	{"", "#include " OTHER, GUARDED(""), "#ifdef X\n#include <linux/h.h>\n#endif\n#include " OTHER,
	 true},
	{"", "#include " OTHER, GUARDED(""), "#include MACRO\n#include " OTHER, true},
	{"", "#include " OTHER, GUARDED(""), "#include <trace/define_trace.h>\n#include " OTHER,
	 false},
	/* What looks like a guard is none. */
	{"", "#include " OTHER, GUARDED(""), "#include " OTHER "\n#undef O", true},
	{"", "#include " OTHER, GUARDED(""), "#define O\n#include " OTHER, true},
	{"", "#include " OTHER, GUARDED("") "int o;\n", "#include " OTHER, true},
	{"", "#include " OTHER, GUARDED("#else"), "#include " OTHER, true},
	{"", "#include " OTHER, GUARDED("#undef O"), "#include " OTHER, true},
	{"", "#include " OTHER, "#ifdef O\n#define O\n#endif\n", "#include " OTHER, true},
	{"", "#include " OTHER, "#ifndef O\n#define P\n#endif\n", "#include " OTHER, true},
	{"", "#include " OTHER, "int o;\n" GUARDED(""), "#include " OTHER, true},
	{"", "#include " OTHER, "#ifndef O\nint o;\n#define O\n#endif\n", "#include " OTHER, true},
};

static void test_units_by_includes(void **state)
{
	(void)state;
	write_file("include/linux/by.h", "#include " OTHER "\n");
	write_file("include/linux/maybe.h", "#ifdef X\n#include " OTHER "\n#endif\n");
	write_file("by.c", "#include " OTHER "\n");
	write_file("include/trace/define_trace.h", "#include TRACE_INCLUDE(x)\n");
	for (size_t i = 0; i < ARRAY_SIZE(include_cases); i++) {
		const struct name_case *row = &include_cases[i];
		_free_ char *source = xasprintf("%s\n#include <linux/h.h>\nint a;\n", row->source);

		for (int swapped = 0; swapped < 2; swapped++) {
			const struct name_case sides = {swapped ? row->new : row->old,
							swapped ? row->old : row->new, row->other,
							source, row->keeps};

			if (keeps(&sides) != row->keeps)
				fail_msg("name_filter_keeps() is %d: %s => %s; %s; %s", !row->keeps,
					 sides.old, sides.new, row->other, row->source);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_last_one_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_a_kernel_that_was_built_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_shadow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_units_by_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_units_of_two_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_units_by_includes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
