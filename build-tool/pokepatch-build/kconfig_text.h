/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of one Kconfig file as a list of definitions, and the values of its expressions in a
 * given configuration.  Documentation/kbuild/kconfig-language.rst describes the language.
 */
#ifndef POKEPATCH_KCONFIG_TEXT_H
#define POKEPATCH_KCONFIG_TEXT_H

#include "pokepatch-build/kconfig.h"

enum kconfig_property_kind {
	KCONFIG_PROMPT,
	KCONFIG_DEFAULT,
	KCONFIG_RANGE,
	KCONFIG_SELECT,
	KCONFIG_IMPLY,
	KCONFIG_OPTION, /* modules, transitional, and the like */
};

struct kconfig_property {
	enum kconfig_property_kind kind;
	char *value;     /* an expression, "1 64", a symbol's name; "" for a prompt */
	char *condition; /* behind "if"; or NULL */
};

/* A config or menuconfig entry.  A symbol can have several. */
struct kconfig_definition {
	char *symbol;  /* without CONFIG_ */
	char *type;    /* "bool"; NULL: another definition has it */
	char *depends; /* an expression: its own, and those of what encloses it; or NULL: y */
	char *visible; /* further conditions of its prompts; or NULL */
	size_t choice; /* index in choices + 1; 0: in none */
	size_t next;   /* index + 1 of the symbol's next definition; 0: there is none */
	VEC(struct kconfig_property) properties;
};

struct kconfig_choice {
	char *depends, *visible; /* as in a definition */
	bool optional;
	VEC(struct kconfig_property) properties;
};

/* A source line. */
struct kconfig_source {
	char *path;
	char *depends, *visible; /* of what encloses it */
};

struct kconfig_text {
	VEC(struct kconfig_definition) definitions;
	VEC(struct kconfig_choice) choices;
	VEC(struct kconfig_source) sources;
	struct buffer macros; /* assignments and calls of macros, a line each */
	struct map symbols;   /* name -> index + 1 of its first definition, as a pointer */
	size_t bad_line;      /* number of the first line that is not understood; 0: none */
};

/* kconfig_parse - read a file's text.  The caller frees *ret with kconfig_text_deinit(). */
void kconfig_parse(const char *text, struct kconfig_text *ret);
void kconfig_text_deinit(struct kconfig_text *text);
/* kconfig_first - the symbol's first definition there, or NULL. */
const struct kconfig_definition *kconfig_first(const struct kconfig_text *text, const char *symbol);
/* kconfig_next - the definition of the same symbol after that, or NULL. */
const struct kconfig_definition *kconfig_next(const struct kconfig_text *text,
					      const struct kconfig_definition *definition);

/* Values are ordered, so that && is the lower and || the higher one. */
enum kconfig_value {
	KCONFIG_N,
	KCONFIG_M,
	KCONFIG_Y,
	KCONFIG_UNKNOWN, /* it depends on what a macro gives */
};
/* kconfig_evaluate - the value of an expression; NULL has the value y. */
enum kconfig_value kconfig_evaluate(const struct kconfig_values *values, const char *expression);
/* kconfig_and - the value of "a && b". */
enum kconfig_value kconfig_and(enum kconfig_value a, enum kconfig_value b);

#endif /* POKEPATCH_KCONFIG_TEXT_H */
