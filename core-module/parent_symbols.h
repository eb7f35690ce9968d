/* SPDX-License-Identifier: GPL-2.0-only */
/* The symbols of its parents that a patch names, and vmlinux as a parent: parent_symbols.c. */
#ifndef POKEPATCH_PARENT_SYMBOLS_H
#define POKEPATCH_PARENT_SYMBOLS_H

#include <linux/list.h>
#include <linux/types.h>

struct module;
struct pokepatch_symbol;
struct pp_patch;

/* The running kernel has the build id that @patch was built for: 0, or -ENOEXEC (logged). */
int pp_vmlinux_check_build_id(const struct pp_patch *patch);

/*
 * Fill in patch->addr[] for the symbols of vmlinux.  Under pp_mutex; may sleep.
 * Return: 0, -ENOENT if a symbol is not where the patch says (logged), or -ENOMEM.  On an error
 * no address has changed.
 */
int pp_vmlinux_resolve(struct pp_patch *patch);

/* A symbol that a patch names, and what kallsyms says about it. */
struct pp_wanted {
	struct hlist_node node;	/* in a bucket of the lookup */
	const struct pokepatch_symbol *sym;
	const char *name;
	unsigned int seen;	/* symbols of this name so far */
	unsigned long at_pos;	/* the address of the sym->pos-th of them, or 0 */
	unsigned long last;	/* the address of the last of them */
	unsigned long addr;	/* where sym->offset leads to, or 0: not known yet */
	bool confirmed;		/* a symbol of this name is at addr */
};

/*
 * A lookup of all symbols that a patch names in one parent.  The owner walks the parent's symbols
 * and passes each to pp_lookup_note().  Then it checks what each struct pp_wanted has collected,
 * and stores the addresses.
 */
struct pp_lookup {
	struct pp_patch *patch;
	struct pp_wanted *wanted;
	unsigned int nr;		/* of wanted */
	struct hlist_head *buckets;	/* the wanted ones, hashed by name */
	unsigned int bits;
};

/* Index the symbols of @patch in its object @obj.  May sleep.  Return: 0 or -ENOMEM. */
int pp_lookup_init(struct pp_lookup *lookup, struct pp_patch *patch, unsigned int obj);
void pp_lookup_deinit(struct pp_lookup *lookup);
/* The parent has a symbol @name at @addr.  @ctx is the lookup.  Any context. */
void pp_lookup_note(void *ctx, const char *name, unsigned long addr);
/* Store the addresses in patch->addr[]. */
void pp_lookup_store(const struct pp_lookup *lookup);
/* Log that the patch is refused because of @wanted.  Return: -ENOENT. */
int pp_lookup_refuse(const struct pp_lookup *lookup, const struct pp_wanted *wanted,
		     const char *why);
/* kallsyms need not list the symbol. */
bool pp_wanted_may_be_unlisted(const struct pp_wanted *wanted);

#endif /* POKEPATCH_PARENT_SYMBOLS_H */
