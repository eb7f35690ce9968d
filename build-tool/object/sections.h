/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules for sections: a row for each known name, and a refusal for every other section. */
#ifndef POKEPATCH_SECTIONS_H
#define POKEPATCH_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum section_policy {
	/* The next three are split into atoms, one for each symbol, which a patch may include. */
	SECTION_CODE,
	SECTION_DATA,	/* writable; a changed initial value is refused */
	SECTION_RODATA, /* constant */
	/* Known by flags and not by name: a variable "strings" is in .rodata.strings. */
	SECTION_STRINGS, /* compared and included string by string */
	SECTION_CONST,	/* constants without names: compared and included by content */
	/* Entries, each of which belongs to a piece of code and is included with it. */
	SECTION_TABLE,
	/* Pieces without symbols that code or table entries of an included function point to. */
	SECTION_PARTNER,
	/* Split into atoms; new code may refer to the parent's own, and none is included. */
	SECTION_PARENT,
	/* Used while the kernel boots or the module loads, and not later; a change is refused. */
	SECTION_INIT,
	/* Exported symbols; a change is refused. */
	SECTION_EXPORT,
	/* Without a meaning for a patch: neither compared nor included. */
	SECTION_DROP,
	/* An object that has it is refused. */
	SECTION_REFUSE,
};

/* Bytes of a table's entry, or of a variable, that do not matter, such as a line number. */
struct entry_mask {
	uint8_t offset, size;
	uint8_t bits; /* so many bits of the next byte do not matter: the first of a bit-field */
};

/* A form of a table's entries.  Members say at which offset of an entry a field is; 0: no such. */
struct entry_layout {
	uint8_t size;
	struct entry_mask ignored;
	uint8_t code;	  /* address of its code; always there, 0 is an offset */
	uint8_t code_end; /* address of that code's end */
	/* Address of a partner piece, and its length (one byte) or the address of its end. */
	uint8_t partner, partner_length, partner_end;
	bool from_entry;  /* relative addresses count from the entry, not from their own place */
	uint8_t key;	 /* address of a static key */
	bool short_last; /* the last entry may lack padding */
};

#define ENTRY_LAYOUTS 2

struct section_rule {
	const char *name;
	bool prefix; /* the row is for every section whose name begins with this one */
	enum section_policy policy;
	/* SECTION_CODE, SECTION_DATA, SECTION_RODATA: included under this section's own name. */
	bool keep_name;
	/* SECTION_DATA: the kernel makes it read-only when it has initialised itself. */
	bool sealed;
	/*
	 * Labels, symbols without a type, name things: one without a size all up to the next label.
	 * What has a type and lies there is a part of that thing, and only its name tells what the
	 * bytes will be.
	 */
	bool labels;
	/* SECTION_DATA: clang puts constants of so many bytes, with labels, into it. */
	uint8_t constants;
	const char *advice; /* SECTION_REFUSE, SECTION_PARENT: why, and what to do */
	/*
	 * SECTION_TABLE: the layout by which every entry has a relocation to its code holds.
	 * SECTION_DATA: "ignored" of the first layout is for each variable.
	 */
	struct entry_layout layouts[ENTRY_LAYOUTS];
};

struct arch;

/* All rows for an architecture, sorted by name. */
struct section_rules {
	struct section_row {
		const struct section_rule *rule;
		/* Index + 1 of the row with the longest prefix of this row's name, or 0. */
		size_t shorter;
	} *rows;
	size_t count;
};

/* section_rules_init - the architecture's own rows and the common ones. */
void section_rules_init(struct section_rules *ret, const struct arch *arch);
void section_rules_deinit(struct section_rules *rules);

/*
 * section_rule_find - the row for a section name: an exact name before a prefix, a longer prefix
 * before a shorter one, the architecture's row before a common one of that name.  NULL: the name is
 * unknown.
 */
const struct section_rule *section_rule_find(const struct section_rules *rules, const char *name);

/* include/linux/jump_label.h: the low bits of an entry's key say how it branches. */
#define JUMP_ENTRY_BRANCH 1 /* compiled as the likely branch */
#define JUMP_ENTRY_FLAGS  3

/* section_rule_key - whether a table of branches has a static key's address at an offset. */
static inline bool section_rule_key(const struct section_rule *rule, uint64_t offset)
{
	return rule && rule->policy == SECTION_TABLE && rule->layouts[0].key &&
	       offset % rule->layouts[0].size == rule->layouts[0].key;
}

#endif /* POKEPATCH_SECTIONS_H */
