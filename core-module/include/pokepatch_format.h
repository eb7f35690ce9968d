/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The patch module's format: the one header that the build tool, the glue in
 * every patch module and the core share.
 *
 * A patch module holds one struct pokepatch_image, at the symbol
 * "pokepatch_image", which points to the tables below.  The build tool writes
 * the tables; the module loader relocates the few addresses in them; the core
 * checks every field before it uses one.  All integers are in the target's
 * byte order.  Strings are offsets into one string table, so that a string
 * costs no relocation.
 */
#ifndef POKEPATCH_FORMAT_H
#define POKEPATCH_FORMAT_H

#include <linux/types.h>

/* Changed whenever a structure below changes; also modinfo "pokepatch=". */
#define POKEPATCH_FORMAT 6
#define POKEPATCH_MAGIC 0x68637470656b6f70ULL /* "pokeptch", little endian */

#define POKEPATCH_BUILD_ID_MAX 20
#define POKEPATCH_NONE 0xffffffffU /* "no such index" in an index field */

/* Names that tool, glue and core agree on. */
#define POKEPATCH_IMAGE_SYMBOL "pokepatch_image"
#define POKEPATCH_STUBS_SYMBOL "pokepatch_stubs"
#define POKEPATCH_SECTION_IMAGE ".pokepatch.image"
#define POKEPATCH_SECTION_TABLES ".pokepatch.tables"
#define POKEPATCH_SECTION_STRINGS ".pokepatch.strings"
#define POKEPATCH_SECTION_TEXTS ".pokepatch.texts"
#define POKEPATCH_SECTION_REPORT ".pokepatch.report" /* not loaded: JSON */
/* Of a unit's object, for the differ: struct pokepatch_callback_note (pokepatch_patch.h). */
#define POKEPATCH_SECTION_CALLBACK_NOTES ".pokepatch.notes.callbacks"

/* A parent object: index 0 is always vmlinux. */
struct pokepatch_object {
	__u32 name;	    /* string: "vmlinux", or as in struct module, "nf_tables" */
	__u32 build_id_len; /* bytes used in build_id */
	__u8 build_id[POKEPATCH_BUILD_ID_MAX];
	__u32 reserved;
};

enum pokepatch_symbol_flags {
	POKEPATCH_SYM_FUNC = 1 << 0,   /* STT_FUNC */
	POKEPATCH_SYM_ABS = 1 << 1,    /* offset is the value itself: per-CPU symbols of vmlinux */
};

/*
 * A symbol of a parent object.  In vmlinux its place is offset bytes from
 * _stext; in a module, offset bytes from the start of the named section of the
 * .ko.  name and pos must agree with kallsyms wherever kallsyms lists it.
 */
struct pokepatch_symbol {
	__u64 offset;
	__u64 size;	/* st_size, bytes */
	__u32 object;	/* index into objects */
	__u32 name;	/* string */
	__u32 section;	/* string; empty for vmlinux */
	/*
	 * Position among the object's symbols of that name, from 1: in vmlinux
	 * by address (as kallsyms lists them), in a module by symbol table
	 * order.  0: kallsyms does not list it.
	 */
	__u32 pos;
	__u32 flags;	/* enum pokepatch_symbol_flags */
	__u32 reserved;
};

enum pokepatch_mode {
	POKEPATCH_MODE_AUTO = 0,
	POKEPATCH_MODE_FTRACE = 1,
	POKEPATCH_MODE_DIRECT = 2,
	POKEPATCH_MODE_ENTRY = 3,
};

enum pokepatch_func_flags {
	/*
	 * It has no entry to reroute: functions that are rerouted call the new one.
	 * Listed since a task may be in the old one alone (a caller may jump to it).
	 */
	POKEPATCH_FUNC_CARRIED = 1 << 0,
};

/* A function that the patch replaces. */
struct pokepatch_func {
	__u64 new_addr;	     /* relocated: entry of the new function */
	__u64 new_cold_addr; /* relocated, or 0: its .cold part */
	__u32 new_size;
	__u32 new_cold_size;
	__u32 symbol;	     /* the old function: index into symbols */
	__u32 cold;	     /* its .cold part: index into symbols, or POKEPATCH_NONE */
	__u32 mode;	     /* enum pokepatch_mode */
	__u32 flags;	     /* enum pokepatch_func_flags */
	/* What the old function's code must be, and its .cold part's: offsets into texts. */
	__u32 text;
	__u32 cold_text;     /* POKEPATCH_NONE if it has none */
};

/*
 * Code as the kernel was built with it, to be compared with live memory.  Of texts,
 * from such an offset on: runs, until the whole symbol is covered, which the last one
 * must not exceed.  A run is one byte, how many bytes of the code may be anything
 * (fields that are relocated, and places that the kernel itself rewrites); one byte,
 * how many follow that must be as they stand in the run; and these.
 */
#define POKEPATCH_RUN_MAX 255

/*
 * A relocation that the module loader cannot make: the symbol is not exported,
 * or a module exports it.  type is the ELF machine's own relocation type.
 */
struct pokepatch_reloc {
	__u64 where;  /* relocated: the place to write, within the patch module */
	__s64 addend;
	__u32 symbol; /* index into symbols */
	__u32 type;
};

/* The order is that of a patch's life. */
enum pokepatch_callback_kind {
	POKEPATCH_CALLBACK_PRE_PATCH = 0,
	POKEPATCH_CALLBACK_POST_PATCH = 1,
	POKEPATCH_CALLBACK_PRE_UNPATCH = 2,
	POKEPATCH_CALLBACK_POST_UNPATCH = 3,
	POKEPATCH_CALLBACK_KINDS = 4,
};

/* A function that the core calls, at most one of a kind for each object (pokepatch_patch.h). */
struct pokepatch_callback {
	__u64 func;   /* relocated: its entry, in the patch module's text */
	__u32 object; /* index into objects */
	__u32 kind;   /* enum pokepatch_callback_kind */
};

enum pokepatch_transition {
	POKEPATCH_TRANSITION_STOP = 0,
	POKEPATCH_TRANSITION_LIVE = 1,
};

enum pokepatch_image_flags {
	/*
	 * Addresses in it may be anywhere: once enabled, the module must stay, until a
	 * callback says that they were withdrawn.
	 */
	POKEPATCH_IMAGE_PINNED = 1 << 0,
};

struct pokepatch_image {
	__u64 magic;
	__u32 format;
	__u32 size;	   /* sizeof(struct pokepatch_image) */
	__u32 transition;  /* enum pokepatch_transition */
	__u32 nr_objects;
	__u32 nr_symbols;
	__u32 nr_funcs;
	__u32 nr_relocs;
	__u32 nr_callbacks;
	__u32 strings_size; /* bytes, the last one is 0 */
	__u32 flags;	    /* enum pokepatch_image_flags */
	__u32 texts_size;   /* bytes */
	__u32 nr_markers;
	__u64 objects;	    /* relocated addresses of the tables, 0 where empty */
	__u64 symbols;
	__u64 funcs;
	__u64 relocs;
	__u64 callbacks;
	__u64 strings;
	__u64 texts;
	__u64 stubs;	    /* relocated: of the direct mode, see patches/module, or 0 */
	__u32 nr_stubs;	    /* as many as functions, and for them in that order, or 0 */
	__u32 name;	    /* string: the patch's name, its folder in sysfs */
	__u64 markers;	    /* relocated: struct pokepatch_marker (pokepatch_mark.h), or 0 */
};

#endif /* POKEPATCH_FORMAT_H */
