/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The proof: a second reading of a finished patch module, by code that takes no part in making it.
 * It knows the formats (gABI, psABI, pokepatch_format.h, the kernel's headers), the compiler's
 * output for each unit, and the parents' own symbol tables.
 *
 * It begins at the module's table of functions and follows every reference, in the module and in
 * the compiler's output side by side.  At the end it has found that each function and datum is
 * equal, byte for byte and relocation for relocation, that each has all its entries in the special
 * sections, and that every byte of every loaded section belongs to something that was compared.
 */
#ifndef POKEPATCH_PROOF_H
#define POKEPATCH_PROOF_H

#include "common/util.h"

struct symtab; /* proof_symtab.h */

/* A function or datum that the differ reports: the proof takes this as given. */
struct proof_reported {
	char *name;
	bool changed; /* else it is new */
};

struct proof_unit {
	char *name;	/* "fs/proc/version.c" */
	char *parent;	/* "vmlinux", or the module's name */
	char *orig;	/* object of the unchanged source, as the compiler wrote it */
	char *patched;	/* object of the changed source, as the compiler wrote it */
	char *unwound;	/* patched after objtool; NULL: the machine has no unwind table */
	char *exact;	/* object of the unchanged source, as kbuild makes it */
	VEC(struct proof_reported) functions;
	VEC(struct proof_reported) data;
};

/* A parent that the module may name; "vmlinux" is the first. */
struct proof_parent {
	char *name, *path;
};

/* All that the proof reads.  Strings are owned. */
struct proof_input {
	char *name;    /* the patch's */
	char *release; /* the kernel's */
	char *source;  /* pokepatch_source in modinfo: sha256 sums of the diffs */
	char *symvers, *core_symvers; /* Module.symvers of the kernel and of the core */
	char *glue, *glue_unwound;    /* object before and after objtool, or NULL */
	char *mod;		      /* object of modpost's .mod.c */
	char *common;		      /* object of scripts/module-common.c; NULL: none */
	uint32_t mode, transition;    /* as in pokepatch_format.h */
	uint32_t level, least_level;  /* as in pokepatch_format.h */
	VEC(char *) about;	      /* lines of modinfo: the level and what goes with it */
	bool pinned;		      /* addresses of new code or data escape */
	bool kallsyms_all;	      /* CONFIG_KALLSYMS_ALL */
	bool livepatch;		      /* the module is for the kernel's livepatch core */
	VEC(struct proof_unit) units;
	VEC(struct proof_parent) parents;
	struct symtab *vmlinux; /* borrowed: the first parent's, if it was read ahead; or NULL */
};
void proof_input_deinit(struct proof_input *input);

/* The same as text, a line for each field (input.c). */
char *proof_input_write(const struct proof_input *input);
struct error *proof_input_read(const char *path, struct proof_input *ret);

/* proof_knows - can the proof read modules of this machine?  EM_, ELFCLASS, ELFDATA. */
bool proof_knows(uint16_t machine, uint8_t elf_class, uint8_t elf_data);

/*
 * proof_read_vmlinux - read the symbols of a vmlinux, for one proof after another; the caller frees
 * them after the last one.  Errors: as for proof_open().
 */
struct error *proof_read_vmlinux(const char *path, struct symtab **ret);
void proof_free_vmlinux(struct symtab *symtab); /* NULL is allowed */

/*
 * proof_open - read everything that does not depend on the module.  input must outlive the proof.
 * Errors: a file cannot be read or does not make sense (STATUS_FAILED).
 */
struct proof;
struct error *proof_open(const struct proof_input *input, struct proof **ret);
void proof_close(struct proof *proof);

/*
 * proof_check - error: the module at path is not exactly what it should be; one line says what is
 * wrong and where (STATUS_FAILED).  May be called for many modules, one after the other.
 */
struct error *proof_check(struct proof *proof, const char *path);

/*
 * proof_check_livepatch - error: the module for the kernel's livepatch core is not what a module
 * that proof_check() has accepted says: other code or data, or another relocation.
 * @proved: path of that one; @path: of the module for livepatch
 */
struct error *proof_check_livepatch(struct proof *proof, const char *proved, const char *path);

#endif /* POKEPATCH_PROOF_H */
