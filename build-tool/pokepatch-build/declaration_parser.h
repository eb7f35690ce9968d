/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The top-level declarations of preprocessed C: what they declare, what they mention, and whether
 * they emit code or data.
 */
#ifndef POKEPATCH_DECLARATION_PARSER_H
#define POKEPATCH_DECLARATION_PARSER_H

#include "common/util.h"

#define DECLARATIONS_NONE UINT32_MAX

struct name {
	const char *text;
	uint32_t length;
	uint32_t declarations; /* the last of the links to its declarations, or NONE */
	uint32_t seen_in;      /* the last declaration that mentions it */
	unsigned char keyword, attribute;
	bool implicit; /* counts as mentioned by code */
	bool reached;
};

struct link {
	uint32_t declaration, next;
};

struct declaration {
	size_t start, end; /* of its text */
	uint64_t hash;	   /* of its tokens */
	uint32_t first_mention, nr_mentions;
	bool root;	   /* emits code or data without being used, or may do so */
	bool harmless;	   /* no change of it matters: _Static_assert */
	bool directive;	   /* matters to all that follow: #pragma pack */
	bool implicit;	   /* the compiler may use it without a mention */
	bool names;	   /* it declares some */
	bool forward;	   /* "struct tag;" alone */
	bool changed, reached;
};

struct parser {
	VEC(struct name) names;
	uint32_t *slots; /* a hash of indexes into names, NONE if free */
	size_t nr_slots;
	VEC(struct link) links;
	VEC(uint32_t) mentions;
	VEC(struct declaration) declarations;
	bool unsure; /* some text is not understood */
};

void parser_init(struct parser *parser);
void parser_deinit(struct parser *parser);

/*
 * parser_read - append the declarations of a text, which must live as long as the parser.
 * @from: a place between two declarations
 * @limit: another; the text from there on is not read
 * Return: false if @limit is not between two declarations; then the text is read up to its end.
 */
bool parser_read(struct parser *parser, const char *text, size_t length, size_t from,
		 size_t limit);

#endif /* POKEPATCH_DECLARATION_PARSER_H */
