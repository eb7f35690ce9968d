// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a series of commits; see series.h. */
#include "pokepatch-build/series.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pokepatch-build/about.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/quilt.h"
#include "pokepatch-build/series_mail.h"

/* Digits of an abbreviated SHA that are enough to tell commits of Linux apart. */
#define SHA_SHORT 12
#define SHA_LONG  40

void commit_destroy(struct commit *commit)
{
	if (!commit)
		return;
	for (size_t i = 0; i < commit->cves.count; i++)
		free(commit->cves.list[i]);
	for (size_t i = 0; i < commit->reasons.count; i++)
		free(commit->reasons.list[i]);
	for (size_t i = 0; i < commit->functions.count; i++)
		free(commit->functions.list[i]);
	vec_deinit(&commit->cves);
	vec_deinit(&commit->reasons);
	vec_deinit(&commit->needs);
	vec_deinit(&commit->functions);
	map_deinit(&commit->functions_by_name);
	free(commit->id);
	free(commit->subject);
	free(commit->file);
	free(commit);
}

char *commit_label(const struct commit *commit)
{
	const size_t digits = strspn(commit->id, "0123456789abcdef");
	const bool sha = digits == SHA_LONG && !commit->id[digits];

	if (!strcmp(commit->id, commit->subject))
		return xstrdup(commit->id);
	return xasprintf("%.*s (\"%s\")", sha ? SHA_SHORT : (int)strlen(commit->id), commit->id,
			 commit->subject);
}

bool commit_is_live(const struct commit *commit)
{
	return !commit->left_out && !commit->idle && !commit->reasons.count;
}

void commit_add_reason(struct commit *commit, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	char *text = one_line(xvasprintf(format, list));
	va_end(list);
	for (size_t i = 0; i < commit->reasons.count; i++)
		if (!strcmp(commit->reasons.list[i], text)) {
			free(text);
			return;
		}
	*vec_push(&commit->reasons) = text;
}

/* ---- what a message says ---------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The lines by which commits of the stable trees, and those that distributions take over, name the
 * commit that they were made from; upper and lower case are the same.
 */
static const struct origin_line {
	const char *before, *behind;
} origin_lines[] = {
	{"commit ", " upstream"},
	{"[ Upstream commit ", " ]"},
	{"[Upstream commit ", "]"},
	{"Upstream commit ", ""},
	{"Upstream commit: ", ""},
	{"(cherry picked from commit ", ")"},
	{"(backported from commit ", ")"},
};

static size_t count_hex(const char *text)
{
	return strspn(text, "0123456789abcdefABCDEF");
}

/* The SHA of a line of the message, or NULL. */
static char *origin_of_line(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(origin_lines); i++) {
		const struct origin_line *form = &origin_lines[i];
		const size_t before = strlen(form->before);
		size_t digits;

		if (strncasecmp(line, form->before, before))
			continue;
		digits = count_hex(line + before);
		if (digits >= SHA_SHORT && digits <= SHA_LONG &&
		    !strncasecmp(line + before + digits, form->behind, strlen(form->behind)))
			return xstrndup(line + before, digits);
	}
	return NULL;
}

/* The SHA at the end of the address in "Origin: upstream, https://git.kernel.org/linus/SHA". */
static char *origin_of_address(const char *line)
{
	if (strncasecmp(line, "Origin:", strlen("Origin:")))
		return NULL;
	for (const char *p = line; (p = strpbrk(p, "/="));) {
		const size_t digits = count_hex(++p);

		if (digits == SHA_LONG && !isalnum((unsigned char)p[digits]))
			return xstrndup(p, digits);
	}
	return NULL;
}

/* Find the commit that a message names, in its lines that have the form of one of those above. */
static char *find_origin(const char *message)
{
	_free_ char *copy = xstrdup(message);
	char *rest = copy, *address = NULL;

	for (char *line; (line = strsep(&rest, "\n"));) {
		line += strspn(line, " \t");
		char *found = origin_of_line(line);

		if (found) {
			free(address);
			return found;
		}
		if (!address)
			address = origin_of_address(line);
	}
	return address;
}

static void find_cves(const char *message, struct commit *commit)
{
	struct map seen = {0};
	char before = ' ';

	for (const char *p = message; *p; before = *p++) {
		const size_t length = isalnum((unsigned char)before) ? 0 : cve_length(p);

		if (!length)
			continue;
		char *number = xstrndup(p, length);
		for (char *c = number; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		if (map_has(&seen, number)) {
			free(number);
			continue;
		}
		map_slot(&seen, number);
		*vec_push(&commit->cves) = number;
	}
	map_deinit(&seen);
	if (commit->cves.count)
		qsort(commit->cves.list, commit->cves.count, sizeof(char *), order_strings);
}

/* ---- patches ---------------------------------------------------------------- */

/* Does any line look like the beginning of a diff?  A cover letter and a reply have none. */
static bool has_diff(const char *text)
{
	static const struct {
		const char *head, *next; /* next: of the line behind it, or NULL */
	} heads[] = {
		{"--- ", "+++ "},
		{"*** ", "--- "},
		{"diff -", NULL},
		{"@@ -", NULL},
		{"Binary files ", NULL},
	};

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
			const char *next = strchr(text, '\n');

			if (has_prefix(text, heads[i].head) &&
			    (!heads[i].next || (next && has_prefix(next + 1, heads[i].next))))
				return true;
		}
	}
	return false;
}

/* The text in front of the first diff. */
static char *message_of(const struct mail *mail, const struct patch *patch, size_t first_line)
{
	const char *end = mail->text;

	for (size_t line = first_line; end && line < patch->entries[0].diff_line; line++) {
		end = strchr(end, '\n');
		end += end ? 1 : 0;
	}
	return xstrndup(mail->text, end ? (size_t)(end - mail->text) : mail->length);
}

static struct commit *make_commit(const char *path, struct mail *mail, const struct patch *patch,
				  size_t first_line)
{
	struct commit *commit = xcalloc(1, sizeof(*commit));
	_free_ char *message = message_of(mail, patch, first_line);

	commit->file = xstrdup(path);
	commit->diff = strlen(message);
	commit->number = mail->number;
	commit->total = mail->total;
	commit->id = take_pointer(mail->commit);
	if (!commit->id)
		commit->id = find_origin(message);
	if (!commit->id)
		commit->id = one_line(xstrdup(base_name(path)));
	else
		for (char *p = commit->id; *p; p++)
			*p = (char)tolower((unsigned char)*p);
	commit->subject = take_pointer(mail->subject);
	if (!commit->subject)
		commit->subject = one_line(xstrdup(base_name(path)));
	find_cves(message, commit);
	/* The subject may be encoded in the message. */
	if (!commit->cves.count)
		find_cves(commit->subject, commit);
	return commit;
}

static bool is_blank_text(const char *text)
{
	return !text[strspn(text, " \t\r\n")];
}

/*
 * A text without a diff.  Cover letters, replies and other mails of a mailbox have none; but what
 * should be a patch must not be left out without a word.
 * @alone: it is all of its file
 */
static struct error *pass_over(struct build *build, const char *path, size_t line,
			       const struct mail *mail, bool alone)
{
	const bool cover = mail->total && !mail->number;

	if (!mail->reply && !cover && !is_blank_text(mail->text) && (alone || mail->total))
		return error_new(STATUS_FAILED,
				 "%s:%zu: there is no diff in this patch; if it is none, remove it "
				 "from the series",
				 path, line);
	build_note(build, "%s:%zu: left out: a text without a diff", path, line);
	return NULL;
}

/* "commit SHA" and "Author: ..." behind a diff, as git log prints one commit after the other. */
static bool has_next_commit(const char *text)
{
	static const char head[] = "\ncommit ";

	for (text = strstr(text, head); text; text = strstr(text + 1, head)) {
		const char *sha = text + strlen(head);
		const char *next = strchr(sha, '\n');

		if (strspn(sha, "0123456789abcdef") >= 40 && next &&
		    (has_prefix(next + 1, "Author: ") || has_prefix(next + 1, "Merge: ")))
			return true;
	}
	return false;
}

static struct error *check_mail(const char *path, size_t line, const struct mail *mail, bool alone)
{
	if (mail->reply && !alone)
		return error_new(STATUS_FAILED,
				 "%s:%zu: a reply with a diff; remove it from the series, or the "
				 "\"Re:\" from its subject",
				 path, line);
	if (has_next_commit(mail->text))
		return error_new(STATUS_FAILED,
				 "%s:%zu: several commits as git log prints them, the newest first; "
				 "use git format-patch",
				 path, line);
	return NULL;
}

static struct error *read_patch(struct build *build, const char *path, struct mail *mail,
				size_t line, bool alone, unsigned int strip)
{
	struct patch patch = {0};
	struct patch_file *file;

	TRY(check_mail(path, line, mail, alone));
	TRY(patch_parse_part(path, mail->text, mail->length, line, strip, &patch));
	build->patches =
		xreallocarray(build->patches, build->nr_patches + 1, sizeof(*build->patches));
	file = &build->patches[build->nr_patches++];
	*file = (struct patch_file){
		.patch = patch, .commit = make_commit(path, mail, &patch, line)};
	file->path = file->commit->file;
	sha256_hex(mail->text, mail->length, file->sha256);
	return NULL;
}

#define MAILS_MAX 100000 /* of a series whose mails are put in order */

static int order_numbers(const void *a, const void *b)
{
	const struct patch_file *first = a, *second = b;

	return first->commit->number < second->commit->number ? -1 : 1;
}

/*
 * Mails may be in any order.  If those from @first on are numbered, each once and of one total,
 * their numbers say in which order they apply.
 */
static void sort_numbered(struct build *build, size_t first)
{
	struct patch_file *list = build->patches + first;
	const size_t count = build->nr_patches - first;
	const unsigned int total = count ? list[0].commit->total : 0;
	_free_ bool *seen = NULL;

	if (!total || total > MAILS_MAX)
		return;
	seen = xcalloc((size_t)total + 1, sizeof(*seen));
	for (size_t i = 0; i < count; i++) {
		const unsigned int number = list[i].commit->number;

		if (list[i].commit->total != total || !number || number > total || seen[number])
			return;
		seen[number] = true;
	}
	qsort(list, count, sizeof(*list), order_numbers);
}

static struct error *read_span(struct build *build, const char *path, const char *text,
			       const struct mail_span *span, bool alone, unsigned int strip)
{
	struct error *error;
	struct mail mail;

	TRY(mail_read(path, text + span->start, span->length, span->line, &mail));
	error = has_diff(mail.text) ? read_patch(build, path, &mail, span->line, alone, strip)
				    : pass_over(build, path, span->line, &mail, alone);
	mail_deinit(&mail);
	return error;
}

/* Read a file of text; the caller frees it. */
static struct error *read_text(const char *path, char **ret, size_t *ret_length)
{
	TRY(file_read(path, ret, ret_length));
	if (!memchr(*ret, 0, *ret_length))
		return NULL;
	free(take_pointer(*ret));
	return error_new(STATUS_FAILED,
			 "%s: binary data, or a text that is not in UTF-8: it has a zero byte", path);
}

/* A file with one patch, or a mailbox with several. */
static struct error *read_file(struct build *build, const char *path, unsigned int strip)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as some editors begin a file */
	const size_t first = build->nr_patches;
	_free_ char *file = NULL;
	struct mail_spans mails;
	struct error *error = NULL;
	const char *text;
	size_t length;

	TRY(read_text(path, &file, &length));
	text = file + (has_prefix(file, mark) ? strlen(mark) : 0);
	length -= (size_t)(text - file);
	mbox_split(text, length, &mails);
	for (size_t i = 0; !error && i < mails.list.count; i++)
		error = read_span(build, path, text, &mails.list.list[i],
				  mails.list.count == 1, strip);
	vec_deinit(&mails.list);
	if (!error)
		sort_numbered(build, first);
	return error;
}

/* ---- the kinds of series ---------------------------------------------------- */

static struct error *read_quilt(struct build *build, const char *path)
{
	_free_ char *folder = xstrdup(path);
	struct quilt_series series;
	struct error *error = quilt_read(path, &series);
	char *slash = strrchr(folder, '/');

	if (slash)
		slash[1] = '\0';
	for (size_t i = 0; !error && i < series.list.count; i++) {
		const struct quilt_patch *patch = &series.list.list[i];
		_free_ char *file = xasprintf("%s%s", slash ? folder : "", patch->name);
		struct stat status;

		if (stat(file, &status))
			error = error_new(STATUS_FAILED,
					  "%s names '%s', and there is no such file; is this a "
					  "series of quilt, a mailbox or a diff?",
					  path, patch->name);
		else
			error = read_file(build, file, patch->strip);
	}
	quilt_deinit(&series);
	return error;
}

static bool is_patch(const char *name)
{
	return has_suffix(name, ".patch") || has_suffix(name, ".diff") || has_suffix(name, ".mbox") ||
	       has_suffix(name, ".eml");
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* A file of a folder: a patch, or else one of which the user may think so. */
static struct error *read_entry(struct build *build, const char *folder, const char *name)
{
	_free_ char *file = xasprintf("%s/%s", folder, name);
	struct stat status;

	if (is_patch(name))
		return read_file(build, file, 1);
	if (!stat(file, &status) && S_ISREG(status.st_mode))
		build_note(build,
			   "%s: left out: its name does not end in .patch, .diff, .mbox or .eml",
			   file);
	return NULL;
}

static int order_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static struct error *read_folder(struct build *build, const char *path)
{
	_free_ char *series = xasprintf("%s/series", path);
	struct dirent **entries = NULL;
	const size_t first = build->nr_patches;
	struct error *error = NULL;
	int count;

	if (file_exists(series))
		return read_quilt(build, series);
	count = scandir(path, &entries, is_visible, order_entries);
	if (count < 0)
		return error_errno("cannot read %s", path);
	for (int i = 0; i < count; i++) {
		if (!error)
			error = read_entry(build, path, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (!error)
		sort_numbered(build, first);
	if (!error && build->nr_patches == first)
		error = error_new(STATUS_FAILED,
				  "%s: this folder has neither a file 'series' nor *.patch files",
				  path);
	return error;
}

/* Is this a list of names, and neither a mailbox nor a mail nor a diff? */
static struct error *is_quilt(const char *path, bool *ret)
{
	_free_ char *text = NULL;
	struct mail mail;
	size_t length;

	TRY(read_text(path, &text, &length));
	*ret = false;
	if (has_prefix(text + strspn(text, " \t\r\n"), "From "))
		return NULL; /* a mailbox, which may begin with a cover letter */
	TRY(mail_read(path, text, length, 1, &mail));
	*ret = !mail.body && !has_diff(mail.text);
	mail_deinit(&mail);
	return NULL;
}

struct error *series_read(struct build *build, const char *path)
{
	_free_ char *plain = xstrdup(path);
	struct stat status;
	bool quilt = false;

	for (size_t length = strlen(plain); length > 1 && plain[length - 1] == '/'; length--)
		plain[length - 1] = '\0';
	if (stat(plain, &status))
		return error_errno("--series %s", path);
	if (S_ISDIR(status.st_mode)) {
		TRY(read_folder(build, plain));
	} else {
		TRY(is_quilt(plain, &quilt));
		TRY(quilt ? read_quilt(build, plain) : read_file(build, plain, 1));
	}
	if (!build->nr_patches)
		return error_new(STATUS_FAILED, "--series %s: there is no commit with a diff in it",
				 path);
	return NULL;
}

/* Add a commit's diff without the signature of its mail, which names a version of git. */
static void add_diff(const struct patch_file *patch, struct buffer *ret)
{
	const char *diff = patch->patch.text + patch->commit->diff, *end = diff;

	/* Look behind the last hunk: "-- " may be a line that a diff removes. */
	for (size_t i = 0; i < patch->patch.nr_entries; i++) {
		const struct patch_entry *entry = &patch->patch.entries[i];
		const struct patch_hunk *last = &entry->hunks[entry->nr_hunks ? entry->nr_hunks - 1 : 0];

		if (entry->nr_hunks && last->nr_lines)
			end = last->lines[last->nr_lines - 1].text +
			      last->lines[last->nr_lines - 1].length;
	}
	end = strstr(end, "\n-- \n");
	end += end ? 1 : 0;
	buffer_add(ret, diff, end ? (size_t)(end - diff) : strlen(diff));
}

char *patches_sum(const struct build *build)
{
	struct buffer out = {0}, all = {0};
	char sum[65];

	for (size_t i = 0; i < build->nr_patches; i++) {
		const struct patch_file *patch = &build->patches[i];

		if (!patch->commit)
			buffer_printf(&out, "%s%s", i ? "," : "", patch->sha256);
		else if (commit_is_live(patch->commit))
			add_diff(patch, &all);
	}
	if (all.length) {
		sha256_hex(all.text, all.length, sum);
		buffer_add_string(&out, sum);
	}
	buffer_deinit(&all);
	return out.text;
}
