// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text history: records in memory, and the device that they are read from.  What a
 * reader relies on is in pokepatch_history.h; how records come about is in record.c.
 *
 * Records lie packed in chunks, in a list in the order of their numbers.  The oldest chunk
 * is dropped when there are too many, so that what is lost are always the oldest records,
 * and a reader sees from their numbers how many.  Code that goes is copied into a chunk of
 * its own; of these the bytes are dropped first, and what is left (that there was such
 * code, and when) counts as ordinary records from then on.
 *
 * Everything here happens in task context: in a stopped section, or while breakpoints
 * stand in text, nothing is recorded but moments (pp_now()), by whoever changes the text; the
 * records are made of these and of what was laid out, when it is over.  What others write is noted while they do (others.c).
 *
 * history_lock is the innermost of the core's locks that sleep.  It is never held while
 * user memory is touched, which can take as long as a user likes: readers copy to a buffer
 * of their own first.
 */
#include <linux/delay.h>
#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>
#include <linux/wait.h>

#include <pokepatch_history.h>

#include "core_print.h"
#include "debug.h"
#include "history.h"
#include "kernel_symbols.h"
#include "module.h"
#include "others.h"
#include "pp_time.h"

static unsigned int history_kb = 1024;
module_param(history_kb, uint, 0644);
MODULE_PARM_DESC(history_kb, "how much of the text history is kept, KiB");

static unsigned int snapshots_kb = 2048;
module_param(snapshots_kb, uint, 0644);
MODULE_PARM_DESC(snapshots_kb, "how much code is kept that was unloaded, KiB");

static unsigned int others_kb = 1024;
module_param(others_kb, uint, 0644);
MODULE_PARM_DESC(others_kb, "how much is kept of what others write, KiB");

static unsigned int history_held_kb = 16384;
module_param(history_held_kb, uint, 0644);
MODULE_PARM_DESC(history_held_kb,
		 "how much of each is kept at most while a reader has not read it, KiB");

/* What is bounded apart: the core's own records must not go because somebody traces all. */
enum kind { ORDINARY, SNAPSHOT, OTHERS, KINDS };

static const unsigned int *const limits_kb[KINDS] = { &history_kb, &snapshots_kb, &others_kb };

static size_t limit_kb(enum kind kind)
{
	return READ_ONCE(*limits_kb[kind]);
}

/* A page order that there is always memory for; any record but those of snapshots fits. */
#define CHUNK_BYTES 16384

struct chunk {
	struct list_head node;	/* chunks; history_lock */
	refcount_t refs;	/* the list's, and those of readers */
	bool listed;		/* it is in the list; history_lock */
	enum kind kind;		/* of its records */
	u64 first, last;	/* numbers of its records; none: last is 0 */
	size_t used, room;	/* bytes of data */
	u8 data[] __aligned(8);
};

struct reader {
	struct list_head node;	/* readers; history_lock */
	struct mutex lock;	/* one read at a time */
	u64 next;		/* the number of the next record; history_lock to write */
	bool informed;		/* it has had its INFO; lock */
	struct chunk *chunk;	/* where that was looked for last, or NULL; lock */
	size_t at;		/* how far in its data */
	u8 *buffer;		/* POKEPATCH_HISTORY_RECORD_MAX bytes; lock */
};

static DEFINE_MUTEX(history_lock);
static LIST_HEAD(chunks);	/* the oldest first */
static LIST_HEAD(readers);
static size_t kept[KINDS];	/* bytes of chunks */
static u64 next_seq = 1;	/* written under history_lock */
static u64 snapshots_lost;	/* likewise */
static u64 began;		/* ns, monotonic */
static bool closing;		/* the core goes, by force */
static DECLARE_WAIT_QUEUE_HEAD(more);

/* What is being written: history_lock. */
static u8 *scratch;		/* for what gets lost, POKEPATCH_HISTORY_RECORD_MAX bytes */
static struct chunk *snapshot;	/* where records go, that would else go to the last chunk */
static struct task_struct *held_by; /* who holds history_lock for many records */
static bool snapshotting;	/* that is for a snapshot */

/* --- chunks -------------------------------------------------------------------------- */

#define CHUNK_ROOM (CHUNK_BYTES - sizeof(struct chunk))

/*
 * An ordinary chunk that was dropped, or NULL: of a history that is full each new one is one
 * of these, so that no memory is looked for, and cleared, while a switch is recorded.
 */
static struct chunk *spare;

static struct chunk *chunk_create(size_t room, enum kind kind)
{
	struct chunk *chunk = room == CHUNK_ROOM ? xchg(&spare, NULL) : NULL;

	chunk = chunk ?: kvmalloc(struct_size(chunk, data, room), GFP_KERNEL);
	if (!chunk)
		return NULL;
	*chunk = (struct chunk){ .kind = kind, .room = room };
	refcount_set(&chunk->refs, 1);
	return chunk;
}

static size_t chunk_bytes(const struct chunk *chunk)
{
	return struct_size(chunk, data, chunk->room);
}

static void chunk_put(struct chunk *chunk)
{
	if (!chunk || !refcount_dec_and_test(&chunk->refs))
		return;
	/* Nobody else has it any more, and of two who put one there, one does. */
	if (chunk->room == CHUNK_ROOM && !cmpxchg(&spare, NULL, chunk))
		return;
	kvfree(chunk);
}

static void chunk_list(struct chunk *chunk, struct list_head *behind)
{
	list_add(&chunk->node, behind);
	chunk->listed = true;
	kept[chunk->kind] += chunk_bytes(chunk);
}

static void chunk_drop(struct chunk *chunk)
{
	list_del(&chunk->node);
	chunk->listed = false;
	kept[chunk->kind] -= chunk_bytes(chunk);
	chunk_put(chunk);
}

static struct pokepatch_history_record *record_at(const struct chunk *chunk, size_t at)
{
	return (void *)(chunk->data + at);
}

/* There are a few readers, each of them a process of root's. */
static bool is_unread(const struct chunk *chunk)
{
	const struct reader *reader;

	list_for_each_entry(reader, &readers, node)
		if (reader->next <= chunk->last)
			return true;
	return false;
}

static bool is_too_much(const struct chunk *oldest)
{
	const size_t bytes = kept[oldest->kind], limit = limit_kb(oldest->kind);

	if (bytes <= limit * 1024)
		return false;
	return bytes > max_t(size_t, limit, READ_ONCE(history_held_kb)) * 1024 ||
	       !is_unread(oldest);
}

/* A copy of @chunk without the bytes of code, or NULL. */
static struct chunk *without_bytes(const struct chunk *chunk)
{
	struct pokepatch_history_code *code;
	struct chunk *copy;
	size_t at, size = 0;

	for (at = 0; at < chunk->used; at += record_at(chunk, at)->size) {
		code = (void *)record_at(chunk, at);
		size += code->record.size;
		if (code->record.type == POKEPATCH_HISTORY_SNAPSHOT)
			size -= ALIGN(code->bytes_len, 8);
	}
	copy = chunk_create(size, ORDINARY);
	if (!copy)
		return NULL;
	for (at = 0; at < chunk->used; at += record_at(chunk, at)->size) {
		size = record_at(chunk, at)->size;
		code = (void *)record_at(chunk, at);
		/* The bytes are the last of it. */
		if (code->record.type == POKEPATCH_HISTORY_SNAPSHOT)
			size -= ALIGN(code->bytes_len, 8);
		memcpy(copy->data + copy->used, code, size);
		code = (void *)record_at(copy, copy->used);
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

/* Its bytes go; that there was such code remains. */
static void strip(struct chunk *chunk)
{
	struct chunk *copy = without_bytes(chunk);

	snapshots_lost++;
	if (copy)
		chunk_list(copy, &chunk->node);
	chunk_drop(chunk);
}

static void trim_kind(enum kind kind)
{
	struct chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, &chunks, node) {
		if (kept[kind] <= limit_kb(kind) * 1024)
			break;
		if (chunk->kind != kind)
			continue;
		/* Who has not read this one has not read those behind it. */
		if (!is_too_much(chunk))
			break;
		if (kind == SNAPSHOT)
			strip(chunk);
		else if (list_is_last(&chunk->node, &chunks))
			break;
		else
			chunk_drop(chunk);
	}
}

/* Keep within the bounds, but for the newest chunk. */
static void trim(void)
{
	/* What is left of snapshots counts as ordinary. */
	trim_kind(SNAPSHOT);
	trim_kind(ORDINARY);
	trim_kind(OTHERS);
}

/* --- writing ------------------------------------------------------------------------- */

static struct chunk *last_chunk(void)
{
	return list_last_entry(&chunks, struct chunk, node);
}

/* The last chunk is not the last any more: what is left of its room is of no use. */
static void shrink_last(void)
{
	struct chunk *chunk, *copy;

	if (list_empty(&chunks))
		return;
	chunk = last_chunk();
	copy = chunk->used < chunk->room / 2 ? chunk_create(chunk->used, chunk->kind) : NULL;
	if (!copy)
		return;
	memcpy(copy->data, chunk->data, chunk->used);
	copy->used = chunk->used;
	copy->first = chunk->first;
	copy->last = chunk->last;
	chunk_list(copy, &chunk->node);
	chunk_drop(chunk);
}

/* Where @size bytes fit, behind all others; NULL: there is no memory. */
static struct chunk *chunk_for(size_t size, enum kind kind)
{
	struct chunk *chunk = snapshot;

	if (snapshotting)
		return chunk && chunk->room - chunk->used >= size ? chunk : NULL;
	if (!list_empty(&chunks)) {
		chunk = last_chunk();
		if (chunk->kind == kind && chunk->room - chunk->used >= size)
			return chunk;
		if (chunk->kind != kind)
			shrink_last();
	}
	chunk = chunk_create(CHUNK_ROOM, kind);
	if (chunk && chunk->room < size) {
		chunk_put(chunk);
		chunk = NULL;
	}
	if (chunk) {
		chunk_list(chunk, chunks.prev);
		/* What is kept has become more: here, and nowhere else. */
		trim();
	}
	return chunk;
}

/* Where the record that begin() gave is, or NULL if it gets lost. */
static struct chunk *writing;

void pp_history_hold(void)
{
	mutex_lock(&history_lock);
	held_by = current;
}

void pp_history_release(void)
{
	held_by = NULL;
	mutex_unlock(&history_lock);
	wake_up_interruptible(&more);
}

static void *begin(unsigned int type, unsigned int size, enum kind kind)
{
	struct pokepatch_history_record *record;

	size = ALIGN(size, 8);
	/* Nobody else can make this equal. */
	if (READ_ONCE(held_by) != current)
		mutex_lock(&history_lock);
	if (WARN_ON(size > POKEPATCH_HISTORY_RECORD_MAX))
		size = POKEPATCH_HISTORY_RECORD_MAX;
	writing = chunk_for(size, kind);
	record = writing ? record_at(writing, writing->used) : (void *)scratch;
	/* The last string does not end where the record does. */
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
	return begin(type, size, ORDINARY);
}

static void *zeroed(struct pokepatch_history_record *record)
{
	memset(record + 1, 0, record->size - sizeof(*record));
	return record;
}

void *pp_history_begin(unsigned int type, unsigned int size)
{
	return zeroed(begin(type, size, ORDINARY));
}

void *pp_history_begin_other(unsigned int type, unsigned int size)
{
	return zeroed(begin(type, size, OTHERS));
}

/* The reader that is shown the new number finds the record: it takes history_lock too. */
void pp_history_end(void *record)
{
	const struct pokepatch_history_record *this = record;

	if (writing) {
		if (!writing->last)
			writing->first = this->seq;
		writing->last = this->seq;
		writing->used += this->size;
	}
	WRITE_ONCE(next_seq, next_seq + 1 + pp_others_deaf());
	if (held_by == current)
		return;
	mutex_unlock(&history_lock);
	wake_up_interruptible(&more);
}

void pp_history_lose(unsigned int nr)
{
	mutex_lock(&history_lock);
	WRITE_ONCE(next_seq, next_seq + nr);
	mutex_unlock(&history_lock);
	wake_up_interruptible(&more);
}

bool pp_history_snapshot_begin(size_t bytes, size_t least)
{
	struct chunk *chunk = NULL;

	if (bytes <= (size_t)READ_ONCE(snapshots_kb) * 1024)
		chunk = chunk_create(bytes, SNAPSHOT);
	pp_history_hold();
	snapshotting = true;
	if (chunk) {
		snapshot = chunk;
		return true;
	}
	snapshots_lost++;
	snapshot = chunk_create(least, ORDINARY);
	return false;
}

void pp_history_snapshot_end(void)
{
	if (snapshot) {
		shrink_last();
		chunk_list(snapshot, chunks.prev);
	}
	snapshot = NULL;
	snapshotting = false;
	trim();
	pp_history_release();
}

/* --- reading -------------------------------------------------------------------------- */

/* Where a read has come to; it becomes the reader's when the bytes are with the user. */
struct position {
	u64 next;
	bool informed;
	struct chunk *chunk;
	size_t at;
};

static u64 records_kept(void)
{
	const struct chunk *chunk;
	u64 nr = 0;
	size_t at;

	list_for_each_entry(chunk, &chunks, node)
		for (at = 0; at < chunk->used; at += record_at(chunk, at)->size)
			nr++;
	return nr;
}

static unsigned int put_info(u8 *to, struct pp_time now)
{
	struct pokepatch_history_info *info = (void *)to;
	const char *release = init_utsname()->release;
	const unsigned int size = ALIGN(sizeof(*info) + strlen(release) + 1, 8);
	const struct chunk *oldest = list_first_entry_or_null(&chunks, struct chunk, node);

	memset(to, 0, size);
	info->record.size = size;
	info->record.type = POKEPATCH_HISTORY_INFO;
	info->record.mono_ns = now.mono;
	info->record.perf_ns = now.perf;
	info->record.cpu = raw_smp_processor_id();
	info->magic = POKEPATCH_HISTORY_MAGIC;
	info->version = POKEPATCH_HISTORY_VERSION;
	info->elf_machine = ELF_ARCH;
	info->text = pp_kernel.stext;
	info->stext = pp_kernel.stext;
	info->etext = pp_kernel.etext;
	info->real_ns = ktime_get_real_fast_ns();
	info->began_ns = began;
	info->others_ns = pp_others_since();
	info->record.flags = POKEPATCH_HISTORY_MODULES |
			     (info->others_ns ? POKEPATCH_HISTORY_OTHERS : 0);
	info->first_seq = oldest ? oldest->first : next_seq;
	info->next_seq = next_seq;
	info->lost = next_seq - 1 - records_kept();
	info->snapshots_lost = snapshots_lost;
	info->bytes = kept[ORDINARY];
	info->bytes_max = (u64)limit_kb(ORDINARY) * 1024;
	info->bytes_held_max = (u64)READ_ONCE(history_held_kb) * 1024;
	info->snapshot_bytes = kept[SNAPSHOT];
	info->snapshot_bytes_max = (u64)limit_kb(SNAPSHOT) * 1024;
	info->others_bytes = kept[OTHERS];
	info->others_bytes_max = (u64)limit_kb(OTHERS) * 1024;
	info->release = sizeof(*info);
	strcpy(to + sizeof(*info), release);
	info->build_id_len = pp_kernel.build_id_len;
	memcpy(info->build_id, pp_kernel.build_id, pp_kernel.build_id_len);
	return size;
}

static unsigned int put_lost(u8 *to, u64 first, u64 count)
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
 * Since when there may be changes of the core's own that have no record yet; mono 0: there are
 * none.  Under history_lock: a reader who took his time before that, and finds 0 here, has either
 * all records of what was done until his time, or whoever calls this has yet to do it.
 */
static struct pp_time behind_since;

void pp_history_behind(bool behind)
{
	mutex_lock(&history_lock);
	behind_since = behind ? pp_now() : (struct pp_time){};
	mutex_unlock(&history_lock);
}

/*
 * The first record that is there and has position->next or a higher number; NULL: none.  As
 * a rule it is where the last one ended; else, what the reader was in was dropped.
 */
static const struct pokepatch_history_record *find_next(struct position *position)
{
	struct chunk *chunk = position->chunk;

	if (!chunk || !chunk->listed) {
		chunk = list_first_entry(&chunks, struct chunk, node);
		position->at = 0;
	}
	list_for_each_entry_from(chunk, &chunks, node) {
		while (position->at < chunk->used) {
			const struct pokepatch_history_record *record =
				record_at(chunk, position->at);

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

/*
 * Copy records to the reader's buffer, as far as they are there and fit into @room.
 * *position then holds a reference to its chunk.
 */
static size_t fill(struct reader *reader, size_t room, struct position *position)
{
	struct pp_time now = {};
	size_t used = 0;

	/* The first record says up to when all is there, ours and what others wrote. */
	if (!reader->informed)
		now = pp_others_settle();

	room = min_t(size_t, room, POKEPATCH_HISTORY_RECORD_MAX);
	mutex_lock(&history_lock);
	if (behind_since.mono && behind_since.mono < now.mono && !pp_debug_skip_behind)
		now = behind_since;
	*position = (struct position){ reader->next, reader->informed, reader->chunk, reader->at };
	if (!position->informed) {
		BUILD_BUG_ON(sizeof(struct pokepatch_history_info) + __NEW_UTS_LEN + 8 > 512);
		if (room < 512)
			goto out;
		used = put_info(reader->buffer, now);
		position->informed = true;
	}
	while (position->next < next_seq) {
		const struct pokepatch_history_record *record = find_next(position);
		const u64 there = record ? record->seq : next_seq;
		const bool lost = there != position->next;
		const size_t size = lost ? sizeof(struct pokepatch_history_lost) : record->size;

		if (size > room - used)
			break;
		if (lost) {
			used += put_lost(reader->buffer + used, position->next,
					 there - position->next);
			position->next = there;
			continue;
		}
		memcpy(reader->buffer + used, record, size);
		used += size;
		position->at += size;
		position->next++;
	}
out:
	if (position->chunk)
		refcount_inc(&position->chunk->refs);
	mutex_unlock(&history_lock);
	return used;
}

static void go_on_from(struct reader *reader, const struct position *position)
{
	chunk_put(reader->chunk);
	reader->chunk = position->chunk;
	reader->at = position->at;
	reader->informed = position->informed;
	mutex_lock(&history_lock);
	reader->next = position->next;
	trim();
	mutex_unlock(&history_lock);
}

static bool is_there_more(const struct reader *reader)
{
	return !READ_ONCE(reader->informed) || READ_ONCE(reader->next) < READ_ONCE(next_seq);
}

static ssize_t read_some(struct reader *reader, char __user *to, size_t room)
{
	struct position position;
	const size_t size = fill(reader, room, &position);

	if (!size || copy_to_user(to, reader->buffer, size)) {
		chunk_put(position.chunk);
		return size ? -EFAULT : -EINVAL;
	}
	go_on_from(reader, &position);
	return size;
}

static ssize_t history_read(struct file *file, char __user *to, size_t room, loff_t *offset)
{
	struct reader *reader = file->private_data;
	ssize_t ret = mutex_lock_interruptible(&reader->lock);

	if (ret)
		return ret;
	if (!is_there_more(reader) && file->f_flags & O_NONBLOCK)
		ret = -EAGAIN;
	else
		ret = wait_event_interruptible(more, is_there_more(reader) || READ_ONCE(closing));
	if (!ret && is_there_more(reader))
		ret = read_some(reader, to, room);
	mutex_unlock(&reader->lock);
	return ret;
}

static __poll_t history_poll(struct file *file, struct poll_table_struct *table)
{
	const struct reader *reader = file->private_data;

	poll_wait(file, &more, table);
	return (is_there_more(reader) ? EPOLLIN | EPOLLRDNORM : 0) |
	       (READ_ONCE(closing) ? EPOLLHUP : 0);
}

static void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	kvfree(reader->buffer);
	kfree(reader);
}

static int history_open(struct inode *inode, struct file *file)
{
	struct reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);

	if (reader)
		reader->buffer = kvmalloc(POKEPATCH_HISTORY_RECORD_MAX, GFP_KERNEL);
	if (!reader || !reader->buffer) {
		reader_free(reader);
		return -ENOMEM;
	}
	mutex_init(&reader->lock);
	file->private_data = reader;
	mutex_lock(&history_lock);
	reader->next = 1; /* what is not there any more it is told */
	list_add(&reader->node, &readers);
	mutex_unlock(&history_lock);
	return stream_open(inode, file);
}

/* What only this reader kept goes. */
static int history_release(struct inode *inode, struct file *file)
{
	struct reader *reader = file->private_data;

	mutex_lock(&history_lock);
	list_del(&reader->node);
	trim();
	mutex_unlock(&history_lock);
	chunk_put(reader->chunk);
	reader_free(reader);
	return 0;
}

/* An open device holds the core, by its owner. */
static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = history_open,
	.release = history_release,
	.read = history_read,
	.poll = history_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = POKEPATCH_HISTORY_NAME,
	.fops = &operations,
	.mode = 0400,
};

int pp_history_init(void)
{
	int ret;

	began = ktime_get_ns();
	scratch = kvmalloc(POKEPATCH_HISTORY_RECORD_MAX, GFP_KERNEL);
	if (!scratch)
		return -ENOMEM;
	ret = misc_register(&device);
	if (ret) {
		pr_err("cannot make %s (%d)\n", POKEPATCH_HISTORY_DEVICE, ret);
		kvfree(scratch);
	}
	return ret;
}

static bool is_open(void)
{
	bool open;

	mutex_lock(&history_lock);
	open = !list_empty(&readers);
	mutex_unlock(&history_lock);
	return open;
}

void pp_history_exit(void)
{
	struct chunk *chunk, *next;
	bool told = false;

	misc_deregister(&device);
	/* `rmmod -f`: a file operation would return to code that is no more. */
	WRITE_ONCE(closing, true);
	wake_up_all(&more);
	for (; is_open(); msleep(PP_FORCED_PAUSE_MS)) {
		if (!told)
			pr_crit("the core is being removed by force; this waits until nobody has %s open\n",
				POKEPATCH_HISTORY_DEVICE);
		told = true;
	}
	list_for_each_entry_safe(chunk, next, &chunks, node)
		chunk_drop(chunk);
	kvfree(spare);
	kvfree(scratch);
}
