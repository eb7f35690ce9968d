/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of struct arch that describe what the module loader and the running kernel do to a
 * module's code, and the jumps that a patch needs because of it (arch.h).
 */
#ifndef POKEPATCH_ARCH_LOADER_H
#define POKEPATCH_ARCH_LOADER_H

#include <stdbool.h>
#include <stdint.h>

struct object;
struct section;

/* A table of places in code that the module loader rewrites. */
struct site_table {
	const char *section;
	uint8_t entry;	   /* bytes of an entry, which begins with the relocated address */
	uint8_t length_at; /* where in an entry the byte with the place's length is, or 0 */
	uint8_t length;	   /* bytes of every place, where length_at is 0 */
	/*
	 * Where in an entry the address and the length are of the code that is copied to the
	 * place, if that code is among the functions' own; or 0.
	 */
	uint8_t piece_at, piece_length_at;
};

/* A table of places in code that the kernel rewrites, as it boots or later. */
struct late_table {
	const char *section;
	uint8_t entry;	/* bytes of an entry, which begins with the relocated address */
	uint8_t length; /* bytes of the place, but for the two exceptions below */
	uint8_t before; /* the place begins so many bytes in front of the address */
	/* A place whose first byte is one of this string has first_length bytes. */
	const char *first;
	uint8_t first_length;
	/*
	 * A place is only as long as the NOPs, words of zeroes, that it begins with: how many the
	 * compiler makes is a choice of the kernel's build.
	 */
	bool nops;
	/*
	 * An address so many bytes in front of a function stands for the function's start.  If the
	 * function begins with landing_pad, four bytes, the place is behind that.
	 */
	uint8_t lead;
	const char *landing_pad;
};

/* Relocations that the core must not make at an offset with offset % align >= from. */
struct late_limit {
	uint32_t types[2];
	uint32_t align, from;
};

/* What the module loader and the kernel do to code. */
struct arch_loader {
	const struct site_table *site_tables; /* ends with a NULL section */
	const struct late_table *late_tables; /* ends with a NULL section */
	/* Likewise, or NULL: every section whose name begins with the row's is such a table. */
	const struct late_table *late_prefixes;
	/* Tables that objtool makes from a function's own code, 4 bytes an entry, until a NULL. */
	const char *const *objtool_tables;
	/*
	 * One of these tables lists direct calls, which the loader leads through thunks, before the
	 * core relocates calls of what is not exported.  NULL: none.
	 */
	const char *call_table;
	uint8_t call_length; /* bytes of such a call */
	/*
	 * The kernel rewrites the landing pads that this table lists, so many bytes each, so that
	 * indirect calls of these functions fault.  Which functions are in it depends on all code
	 * of the parent, so only the parent's own table counts.
	 */
	const char *seal_table;
	uint8_t seal_length;
	const char *landing_pad; /* the code of such a pad, of seal_length bytes */
	const char *replacement_section; /* code that is copied over the sites, or NULL */
	const struct late_limit *late_limit; /* or NULL */
	/*
	 * The loader reads the static keys of a module's branches before pokepatch's core has made
	 * relocations (jump_label_apply_nops()).
	 */
	bool reads_keys;
	/*
	 * Modules for the kernel's own livepatch core have been tested: its relocations are
	 * those of the module loader, and nothing that this machine's loader makes needs them.
	 */
	bool livepatch;
	/*
	 * The loader leaves out, without a word, a relocation in a live module at a place of less
	 * alignment: one of the livepatch core's that waits for another module.  0: it makes all.
	 */
	uint8_t live_align;
};

/* A jump to a function that a call by itself does not reach. */
struct veneer {
	/*
	 * Use it for every call to a symbol that the core resolves, not only for calls where
	 * the loader rewrites code: calls reach less far than modules may be from the kernel,
	 * and the loader counts its own veneers by the relocations that it sees.
	 */
	bool every_call;
	bool exported; /* also for calls to what vmlinux exports: the loader makes no veneers */
	const char *kind; /* distinguishes its name from another veneer's, or NULL */
	const uint8_t *code;
	uint8_t size, align;
	uint8_t reloc_at; /* where in the code the relocation of reloc_type and addend is */
	uint32_t reloc_type;
	int64_t addend;
	uint8_t second_at; /* where a second one with the same addend is */
	uint32_t second_type; /* 0: there is no second one */
};

struct arch_veneers {
	const struct veneer *call; /* for calls that do not reach their callee, or NULL */
	/* for_call - the veneer for the call at an offset, where calls need different ones. */
	const struct veneer *(*for_call)(const struct object *object,
					 const struct section *section, uint64_t offset);
	/* for_object - the veneer for all calls of an object, where it depends on its notes. */
	const struct veneer *(*for_object)(const struct object *object);
	/*
	 * point_branch - let the branch with this field, one for which arch_code.local_references()
	 * found no relocation type, reach a place so many bytes behind the field; false, and
	 * nothing written, if that is too far.  NULL: short branches get no stubs.
	 */
	bool (*point_branch)(unsigned char *field, uint64_t distance);
};

#endif /* POKEPATCH_ARCH_LOADER_H */
