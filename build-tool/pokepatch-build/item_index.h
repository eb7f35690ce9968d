/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of headers as they are written, before the preprocessor: macros, declarations and other
 * directives, with the names that each mentions.  name_filter.c follows names from item to item.
 *
 * What cpp and the compiler make of an item depends on the unit.  So an item has all branches of
 * each #if, but those that no unit has (known_conditions.h), and a name leads to every macro and
 * every declaration of that name.
 */
#ifndef POKEPATCH_ITEM_INDEX_H
#define POKEPATCH_ITEM_INDEX_H

#include "common/util.h"

#define INDEX_NONE UINT32_MAX

/* What a name is to C, or what its macros lead to. */
enum name_words {
	WORD_TAG = 1,        /* struct, union, enum */
	WORD_USED = 2,       /* an attribute that has something emitted without a use */
	WORD_SECTION = 4,    /* an attribute that puts something into a section */
	WORD_COUNTER = 8,    /* __COUNTER__ */
	WORD_SPECIFIER = 16, /* const, __attribute__ and others that declare nothing */
	WORD_STORAGE = 32,   /* of these, those that are no attributes: static, inline */
	/* Of a symbol of the configuration: */
	WORD_SET = 64,    /* it has a macro */
	WORD_ONE = 128,   /* which is 1 */
	WORD_ASKED = 256, /* conditions were judged by it (known_conditions.c) */
};

struct indexed_name {
	const char *text;
	uint32_t length;
	uint32_t mentions; /* the last of its mentions, or INDEX_NONE */
	uint32_t macros;   /* the last macro of this name, or INDEX_NONE */
	uint32_t param_of; /* 1 + the macro of which it is a parameter; while that is read */
	uint32_t pastings; /* 1 + the index of its struct pasting (pasted_names.c), or 0 */
	unsigned short words;
	bool in_source; /* a file that is no header has it (name_filter.c) */
	bool harmless;  /* all its macros make attributes and other specifiers, or nothing */
};

struct mention {
	uint32_t name, item;
	uint32_t next;   /* of the same name */
	bool structural; /* where a macro could declare something, not in an expression or a body */
};

enum item_kind {
	ITEM_MACRO,     /* #define or #undef; an #undef has no mentions */
	ITEM_TEXT,      /* a declaration, or what looks like one */
	ITEM_CONDITION, /* #if and its like, and #include by a macro: macros matter to it */
	ITEM_DIRECTIVE, /* #pragma: names matter to it, too */
	ITEM_NEUTRAL,   /* nothing comes of it: #error, #warning, a condition that is known */
	ITEM_INCLUDE,
	ITEM_LEFT_OUT, /* text that no unit has */
};

struct item {
	enum item_kind kind;
	uint32_t file;
	uint32_t start, end;                 /* in the file's flat text */
	uint32_t first_line, last_line;      /* from 0 */
	uint64_t hash;                       /* of its tokens */
	uint32_t name;                       /* of a macro */
	uint32_t next_macro;                 /* of the same name */
	uint32_t first_mention, nr_mentions; /* of all but text, whose mentions are not together */
	/* Of macros: */
	bool takes_arguments, is_undef, begins_with_name, pastes;
	bool specifies;            /* outside parentheses, it has names only */
	bool structural_parameter; /* a parameter is outside parentheses */
	bool unbalanced;           /* brackets are */
	/*
	 * Of conditions: the #if that begins its group, or INDEX_NONE (#include by a macro).  Of
	 * that #if: the group's #endif, and the text that the group is within, or INDEX_NONE.
	 */
	uint32_t group, group_end, around;
	uint32_t uncertain; /* of #include: how many #if are around it that are not known */
	bool counts; /* what it mentions uses __COUNTER__, and not for names only */
	/* Of text: */
	bool opaque;     /* what it declares is not known, or it emits code by itself */
	bool understood; /* opaque and the names below are final (declared_names.c) */
	uint32_t first_declared, nr_declared; /* in index->declared */
};

struct indexed_file {
	const char *path;   /* borrowed */
	struct buffer flat; /* the text without comments */
	uint32_t first_item, nr_items;
	uint32_t guard; /* the macro that keeps it from being read twice, or INDEX_NONE */
	bool opaque; /* its brackets are unbalanced, so none of its text is understood */
};

typedef VEC(uint32_t) name_list;

struct item_index {
	bool configured; /* the values of the configuration's symbols are known */
	VEC(struct indexed_file) files;
	VEC(struct item) items;
	VEC(struct mention) mentions;
	VEC(struct indexed_name) names;
	VEC(uint32_t) declared;
	VEC(char *) own_names; /* owns texts of names that no file has */
	uint32_t *slots;       /* a hash of indexes into names */
	size_t nr_slots;
	VEC(uint32_t) hashes; /* of the names */
};

void item_index_init(struct item_index *index);
void item_index_deinit(struct item_index *index);

/*
 * item_index_add - read the items of a header.  path must live as long as the index; the text is
 * copied.  Return: the file's index.
 */
uint32_t item_index_add(struct item_index *index, const char *path, const char *text,
			size_t length);
/* item_index_finish - when all files are read: find out what macros lead to. */
void item_index_finish(struct item_index *index);

/* item_index_find - the index of a name, or INDEX_NONE.  hash: token_name_hash(). */
uint32_t item_index_find(const struct item_index *index, const char *text, size_t length,
			 uint64_t hash);
/* item_index_name - the index of a name, which becomes one; the text is copied if it is new. */
uint32_t item_index_name(struct item_index *index, const char *text, size_t length);
/* item_index_name_hashed - the same, with token_name_hash() given. */
uint32_t item_index_name_hashed(struct item_index *index, const char *text, size_t length,
				uint64_t hash);

/*
 * source_flatten - append C source without comments and continued lines, as tokens are read from it
 * (c_tokens.h).  A newline in either becomes a vertical tab.
 */
void source_flatten(const char *text, size_t length, struct buffer *ret);

/*
 * source_directives - append the directives of a source, as lines, of which the word begins with
 * one of these.
 * @words: ends with NULL
 */
void source_directives(const char *text, size_t length, const char *const *words,
		       struct buffer *ret);

#endif /* POKEPATCH_ITEM_INDEX_H */
