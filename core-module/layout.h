/* SPDX-License-Identifier: GPL-2.0-only */
/* What a transition writes and which code must be empty, laid out before the stop: layout.c. */
#ifndef POKEPATCH_LAYOUT_H
#define POKEPATCH_LAYOUT_H

struct transition;

/*
 * Lay out the switch, and what must be empty for it, as things are now.  Under pp_mutex.
 * Return: 0, -ERANGE if something is out of reach, -EBUSY (logged), or -ENOMEM.
 */
int pp_lay_out(struct transition *tr);

#endif /* POKEPATCH_LAYOUT_H */
