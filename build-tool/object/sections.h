/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done with a section, by its name: one row each, and a refusal for all others. */
#ifndef POKEPATCH_SECTIONS_H
#define POKEPATCH_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum section_policy {
	/* Split into atoms, one per symbol; what a patch needs of it is carried. */
	SECTION_CODE,
	SECTION_DATA,	/* writable, initial value must not change */
	SECTION_RODATA, /* constant */
	/* Known by their flags, not by their names: a variable "strings" is in .rodata.strings. */
	SECTION_STRINGS, /* compared and carried string by string */
	SECTION_CONST,	/* constants without names: compared and carried by content */
	/* Entries that each belong to a piece of code and are carried with it. */
	SECTION_TABLE,
	/* Pieces that code or table entries of a carried function point to. */
	SECTION_PARTNER,
	/* Split into atoms; may be referred to in the parent; never carried. */
	SECTION_PARENT,
	/* Not live any more once the kernel has booted; a change is refused. */
	SECTION_INIT,
	/* Exported symbols; a change is refused. */
	SECTION_EXPORT,
	/* No meaning for a patch: neither compared nor carried. */
	SECTION_DROP,
	/* Refused by name when it is seen at all. */
	SECTION_REFUSE,
};

/* Bytes of a table's entry that do not matter, such as a line number. */
struct entry_mask {
	uint8_t offset, size;
	uint8_t bits; /* of the byte behind them, the first that a bit-field takes */
};

/* Known forms of a table's entries; the one that fits the section is taken. */
struct entry_layout {
	uint8_t size;
	struct entry_mask ignored;
	uint8_t code;	  /* where the address of its code stands */
	uint8_t code_end; /* where the address of that code's end stands, or 0 */
	/* A partner piece: where its address and its length (one byte) or its end stand. */
	uint8_t partner, partner_length, partner_end;
	bool from_entry;  /* relative addresses count from the entry, not from their own place */
	uint8_t key;	 /* where the address of a static key stands, or 0 */
	bool short_last; /* the last entry may lack padding */
};

#define ENTRY_LAYOUTS 2

struct section_rule {
	const char *name;
	bool prefix; /* the name is only the beginning */
	enum section_policy policy;
	/* SECTION_CODE, SECTION_DATA, SECTION_RODATA: carried under this section's own name. */
	bool keep_name;
	/* SECTION_DATA: constants of that many bytes are among it, by clang's labels. */
	uint8_t constants;
	const char *advice; /* SECTION_REFUSE, SECTION_PARENT: why, and what to do */
	/*
	 * SECTION_TABLE: every entry has a relocation to its code.
	 * SECTION_DATA: the first may say which bytes of a variable do not matter.
	 */
	struct entry_layout layouts[ENTRY_LAYOUTS];
};

struct arch;

/* All rows that hold for an architecture, in an order to look them up. */
struct section_rules {
	struct section_row {
		const struct section_rule *rule;
		/* Number + 1 of the longest row that is a prefix of this row's name, or 0. */
		size_t shorter;
	} *rows;
	size_t count;
};

/* section_rules_init - the architecture's own rows and those of all. */
void section_rules_init(struct section_rules *ret, const struct arch *arch);
void section_rules_deinit(struct section_rules *rules);

/*
 * section_rule_find - the row for a section name: an exact name before a prefix,
 * a longer prefix before a shorter, the architecture's row before another of that
 * name.  NULL: nothing is known about it.
 */
const struct section_rule *section_rule_find(const struct section_rules *rules, const char *name);

/* include/linux/jump_label.h: the low bits of an entry's key say how it branches. */
#define JUMP_ENTRY_BRANCH 1 /* compiled as the likely branch */
#define JUMP_ENTRY_FLAGS  3

/* section_rule_key - does the address of a static key stand at an offset, in a table of branches? */
static inline bool section_rule_key(const struct section_rule *rule, uint64_t offset)
{
	return rule && rule->policy == SECTION_TABLE && rule->layouts[0].key &&
	       offset % rule->layouts[0].size == rule->layouts[0].key;
}

#endif /* POKEPATCH_SECTIONS_H */
