// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of reading and applying diffs: all forms of git diff and diff -u, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pokepatch-build/patch.h"

static void parse(const char *text, struct patch *ret)
{
	struct error *error = patch_parse("t.diff", text, strlen(text), ret);

	if (error)
		fail_msg("%s", error->text);
}

/* The diff must be refused with this status, and a text that has each of these parts. */
static void parse_fails(const char *text, enum exit_status status, const char *part)
{
	struct patch patch;
	struct error *error = patch_parse("t.diff", text, strlen(text), &patch);

	assert_non_null(error);
	assert_int_equal(error->status, status);
	if (!strstr(error->text, part) || !has_prefix(error->text, "t.diff"))
		fail_msg("'%s' lacks '%s'", error->text, part);
	assert_null(patch.entries);
	error_destroy(error);
}

static unsigned int max_fuzz;

/* Apply the diff's first entry; NULL: it does not apply, and *error_text says why. */
static char *apply(const char *diff, const char *old, struct hunk_place **places,
		   char **error_text)
{
	struct text_lines lines;
	struct buffer out = {};
	struct patch patch;
	struct error *error;

	parse(diff, &patch);
	text_lines_split(old, strlen(old), &lines);
	error = patch_apply("t.diff", &patch.entries[0], &lines, max_fuzz, places);
	if (error) {
		*error_text = xstrdup(error->text);
		error_destroy(error);
	} else {
		buffer_add(&out, "", 0);
		text_lines_join(&lines, &out);
	}
	text_lines_deinit(&lines);
	patch_deinit(&patch);
	return error ? NULL : out.text ? out.text : xstrdup("");
}

static void applies(const char *diff, const char *old, const char *new, long offset,
		    unsigned int fuzz)
{
	struct hunk_place *places = NULL;
	char *why = NULL;
	char *text = apply(diff, old, &places, &why);

	if (!text)
		fail_msg("%s", why);
	assert_string_equal(text, new);
	assert_int_equal(places[0].offset, offset);
	assert_int_equal(places[0].fuzz, fuzz);
	free(places);
	free(text);
}

static void applies_not(const char *diff, const char *old, const char *part)
{
	struct hunk_place *places = NULL;
	char *why = NULL;
	char *text = apply(diff, old, &places, &why);

	assert_null(text);
	if (!strstr(why, part))
		fail_msg("'%s' lacks '%s'", why, part);
	free(why);
}

#define NAMES "--- a/fs/x.c\n+++ b/fs/x.c\n"
#define SIMPLE "@@ -2,3 +2,3 @@ f()\n b\n-c\n+C\n d\n"

static void test_forms(void **state)
{
	struct patch patch;

	(void)state;
	/* diff -u, with times; prose around; another tree's name; CRLF. */
	parse("Some prose\n--- linux.orig/fs/x.c\t2026-01-01 10:00:00.000 +0000\n"
	      "+++ linux/fs/x.c\t2026-01-02 10:00:00.000 +0000\n" SIMPLE "prose\n-- \n2.39\n",
	      &patch);
	assert_int_equal(patch.nr_entries, 1);
	assert_int_equal(patch.entries[0].change, PATCH_MODIFY);
	assert_string_equal(patch.entries[0].old_path, "fs/x.c");
	assert_string_equal(patch.entries[0].new_path, "fs/x.c");
	assert_int_equal(patch.entries[0].nr_hunks, 1);
	assert_int_equal(patch.entries[0].hunks[0].nr_lines, 4);
	assert_int_equal(patch.entries[0].hunks[0].diff_line, 4);
	patch_deinit(&patch);

	/* A copy of the old text, or of the new one, beside the file. */
	for (size_t i = 0; i < 2; i++) {
		parse(i ? "--- linux/fs/x.c.orig\n+++ linux/fs/x.c\n" SIMPLE
			: "--- linux/fs/x.c\n+++ linux/fs/x.c~\n" SIMPLE,
		      &patch);
		assert_string_equal(patch.entries[0].old_path, "fs/x.c");
		assert_string_equal(patch.entries[0].new_path, "fs/x.c");
		patch_deinit(&patch);
	}

	parse("--- a/fs/x.c\r\n+++ b/fs/x.c\r\n@@ -2,3 +2,3 @@\r\n b\r\n-c\r\n+C\r\n d\r\n", &patch);
	assert_string_equal(patch.entries[0].new_path, "fs/x.c");
	patch_deinit(&patch);

	/* git: a mail with two files, a mode change, an empty new file. */
	parse("From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n---\n fs/x.c | 2 +-\n\n"
	      "diff --git a/fs/x.c b/fs/x.c\nindex 1..2 100644\n" NAMES SIMPLE
	      "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
	      "diff --git a/new.c b/new.c\nnew file mode 100644\nindex 0000000..e69de29\n"
	      "diff --git a/gone.c b/gone.c\ndeleted file mode 100644\nindex 1..0\n"
	      "--- a/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n-- \n2.39.5\n",
	      &patch);
	assert_int_equal(patch.nr_entries, 4);
	assert_true(patch.entries[1].mode_changed);
	assert_string_equal(patch.entries[1].new_path, "run.sh");
	assert_int_equal(patch.entries[2].change, PATCH_CREATE);
	assert_null(patch.entries[2].old_path);
	assert_string_equal(patch.entries[2].new_path, "new.c");
	assert_int_equal(patch.entries[3].change, PATCH_DELETE);
	assert_null(patch.entries[3].new_path);
	patch_deinit(&patch);
}

static void test_renames(void **state)
{
	struct patch patch;

	(void)state;
	parse("diff --git a/fs/old.c b/fs/new.c\nsimilarity index 90%\nrename from fs/old.c\n"
	      "rename to fs/new.c\nindex 1..2 100644\n--- a/fs/old.c\n+++ b/fs/new.c\n" SIMPLE
	      "diff --git a/a.c b/b.c\nsimilarity index 100%\ncopy from a.c\ncopy to b.c\n",
	      &patch);
	assert_int_equal(patch.nr_entries, 2);
	assert_int_equal(patch.entries[0].change, PATCH_RENAME);
	assert_string_equal(patch.entries[0].old_path, "fs/old.c");
	assert_string_equal(patch.entries[0].new_path, "fs/new.c");
	assert_int_equal(patch.entries[0].nr_hunks, 1);
	assert_int_equal(patch.entries[1].change, PATCH_COPY);
	patch_deinit(&patch);
}

static void test_new_and_deleted(void **state)
{
	struct patch patch;

	(void)state;
	/* For a missing file, diff -uN writes the epoch in the local time zone of its user. */
	parse("--- a/n.c\t1970-01-01 01:00:00.000000000 +0100\n+++ b/n.c\t2026-01-01 0:0:0\n"
	      "@@ -0,0 +1,2 @@\n+a\n+b\n"
	      "--- a/g.c\t2026-01-01 0:0:0\n+++ b/g.c\t1969-12-31 19:00:00.000000000 -0500\n"
	      "@@ -1 +0,0 @@\n-a\n"
	      "--- /dev/null\n+++ b/m.c\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
	      &patch);
	assert_int_equal(patch.nr_entries, 3);
	assert_int_equal(patch.entries[0].change, PATCH_CREATE);
	assert_int_equal(patch.entries[1].change, PATCH_DELETE);
	assert_int_equal(patch.entries[2].change, PATCH_CREATE);
	assert_true(patch.entries[2].hunks[0].lines[0].no_newline);
	patch_deinit(&patch);
	/* Where every file has the epoch. */
	parse("--- a/n.c\t1970-01-01 00:00:01.000000000 +0000\n+++ b/n.c\t1970-01-01 00:00:01.0 +0000\n"
	      "@@ -1 +1 @@\n-a\n+b\n",
	      &patch);
	assert_int_equal(patch.entries[0].change, PATCH_MODIFY);
	assert_string_equal(patch.entries[0].old_path, "n.c");
	assert_string_equal(patch.entries[0].new_path, "n.c");
	patch_deinit(&patch);
}

static void test_names(void **state)
{
	struct patch patch;

	(void)state;
	parse("--- \"a/fs/t\\303\\244\\\"b\\\\.c\"\n+++ \"b/fs/t\\303\\244\\\"b\\\\.c\"\n" SIMPLE,
	      &patch);
	assert_string_equal(patch.entries[0].new_path, "fs/t\303\244\"b\\.c");
	patch_deinit(&patch);
	parse("--- a/fs/with space.c\t\n+++ b/fs/with space.c\t\n" SIMPLE, &patch);
	assert_string_equal(patch.entries[0].new_path, "fs/with space.c");
	patch_deinit(&patch);
	parse("diff --git a/fs/a b.bin b/fs/a b.bin\nindex 1..2\n"
	      "Binary files a/fs/a b.bin and b/fs/a b.bin differ\n", &patch);
	assert_true(patch.entries[0].binary);
	assert_string_equal(patch.entries[0].new_path, "fs/a b.bin");
	patch_deinit(&patch);

	parse_fails("--- a/../../etc/x\n+++ b/../../etc/x\n" SIMPLE, STATUS_FAILED, "no path");
	parse_fails("--- /etc/x\n+++ /etc/x\n" SIMPLE, STATUS_FAILED, "no path");
	parse_fails("--- a/fs/./x\n+++ b/fs/./x\n" SIMPLE, STATUS_FAILED, "no path");
	parse_fails("--- x.c\n+++ x.c\n" SIMPLE, STATUS_FAILED, "one more folder");
	parse_fails("--- \"a/fs/x\n+++ b/fs/x\n" SIMPLE, STATUS_FAILED, "quoted");
	parse_fails("--- /dev/null\n+++ /dev/null\n" SIMPLE, STATUS_FAILED, "both");
	parse_fails("diff --git a/x b/y\nrename from ../x\nrename to y\n", STATUS_FAILED,
		    "no path");
}

static void test_no_diff(void **state)
{
	(void)state;
	parse_fails("", STATUS_NOTHING, "empty");
	parse_fails(" \n\t\n", STATUS_NOTHING, "empty");
	parse_fails("int main(void)\n{\n}\n", STATUS_FAILED, "not a diff");
	parse_fails("*** a/x.c\n--- b/x.c\n***************\n*** 1,2 ****\n", STATUS_FAILED,
		    "context diff");
	parse_fails("@@ -1 +1 @@\n-a\n+b\n", STATUS_FAILED, "without file names");
	parse_fails("Binary files a/x and b/x differ\n", STATUS_FAILED, "binary");
	parse_fails(NAMES "nothing\n", STATUS_FAILED, "no @@ line");
	parse_fails("diff --cc fs/x.c\n" NAMES "@@@ -1,2 -1,2 +1,3 @@@\n  a\n", STATUS_FAILED,
		    "of a merge");
	parse_fails(NAMES SIMPLE "@@-9,2 +9,3 @@\n a\n", STATUS_FAILED, "t.diff:8: this line begins");
	parse_fails("diff --git a/x.c b/x.c\nindex 1111111..2222222 100644\n", STATUS_FAILED,
		    "no hunk says how");
	parse_fails("diff --git a/x.c b/x.c\nnew file mode 100644\nindex 0000000..1111111\n",
		    STATUS_FAILED, "no hunk says how");
	parse_fails(NAMES "@@ -1,2 @@\n", STATUS_FAILED, "malformed @@");
	parse_fails(NAMES "@@ -0,2 +1 @@\n a\n", STATUS_FAILED, "malformed @@");
	parse_fails(NAMES "@@ -1,99999999999999999999 +1 @@\n a\n", STATUS_FAILED, "malformed @@");
	parse_fails(NAMES "@@ -1,5 +1,5 @@\n a\n b\n", STATUS_FAILED, "t.diff:5: the diff ends");
	parse_fails(NAMES "@@ -1,2 +1,2 @@\n a\n+b\n+c\n+d\n e\n", STATUS_FAILED, "do not fit");
	/* What the numbers leave out would be lost. */
	parse_fails(NAMES "@@ -1,2 +1,3 @@\n a\n b\n+c\n+d\n", STATUS_FAILED, "t.diff:7: the hunk's");
	parse_fails(NAMES "@@ -1,2 +1 @@\n a\n-b\n-c\n", STATUS_FAILED, "t.diff:6: the hunk's");
	parse_fails(NAMES "@@ -1,2 +1,2 @@\n a\nxyz\n", STATUS_FAILED, "do not fit");
	struct patch patch;
	struct error *error = patch_parse("t.diff", NAMES "\0x", sizeof(NAMES) + 1, &patch);

	assert_non_null(error);
	assert_non_null(strstr(error->text, "binary data"));
	error_destroy(error);
}

static void test_apply(void **state)
{
	(void)state;
	applies(NAMES SIMPLE, "a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n", 0, 0);
	/* Two hunks; the second one is moved by the first. */
	applies(NAMES "@@ -1,2 +1,3 @@\n a\n+x\n b\n@@ -4,2 +5,1 @@\n d\n-e\n",
		"a\nb\nc\nd\ne\n", "a\nx\nb\nc\nd\n", 0, 0);
	/* No newline at the end: before, after, and of both. */
	applies(NAMES "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n", "a\nb", "a\nc\n",
		0, 0);
	applies(NAMES "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n", "a\nb\n", "a\nc",
		0, 0);
	applies(NAMES "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "a\nb", "A\nb",
		0, 0);
	applies(NAMES "@@ -2 +1,0 @@\n-b\n", "a\nb\nc\n", "a\nc\n", 0, 0);
	/* As diff -U0 writes it: nothing tells where the text belongs. */
	applies_not(NAMES "@@ -2,0 +3,2 @@\n+x\n+y\n", "a\nb\nc\n", "it has no context");
	/* Lines that it takes away do, but there may be others like them. */
	applies(NAMES "@@ -2 +2 @@\n-b\n+B\n", "a\nb\nc\nb\n", "a\nB\nc\nb\n", 0, 0);
	applies(NAMES "@@ -1 +1,2 @@\n-a\n+A\n+x\n@@ -4 +5 @@\n-b\n+B\n", "a\nb\nc\nb\n",
		"A\nx\nb\nc\nB\n", 0, 0);
	applies_not(NAMES "@@ -3 +3 @@\n-b\n+B\n", "a\nb\nc\nb\n", "it has no context");
	/* An empty file, and one that becomes empty. */
	applies(NAMES "@@ -0,0 +1 @@\n+x\n", "", "x\n", 0, 0);
	applies(NAMES "@@ -1 +0,0 @@\n-x\n", "x\n", "", 0, 0);
	/* A mail program took the space off an empty context line. */
	applies(NAMES "@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n", "a\n\nc\n", "a\n\nC\n", 0, 0);
}

/* Apply the diff's first entry backwards. */
static void assert_taken_back(const char *diff, const char *new, const char *old)
{
	struct hunk_place *places = NULL;
	struct text_lines lines;
	struct buffer out = {};
	struct patch patch;

	parse(diff, &patch);
	patch_reverse(&patch);
	text_lines_split(new, strlen(new), &lines);
	assert_null(patch_apply("t.diff", &patch.entries[0], &lines, 0, &places));
	text_lines_join(&lines, &out);
	assert_string_equal(out.text, old);
	free(places);
	buffer_deinit(&out);
	text_lines_deinit(&lines);
	patch_deinit(&patch);
}

static void test_reverse(void **state)
{
	struct patch patch;

	(void)state;
	assert_taken_back("--- a/f.c\n+++ b/f.c\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n"
			  "@@ -7,2 +8,1 @@\n seven\n-eight\n",
			  "one\n2\n2.5\nthree\n4\n5\n6\nseven\n",
			  "one\ntwo\nthree\n4\n5\n6\nseven\neight\n");
	/* A new file goes, a deleted one comes back, as does a name, and a copy goes. */
	parse("--- /dev/null\n+++ b/new.c\n@@ -0,0 +1,1 @@\n+int a;\n"
	      "--- a/gone.c\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-int b;\n"
	      "diff --git a/old.c b/other.c\nrename from old.c\nrename to other.c\n"
	      "diff --git a/one.c b/two.c\ncopy from one.c\ncopy to two.c\n",
	      &patch);
	patch_reverse(&patch);
	assert_int_equal(patch.nr_entries, 4);
	assert_int_equal(patch.entries[0].change, PATCH_DELETE);
	assert_string_equal(patch.entries[0].old_path, "new.c");
	assert_null(patch.entries[0].new_path);
	assert_int_equal(patch.entries[1].change, PATCH_CREATE);
	assert_string_equal(patch.entries[1].new_path, "gone.c");
	assert_null(patch.entries[1].old_path);
	assert_int_equal(patch.entries[2].change, PATCH_RENAME);
	assert_string_equal(patch.entries[2].old_path, "other.c");
	assert_string_equal(patch.entries[2].new_path, "old.c");
	assert_int_equal(patch.entries[3].change, PATCH_DELETE);
	assert_string_equal(patch.entries[3].old_path, "two.c");
	assert_null(patch.entries[3].new_path);
	patch_deinit(&patch);
	/* Of two changes of a file the second is undone first. */
	parse("--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-one\n+two\n"
	      "--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-two\n+three\n",
	      &patch);
	patch_reverse(&patch);
	assert_ptr_equal(patch.in_order[0], &patch.entries[1]);
	assert_ptr_equal(patch.in_order[1], &patch.entries[0]);
	patch_deinit(&patch);
}

static void test_line_ends(void **state)
{
	(void)state;
	applies("--- a/x/y\r\n+++ b/x/y\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nb\n", "a\nB\n",
		0, 0);
	applies("--- a/x/y\r\n+++ b/x/y\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\r\nb\r\n",
		"a\r\nB\r\n", 0, 0);
	applies("--- a/x/y\n+++ b/x/y\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\r\nb\r\n",
		"a\r\nB\n", 0, 0);
}

static void test_offset_and_fuzz(void **state)
{
	static const char diff[] = NAMES "@@ -3,7 +3,7 @@\n 1\n 2\n 3\n-old\n+new\n 4\n 5\n 6\n";

	(void)state;
	applies(diff, "x\nx\n1\n2\n3\nold\n4\n5\n6\n", "x\nx\n1\n2\n3\nnew\n4\n5\n6\n", 0, 0);
	applies(diff, "1\n2\n3\nold\n4\n5\n6\n", "1\n2\n3\nnew\n4\n5\n6\n", -2, 0);
	applies(diff, "x\nx\nx\nx\nx\n1\n2\n3\nold\n4\n5\n6\n",
		"x\nx\nx\nx\nx\n1\n2\n3\nnew\n4\n5\n6\n", 3, 0);
	/* Without fuzz, all context must be there. */
	applies_not(diff, "x\nx\nY\n2\n3\nold\n4\n5\n6\n", "add --fuzz 1");
	applies_not(diff, "x\nx\nY\nY\n3\nold\n4\nY\nY\n", "add --fuzz 2");
	/* Fuzz: the file's own context stays. */
	max_fuzz = 1;
	applies_not(diff, "x\nx\nY\nY\n3\nold\n4\nY\nY\n", "add --fuzz 2");
	max_fuzz = PATCH_FUZZ_MAX;
	applies(diff, "x\nx\nY\n2\n3\nold\n4\n5\n6\n", "x\nx\nY\n2\n3\nnew\n4\n5\n6\n", 0, 1);
	applies(diff, "x\nx\nY\nY\n3\nold\n4\nY\nY\n", "x\nx\nY\nY\n3\nnew\n4\nY\nY\n", 0, 2);
	applies_not(diff, "x\nx\nY\nY\nY\nold\n4\n5\n6\n", "not there");
	applies_not(diff, "", "hunk 1 does not apply to fs/x.c at line 3");
	applies_not(diff, "x\nx\n1\n2\n3\nnew\n4\n5\n6\n", "already");
	/* The nearest of several places. */
	applies(NAMES "@@ -5,3 +5,3 @@\n a\n-b\n+B\n a\n", "a\nb\na\nx\nx\na\nb\na\n",
		"a\nb\na\nx\nx\na\nB\na\n", 1, 0);
	/* No context behind: it is the file's end, so not the first place. */
	applies(NAMES "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\na\nb\n", "a\nb\na\nb\nc\n", 2, 0);
	max_fuzz = 0;
}

static void test_origin(void **state)
{
	static const char diff[] = NAMES "@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n";
	static const size_t origins[] = { 1, 0, 0, 3, 4 };
	struct hunk_place *places;
	struct text_lines lines;
	struct patch patch;

	(void)state;
	parse(diff, &patch);
	text_lines_split("a\nb\nc\nd\n", 8, &lines);
	assert_null(patch_apply("t", &patch.entries[0], &lines, 0, &places));
	assert_int_equal(lines.count, 5);
	for (size_t i = 0; i < lines.count; i++)
		assert_int_equal(lines.list[i].origin, origins[i]);
	free(places);
	text_lines_deinit(&lines);
	patch_deinit(&patch);
}

/* ---- damage ----------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252ULL;

/* xorshift64: the same damage in every run. */
static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void damage(char *text, size_t *length)
{
	static const char pieces[] = " +-@\\\"\n\t0129/,";

	for (uint64_t n = random_number() % 8; n-- && *length;) {
		size_t at = random_number() % *length;

		switch (random_number() % 3) {
		case 0:
			text[at] = pieces[random_number() % (sizeof(pieces) - 1)];
			break;
		case 1:
			memmove(text + at, text + at + 1, *length - at - 1);
			(*length)--;
			break;
		case 2:
			*length = at;
			break;
		}
	}
}

/* Damaged diffs are read or refused; under ASan and UBSan this finds what goes astray. */
static void test_damage(void **state)
{
	static const char diff[] =
		"diff --git a/fs/x.c b/fs/x.c\nindex 1..2 100644\n--- \"a/fs/\\170.c\"\n"
		"+++ \"b/fs/\\170.c\"\n@@ -1,3 +1,4 @@ f\n a\n-b\n+x\n+y\n c\n@@ -8,2 +9,1 @@\n h\n-i\n"
		"\\ No newline at end of file\ndiff --git a/o b/n\nrename from o\nrename to n\n"
		"--- /dev/null\n+++ b/z.c\n@@ -0,0 +1 @@\n+z\n";
	static const char old[] = "a\nb\nc\nd\ne\nf\ng\nh\ni";
	size_t read = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[sizeof(diff)];
		size_t length = sizeof(diff) - 1;
		struct patch patch;
		struct error *error;

		memcpy(text, diff, sizeof(diff));
		damage(text, &length);
		error = patch_parse("t.diff", text, length, &patch);
		if (error) {
			error_destroy(error);
			continue;
		}
		read++;
		for (size_t i = 0; i < patch.nr_entries; i++) {
			struct hunk_place *places = NULL;
			struct text_lines lines;

			text_lines_split(old, strlen(old), &lines);
			error = patch_apply("t.diff", &patch.entries[i], &lines, PATCH_FUZZ_MAX, &places);
			if (error)
				error_destroy(error);
			else
				free(places);
			text_lines_deinit(&lines);
		}
		patch_deinit(&patch);
	}
	assert_true(read > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),	    cmocka_unit_test(test_renames),
		cmocka_unit_test(test_new_and_deleted), cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_diff),	    cmocka_unit_test(test_apply),
		cmocka_unit_test(test_reverse),
		cmocka_unit_test(test_line_ends),   cmocka_unit_test(test_offset_and_fuzz),
		cmocka_unit_test(test_origin),	    cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
