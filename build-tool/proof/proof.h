/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The final check: a second reading of a finished patch module, by code that has
 * no part in making it.  What it knows comes from the formats (gABI, psABI,
 * pokepatch_format.h, the kernel's headers), from the compiler's output for each
 * unit, and from the parents' own symbol tables.
 *
 * It starts at the module's table of functions and follows every reference from
 * there, in the module and in the compiler's output side by side.  At the end
 * each function and datum has been found equal, byte for byte and relocation for
 * relocation, with all its entries in the special sections, and every byte of
 * every section that is loaded belongs to something that was found so.
 */
#ifndef POKEPATCH_PROOF_H
#define POKEPATCH_PROOF_H

#include "common/util.h"

/* What the differ says of a unit: this is what is to be proved. */
struct proof_claim {
	char *name;
	bool changed; /* else it is new */
};

struct proof_unit {
	char *name;	/* "fs/proc/version.c" */
	char *parent;	/* "vmlinux", or the module's name */
	char *orig;	/* the unchanged source's object, and ... */
	char *patched;	/* the changed source's, both as the compiler wrote them */
	char *unwound;	/* the latter after objtool; NULL where there is no unwind table */
	char *exact;	/* the unchanged source's as kbuild makes it */
	VEC(struct proof_claim) functions;
	VEC(struct proof_claim) data;
};

/* A parent that the module may name: "vmlinux" is the first. */
struct proof_parent {
	char *name, *path;
};

/* All that the check reads.  Strings are owned. */
struct proof_input {
	char *name;    /* of the patch */
	char *release; /* of the kernel */
	char *source;  /* modinfo pokepatch_source: sha256 sums of the diffs */
	char *symvers, *core_symvers; /* Module.symvers: the kernel's, the core's */
	char *glue, *glue_unwound;    /* object; after objtool, or NULL */
	char *mod;		      /* object made from modpost's .mod.c */
	uint32_t mode, transition;    /* as in pokepatch_format.h */
	bool pinned;		      /* addresses of new code or data escape */
	bool kallsyms_all;	      /* CONFIG_KALLSYMS_ALL */
	VEC(struct proof_unit) units;
	VEC(struct proof_parent) parents;
};
void proof_input_deinit(struct proof_input *input);

/* The same as text, a line for each field, for a folder that is kept: see input.c. */
char *proof_input_write(const struct proof_input *input);
struct error *proof_input_read(const char *path, struct proof_input *ret);

/* proof_knows - can the proof read modules of this machine?  EM_, ELFCLASS, ELFDATA. */
bool proof_knows(uint16_t machine, uint8_t elf_class, uint8_t elf_data);

/* Everything read that does not depend on the module itself; input must outlive it. */
struct proof;
struct error *proof_open(const struct proof_input *input, struct proof **ret);
void proof_close(struct proof *proof);

/*
 * proof_check - is the module at path exactly what it should be?  Errors: one
 * line that says what is wrong and where (STATUS_FAILED).  May be called for
 * many modules, one after the other.
 */
struct error *proof_check(struct proof *proof, const char *path);

#endif /* POKEPATCH_PROOF_H */
