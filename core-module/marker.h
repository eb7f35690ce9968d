/* SPDX-License-Identifier: GPL-2.0-only */
/* Markers of patches, and the probes that are attached to them: marker.c. */
#ifndef POKEPATCH_MARKER_H
#define POKEPATCH_MARKER_H

#include <linux/stdarg.h>
#include <linux/types.h>

#include <pokepatch_mark.h>

struct pp_patch;

/*
 * A task has reached @marker, at @ip, while marker->probes was not NULL; @list has the arguments.
 * Markers come here through pokepatch_mark_hit(), or on x86-64 through pokepatch_mark_met().  Any
 * context.
 */
void pp_mark_met(struct pokepatch_marker *marker, va_list list, unsigned long ip);

/*
 * Attach the registered probes to the markers of @patch, before any of its code has run; detach
 * them, when no task can be in its code.  May sleep.  Return: 0, -ENOMEM.
 */
int pp_markers_add(struct pp_patch *patch);
void pp_markers_del(struct pp_patch *patch);
/*
 * Write the letters of pokepatch_mark.types for the arguments of @format to @types, which has
 * POKEPATCH_MARK_ARGS + 1 zeroes.  Return: their number, at most POKEPATCH_MARK_ARGS.
 */
unsigned int pp_marker_types(const char *format, char *types);
/*
 * Write a line for each marker to @buf, as far as it fits: "NAME FILE:LINE PROBES MISSED FORMAT".
 * Return: the length of all lines, in bytes.  May sleep.
 */
size_t pp_markers_show(const struct pp_patch *patch, char *buf, size_t size);

/* Attach the tracepoint to all markers; detach it. */
int pp_marker_trace(void);
void pp_marker_untrace(void);

/* A marker's strings for the tracepoint; sizes count the 0 at the end. */
struct pp_mark_strings {
	const char *text;	/* the format with its arguments */
	unsigned int text_size, name_size, patch_size, types_size;
};

static inline u64 pp_mark_arg(const struct pokepatch_mark *mark, unsigned int nr)
{
	return nr < mark->nr_args ? mark->args[nr] : 0;
}

#endif /* POKEPATCH_MARKER_H */
