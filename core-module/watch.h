/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The watch, which finds tracers, probes, BPF programs and live patches that have no effect because
 * of a patch: watch.c.
 */
#ifndef POKEPATCH_WATCH_H
#define POKEPATCH_WATCH_H

#include <linux/types.h>

/* Kinds of users of a function's code that have no effect while the function is patched. */
enum pp_shadows {
	PP_SHADOWS_TRACER = 1 << 0,
	PP_SHADOWS_KPROBE = 1 << 1,
	PP_SHADOWS_BPF = 1 << 2,
	PP_SHADOWS_LIVEPATCH = 1 << 3,
};

/*
 * Look now, and again every second as long as a function is hooked or something has to be tried
 * again.  Under pp_mutex; may sleep.
 */
void pp_watch_now(void);
/* Look in a second. */
void pp_watch_later(void);
void pp_watch_exit(void);
/*
 * Write the names of @shadows (enum pp_shadows) to @buf, such as "tracer,kprobe".
 * Return: the length.  Any context.
 */
int pp_shadows_show(unsigned int shadows, char *buf, size_t size);

#endif /* POKEPATCH_WATCH_H */
