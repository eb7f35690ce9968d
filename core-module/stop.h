/* SPDX-License-Identifier: GPL-2.0-only */
/* Stopping the machine to make a transition: stop.c. */
#ifndef POKEPATCH_STOP_H
#define POKEPATCH_STOP_H

struct pp_when;
struct transition;

/*
 * Stop the machine, and switch all flips of @tr if no task is busy. Takes the hotplug lock and
 * then text_mutex, which is the order of all writers of text in the kernel. (stop_machine()
 * would take the hotplug lock itself.) Under pp_mutex; may sleep.
 * Return: 0, -EAGAIN if a task is busy, -EIO (logged) if text is not as expected, or -ENOMEM.
 */
int pp_stop(struct transition *tr);

/*
 * If text that could not be put back leads to the patch of @tr, and the patch is not enabled,
 * hold its module for good. If the patch was to be switched off, its module is held anyway,
 * because it stays enabled. Under pp_mutex.
 */
void pp_transition_hold_stuck(struct transition *tr);

/*
 * The first @nr of the text's pokes were written and then put back, so calls went the new way
 * for a while. Record both ways of the flips that these pokes decide. @there says when calls
 * began to go the new way (NULL: each flip knows), and @back when they went the old way again
 * (NULL: each poke knows). Under pp_mutex.
 */
void pp_flips_record_put_back(const struct transition *tr, unsigned int nr,
			      const struct pp_when *there, const struct pp_when *back,
			      unsigned int method);

#endif /* POKEPATCH_STOP_H */
