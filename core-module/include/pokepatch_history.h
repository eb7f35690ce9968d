/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text history: the records that /dev/pokepatch_history delivers.  The core and the host
 * programs share this header.  It has fixed-width types only, in the machine's byte order.
 *
 * Reading.  Root may open the device, for reading.  Each open file is an independent reader,
 * and begins with record 1.  read() returns as many whole records as fit.  It fails with
 * EINVAL if the next record does not fit; a buffer of POKEPATCH_HISTORY_RECORD_MAX bytes is
 * always large enough.  If there is no further record, it waits, or with O_NONBLOCK fails with
 * EAGAIN.  poll() reports when there is one.  An open file keeps the core from being unloaded
 * (EBUSY).  If the core is removed by force, read() returns 0, poll() reports POLLHUP, and the
 * core waits until the file is closed.
 *
 * Order.  The first record that a reader gets is POKEPATCH_HISTORY_INFO, which has no number.
 * All other records are numbered by seq, from 1 and without gaps, in the order of the changes.
 * The records of a text change are published once the change is complete: first the BEFORE
 * records of everything that was written together, then the AFTER records.  So mono_ns, which
 * is the time of the event, does not always increase with seq.  Sort by seq, not by time.
 *
 * Loss.  The core drops the oldest records when the history exceeds its bounds, which are module
 * parameters.  Records that an open reader has not read yet are kept longer, up to a second
 * bound.  A reader that misses records gets one POKEPATCH_HISTORY_LOST in their place.  It
 * carries the number of the first missing record, and how many are missing.  So a reader that
 * adds up seq and LOST accounts for every record.
 *
 * The base.  The history has no copy of the whole kernel text.  The first record of a place has
 * the bytes that stood there before (old_bytes, which the core read from live text).
 *
 * Times.  mono_ns is CLOCK_MONOTONIC.  perf_ns is local_clock(), the clock of perf events that
 * do not set use_clockid.  Both are read one after the other, at the same event.
 *
 * Extension.  Later versions add types of records and append members to structures.  Skip an
 * unknown record by its size, and find strings and bytes by their offsets.
 */
#ifndef POKEPATCH_HISTORY_H
#define POKEPATCH_HISTORY_H

#include <linux/types.h>

#define POKEPATCH_HISTORY_VERSION 1
#define POKEPATCH_HISTORY_MAGIC 0x7473696874706b70ULL /* "pkpthist", little endian */
#define POKEPATCH_HISTORY_NAME "pokepatch_history"
#define POKEPATCH_HISTORY_DEVICE "/dev/" POKEPATCH_HISTORY_NAME

/* The longest record, in bytes.  All records are multiples of 8 bytes and aligned to 8. */
#define POKEPATCH_HISTORY_RECORD_MAX 32768
/* The longest text change, in bytes. */
#define POKEPATCH_HISTORY_BYTES_MAX 16
#define POKEPATCH_HISTORY_BUILD_ID_MAX 20

enum pokepatch_history_type {
	POKEPATCH_HISTORY_INFO = 1,	  /* struct pokepatch_history_info */
	POKEPATCH_HISTORY_LOST = 2,	  /* struct pokepatch_history_lost */
	POKEPATCH_HISTORY_TEXT = 3,	  /* struct pokepatch_history_text */
	POKEPATCH_HISTORY_ROUTE = 4,	  /* struct pokepatch_history_route */
	POKEPATCH_HISTORY_TRANSITION = 5, /* struct pokepatch_history_transition */
	POKEPATCH_HISTORY_APPEAR = 6,	  /* struct pokepatch_history_code, without bytes */
	POKEPATCH_HISTORY_SNAPSHOT = 7,	  /* struct pokepatch_history_code */
	POKEPATCH_HISTORY_SYMBOL = 8,	  /* struct pokepatch_history_symbol */
	POKEPATCH_HISTORY_MARKER = 9,	  /* reserved: no such record is made */
};

/*
 * A member that is a string holds the offset of its first byte from the start of the record, or
 * 0 if there is no string.  Strings end with a 0 byte.
 */

/* Every record begins with this. */
struct pokepatch_history_record {
	__u32 size;	/* bytes, of the whole record */
	__u16 type;	/* enum pokepatch_history_type */
	__u16 flags;	/* enum pokepatch_history_flags */
	__u64 seq;	/* 0 in INFO, which has no number */
	__u64 mono_ns;
	__u64 perf_ns;
	__u32 cpu;	/* the CPU that made the change */
	__u32 reserved;
};

enum pokepatch_history_flags {
	/*
	 * TEXT, ROUTE: one store made the change, and one CPU read the clock right before
	 * (begin) and right after it (end).  In any record, a call that began before begin took
	 * the old way, and a call that began after end takes the new one.  Without this flag the
	 * interval is as long as the method needs.
	 */
	POKEPATCH_HISTORY_EXACT = 1 << 0,
	/* TEXT: no CPU could run the text while it was written. */
	POKEPATCH_HISTORY_UNUSED = 1 << 1,
	/* SNAPSHOT: the bytes were dropped, as when the bound was exceeded; bytes_len is 0. */
	POKEPATCH_HISTORY_DROPPED = 1 << 2,
	/* TRANSITION: the machine was not stopped. */
	POKEPATCH_HISTORY_LIVE = 1 << 3,
	/*
	 * INFO: the history also has, as POKEPATCH_HISTORY_OTHER, what other writers did to text,
	 * from others_ns on and up to the time of this record, at which no such write was in
	 * progress.  Where the core could not observe a write, records are LOST.
	 */
	POKEPATCH_HISTORY_OTHERS = 1 << 4,
	/* INFO: APPEAR and SNAPSHOT records cover every module, and not only patch modules. */
	POKEPATCH_HISTORY_MODULES = 1 << 5,
};

struct pokepatch_history_info {
	/* mono_ns, perf_ns: every change until then is in the history.  Set at the first read(). */
	struct pokepatch_history_record record;
	__u64 magic;
	__u32 version;
	__u32 elf_machine;	/* EM_X86_64, ... */
	__u64 text;		/* the address of _stext; offsets in vmlinux count from there */
	__u64 stext, etext;	/* the code that stays after boot: [stext, etext) */
	__u64 real_ns;		/* CLOCK_REALTIME when this record was made */
	__u64 began_ns;		/* monotonic: when the history began */
	__u64 others_ns;	/* OTHERS: since when others' writes are recorded; else 0 */
	__u64 first_seq;	/* seq of the oldest record that is kept */
	__u64 next_seq;		/* the seq that the next record will get */
	__u64 lost;		/* how many records were dropped or could not be made */
	__u64 snapshots_lost;	/* how many snapshots lost their bytes, or never had any */
	__u64 bytes, bytes_max; /* size of the records: now, and the bound without readers */
	__u64 bytes_held_max;	/* the bound while a reader has not read them */
	__u64 snapshot_bytes, snapshot_bytes_max;
	__u32 release;		/* string: the kernel's release */
	__u32 build_id_len;	/* bytes used in build_id, which is vmlinux's */
	__u8 build_id[POKEPATCH_HISTORY_BUILD_ID_MAX];
	__u32 reserved;
	__u64 others_bytes, others_bytes_max; /* size of others' records, and their own bound */
	__u64 began_perf, others_perf; /* the times of the same names by perf's clock */
};

struct pokepatch_history_lost {
	struct pokepatch_history_record record; /* seq: of the first missing record */
	__u64 count;		/* records seq .. seq + count - 1 are missing */
};

enum pokepatch_history_phase {
	POKEPATCH_HISTORY_BEFORE = 0,
	POKEPATCH_HISTORY_AFTER = 1,
};

/* How text was written. */
enum pokepatch_history_method {
	/*
	 * The core wrote the text under a breakpoint.  A CPU that hit it took the old way until
	 * one store, within [begin, end], and the new way from then on.
	 */
	POKEPATCH_HISTORY_INT3 = 1,
	/*
	 * One store, into text that no CPU ran, or that all CPUs could run (where the
	 * architecture allows that).  Then every CPU synchronised.
	 */
	POKEPATCH_HISTORY_STORE = 2,
	/* Stores while the machine was stopped, when only NMIs could run other code. */
	POKEPATCH_HISTORY_STOP_MACHINE = 3,
	/* ftrace wrote it, because the core registered or unregistered a function. */
	POKEPATCH_HISTORY_FTRACE = 4,
	/*
	 * Another writer of the kernel's wrote it.  There is one record, AFTER, made when the
	 * write was complete; change, patch and transition are 0.  The text began to change at
	 * begin, and all CPUs run the new text from end on.  Unlike the core's writer, the
	 * kernel's sends a CPU that hits its breakpoint the new way at once.
	 */
	POKEPATCH_HISTORY_OTHER = 5,
};

/*
 * A text change that the core made.  It has two records, BEFORE and AFTER, that are equal but for
 * the members record and phase.  Memory holds the old bytes until record.mono_ns of BEFORE.  It
 * holds the new bytes from record.mono_ns of AFTER on, and every CPU runs them by then.  In
 * between it may hold either, a mixture, or a breakpoint.  [begin, end] lies within these two
 * times and says which way calls took.
 */
struct pokepatch_history_text {
	struct pokepatch_history_record record;
	__u64 change;		/* seq of the BEFORE record */
	__u64 transition;	/* number of the transition, or 0 */
	__u64 addr;
	__u64 begin_ns, end_ns; /* monotonic */
	__u64 begin_perf, end_perf;
	__u64 func;		/* entry of the patched function, or of the one at addr; or 0 */
	__u8 phase;		/* enum pokepatch_history_phase */
	__u8 method;		/* enum pokepatch_history_method */
	__u8 len;		/* bytes used in old_bytes, and in new_bytes */
	__u8 mode;		/* enum pokepatch_mode of the site, or 0 */
	__u32 symbol;		/* string: name of the symbol that holds addr */
	__u32 symbol_offset;	/* of addr, in bytes from that symbol's start */
	__u32 module;		/* string: the module that holds it; none: vmlinux */
	__u32 patch;		/* string: the patch that it was written for, or none */
	__u32 reserved;
	__u8 old_bytes[POKEPATCH_HISTORY_BYTES_MAX];
	__u8 new_bytes[POKEPATCH_HISTORY_BYTES_MAX];
};

/*
 * Calls of a function go elsewhere from [begin, end] on, whatever the mode.  There is one record
 * for each such change; record.mono_ns is end_ns.
 */
struct pokepatch_history_route {
	struct pokepatch_history_record record;
	__u64 transition;	/* number of the transition, or 0 */
	__u64 func;		/* entry of the old function */
	__u64 func_size;	/* its size, bytes */
	__u64 site;		/* the function's entry site; behind an ENDBR, for instance */
	__u64 from, to;		/* entry of a new function; 0: the old function's own body */
	__u64 from_size, to_size; /* bytes; 0: not known */
	__u64 begin_ns, end_ns; /* monotonic */
	__u64 begin_perf, end_perf;
	__u8 method;		/* enum pokepatch_history_method; FTRACE: a store of data */
	__u8 mode;		/* enum pokepatch_mode */
	__u16 reserved;
	__u32 symbol;		/* string: name of the old function */
	__u32 module;		/* string: the module that holds it; none: vmlinux */
	__u32 patch;		/* string: the patch that owns the function at to, else at from */
};

enum pokepatch_history_kind {
	POKEPATCH_HISTORY_ENABLE = 1,
	POKEPATCH_HISTORY_DISABLE = 2,
	POKEPATCH_HISTORY_PARENT_COMES = 3, /* a module that an enabled patch changes */
	POKEPATCH_HISTORY_PARENT_GOES = 4,
	/* Of APPEAR, SNAPSHOT and SYMBOL: */
	POKEPATCH_HISTORY_MODULE_TEXT = 16, /* the text of a patch module */
	POKEPATCH_HISTORY_STUB = 17,	/* a stub of the direct mode, in such text */
	POKEPATCH_HISTORY_OTHER_TEXT = 18, /* the text of another module: never has bytes */
};

/*
 * A transition has two records, one when it begins and one when it has ended.  Several
 * transitions may be in progress at once.
 */
struct pokepatch_history_transition {
	struct pokepatch_history_record record;
	__u64 transition;	/* number, from 1 */
	__u64 stop_ns;		/* AFTER: how long the switch stopped the machine; live: 0 */
	__s32 error;		/* AFTER: 0: switched; else -errno, and nothing was switched */
	__u32 functions;	/* AFTER: how many functions were switched */
	__u8 phase;		/* enum pokepatch_history_phase */
	__u8 kind;		/* enum pokepatch_history_kind: up to PARENT_GOES */
	__u16 reserved;
	__u32 patch;		/* string */
	__u32 module;		/* string: PARENT_*: the parent module */
	__u32 reserved2;
};

/*
 * Code that comes or goes.  An APPEAR record says that the code has come.  A SNAPSHOT record says
 * that it goes, and has the bytes that it had last; each change that the core made to them before
 * has records of its own.  Long code is split into several SNAPSHOT records with the same born_ns,
 * died_ns and name, each with the addr of its piece.
 */
struct pokepatch_history_code {
	struct pokepatch_history_record record;
	__u64 addr, len;	/* SNAPSHOT: of this piece */
	/*
	 * monotonic: the code may have run in between.  born_ns is 0 if only the APPEAR record has
	 * it; died_ns is 0 in APPEAR.
	 */
	__u64 born_ns, died_ns;
	__u64 born_perf, died_perf;
	__u32 kind;		/* MODULE_TEXT, STUB or OTHER_TEXT */
	__u32 name;		/* string: name of the module or of the stub */
	__u32 patch;		/* string */
	__u32 bytes;		/* SNAPSHOT: offset of the bytes from the start of the record */
	__u32 bytes_len;	/* SNAPSHOT: len, or 0 (DROPPED) */
	__u32 reserved;
};

/* A symbol in code that goes.  These records follow the SNAPSHOT records of the code. */
struct pokepatch_history_symbol {
	struct pokepatch_history_record record;
	__u64 addr, len;
	__u64 born_ns, died_ns; /* those of the code that holds it */
	__u32 kind;		/* MODULE_TEXT */
	__u32 name;		/* string */
	__u32 module;		/* string */
	__u32 patch;		/* string */
	__u64 born_perf, died_perf;
};

#endif /* POKEPATCH_HISTORY_H */
