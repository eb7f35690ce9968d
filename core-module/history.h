/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text history: records in memory, and positions in them: history.c.  record.c and others.c
 * make the records, history_device.c delivers them.  Nothing here calls any of these.
 */
#ifndef POKEPATCH_CORE_HISTORY_H
#define POKEPATCH_CORE_HISTORY_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "pp_time.h"

struct pp_history_chunk;

int pp_history_init(void);
/* Free all records.  The device must be gone. */
void pp_history_exit(void);

/* --- writing.  All of these may sleep. ------------------------------------------------ */

/*
 * Begin a record of @size bytes, its strings included.  Size, type and seq are filled in, and
 * all other bytes are 0.  The caller holds history_lock until pp_history_end(), so that records
 * lie in the order of their numbers; it must not sleep for long in between.  This never fails: if
 * there is no memory, the record is lost, and counted.
 */
void *pp_history_begin(unsigned int type, unsigned int size);
/*
 * The same, but only the first member of the record is filled in, and its last 8 bytes are 0: the
 * caller writes every other byte.
 */
void *pp_history_begin_fast(unsigned int type, unsigned int size);
/*
 * Like pp_history_begin(), for another writer's change or another module: these records have a
 * bound of their own.
 */
void *pp_history_begin_other(unsigned int type, unsigned int size);
/*
 * Publish the record.  With @gap the number after it is left out, so that readers count one
 * record as lost there: another writer may have changed text without the core noticing.
 */
void pp_history_end(void *record, bool gap);
/*
 * Make many records in a row, until release(), under one hold of history_lock; readers are woken
 * once.  The caller must not call pp_history_lose() or take snapshots in between.
 */
void pp_history_hold(void);
void pp_history_release(void);
/* Count @nr records as lost: changes happened of which the core knows nothing else. */
void pp_history_lose(unsigned int nr);
/*
 * With true: from now on the core makes changes whose records follow later.  With false: all these
 * records have been made.
 */
void pp_history_behind(bool behind);
/*
 * Until snapshot_end() the caller's records describe code that goes.  They take @bytes with a copy
 * of the code, which have a bound of their own, or @least without it.  Other tasks that make
 * records wait meanwhile.  Return: true if the caller shall copy the code; false if it has no room.
 */
bool pp_history_snapshot_begin(size_t bytes, size_t least);
void pp_history_snapshot_end(void);

/* --- reading: history_device.c -------------------------------------------------------- */

/* Where in the history a reader is. */
struct pp_history_position {
	u64 next;		/* number of the next record */
	bool informed;		/* the reader has had its INFO record */
	struct pp_history_chunk *chunk; /* where the last record was found, or NULL; a reference */
	size_t at;		/* bytes of that chunk's data in front of the next record */
};

/*
 * The caller calls only one function for a reader at a time, apart from has_more().
 */
struct pp_history_reader {
	struct list_head node;	/* in history.c's list of readers; history_lock */
	struct pp_history_position position; /* next is written under history_lock */
};

/* What the INFO record says beside what history.c knows itself. */
struct pp_history_complete {
	struct pp_time until;	/* other writers' changes until then have their records */
	struct pp_time others_since; /* and since then; mono is 0: they have none */
};

/* Readers sleep here until there are more records. */
extern wait_queue_head_t pp_history_more;

/* Begin at record 1. */
void pp_history_reader_init(struct pp_history_reader *reader);
/* Drop what only this reader kept. */
void pp_history_reader_deinit(struct pp_history_reader *reader);
bool pp_history_has_readers(void);
/* Does pp_history_fill() have anything for the reader?  Any task, without a lock. */
bool pp_history_has_more(const struct pp_history_reader *reader);
/*
 * Copy whole records from the reader's position to @buffer, which has
 * POKEPATCH_HISTORY_RECORD_MAX bytes, as far as records exist and fit into @room.  @complete is
 * used only if the reader has not had its INFO record.  May sleep.  Return: bytes; 0: the next
 * record does not fit.  @ret gets the position behind these records: the caller gives it to
 * pp_history_advance() or to pp_history_position_put().
 */
size_t pp_history_fill(const struct pp_history_reader *reader, u8 *buffer, size_t room,
		       const struct pp_history_complete *complete,
		       struct pp_history_position *ret);
void pp_history_advance(struct pp_history_reader *reader,
			const struct pp_history_position *position);
void pp_history_position_put(struct pp_history_position *position);

#endif /* POKEPATCH_CORE_HISTORY_H */
