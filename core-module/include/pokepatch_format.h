/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The format of a patch module.  The build tool, the glue in every patch module and the core
 * share this header.
 *
 * A patch module holds one struct pokepatch_image, at the symbol "pokepatch_image".  It points
 * to the tables below.  The build tool writes the tables, the module loader relocates the few
 * addresses in them, and the core checks every field before it uses any.  All integers are in
 * the target's byte order.  A string is an offset into one string table, so that a string
 * needs no relocation.
 */
#ifndef POKEPATCH_FORMAT_H
#define POKEPATCH_FORMAT_H

#include <linux/types.h>

/* Increase it whenever a structure below changes.  The modinfo field "pokepatch=" has it too. */
#define POKEPATCH_FORMAT 7
#define POKEPATCH_MAGIC 0x68637470656b6f70ULL /* "pokeptch", little endian */

#define POKEPATCH_BUILD_ID_MAX 20
#define POKEPATCH_NONE 0xffffffffU /* "no such index" in an index field */

/* Names that the build tool, the glue and the core agree on. */
#define POKEPATCH_IMAGE_SYMBOL "pokepatch_image"
#define POKEPATCH_STUBS_SYMBOL "pokepatch_stubs"
/* The image's name in a module for the kernel's own livepatch core, which our core ignores. */
#define POKEPATCH_LIVEPATCH_SYMBOL "pokepatch_livepatch"
/* Such a module's memory for livepatch's structures, and their sizes in the glue's object. */
#define POKEPATCH_LIVEPATCH_ROOM "pokepatch_room"
#define POKEPATCH_SECTION_LIVEPATCH_SIZES ".discard.pokepatch_sizes"
#define POKEPATCH_SECTION_IMAGE ".pokepatch.image"
#define POKEPATCH_SECTION_TABLES ".pokepatch.tables"
#define POKEPATCH_SECTION_STRINGS ".pokepatch.strings"
#define POKEPATCH_SECTION_TEXTS ".pokepatch.texts"
#define POKEPATCH_SECTION_REPORT ".pokepatch.report" /* JSON; not loaded */
/* The core's own files beside the patches' folders in sysfs: no patch has such a name. */
#define POKEPATCH_OWN_NAMES "version", "trace_entry", "policy"
/*
 * In the object file of a unit, not in a patch module: struct pokepatch_callback_note
 * (pokepatch_patch.h), which the differ reads.
 */
#define POKEPATCH_SECTION_CALLBACK_NOTES ".pokepatch.notes.callbacks"

/* A parent object: index 0 is always vmlinux. */
struct pokepatch_object {
	__u32 name;	    /* string: "vmlinux", or the name in struct module: "nf_tables" */
	__u32 build_id_len; /* bytes used in build_id */
	__u8 build_id[POKEPATCH_BUILD_ID_MAX];
	__u32 reserved;
};

enum pokepatch_symbol_flags {
	POKEPATCH_SYM_FUNC = 1 << 0,   /* STT_FUNC */
	POKEPATCH_SYM_ABS = 1 << 1,    /* offset is the symbol's value: per-CPU data of vmlinux */
};

/*
 * A symbol of a parent object.  In vmlinux it lies offset bytes behind _stext, in a module
 * offset bytes behind the start of the section that is named here, as it is in the .ko.  Where
 * kallsyms lists the symbol, the core refuses the patch unless name and pos lead there too.
 */
struct pokepatch_symbol {
	__u64 offset;
	__u64 size;	/* st_size, bytes */
	__u32 object;	/* index into objects */
	__u32 name;	/* string */
	__u32 section;	/* string; empty for vmlinux */
	/*
	 * Which of the object's symbols of that name this is, counted from 1: in vmlinux in
	 * the order of their addresses, as kallsyms lists them, in a module in the order of
	 * the symbol table.  0: kallsyms does not list the symbol.
	 */
	__u32 pos;
	__u32 flags;	/* enum pokepatch_symbol_flags */
	__u32 reserved;
};

/* How calls of a function are rerouted (core-module/DESIGN.md, "Modes"). */
enum pokepatch_mode {
	POKEPATCH_MODE_AUTO = 0, /* the core chooses: entry, direct, ftrace, in that order */
	POKEPATCH_MODE_FTRACE = 1,
	POKEPATCH_MODE_DIRECT = 2,
	POKEPATCH_MODE_ENTRY = 3,
};

enum pokepatch_func_flags {
	/*
	 * The function has no entry that could be rerouted.  Its callers are replaced too, and
	 * call the new copy.  It is listed because a stack may show the old copy and none of
	 * its callers: a caller may have jumped to it (a tail call).
	 */
	POKEPATCH_FUNC_CARRIED = 1 << 0,
	/*
	 * The function has no entry that could be rerouted.  In entry mode the jump is written over
	 * its first instructions, of which the build tool has found that nothing jumps into them.
	 */
	POKEPATCH_FUNC_OVERWRITTEN = 1 << 1,
};

/*
 * In the flags of a function that is overwritten: the bytes in front of these instructions (a
 * landing pad); those of the instructions, which are all that the jump overwrites; and where among
 * these 32 bits are that count from an instruction's end, or 0.
 */
#define POKEPATCH_FUNC_FIELD(flags) ((flags) >> 8 & 0xff)
#define POKEPATCH_FUNC_PAD(flags) ((flags) >> 16 & 0xff)
#define POKEPATCH_FUNC_FIRST(flags) ((flags) >> 24)
#define POKEPATCH_FUNC_FIRST_FLAGS(pad, first, field) \
	((__u32)(field) << 8 | (__u32)(pad) << 16 | (__u32)(first) << 24)

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
	/* The expected code of the old function and of its .cold part: offsets into texts. */
	__u32 text;
	__u32 cold_text;     /* POKEPATCH_NONE if it has none */
};

/*
 * The table texts holds code as it was built, which the core compares with live memory.  The
 * code of one symbol is a sequence of runs that cover exactly the symbol's size.  A run is
 *	one byte	how many bytes of code to skip: relocated fields, and places that the
 *			kernel rewrites itself
 *	one byte	how many bytes of code to compare
 *	those bytes	the expected code
 */
#define POKEPATCH_RUN_MAX 255

/*
 * A relocation that the core makes, since the module loader cannot: the symbol is not exported,
 * or a module exports it.  type is the ELF relocation type of the machine.
 */
struct pokepatch_reloc {
	__u64 where;  /* relocated: address of the field to write, in the patch module */
	__s64 addend;
	__u32 symbol; /* index into symbols */
	__u32 type;
};

/* In the order in which the core calls them. */
enum pokepatch_callback_kind {
	POKEPATCH_CALLBACK_PRE_PATCH = 0,
	POKEPATCH_CALLBACK_POST_PATCH = 1,
	POKEPATCH_CALLBACK_PRE_UNPATCH = 2,
	POKEPATCH_CALLBACK_POST_UNPATCH = 3,
	POKEPATCH_CALLBACK_KINDS = 4,
};

/*
 * A function of the patch that the core calls around a switch (pokepatch_patch.h).  An object
 * has at most one of each kind.
 */
struct pokepatch_callback {
	__u64 func;   /* relocated: entry of the callback, in the patch module's text */
	__u32 object; /* index into objects */
	__u32 kind;   /* enum pokepatch_callback_kind */
};

/* How a patch is switched on and off (core-module/DESIGN.md, "The transition"). */
enum pokepatch_transition {
	POKEPATCH_TRANSITION_STOP = 0, /* all functions at once, with the machine stopped */
	POKEPATCH_TRANSITION_LIVE = 1, /* one function after the other, while all CPUs run */
};

enum pokepatch_image_flags {
	/*
	 * The new code stores or passes on addresses of the patch's code or data.  Once any of
	 * that code may have run, the module stays loaded until a callback calls
	 * pokepatch_withdrawn().
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
	__u32 strings_size; /* bytes; the last byte is 0 */
	__u32 flags;	    /* enum pokepatch_image_flags */
	__u32 texts_size;   /* bytes */
	__u32 nr_markers;
	__u64 objects;	    /* relocated: address of each table, or 0 if it is empty */
	__u64 symbols;
	__u64 funcs;
	__u64 relocs;
	__u64 callbacks;
	__u64 strings;
	__u64 texts;
	__u64 stubs;	    /* relocated: the direct mode's stubs (patches/module), or 0 */
	__u32 nr_stubs;	    /* nr_funcs, and in the order of funcs; or 0 */
	__u32 name;	    /* string: the patch's name, which is its folder's name in sysfs */
	__u64 markers;	    /* relocated: table of struct pokepatch_marker, or 0 */
	/*
	 * Of a cumulative patch, which has all that the patches of lower levels have: from 1.
	 * 0: it is not one of those.
	 */
	__u32 level;
	__u32 least_level; /* patches of lower levels are revoked by it; 0: none; at most level */
};

#endif /* POKEPATCH_FORMAT_H */
