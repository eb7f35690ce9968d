/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mails with patches, as git format-patch and git send-email write them, and mailboxes of such
 * mails (RFC 5322; RFC 2045 for encoded bodies, RFC 2047 for encoded subjects; mboxo in mbox(5)).
 * A text without a mail's headers, such as a quilt patch, is read as a mail with a body alone.
 */
#ifndef POKEPATCH_SERIES_MAIL_H
#define POKEPATCH_SERIES_MAIL_H

#include "common/util.h"

/* A part of a file's text. */
struct mail_span {
	size_t start, length; /* bytes */
	size_t line;	      /* number of its first line in the file, from 1 */
};

struct mail_spans {
	VEC(struct mail_span) list;
};

/*
 * mbox_split - find the mails of a mailbox.  Each begins with a line "From SENDER DATE".
 * @ret: the caller frees list; a text that does not begin with such a line is one span.
 */
void mbox_split(const char *text, size_t length, struct mail_spans *ret);

struct mail {
	char *commit;  /* from "From SHA Mon Sep 17 00:00:00 2001" or "commit SHA"; or NULL */
	char *subject; /* decoded, one line, without "[PATCH 3/40]"; or NULL */
	char *text;    /* the headers as they are, and the body decoded, but of replies in parts */
	size_t length;
	size_t body; /* offset of the body in text */
	unsigned int number, total; /* 3 and 40 of "[PATCH 3/40]"; 0 and 40: a cover letter */
	bool reply;		    /* "Re: ..." */
};

/*
 * mail_read - read a mail.
 * @name: file name for messages
 * Errors: STATUS_FAILED, with the line, for a body that consists of several parts, or whose
 * encoding is unknown or damaged.  *ret is then empty.
 */
struct error *mail_read(const char *name, const char *text, size_t length, size_t line,
			struct mail *ret);
void mail_deinit(struct mail *mail);

#endif /* POKEPATCH_SERIES_MAIL_H */
