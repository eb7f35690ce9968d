/* SPDX-License-Identifier: GPL-2.0-only */
/* The text history: the records, and their readers: history.c. */
#ifndef POKEPATCH_CORE_HISTORY_H
#define POKEPATCH_CORE_HISTORY_H

#include <linux/types.h>

int pp_history_init(void);
/* Waits until nobody has the device open; nobody has, unless the core is removed by force. */
void pp_history_exit(void);

/*
 * Room for a record of @size bytes and its strings, with size, type and seq filled in
 * and all else 0.  Held until pp_history_end() is a lock, so that the records are
 * in the order of their numbers; nothing may sleep for long in between.  There is always
 * room: if there is no memory, what is written there gets lost, and counted.  May sleep.
 */
void *pp_history_begin(unsigned int type, unsigned int size);
void pp_history_end(void *record);
/*
 * The same, and of the record nothing but its first member is filled in (and the last 8 bytes
 * are 0): the caller writes all else.
 */
void *pp_history_begin_fast(unsigned int type, unsigned int size);
/*
 * For many records in a row: until release() they are made under one lock, and readers are
 * woken once.  pp_history_lose() and snapshots are not for in between.  May sleep.
 */
void pp_history_hold(void);
void pp_history_release(void);
/* What was done could not be noted: @nr records, not known of what, are lost. */
void pp_history_lose(unsigned int nr);
/* What is done from now on, or was until now, is recorded later, or was.  May sleep. */
void pp_history_behind(bool behind);
/* The same as begin() for a write of others: these are bounded apart. */
void *pp_history_begin_other(unsigned int type, unsigned int size);
/*
 * The caller's records until snapshot_end() belong to code that goes: they take @bytes, which
 * are bounded apart, or @least without those of the code.  Others wait as long.
 * Return: true if the code is to be copied; false: there is no room.  May sleep.
 */
bool pp_history_snapshot_begin(size_t bytes, size_t least);
void pp_history_snapshot_end(void);

#endif /* POKEPATCH_CORE_HISTORY_H */
