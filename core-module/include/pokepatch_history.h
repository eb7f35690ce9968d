/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text history: what a reader of /dev/pokepatch_history gets.  The one header that the
 * core and the host programs share; fixed-width types only, in the byte order of the machine.
 *
 * The device may be opened by root, for reading.  Each open file is a reader of its own, which
 * begins with the oldest record that is still there.  read() returns whole records, as many as
 * fit; it fails with EINVAL if the next one does not fit (POKEPATCH_HISTORY_RECORD_MAX bytes
 * always do); if there is none yet it waits, or with O_NONBLOCK fails with EAGAIN.  poll()
 * says when there is one.  While a device is open the core cannot be unloaded (EBUSY; if it
 * is done by force, read() returns 0 and poll() POLLHUP, and the core waits for the close).
 *
 * Order.  The first record of each reader is POKEPATCH_HISTORY_INFO.  All others are numbered
 * by seq, from 1, without gaps, in the order of the changes.  They are published when the change
 * is over, also that of before it, all that were before it first; so mono_ns, which tells when
 * it was, does not rise along seq where changes overlapped (sort by seq).
 *
 * Loss.  What does not fit into the history's bounds (module parameters) is dropped, the oldest
 * first.  What an open reader has not read is kept longer, up to a second bound.  Whoever
 * misses records gets POKEPATCH_HISTORY_LOST in their place, with their number; its seq is
 * that of the first of them.  So seq and LOST together are complete.
 *
 * The base.  There is no copy of the whole kernel text in it.  The first record of a place
 * carries the bytes that were there (old_bytes, read from live text before the change).
 *
 * Times.  mono_ns is CLOCK_MONOTONIC, perf_ns the clock of perf events without use_clockid
 * (local_clock()), taken together.
 *
 * Later versions add types and make structures longer: skip what is not known by size, take
 * strings and bytes by their offsets.
 */
#ifndef POKEPATCH_HISTORY_H
#define POKEPATCH_HISTORY_H

#include <linux/types.h>

#define POKEPATCH_HISTORY_VERSION 1
#define POKEPATCH_HISTORY_MAGIC 0x7473696874706b70ULL /* "pkpthist", little endian */
#define POKEPATCH_HISTORY_NAME "pokepatch_history"
#define POKEPATCH_HISTORY_DEVICE "/dev/" POKEPATCH_HISTORY_NAME

/* No record is longer, in bytes; all are multiples of, and aligned to, 8. */
#define POKEPATCH_HISTORY_RECORD_MAX 32768
/* No text change is longer. */
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
	POKEPATCH_HISTORY_MARKER = 9,	  /* not used yet */
};

/* A string is the offset of its first byte from the record's start, ends with 0; 0: none. */

/* What every record begins with. */
struct pokepatch_history_record {
	__u32 size;	/* bytes, of the whole record */
	__u16 type;	/* enum pokepatch_history_type */
	__u16 flags;	/* enum pokepatch_history_flags */
	__u64 seq;	/* 0: INFO, which is not numbered */
	__u64 mono_ns;
	__u64 perf_ns;
	__u32 cpu;	/* on which it was done, or which told the others to do it */
	__u32 reserved;
};

enum pokepatch_history_flags {
	/*
	 * TEXT, ROUTE: the change is that of one store, and [begin, end] are two looks at the
	 * clock on either side of it, on one processor: who entered before begin took the
	 * old way, who entered after end the new one.  Without it the same holds, but
	 * what is in between is as long as the method takes.
	 */
	POKEPATCH_HISTORY_EXACT = 1 << 0,
	/* TEXT: nobody could run the text while it was written. */
	POKEPATCH_HISTORY_UNUSED = 1 << 1,
	/* SNAPSHOT: the bytes are not there, to keep within the bound, say; bytes_len is 0. */
	POKEPATCH_HISTORY_DROPPED = 1 << 2,
	/* TRANSITION: the machine was not stopped. */
	POKEPATCH_HISTORY_LIVE = 1 << 3,
	/*
	 * INFO: text that others wrote is in it too, as POKEPATCH_HISTORY_OTHER, from others_ns
	 * on and up to this record's time, at which no such write was under way.  Where some
	 * was not heard, records are LOST.
	 */
	POKEPATCH_HISTORY_OTHERS = 1 << 4,
	/* INFO: APPEAR and SNAPSHOT of all modules that come and go are in it. */
	POKEPATCH_HISTORY_MODULES = 1 << 5,
};

struct pokepatch_history_info {
	struct pokepatch_history_record record; /* when the device was opened */
	__u64 magic;
	__u32 version;
	__u32 elf_machine;	/* EM_X86_64, ... */
	__u64 text;		/* the address of _stext: what offsets in vmlinux count from */
	__u64 stext, etext;	/* of the code that stays after boot */
	__u64 real_ns;		/* CLOCK_REALTIME at record.mono_ns */
	__u64 began_ns;		/* monotonic: since when there is a history */
	__u64 others_ns;	/* OTHERS: since when */
	__u64 first_seq;	/* the oldest record that is there */
	__u64 next_seq;		/* of the next record that there will be */
	__u64 lost;		/* how many records are not there any more */
	__u64 snapshots_lost;	/* how many snapshots have no bytes any more */
	__u64 bytes, bytes_max; /* of records: now, and at most while nobody reads */
	__u64 bytes_held_max;	/* at most while somebody does */
	__u64 snapshot_bytes, snapshot_bytes_max;
	__u32 release;		/* string: of the kernel */
	__u32 build_id_len;	/* of vmlinux; bytes used of build_id */
	__u8 build_id[POKEPATCH_HISTORY_BUILD_ID_MAX];
	__u32 reserved;
	__u64 others_bytes, others_bytes_max; /* of others' records, which are bounded apart */
};

struct pokepatch_history_lost {
	struct pokepatch_history_record record; /* seq: of the first that is missing */
	__u64 count;		/* records seq .. seq + count - 1 are not there */
};

enum pokepatch_history_phase {
	POKEPATCH_HISTORY_BEFORE = 0,
	POKEPATCH_HISTORY_AFTER = 1,
};

/* How text was written. */
enum pokepatch_history_method {
	/* A breakpoint stood there; who met it went the old way, then the new one. */
	POKEPATCH_HISTORY_INT3 = 1,
	/* One store, while nothing or everything ran; processors were told to take notice. */
	POKEPATCH_HISTORY_STORE = 2,
	/* Stores while the machine was stopped: but for NMIs nobody ran anything. */
	POKEPATCH_HISTORY_STOP_MACHINE = 3,
	/* ftrace wrote it, because the core (de)registered a function. */
	POKEPATCH_HISTORY_FTRACE = 4,
	/*
	 * Somebody else wrote it.  One record, AFTER, made when it was over; change, patch and
	 * transition are 0.  The text began to change at begin; by end all processors ran the
	 * new one.  The kernel's writer lets who meets its breakpoint go the new way at once.
	 */
	POKEPATCH_HISTORY_OTHER = 5,
};

/*
 * A change of text by the core: two records, before and after, with the same contents but for record
 * and phase.  Before record.mono_ns of BEFORE the old bytes are there, after that of AFTER
 * the new ones, and every processor runs them; in between what is there may be either, a
 * mixture or a breakpoint.  Which way calls take is told by [begin, end], which lies within.
 */
struct pokepatch_history_text {
	struct pokepatch_history_record record;
	__u64 change;		/* seq of its BEFORE */
	__u64 transition;	/* number, or 0 */
	__u64 addr;
	__u64 begin_ns, end_ns; /* monotonic */
	__u64 begin_perf, end_perf;
	__u64 func;		/* the entry of the old function that it is about, or 0 */
	__u8 phase;		/* enum pokepatch_history_phase */
	__u8 method;		/* enum pokepatch_history_method */
	__u8 len;		/* bytes; old and new are of the same length */
	__u8 mode;		/* enum pokepatch_mode of the site, or 0 */
	__u32 symbol;		/* string: name of what addr is in */
	__u32 symbol_offset;	/* addr is so many bytes behind its start */
	__u32 module;		/* string: its module; none: vmlinux */
	__u32 patch;		/* string: for whose sake, or none */
	__u32 reserved;
	__u8 old_bytes[POKEPATCH_HISTORY_BYTES_MAX];
	__u8 new_bytes[POKEPATCH_HISTORY_BYTES_MAX];
};

/*
 * From [begin, end] on calls of a function go another way, in whatever mode.  One record;
 * record.mono_ns is end_ns.
 */
struct pokepatch_history_route {
	struct pokepatch_history_record record;
	__u64 transition;	/* number, or 0 */
	__u64 func;		/* the entry of the old function ... */
	__u64 func_size;	/* ... and its size */
	__u64 site;		/* the instruction that leads elsewhere: behind an ENDBR, say */
	__u64 from, to;		/* entry of the new function; 0: the old function's own body */
	__u64 from_size, to_size; /* 0: not known */
	__u64 begin_ns, end_ns; /* monotonic */
	__u64 begin_perf, end_perf;
	__u8 method;		/* enum pokepatch_history_method; FTRACE: one store of data */
	__u8 mode;		/* enum pokepatch_mode */
	__u16 reserved;
	__u32 symbol;		/* string: name of the old function */
	__u32 module;		/* string: its module; none: vmlinux */
	__u32 patch;		/* string: whose function it leads to, or led to */
};

enum pokepatch_history_kind {
	POKEPATCH_HISTORY_ENABLE = 1,
	POKEPATCH_HISTORY_DISABLE = 2,
	POKEPATCH_HISTORY_PARENT_COMES = 3, /* a module that an enabled patch changes */
	POKEPATCH_HISTORY_PARENT_GOES = 4,
	POKEPATCH_HISTORY_MODULE_TEXT = 16, /* APPEAR, SNAPSHOT, SYMBOL: of a patch module */
	POKEPATCH_HISTORY_STUB = 17,	/* a stub of the direct mode, which is in such text */
	POKEPATCH_HISTORY_OTHER_TEXT = 18, /* of another module: never with bytes */
};

/* Two records, when it begins and when it is over; several may be under way. */
struct pokepatch_history_transition {
	struct pokepatch_history_record record;
	__u64 transition;	/* number, from 1 */
	__u64 stop_ns;		/* AFTER: how long the machine was stopped for the switch */
	__s32 error;		/* AFTER: 0: it was made; else -errno, and nothing was switched */
	__u32 functions;	/* AFTER: how many were switched */
	__u8 phase;		/* enum pokepatch_history_phase */
	__u8 kind;		/* enum pokepatch_history_kind: up to PARENT_GOES */
	__u16 reserved;
	__u32 patch;		/* string */
	__u32 module;		/* string: PARENT_*: which */
	__u32 reserved2;
};

/*
 * Code that comes or goes.  APPEAR tells that it is there, SNAPSHOT that it goes, with its
 * bytes at that time: the last it had, all changes that the core made to it being records
 * of their own.  A long one is told in pieces, SNAPSHOTs with the same born_ns, died_ns
 * and name, each with its own addr.
 */
struct pokepatch_history_code {
	struct pokepatch_history_record record;
	__u64 addr, len;	/* SNAPSHOT: of this piece */
	/* monotonic; it may have been run in between; 0: see the APPEAR; not yet */
	__u64 born_ns, died_ns;
	__u64 born_perf, died_perf;
	__u32 kind;		/* MODULE_TEXT or STUB */
	__u32 name;		/* string: module, or name of the stub */
	__u32 patch;		/* string */
	__u32 bytes;		/* SNAPSHOT: offset from the record's start */
	__u32 bytes_len;	/* SNAPSHOT: len, or 0 if they were dropped */
	__u32 reserved;
};

/* A function in code that goes.  These follow the SNAPSHOT pieces. */
struct pokepatch_history_symbol {
	struct pokepatch_history_record record;
	__u64 addr, len;
	__u64 born_ns, died_ns; /* as of the code that it is in */
	__u32 kind;		/* MODULE_TEXT or STUB */
	__u32 name;		/* string */
	__u32 module;		/* string */
	__u32 patch;		/* string */
	__u64 born_perf, died_perf;
};

#endif /* POKEPATCH_HISTORY_H */
