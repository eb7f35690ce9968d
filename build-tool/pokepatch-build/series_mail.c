// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading mails with patches, and mailboxes of them; see series_mail.h. */
#include "pokepatch-build/series_mail.h"

#include <ctype.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#define SHA1_DIGITS 40

/* ---- lines ------------------------------------------------------------------ */

/* The length of the line at text, without its newline. */
static size_t line_length(const char *text, const char *end)
{
	const char *newline = memchr(text, '\n', (size_t)(end - text));

	return (size_t)((newline ? newline : end) - text);
}

static const char *next_line(const char *text, const char *end)
{
	text += line_length(text, end);
	return text < end ? text + 1 : end;
}

/* "12:34:56 " */
static bool is_time(const char *text)
{
	static const char form[] = "00:00:00 ";

	for (size_t i = 0; form[i]; i++)
		if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	return true;
}

/* Is one of the next words a year?  A time zone may stand in front of it. */
static bool is_before_year(const char *text, const char *end)
{
	for (int words = 0; words < 2 && text < end; words++) {
		const char *word = text;

		while (text < end && isalnum((unsigned char)*text))
			text++;
		if (text - word == 4 && strspn(word, "0123456789") >= 4)
			return true;
		while (text < end && *text == ' ')
			text++;
	}
	return false;
}

/*
 * Does a line begin a mail of a mailbox?  It has a sender and a date in the form of asctime(3).  A
 * sentence of a message may begin with "From", and has no time of day and year.
 */
static bool is_from_line(const char *text, size_t length)
{
	const size_t form = strlen("00:00:00 ");

	if (length < strlen("From ") || memcmp(text, "From ", strlen("From ")))
		return false;
	for (size_t i = strlen("From "); i + form <= length; i++)
		if (text[i - 1] == ' ' && is_time(text + i) &&
		    is_before_year(text + i + form, text + length))
			return true;
	return false;
}

void mbox_split(const char *text, size_t length, struct mail_spans *ret)
{
	const size_t blank = strspn(text, " \t\r\n");
	const char *end = text + length, *first = text;
	size_t line = 1;

	/* Copied from a page or from another mail, the first may have blank lines in front. */
	for (size_t i = 0; i < blank; i++)
		if (text[i] == '\n') {
			first = text + i + 1;
			line++;
		}
	if (!is_from_line(first, line_length(first, end))) {
		first = text;
		line = 1;
	}
	*ret = (struct mail_spans){0};
	*vec_push(&ret->list) = (struct mail_span){
		.start = (size_t)(first - text), .length = (size_t)(end - first), .line = line};
	if (!is_from_line(first, line_length(first, end)))
		return;
	for (const char *p = next_line(first, end); p < end; p = next_line(p, end)) {
		struct mail_span *last = &ret->list.list[ret->list.count - 1];
		const size_t start = (size_t)(p - text);

		line++;
		if (!is_from_line(p, line_length(p, end)))
			continue;
		last->length = start - last->start;
		*vec_push(&ret->list) =
			(struct mail_span){.start = start, .length = length - start, .line = line};
	}
}

/* ---- encodings -------------------------------------------------------------- */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* "=C3" becomes its byte.  A "=" at the end of a line joins this line and the next. */
static bool decode_quoted(const char *text, size_t length, bool in_header, struct buffer *ret)
{
	const char *end = text + length;

	for (; text < end; text++) {
		char byte = *text;

		if (in_header && byte == '_') {
			byte = ' ';
		} else if (byte == '=') {
			const size_t blanks = strspn(text + 1, " \t\r");
			const int high = text + 2 < end ? hex_digit(text[1]) : -1;
			const int low = high >= 0 ? hex_digit(text[2]) : -1;

			if (!in_header && text + 1 + blanks <= end &&
			    (text + 1 + blanks == end || text[1 + blanks] == '\n')) {
				text += 1 + blanks;
				continue;
			}
			if (low < 0)
				return false;
			byte = (char)(high * 16 + low);
			text += 2;
		}
		buffer_add(ret, &byte, 1);
	}
	return true;
}

static int base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

static bool decode_base64(const char *text, size_t length, struct buffer *ret)
{
	unsigned int bits = 0, count = 0;
	bool padded = false;

	for (size_t i = 0; i < length; i++) {
		const int digit = base64_digit(text[i]);

		if (isspace((unsigned char)text[i]))
			continue;
		if (text[i] == '=') {
			padded = true;
			continue;
		}
		if (digit < 0 || padded)
			return false;
		bits = bits << 6 | (unsigned int)digit;
		count += 6;
		if (count >= 8) {
			const char byte = (char)(bits >> (count -= 8));

			buffer_add(ret, &byte, 1);
		}
	}
	return count < 6; /* a lone digit is no byte */
}

/* Replace a text by the same text in UTF-8.  Return: false, if the text is not in that charset. */
static bool to_utf8(struct buffer *text, const char *charset)
{
	iconv_t converter = iconv_open("UTF-8", charset);
	size_t in_left = text->length, out_left = text->length * 4 + 4;
	_free_ char *out = xmalloc(out_left + 1);
	char *from = text->text, *to = out;
	bool good;

	if (converter == (iconv_t)-1)
		return false;
	good = iconv(converter, &from, &in_left, &to, &out_left) != (size_t)-1;
	iconv_close(converter);
	if (!good)
		return false;
	buffer_deinit(text);
	*text = (struct buffer){0};
	buffer_add(text, out, (size_t)(to - out));
	return true;
}

/*
 * Decode an encoded word, "=?utf-8?q?caf=C3=A9?=", at text.
 * Return: the text behind it; or NULL, if that is none.
 */
static const char *decode_word(const char *text, struct buffer *ret)
{
	const char *charset = text + 2, *letter, *begin, *end;
	struct buffer out = {0};
	_free_ char *name = NULL;
	bool good;

	if (!has_prefix(text, "=?") || !(letter = strchr(charset, '?')) || !letter[1] ||
	    letter[2] != '?')
		return NULL;
	begin = letter + 3;
	end = strstr(begin, "?=");
	if (!end)
		return NULL;
	/* "utf-8*en" names a language too (RFC 2231). */
	name = xstrndup(charset, strcspn(charset, "?*"));
	buffer_add(&out, "", 0);
	letter++;
	if (tolower((unsigned char)*letter) == 'q')
		good = decode_quoted(begin, (size_t)(end - begin), true, &out);
	else
		good = tolower((unsigned char)*letter) == 'b' &&
		       decode_base64(begin, (size_t)(end - begin), &out);
	if (good && out.length)
		good = to_utf8(&out, name);
	if (good && out.length)
		buffer_add(ret, out.text, out.length);
	buffer_deinit(&out);
	return good ? end + 2 : NULL;
}

/* Decode the words of a header's value.  Blanks between two encoded words are dropped. */
static char *decode_header(const char *text)
{
	struct buffer out = {0};
	bool after_word = false;

	buffer_add(&out, "", 0);
	while (*text) {
		const size_t blanks = strspn(text, " \t");
		const char *behind;
		struct buffer word = {0};

		behind = decode_word(text + blanks, &word);
		if (behind) {
			if (!after_word)
				buffer_add(&out, text, blanks);
			buffer_add(&out, word.text ?: "", word.length);
			text = behind;
		} else {
			const size_t length = blanks + strcspn(text + blanks, " \t");

			buffer_add(&out, text, length);
			text += length;
		}
		after_word = behind;
		buffer_deinit(&word);
	}
	return out.text;
}

/* ---- headers ---------------------------------------------------------------- */

/*
 * The length of a header's name: "Subject" of "Subject: text"; 0 if the line is no header.
 * (RFC 5322, 3.6.8)
 */
static size_t header_name(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && text[i] > ' ' && text[i] < 0x7f && text[i] != ':')
		i++;
	return i < length && text[i] == ':' ? i : 0;
}

/* The value of the header at text, with the lines that continue it. */
static char *header_value(const char *text, const char *end, size_t name, bool first_line)
{
	struct buffer value = {0};
	const char *p = text + name + 1;

	buffer_add(&value, "", 0);
	do {
		size_t length = line_length(p, end), skip = 0;

		while (skip < length && isspace((unsigned char)p[skip]))
			skip++;
		while (length > skip && isspace((unsigned char)p[length - 1]))
			length--;
		if (value.length && length > skip)
			buffer_add(&value, " ", 1);
		buffer_add(&value, p + skip, length - skip);
		p = next_line(p, end);
	} while (!first_line && p < end && (*p == ' ' || *p == '\t'));
	return value.text;
}

struct headers {
	char *subject, *description, *encoding, *type;
};

static void headers_deinit(struct headers *headers)
{
	free(headers->subject);
	free(headers->description);
	free(headers->encoding);
	free(headers->type);
}

/* Headers of which one tells that a line such as "mm: why" is none of the message. */
static bool is_well_known(const char *text, size_t length)
{
	static const char *const names[] = {"Author", "Date", "From", "Message-ID", "Origin"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == length && !strncasecmp(text, names[i], length))
			return true;
	return false;
}

/* Read the headers at text.  Return: the body; all of the text, if that has none. */
static const char *read_headers(const char *text, const char *end, struct headers *ret)
{
	const struct {
		const char *name;
		bool first_line;
		char **field;
	} wanted[] = {
		{"Subject", false, &ret->subject},
		/* DEP-3, as Debian's quilt patches have it: a subject, and then text. */
		{"Description", true, &ret->description},
		{"Content-Transfer-Encoding", false, &ret->encoding},
		{"Content-Type", false, &ret->type},
	};
	const char *p = text;
	bool any = false, known = false;

	while (p < end) {
		const size_t length = line_length(p, end);
		const size_t name = header_name(p, length);

		if (!length || (length == 1 && *p == '\r')) {
			p = next_line(p, end);
			if (any)
				return known ? p : text;
			continue; /* saved or copied with blank lines in front */
		}
		/* A mail that was in a mailbox (mboxo). */
		if (has_prefix(p, ">From ")) {
			p = next_line(p, end);
			continue;
		}
		if (!name && !(any && (*p == ' ' || *p == '\t')))
			return text; /* prose, or the diff itself */
		any = true;
		known |= is_well_known(p, name);
		for (size_t i = 0; name && i < ARRAY_SIZE(wanted); i++) {
			if (strlen(wanted[i].name) != name || strncasecmp(p, wanted[i].name, name))
				continue;
			known = true;
			if (!*wanted[i].field)
				*wanted[i].field =
					header_value(p, end, name, wanted[i].first_line);
		}
		p = next_line(p, end);
	}
	return text;
}

/* What stands in front of a subject: "Re:", and the numbers of "[PATCH v2 3/40]". */
static void read_tags(const char *text, struct mail *ret)
{
	text += strspn(text, " \t");
	ret->reply = !strncasecmp(text, "Re:", strlen("Re:"));
	for (const char *end; *text == '[' && (end = strchr(text, ']')); text = end) {
		for (const char *slash = text + 2; slash < end; slash++) {
			const char *number = slash;

			while (isdigit((unsigned char)number[-1]))
				number--;
			if (*slash != '/' || number == slash || !isdigit((unsigned char)slash[1]))
				continue;
			ret->number = (unsigned int)strtoul(number, NULL, 10);
			ret->total = (unsigned int)strtoul(slash + 1, NULL, 10);
		}
		end += 1 + strspn(end + 1, " \t");
	}
}

/* Remove "Re:" and "[PATCH 3/40]" in front, as git am does. */
static char *clean_subject(const char *text)
{
	for (;;) {
		text += strspn(text, " \t");
		if (!strncasecmp(text, "Re:", 3))
			text += 3;
		else if (*text == '[' && strchr(text, ']'))
			text = strchr(text, ']') + 1;
		else
			return xstrdup(text);
	}
}

/* The first line of the body that says anything; a diff's own lines do not. */
static char *first_words(const char *body, const char *end)
{
	for (; body < end; body = next_line(body, end)) {
		size_t length = line_length(body, end), skip = 0;

		while (skip < length && isspace((unsigned char)body[skip]))
			skip++;
		while (length > skip && isspace((unsigned char)body[length - 1]))
			length--;
		if (length == skip || body[skip] == '#')
			continue;
		if (!strncmp(body, "---", 3) || !strncmp(body, "diff ", 5) ||
		    !strncmp(body, "Index: ", 7) || !strncmp(body, "@@ ", 3))
			return NULL;
		return xstrndup(body + skip, length - skip);
	}
	return NULL;
}

/* Reports are JSON, which knows no other text than UTF-8. */
static bool is_utf8(const char *text)
{
	struct buffer copy = {0};
	bool good;

	buffer_add_string(&copy, text);
	good = to_utf8(&copy, "UTF-8");
	buffer_deinit(&copy);
	return good;
}

static char *make_subject(const struct headers *headers, const char *body, const char *end)
{
	_free_ char *words = headers->subject || headers->description ? NULL
								      : first_words(body, end);
	const char *raw = headers->subject ?: headers->description ?: words;
	_free_ char *decoded = raw ? decode_header(raw) : NULL;
	char *subject = decoded ? clean_subject(decoded) : NULL;

	if (subject && !*subject) {
		free(subject);
		return NULL;
	}
	if (subject && !is_utf8(subject))
		for (char *p = subject; *p; p++)
			if (*p & 0x80)
				*p = '?';
	return subject ? one_line(subject) : NULL;
}

/* ---- a mail ----------------------------------------------------------------- */

/* "SHA" of "From SHA Mon ..." and "commit SHA"; zeros are a commit that never was one. */
static char *leading_commit(const char *text, size_t length, const char *word)
{
	const size_t skip = strlen(word);
	size_t digits = 0, zeros = 0;

	if (length < skip + SHA1_DIGITS || memcmp(text, word, skip))
		return NULL;
	for (text += skip; digits < length - skip && hex_digit(text[digits]) >= 0; digits++)
		zeros += text[digits] == '0';
	return digits == SHA1_DIGITS && zeros < digits ? xstrndup(text, digits) : NULL;
}

static bool is_multipart(const struct headers *headers)
{
	return headers->type && !strncasecmp(headers->type, "multipart/", strlen("multipart/"));
}

static struct error *decode_body(const struct headers *headers, const char *body, size_t length,
				 struct buffer *ret)
{
	const char *encoding = headers->encoding ?: "8bit";

	if (is_multipart(headers))
		return error_new(STATUS_FAILED,
				 "this mail has several parts; save the patch without attachments, "
				 "as git format-patch writes it");
	if (!strcasecmp(encoding, "7bit") || !strcasecmp(encoding, "8bit") ||
	    !strcasecmp(encoding, "binary")) {
		buffer_add(ret, body, length);
	} else if (!strcasecmp(encoding, "quoted-printable")) {
		if (!decode_quoted(body, length, false, ret))
			return error_new(STATUS_FAILED,
					 "this mail's quoted-printable text is damaged: a '=' "
					 "without two hexadecimal digits");
	} else if (!strcasecmp(encoding, "base64")) {
		if (!decode_base64(body, length, ret))
			return error_new(STATUS_FAILED, "this mail's base64 text is damaged");
	} else {
		return error_new(STATUS_FAILED, "this mail's text has an unknown encoding, '%s'",
				 encoding);
	}
	return NULL;
}

struct error *mail_read(const char *name, const char *text, size_t length, size_t line,
			struct mail *ret)
{
	const char *end = text + length, *start = text, *body;
	const size_t first = line_length(text, end);
	struct headers headers = {0};
	struct buffer out = {0};
	struct error *error;

	*ret = (struct mail){0};
	if (is_from_line(text, first)) {
		ret->commit = leading_commit(text, first, "From ");
		start = next_line(text, end);
	} else {
		ret->commit = leading_commit(text, first, "commit ");
		if (ret->commit)
			start = next_line(text, end);
	}
	body = read_headers(start, end, &headers);
	if (headers.subject) {
		_free_ char *subject = decode_header(headers.subject);

		read_tags(subject, ret);
	}
	buffer_add(&out, text, (size_t)(body - text));
	ret->body = out.length;
	if (is_multipart(&headers) && (ret->reply || (ret->total && !ret->number))) {
		buffer_add(&out, body, (size_t)(end - body)); /* it need not have a diff */
		error = NULL;
	} else {
		error = decode_body(&headers, body, (size_t)(end - body), &out);
	}
	if (error) {
		mail_deinit(ret);
		buffer_deinit(&out);
		error = error_prefix(error, "%s:%zu", name, line);
	} else {
		ret->subject = make_subject(&headers, out.text + ret->body, out.text + out.length);
		ret->length = out.length;
		ret->text = out.text;
	}
	headers_deinit(&headers);
	return error;
}

void mail_deinit(struct mail *mail)
{
	free(mail->commit);
	free(mail->subject);
	free(mail->text);
	*mail = (struct mail){0};
}
