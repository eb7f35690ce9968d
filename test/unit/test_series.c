// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of reading series: each format, what messages say of a commit, and damaged input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "folder.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/series.h"
#include "pokepatch-build/series_mail.h"

#define SHA_A "0123456789abcdef0123456789abcdef01234567"
#define SHA_B "89abcdef0123456789abcdef0123456789abcdef"
#define FROM(sha) "From " sha " Mon Sep 17 00:00:00 2001\n"
#define CHANGE(file, old, new)                                                                     \
	"--- a/" file "\n+++ b/" file "\n@@ -1 +1 @@\n-" old "\n+" new "\n"
#define DIFF CHANGE("mm/a.c", "one", "two")
#define SIGNATURE "-- \n2.39.5\n\n"

static struct build build;

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

static void put(const char *name, const char *text)
{
	_free_ char *path = path_of(name);
	_free_ char *parent = xstrdup(path);

	*strrchr(parent, '/') = '\0';
	assert_no_error(make_dirs(parent));
	assert_no_error(file_write(path, text, strlen(text)));
}

static void forget(void)
{
	for (size_t i = 0; i < build.nr_patches; i++) {
		patch_deinit(&build.patches[i].patch);
		commit_destroy(build.patches[i].commit);
	}
	free(build.patches);
	build_notes_deinit(&build);
	build = (struct build){0};
}

static struct error *read_series(const char *name)
{
	_free_ char *path = path_of(name);

	forget();
	return series_read(&build, path);
}

static void reads(const char *name, size_t count)
{
	assert_no_error(read_series(name));
	assert_int_equal(build.nr_patches, count);
}

static void fails(const char *name, const char *part)
{
	assert_error(read_series(name), STATUS_FAILED, part);
	forget();
}

/* @cves: with a blank behind each */
static void is_commit(size_t index, const char *id, const char *subject, const char *cves)
{
	const struct commit *commit = build.patches[index].commit;
	struct buffer text = {0};

	assert_string_equal(commit->id, id);
	assert_string_equal(commit->subject, subject);
	buffer_add(&text, "", 0);
	for (size_t i = 0; i < commit->cves.count; i++)
		buffer_printf(&text, "%s ", commit->cves.list[i]);
	assert_string_equal(text.text, cves);
	buffer_deinit(&text);
}

static void test_mailbox(void **state)
{
	(void)state;
	put("x.mbox",
	    FROM("0000000000000000000000000000000000000000") "Subject: [PATCH 0/2] a cover letter\n\n"
	    "CVE-2024-9999 and so on\n" SIGNATURE
	    FROM(SHA_A) "From: A <a@b.c>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n"
	    "Subject: [PATCH 1/2] mm: a subject that is so long that it\n is folded\n\n"
	    "commit " SHA_B " upstream.\n\nThis is CVE-2024-12345, and cve-2023-0001.\n"
	    "CVE-2024-12345 again; neither XCVE-2024-1111 nor CVE-2024-12.\n---\n mm/a.c | 2 +-\n"
	    "From the list: a line of prose\n" DIFF SIGNATURE
	    FROM(SHA_B) "Subject: [PATCH 2/2] mm: the other\n\nText.\n---\n"
	    CHANGE("mm/a.c", "two", "three") CHANGE("mm/b.c", "x", "y") SIGNATURE);
	reads("x.mbox", 2);
	is_commit(0, SHA_A, "mm: a subject that is so long that it is folded",
		  "CVE-2023-0001 CVE-2024-12345 ");
	is_commit(1, SHA_B, "mm: the other", "");
	assert_int_equal(build.patches[0].patch.nr_entries, 1);
	assert_int_equal(build.patches[1].patch.nr_entries, 2);
	assert_string_equal(build.patches[1].patch.entries[1].new_path, "mm/b.c");
	/* Messages count the mailbox's lines. */
	assert_int_equal(build.patches[1].patch.entries[0].diff_line, 34);
	assert_non_null(strstr(build.notes.text, "x.mbox:1: left out: a text without a diff"));
	/* Copied with blank lines in front. */
	put("blank.mbox", "\n \n" FROM(SHA_A) "Subject: [PATCH 1/2] a\n\n---\n" DIFF SIGNATURE
	    FROM(SHA_B) "Subject: [PATCH 2/2] b\n\n---\n" CHANGE("mm/b.c", "x", "y") SIGNATURE);
	reads("blank.mbox", 2);
	is_commit(0, SHA_A, "a", "");
	is_commit(1, SHA_B, "b", "");
	assert_int_equal(build.patches[0].patch.entries[0].diff_line, 7);
	reads("x.mbox", 2);
	/* Another mail has another sum. */
	assert_string_not_equal(build.patches[0].sha256, build.patches[1].sha256);
}

static void test_folders(void **state)
{
	(void)state;
	put("mails/0002-b.patch", FROM(SHA_B) "Subject: [PATCH] b\n\n---\n" DIFF SIGNATURE);
	put("mails/0001-a.patch", FROM(SHA_A) "Subject: [PATCH] a\n\n---\n" DIFF SIGNATURE);
	put("mails/0000-cover-letter.patch", FROM(SHA_A) "Subject: [PATCH 0/2] *** SUBJECT HERE ***\n\n"
	    "*** BLURB HERE ***\n\n--- a line of prose\n");
	put("mails/notes.txt", "nothing to read\n");
	reads("mails", 2);
	is_commit(0, SHA_A, "a", "");
	is_commit(1, SHA_B, "b", "");
	assert_non_null(strstr(build.notes.text, "mails/notes.txt: left out: its name does not end in .patch"));
	reads("mails/", 2);

	put("quilt/series", "# first\n\nsub/z.patch -p1 # why\na.patch -p0\r\nb.patch -p2\n");
	put("quilt/sub/z.patch", "Description: the first one\n longer text\nOrigin: upstream, "
	    "https://git.kernel.org/linus/" SHA_A "\nBug-CVE: CVE-2022-1234\n\n" DIFF);
	put("quilt/a.patch", "--- mm/a.c\n+++ mm/a.c\n@@ -1 +1 @@\n-two\n+three\n");
	put("quilt/b.patch", "--- x/y/mm/b.c\n+++ x/z/mm/b.c\n@@ -1 +1 @@\n-two\n+three\n");
	reads("quilt", 3);
	is_commit(0, SHA_A, "the first one", "CVE-2022-1234 ");
	is_commit(1, "a.patch", "a.patch", "");
	assert_string_equal(build.patches[1].patch.entries[0].new_path, "mm/a.c");
	assert_string_equal(build.patches[2].patch.entries[0].new_path, "mm/b.c");
	reads("quilt/series", 3);
	put("quilt/other", "a.patch -p0\n");
	reads("quilt/other", 1);
}

static void test_single(void **state)
{
	(void)state;
	put("plain.diff", DIFF);
	reads("plain.diff", 1);
	is_commit(0, "plain.diff", "plain.diff", "");
	put("prose.diff", "\nmm: why\n\n(cherry picked from commit " SHA_A ")\n" DIFF);
	reads("prose.diff", 1);
	is_commit(0, SHA_A, "mm: why", "");
	put("first.diff", "mm: why\n\nBecause.\n" DIFF);
	reads("first.diff", 1);
	is_commit(0, "first.diff", "mm: why", "");
	put("show.diff", "commit " SHA_B "\nAuthor: A <a@b>\nDate:   today\n\n    mm: shown\n\n"
	    "    [ Upstream commit " SHA_A " ]\n\ndiff --git a/mm/a.c b/mm/a.c\n" DIFF);
	reads("show.diff", 1);
	is_commit(0, SHA_B, "mm: shown", "");
	put("stable.diff", "Subject: mm: x\n\n[ Upstream commit 0123456789abc ]\n\n" DIFF);
	reads("stable.diff", 1);
	is_commit(0, "0123456789abc", "mm: x", "");
	/* A commit that the text names in passing is not the one that it is. */
	put("fixes.diff", "Subject: mm: x\n\nFixes: " SHA_A " (\"y\")\nSince commit " SHA_B
	    " it fails.\n\n" DIFF);
	reads("fixes.diff", 1);
	is_commit(0, "fixes.diff", "mm: x", "");
}

static void subject_is(const char *raw, const char *wanted)
{
	_free_ char *text = xasprintf("Subject: %s\n\n" DIFF, raw);

	put("s.patch", text);
	reads("s.patch", 1);
	is_commit(0, "s.patch", wanted, "");
}

static void test_subjects(void **state)
{
	(void)state;
	subject_is("[PATCH 6.1 003/131] [net] x: y [z]", "x: y [z]");
	subject_is("Re: [PATCH v2] x", "x");
	subject_is("=?UTF-8?q?caf=C3=A9?= =?UTF-8?q?=20bar?= end", "caf\xc3\xa9 bar end");
	subject_is("[PATCH] =?iso-8859-1?Q?caf=E9_bar?=", "caf\xc3\xa9 bar");
	subject_is("=?utf-8?b?Y2Fmw6k=?=", "caf\xc3\xa9");
	subject_is("=?utf-8?q?broken", "=?utf-8?q?broken");
	subject_is("=?no-such-charset?q?x?=", "=?no-such-charset?q?x?=");
	subject_is("bytes \xff\xfe", "bytes ??");
	subject_is("a\x1b[31m", "a\\x1b[31m");
	subject_is("[unfinished", "[unfinished");
}

static void test_encodings(void **state)
{
	(void)state;
	put("q.eml", "Subject: q\nContent-Transfer-Encoding: quoted-printable\n\nCVE=2D2024-1234 a =\n"
	    "b\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1 +1 @@\n-x =3D 1;\n+x =3D=20=\n2;\n");
	reads("q.eml", 1);
	is_commit(0, "q.eml", "q", "CVE-2024-1234 ");
	assert_int_equal(build.patches[0].patch.entries[0].hunks[0].lines[1].length, 6);
	assert_memory_equal(build.patches[0].patch.entries[0].hunks[0].lines[1].text, "x = 2;", 6);

	/* "text\n" and DIFF */
	put("b.eml", "Subject: b\nContent-Transfer-Encoding: base64\n\n"
	    "dGV4dAotLS0gYS9tbS9hLmMKKysrIGIvbW0v\nYS5jCkBAIC0xICsxIEBACi1vbmUKK3R3bwo=\n");
	reads("b.eml", 1);
	assert_string_equal(build.patches[0].patch.entries[0].new_path, "mm/a.c");

	put("bad.eml", "Subject: b\nContent-Transfer-Encoding: base64\n\n!!!!\n" DIFF);
	fails("bad.eml", "bad.eml:1: this mail's base64 text is damaged");
	put("bad.eml", "Subject: b\nContent-Transfer-Encoding: quoted-printable\n\n=XY\n" DIFF);
	fails("bad.eml", "bad.eml:1: this mail's quoted-printable text is damaged");
	put("bad.eml", "Subject: b\nContent-Transfer-Encoding: uuencode\n\n" DIFF);
	fails("bad.eml", "unknown encoding, 'uuencode'");
	put("bad.eml", "Subject: b\nContent-Type: multipart/mixed; boundary=x\n\n" DIFF);
	fails("bad.eml", "this mail has several parts");
}

/* A mailbox as lists keep it: patches in any order, with replies to them. */
static void test_list(void **state)
{
	(void)state;
	put("list.mbox", "\xef\xbb\xbf" FROM(SHA_B) "Subject: [PATCH v2 2/2] b\n\n---\n"
	    CHANGE("mm/a.c", "two", "three") SIGNATURE
	    "From a@b.c Mon Jan  1 10:34:56 UTC 2024\n>From old@b.c\nX-Spam_score: 1\n"
	    "Content-Type: multipart/signed\nSubject: Re: [PATCH v2 1/2] a\n\n> --- a/mm/a.c\n\n"
	    "From 10:34:56 on, the log is empty.\n"
	    FROM(SHA_A) "X-Spam_score: -2.0\nContent-Transfer-Encoding: base64\n"
	    "Subject: [PATCH v2 1/2] a\n\n"
	    "dGV4dAotLS0gYS9tbS9hLmMKKysrIGIvbW0vYS5jCkBAIC0xICsxIEBACi1vbmUKK3R3bwo=\n");
	reads("list.mbox", 2);
	is_commit(0, SHA_A, "a", "");
	is_commit(1, SHA_B, "b", "");
	assert_non_null(strstr(build.notes.text, "list.mbox:13: left out: a text without a diff"));
	put("reply.mbox", FROM(SHA_A) "Subject: [PATCH] a\n\n---\n" DIFF SIGNATURE
	    FROM(SHA_B) "Subject: Re: [PATCH] a\n\nWhy not\n" DIFF);
	fails("reply.mbox", "reply.mbox:13: a reply with a diff");
	/* Numbers of two series say nothing of both. */
	put("two.mbox", FROM(SHA_B) "Subject: [PATCH 2/2] b\n\n---\n" DIFF FROM(SHA_A)
	    "Subject: [PATCH 1/3] a\n\n---\n" DIFF);
	reads("two.mbox", 2);
	is_commit(0, SHA_B, "b", "");
	/* Saved with a blank line in front. */
	put("saved.eml", "\n\nSubject: b\nContent-Transfer-Encoding: base64\n\n"
	    "dGV4dAotLS0gYS9tbS9hLmMKKysrIGIvbW0vYS5jCkBAIC0xICsxIEBACi1vbmUKK3R3bwo=\n");
	reads("saved.eml", 1);
	is_commit(0, "saved.eml", "b", "");
}

static void test_damaged(void **state)
{
	_free_ char *bytes = path_of("bytes.patch");

	(void)state;
	fails("missing", "No such file");
	put("empty/readme", "x\n");
	fails("empty", "neither a file 'series' nor *.patch files");
	put("none/series", "# nothing yet\n");
	fails("none", "there is no commit with a diff in it");
	put("lost/series", "lost.patch\n");
	fails("lost", "lost/series names 'lost.patch', and there is no such file");
	put("lost/series", "a.patch -R\n");
	fails("lost", "lost/series:1: option -R of patch a.patch is not supported");
	put("cut.mbox", FROM(SHA_A) "Subject: a\n\n" DIFF FROM(SHA_B) "Subject: b\n\n"
	    "--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,2 +1,2 @@\n-two\n");
	fails("cut.mbox", "cut.mbox:15: the diff ends within the hunk");
	put("away.patch", CHANGE("../../etc/passwd", "x", "y"));
	fails("away.patch", "is no path in a source tree");
	put("empty.patch", "");
	fails("empty.patch", "there is no commit");
	assert_no_error(file_write(bytes, "--- a/x\0", 8));
	fails("bytes.patch", "binary data, or a text that is not in UTF-8");
	put("lost/series", "a.patch\n");
	put("lost/a.patch", "Subject: a\n\nWhat it would do.\n");
	fails("lost", "lost/a.patch:1: there is no diff in this patch");
	put("lost.mbox", FROM(SHA_A) "Subject: [PATCH 1/2] a\n\n---\n" DIFF FROM(SHA_B)
	    "Subject: [PATCH 2/2] b\n\nWhat it would do.\n");
	fails("lost.mbox", "lost.mbox:10: there is no diff in this patch");
	put("log.diff", "commit " SHA_B "\nAuthor: A <a@b>\n\n    b\n\n" CHANGE("mm/a.c", "two", "x")
	    "\ncommit " SHA_A "\nAuthor: A <a@b>\n\n    a\n\n" DIFF);
	fails("log.diff", "log.diff:1: several commits as git log prints them");
	forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mailbox, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_single, setup, teardown),
		cmocka_unit_test_setup_teardown(test_subjects, setup, teardown),
		cmocka_unit_test_setup_teardown(test_encodings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
