/* SPDX-License-Identifier: GPL-2.0-only */
/* Markers, and the probes that are attached to them: marker.c. */
#ifndef POKEPATCH_MARKER_H
#define POKEPATCH_MARKER_H

#include <linux/stdarg.h>
#include <linux/types.h>

#include <pokepatch_mark.h>

struct pp_patch;

/*
 * @marker, at @ip, was met, and its probes is not NULL; @list has its arguments.  Any context.
 * Markers call it by way of pokepatch_mark_hit(), or of the architecture's own.
 */
void pp_mark_met(struct pokepatch_marker *marker, va_list list, unsigned long ip);

/*
 * The markers of @patch, of whose code nothing has run, take part from now on; and not any
 * more, when nobody can be in its code.  May sleep; 0, -ENOMEM.
 */
int pp_markers_add(struct pp_patch *patch);
void pp_markers_del(struct pp_patch *patch);
/*
 * A line for each: "NAME FILE:LINE PROBES MISSED FORMAT".  Return: the length of all, of
 * which @buf has what fits.  May sleep.
 */
size_t pp_markers_show(const struct pp_patch *patch, char *buf, size_t size);

/* Have all markers emit, and not any more. */
int pp_marker_trace(void);
void pp_marker_untrace(void);

/* A marker's strings, and how long they are with the 0 at their end. */
struct pp_mark_strings {
	const char *text;	/* the format with its arguments */
	unsigned int text_size, name_size, patch_size, types_size;
};

static inline u64 pp_mark_arg(const struct pokepatch_mark *mark, unsigned int nr)
{
	return nr < mark->nr_args ? mark->args[nr] : 0;
}

#endif /* POKEPATCH_MARKER_H */
