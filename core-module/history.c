// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text history: the records, in memory.  pokepatch_history.h says what a reader may rely on.
 * record.c and others.c make the records, and history_device.c hands them to user space; this
 * file calls none of them.
 *
 * Records lie packed in chunks, and the chunks in a list, in the order of the records' numbers.
 * When there are too many chunks, the oldest one is dropped.  So the records that are lost are
 * always the oldest, and their numbers tell a reader how many it has missed.  A copy of code that
 * goes has a chunk of its own.  These copies have a bound of their own; beyond it the oldest copy
 * loses its bytes first.  What stays of it says that there was such code, and when, and counts as
 * ordinary records from then on.
 *
 * All of this runs in task context.  In a stopped section, or while breakpoints stand in text, the
 * CPU that writes text only reads the clocks (pp_now()).  When that is over, record.c makes the
 * records from these times and from the layout of the switch.  Other writers' changes are noted
 * while they happen (others.c).
 *
 * history_lock is the innermost of the core's locks that sleep.  No task touches user memory while
 * it holds it, since that can take as long as a user likes: history_device.c has the records
 * copied to a buffer of the kernel's first.
 */
#include <linux/elf.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <linux/wait.h>

#include <pokepatch_history.h>

#include "access.h"
#include "debug.h"
#include "history.h"
#include "kernel_symbols.h"
#include "pp_time.h"

static unsigned int history_kb = 1024;
pp_param_uint(history_kb);
MODULE_PARM_DESC(history_kb, "how much of the text history is kept, KiB");

static unsigned int snapshots_kb = 2048;
pp_param_uint(snapshots_kb);
MODULE_PARM_DESC(snapshots_kb, "how much code of unloaded modules is kept, KiB");

static unsigned int others_kb = 1024;
pp_param_uint(others_kb);
MODULE_PARM_DESC(others_kb, "how much is kept of other writers' changes, KiB");

static unsigned int history_held_kb = 16384;
pp_param_uint(history_held_kb);
MODULE_PARM_DESC(history_held_kb,
		 "how much of each is kept at most while a reader has not read it, KiB");

/*
 * Each kind has a bound of its own, so that a tracer of all functions cannot push out the core's
 * own records.
 */
enum kind { ORDINARY, SNAPSHOT, OTHERS, KINDS };

static const unsigned int *const limits_kb[KINDS] = { &history_kb, &snapshots_kb, &others_kb };

static size_t history_limit_kb(enum kind kind)
{
	return READ_ONCE(*limits_kb[kind]);
}

/*
 * Small enough that the page allocator always has memory for it, and large enough for any record
 * that is not part of a snapshot.
 */
#define CHUNK_BYTES 16384

struct pp_history_chunk {
	struct list_head node;	/* chunks; history_lock */
	refcount_t refs;	/* the list's, and those of readers */
	bool listed;		/* it is in the list; history_lock */
	enum kind kind;		/* of its records */
	u64 first, last;	/* numbers of its records; none: last is 0 */
	size_t used, room;	/* bytes of data */
	u8 data[] __aligned(8);
};

static DEFINE_MUTEX(history_lock);
static LIST_HEAD(chunks);	/* the oldest first */
static LIST_HEAD(readers);
static size_t kept[KINDS];	/* bytes of chunks */
static u64 next_seq = 1;	/* written under history_lock */
static u64 snapshots_lost;	/* likewise */
static struct pp_time began;
DECLARE_WAIT_QUEUE_HEAD(pp_history_more);

/* The record, or the records, that are being written: history_lock. */
static u8 *scratch;		/* for a lost record; POKEPATCH_HISTORY_RECORD_MAX bytes */
static struct pp_history_chunk *snapshot; /* takes the records of a snapshot; NULL: no memory */
static struct task_struct *held_by; /* the task that holds history_lock for many records */
static bool snapshotting;	/* it does so for a snapshot */

/* --- chunks -------------------------------------------------------------------------- */

#define CHUNK_ROOM (CHUNK_BYTES - sizeof(struct pp_history_chunk))

/*
 * An ordinary chunk that was dropped, or NULL.  Once the history is full, each new chunk is one of
 * these, so that recording a switch neither allocates nor clears memory.
 */
static struct pp_history_chunk *history_spare;

static struct pp_history_chunk *history_chunk_create(size_t room, enum kind kind)
{
	struct pp_history_chunk *chunk = room == CHUNK_ROOM ? xchg(&history_spare, NULL) : NULL;

	chunk = chunk ?: kvmalloc(struct_size(chunk, data, room), GFP_KERNEL);
	if (!chunk)
		return NULL;
	*chunk = (struct pp_history_chunk){ .kind = kind, .room = room };
	refcount_set(&chunk->refs, 1);
	return chunk;
}

static size_t history_chunk_bytes(const struct pp_history_chunk *chunk)
{
	return struct_size(chunk, data, chunk->room);
}

static void history_chunk_put(struct pp_history_chunk *chunk)
{
	if (!chunk || !refcount_dec_and_test(&chunk->refs))
		return;
	/* This was the last reference.  If two tasks put a spare chunk at once, one succeeds. */
	if (chunk->room == CHUNK_ROOM && !cmpxchg(&history_spare, NULL, chunk))
		return;
	kvfree(chunk);
}

static void history_chunk_list(struct pp_history_chunk *chunk, struct list_head *behind)
{
	list_add(&chunk->node, behind);
	chunk->listed = true;
	kept[chunk->kind] += history_chunk_bytes(chunk);
}

static void history_chunk_drop(struct pp_history_chunk *chunk)
{
	list_del(&chunk->node);
	chunk->listed = false;
	kept[chunk->kind] -= history_chunk_bytes(chunk);
	history_chunk_put(chunk);
}

static struct pokepatch_history_record *history_record_at(const struct pp_history_chunk *chunk,
							  size_t at)
{
	return (void *)(chunk->data + at);
}

/* A loop will do: there are a few readers, and each is an open file of a process of root's. */
static bool history_is_unread(const struct pp_history_chunk *chunk)
{
	const struct pp_history_reader *reader;

	list_for_each_entry(reader, &readers, node)
		if (reader->position.next <= chunk->last)
			return true;
	return false;
}

/* Do the bounds of its kind require that the oldest chunk goes? */
static bool history_is_excess(const struct pp_history_chunk *oldest)
{
	const size_t bytes = kept[oldest->kind], limit = history_limit_kb(oldest->kind);

	if (bytes <= limit * 1024)
		return false;
	return bytes > max_t(size_t, limit, READ_ONCE(history_held_kb)) * 1024 ||
	       !history_is_unread(oldest);
}

/* Copy @chunk without the bytes of code.  Return: the copy, or NULL if there is no memory. */
static struct pp_history_chunk *history_copy_stripped(const struct pp_history_chunk *chunk)
{
	struct pokepatch_history_code *code;
	struct pp_history_chunk *copy;
	size_t at, size = 0;

	for (at = 0; at < chunk->used; at += history_record_at(chunk, at)->size) {
		code = (void *)history_record_at(chunk, at);
		size += code->record.size;
		if (code->record.type == POKEPATCH_HISTORY_SNAPSHOT)
			size -= ALIGN(code->bytes_len, 8);
	}
	copy = history_chunk_create(size, ORDINARY);
	if (!copy)
		return NULL;
	for (at = 0; at < chunk->used; at += history_record_at(chunk, at)->size) {
		size = history_record_at(chunk, at)->size;
		code = (void *)history_record_at(chunk, at);
		/* The bytes of code are the last part of a record. */
		if (code->record.type == POKEPATCH_HISTORY_SNAPSHOT)
			size -= ALIGN(code->bytes_len, 8);
		memcpy(copy->data + copy->used, code, size);
		code = (void *)history_record_at(copy, copy->used);
		code->record.size = size;
		if (code->record.type == POKEPATCH_HISTORY_SNAPSHOT && code->bytes_len) {
			code->record.flags |= POKEPATCH_HISTORY_DROPPED;
			code->bytes_len = 0;
		}
		copy->used += size;
	}
	copy->first = chunk->first;
	copy->last = chunk->last;
	return copy;
}

/* Drop the bytes of a snapshot, and keep the record that there was such code. */
static void history_strip(struct pp_history_chunk *chunk)
{
	struct pp_history_chunk *copy = history_copy_stripped(chunk);

	snapshots_lost++;
	if (copy)
		history_chunk_list(copy, &chunk->node);
	history_chunk_drop(chunk);
}

static void history_trim_kind(enum kind kind)
{
	struct pp_history_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, &chunks, node) {
		if (kept[kind] <= history_limit_kb(kind) * 1024)
			break;
		if (chunk->kind != kind)
			continue;
		/* A reader that has not read this chunk has not read any later one. */
		if (!history_is_excess(chunk))
			break;
		if (kind == SNAPSHOT)
			history_strip(chunk);
		else if (list_is_last(&chunk->node, &chunks))
			break;
		else
			history_chunk_drop(chunk);
	}
}

/* Bring everything but the newest chunk within the bounds. */
static void history_trim(void)
{
	/* Snapshots come first: what is left of them counts as ordinary. */
	history_trim_kind(SNAPSHOT);
	history_trim_kind(ORDINARY);
	history_trim_kind(OTHERS);
}

/* --- writing ------------------------------------------------------------------------- */

static struct pp_history_chunk *history_last_chunk(void)
{
	return list_last_entry(&chunks, struct pp_history_chunk, node);
}

/* Another chunk will follow the last one, so free the room that the last one does not use. */
static void history_shrink_last(void)
{
	struct pp_history_chunk *chunk, *copy;

	if (list_empty(&chunks))
		return;
	chunk = history_last_chunk();
	copy = chunk->used < chunk->room / 2 ? history_chunk_create(chunk->used, chunk->kind) : NULL;
	if (!copy)
		return;
	memcpy(copy->data, chunk->data, chunk->used);
	copy->used = chunk->used;
	copy->first = chunk->first;
	copy->last = chunk->last;
	history_chunk_list(copy, &chunk->node);
	history_chunk_drop(chunk);
}

/* The chunk that takes the next record, of @size bytes, or NULL: there is no memory. */
static struct pp_history_chunk *history_chunk_for(size_t size, enum kind kind)
{
	struct pp_history_chunk *chunk = snapshot;

	if (snapshotting)
		return chunk && chunk->room - chunk->used >= size ? chunk : NULL;
	if (!list_empty(&chunks)) {
		chunk = history_last_chunk();
		if (chunk->kind == kind && chunk->room - chunk->used >= size)
			return chunk;
		if (chunk->kind != kind)
			history_shrink_last();
	}
	chunk = history_chunk_create(CHUNK_ROOM, kind);
	if (chunk && chunk->room < size) {
		history_chunk_put(chunk);
		chunk = NULL;
	}
	if (chunk) {
		history_chunk_list(chunk, chunks.prev);
		/* Only here, and at the end of a snapshot, does the history grow. */
		history_trim();
	}
	return chunk;
}

/* Where the record that history_begin() returned lies, or NULL if it gets lost; history_lock. */
static struct pp_history_chunk *writing;

void pp_history_hold(void)
{
	mutex_lock(&history_lock);
	WRITE_ONCE(held_by, current);
}

void pp_history_release(void)
{
	WRITE_ONCE(held_by, NULL);
	mutex_unlock(&history_lock);
	wake_up_interruptible(&pp_history_more);
}

static void *history_begin(unsigned int type, unsigned int size, enum kind kind)
{
	struct pokepatch_history_record *record;

	size = ALIGN(size, 8);
	/* Only this task ever stores its own address there, so the read needs no lock. */
	if (READ_ONCE(held_by) != current)
		mutex_lock(&history_lock);
	if (WARN_ON(size > POKEPATCH_HISTORY_RECORD_MAX))
		size = POKEPATCH_HISTORY_RECORD_MAX;
	writing = history_chunk_for(size, kind);
	record = writing ? history_record_at(writing, writing->used) : (void *)scratch;
	/* The last string may end before the record does. */
	*(u64 *)((void *)record + size - sizeof(u64)) = 0;
	*record = (struct pokepatch_history_record){
		.size = size,
		.type = type,
		.seq = next_seq,
	};
	return record;
}

void *pp_history_begin_fast(unsigned int type, unsigned int size)
{
	return history_begin(type, size, ORDINARY);
}

static void *history_zero(struct pokepatch_history_record *record)
{
	memset(record + 1, 0, record->size - sizeof(*record));
	return record;
}

void *pp_history_begin(unsigned int type, unsigned int size)
{
	return history_zero(history_begin(type, size, ORDINARY));
}

void *pp_history_begin_other(unsigned int type, unsigned int size)
{
	return history_zero(history_begin(type, size, OTHERS));
}

/* A reader that sees the new next_seq finds the record, since it takes history_lock to look. */
void pp_history_end(void *record, bool gap)
{
	const struct pokepatch_history_record *this = record;

	if (writing) {
		if (!writing->last)
			writing->first = this->seq;
		writing->last = this->seq;
		writing->used += this->size;
	}
	WRITE_ONCE(next_seq, next_seq + 1 + gap);
	if (held_by == current)
		return;
	mutex_unlock(&history_lock);
	wake_up_interruptible(&pp_history_more);
}

void pp_history_lose(unsigned int nr)
{
	mutex_lock(&history_lock);
	WRITE_ONCE(next_seq, next_seq + nr);
	mutex_unlock(&history_lock);
	wake_up_interruptible(&pp_history_more);
}

bool pp_history_snapshot_begin(size_t bytes, size_t least)
{
	struct pp_history_chunk *chunk = NULL;

	if (bytes <= (size_t)READ_ONCE(snapshots_kb) * 1024)
		chunk = history_chunk_create(bytes, SNAPSHOT);
	pp_history_hold();
	snapshotting = true;
	if (chunk) {
		snapshot = chunk;
		return true;
	}
	snapshots_lost++;
	snapshot = history_chunk_create(least, ORDINARY);
	return false;
}

void pp_history_snapshot_end(void)
{
	if (snapshot) {
		history_shrink_last();
		history_chunk_list(snapshot, chunks.prev);
	}
	snapshot = NULL;
	snapshotting = false;
	history_trim();
	pp_history_release();
}

/*
 * Since when there may be changes of the core's own that have no record yet; mono is 0 if there
 * are none.  Under history_lock.  A reader notes its time before it looks here.  If it finds 0,
 * then either it has the records of all changes until its time, or the task that calls
 * pp_history_behind(true) makes its changes after that time.
 */
static struct pp_time behind_since;

void pp_history_behind(bool behind)
{
	mutex_lock(&history_lock);
	behind_since = behind ? pp_now() : (struct pp_time){};
	mutex_unlock(&history_lock);
}

/* --- reading -------------------------------------------------------------------------- */

static u64 history_count_kept(void)
{
	const struct pp_history_chunk *chunk;
	u64 nr = 0;
	size_t at;

	list_for_each_entry(chunk, &chunks, node)
		for (at = 0; at < chunk->used; at += history_record_at(chunk, at)->size)
			nr++;
	return nr;
}

static unsigned int history_put_info(u8 *to, struct pp_time until,
				      const struct pp_time *others_since)
{
	struct pokepatch_history_info *info = (void *)to;
	const char *release = init_utsname()->release;
	const unsigned int size = ALIGN(sizeof(*info) + strlen(release) + 1, 8);
	const struct pp_history_chunk *oldest =
		list_first_entry_or_null(&chunks, struct pp_history_chunk, node);

	memset(to, 0, size);
	info->record.size = size;
	info->record.type = POKEPATCH_HISTORY_INFO;
	info->record.mono_ns = until.mono;
	info->record.perf_ns = until.perf;
	info->record.cpu = raw_smp_processor_id();
	info->magic = POKEPATCH_HISTORY_MAGIC;
	info->version = POKEPATCH_HISTORY_VERSION;
	info->elf_machine = ELF_ARCH;
	info->text = pp_kernel.stext;
	info->stext = pp_kernel.stext;
	info->etext = pp_kernel.etext;
	info->real_ns = ktime_get_real_fast_ns();
	info->began_ns = began.mono;
	info->began_perf = began.perf;
	info->others_ns = others_since->mono;
	info->others_perf = others_since->mono ? others_since->perf : 0;
	info->record.flags = POKEPATCH_HISTORY_MODULES |
			     (info->others_ns ? POKEPATCH_HISTORY_OTHERS : 0);
	info->first_seq = oldest ? oldest->first : next_seq;
	info->next_seq = next_seq;
	info->lost = next_seq - 1 - history_count_kept();
	info->snapshots_lost = snapshots_lost;
	info->bytes = kept[ORDINARY];
	info->bytes_max = (u64)history_limit_kb(ORDINARY) * 1024;
	info->bytes_held_max = (u64)READ_ONCE(history_held_kb) * 1024;
	info->snapshot_bytes = kept[SNAPSHOT];
	info->snapshot_bytes_max = (u64)history_limit_kb(SNAPSHOT) * 1024;
	info->others_bytes = kept[OTHERS];
	info->others_bytes_max = (u64)history_limit_kb(OTHERS) * 1024;
	info->release = sizeof(*info);
	strcpy(to + sizeof(*info), release);
	info->build_id_len = pp_kernel.build_id_len;
	memcpy(info->build_id, pp_kernel.build_id, pp_kernel.build_id_len);
	return size;
}

static unsigned int history_put_lost(u8 *to, u64 first, u64 count)
{
	struct pokepatch_history_lost *lost = (void *)to;
	const struct pp_time now = pp_now();

	*lost = (struct pokepatch_history_lost){
		.record = {
			.size = sizeof(*lost),
			.type = POKEPATCH_HISTORY_LOST,
			.seq = first,
			.mono_ns = now.mono,
			.perf_ns = now.perf,
			.cpu = raw_smp_processor_id(),
		},
		.count = count,
	};
	return sizeof(*lost);
}

/*
 * The first record that is still there and has the number position->next or a higher one, or NULL.
 * As a rule it lies where the last one ended.  Otherwise the reader's chunk was dropped, and the
 * search begins with the oldest one.
 */
static const struct pokepatch_history_record *
history_find_next(struct pp_history_position *position)
{
	struct pp_history_chunk *chunk = position->chunk;

	if (!chunk || !chunk->listed) {
		chunk = list_first_entry(&chunks, struct pp_history_chunk, node);
		position->at = 0;
	}
	list_for_each_entry_from(chunk, &chunks, node) {
		while (position->at < chunk->used) {
			const struct pokepatch_history_record *record =
				history_record_at(chunk, position->at);

			position->chunk = chunk;
			if (record->seq >= position->next)
				return record;
			position->at += record->size;
		}
		if (list_is_last(&chunk->node, &chunks))
			return NULL;
		position->at = 0;
	}
	return NULL;
}

size_t pp_history_fill(const struct pp_history_reader *reader, u8 *buffer, size_t room,
		       const struct pp_history_complete *complete,
		       struct pp_history_position *ret)
{
	struct pp_time until = complete->until;
	size_t used = 0;

	room = min_t(size_t, room, POKEPATCH_HISTORY_RECORD_MAX);
	mutex_lock(&history_lock);
	if (behind_since.mono && behind_since.mono < until.mono && !pp_debug_skip_behind)
		until = behind_since;
	*ret = reader->position;
	if (!ret->informed) {
		BUILD_BUG_ON(sizeof(struct pokepatch_history_info) + __NEW_UTS_LEN + 8 > 512);
		if (room < 512)
			goto out;
		used = history_put_info(buffer, until, &complete->others_since);
		ret->informed = true;
	}
	while (ret->next < next_seq) {
		const struct pokepatch_history_record *record = history_find_next(ret);
		const u64 there = record ? record->seq : next_seq;
		const bool lost = there != ret->next;
		const size_t size = lost ? sizeof(struct pokepatch_history_lost) : record->size;

		if (size > room - used)
			break;
		if (lost) {
			used += history_put_lost(buffer + used, ret->next, there - ret->next);
			ret->next = there;
			continue;
		}
		memcpy(buffer + used, record, size);
		used += size;
		ret->at += size;
		ret->next++;
	}
out:
	if (ret->chunk)
		refcount_inc(&ret->chunk->refs);
	mutex_unlock(&history_lock);
	return used;
}

void pp_history_position_put(struct pp_history_position *position)
{
	history_chunk_put(position->chunk);
}

void pp_history_advance(struct pp_history_reader *reader,
			const struct pp_history_position *position)
{
	history_chunk_put(reader->position.chunk);
	mutex_lock(&history_lock);
	/* A task that polls the same file reads these two without the lock. */
	WRITE_ONCE(reader->position.informed, position->informed);
	WRITE_ONCE(reader->position.next, position->next);
	reader->position.chunk = position->chunk;
	reader->position.at = position->at;
	history_trim();
	mutex_unlock(&history_lock);
}

bool pp_history_has_more(const struct pp_history_reader *reader)
{
	return !READ_ONCE(reader->position.informed) ||
	       READ_ONCE(reader->position.next) < READ_ONCE(next_seq);
}

void pp_history_reader_init(struct pp_history_reader *reader)
{
	mutex_lock(&history_lock);
	/* For records that are no longer there, pp_history_fill() makes a LOST record. */
	reader->position = (struct pp_history_position){ .next = 1 };
	list_add(&reader->node, &readers);
	mutex_unlock(&history_lock);
}

void pp_history_reader_deinit(struct pp_history_reader *reader)
{
	mutex_lock(&history_lock);
	list_del(&reader->node);
	history_trim();
	mutex_unlock(&history_lock);
	history_chunk_put(reader->position.chunk);
}

bool pp_history_has_readers(void)
{
	bool has;

	mutex_lock(&history_lock);
	has = !list_empty(&readers);
	mutex_unlock(&history_lock);
	return has;
}

int pp_history_init(void)
{
	began = pp_now();
	scratch = kvmalloc(POKEPATCH_HISTORY_RECORD_MAX, GFP_KERNEL);
	return scratch ? 0 : -ENOMEM;
}

void pp_history_exit(void)
{
	struct pp_history_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, &chunks, node)
		history_chunk_drop(chunk);
	kvfree(history_spare);
	kvfree(scratch);
}
