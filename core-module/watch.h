/* SPDX-License-Identifier: GPL-2.0-only */
/* What is attached to patched functions and has no effect because of us: watch.c. */
#ifndef POKEPATCH_WATCH_H
#define POKEPATCH_WATCH_H

#include <linux/types.h>

/* What is attached to a function's code and has no effect while it is patched. */
enum pp_shadows {
	PP_SHADOWS_TRACER = 1 << 0,
	PP_SHADOWS_KPROBE = 1 << 1,
	PP_SHADOWS_BPF = 1 << 2,
	PP_SHADOWS_LIVEPATCH = 1 << 3,
};

/* Look now, and again every second while there is something to see.  pp_mutex. */
void pp_watch_now(void);
/* Look in a second, whatever there is to see. */
void pp_watch_later(void);
void pp_watch_exit(void);
/* enum pp_shadows in words, "kprobe,tracer".  Return: the length.  Any context. */
int pp_shadows_show(unsigned int shadows, char *buf, size_t size);

#endif /* POKEPATCH_WATCH_H */
