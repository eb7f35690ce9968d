/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The argument of --return, [MODULE:][FILE:]FUNCTION=VALUE, and which types allow which values. */
#ifndef POKEPATCH_RETURN_VALUE_H
#define POKEPATCH_RETURN_VALUE_H

#include "object/arch.h"
#include "common/util.h"

enum value_kind {
	VALUE_VOID,    /* "void", or no value */
	VALUE_NUMBER,  /* "0", "-22", "0xff" */
	VALUE_ERROR,   /* "-EPERM" */
	VALUE_POINTER, /* "ERR_PTR(-EPERM)" */
	VALUE_NULL,    /* "NULL" */
	VALUE_BOOL,    /* "true", "false" */
};

struct return_value {
	enum value_kind kind;
	bool negative;
	uint64_t number; /* VALUE_NUMBER: without its sign; VALUE_BOOL: 0 or 1 */
	char *error;	 /* "EPERM"; else NULL */
};

/* One --return. */
struct return_request {
	const char *text; /* as given */
	char *module;	  /* "nf_tables"; NULL: not named */
	char *file;	  /* "net/ipv4/tcp.c", or the end of such a path; NULL: not named */
	char *function;
	struct return_value value;
};

/*
 * return_request_parse - read an argument, which must live as long as *ret.  The caller frees *ret
 * with return_request_deinit(), after errors, too.  Errors: STATUS_FAILED, not of the form above.
 */
struct error *return_request_parse(const char *text, struct return_request *ret);
void return_request_deinit(struct return_request *request);
/* return_value_equal - do both texts mean the same? */
bool return_value_equal(const struct return_value *a, const struct return_value *b);

enum return_class {
	RETURN_VOID,
	RETURN_SIGNED,
	RETURN_UNSIGNED,
	RETURN_BOOL,
	RETURN_POINTER,
	RETURN_OTHER, /* a structure, a floating-point number */
};

/* What a function returns. */
struct return_type {
	enum return_class class;
	unsigned int size; /* bytes */
	char *name; /* for messages: "struct sock *"; owned */
};

/*
 * return_value_fit - the bits of a value in a type, extended to 64 bits as the type is, with its
 * sign or with zeroes; 0 for void.
 * Return: NULL, or why the type does not allow the value, and what would do; the caller frees it.
 */
char *return_value_fit(const struct return_value *value, const struct return_type *type,
		       const struct arch *arch, uint64_t *ret);

#endif /* POKEPATCH_RETURN_VALUE_H */
