/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The definition of a macro of a header, as tokens. */
#ifndef POKEPATCH_MACRO_BODY_H
#define POKEPATCH_MACRO_BODY_H

#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/item_index.h"

typedef VEC(struct token) token_list;

struct macro_body {
	token_list tokens;     /* ## is two of them */
	token_list parameters; /* "..." is __VA_ARGS__, unless it has a name */
	bool variadic;         /* the last parameter takes all further arguments */
};

/* macro_body_read - read a macro that is defined; the tokens borrow from the index. */
void macro_body_read(const struct item_index *index, const struct item *macro,
		     struct macro_body *ret);
void macro_body_deinit(struct macro_body *body);

/* macro_body_parameter - 1 + the number of the parameter that a token of the body is, or 0. */
uint32_t macro_body_parameter(const struct macro_body *body, const struct token *token);

#endif /* POKEPATCH_MACRO_BODY_H */
