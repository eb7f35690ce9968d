// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which patches another one replaces: those that its file `replace` names, as far as
 * they are enabled when it is switched on.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core_print.h"
#include "module.h"
#include "pp_patch.h"
#include "replace.h"

#define ALL "*"

static struct pp_patch *find_patch(const char *name)
{
	struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list)
		if (!strcmp(patch->name, name))
			return patch;
	return NULL;
}

/* Each of @names, which are separated by single spaces, is a patch that may be replaced. */
static int check_names(const struct pp_patch *patch, char *names)
{
	char *name, *rest = names;
	int ret = 0;

	mutex_lock(&pp_mutex);
	while (!ret && (name = strsep(&rest, " "))) {
		if (!strcmp(name, patch->name))
			ret = -EINVAL;
		else if (strcmp(name, ALL) && !find_patch(name))
			ret = -ENOENT;
		if (rest)
			rest[-1] = ' ';
	}
	mutex_unlock(&pp_mutex);
	return ret;
}

/* @text with one space for each run of commas and white space; NULL: no memory. */
static char *canonical(const char *text)
{
	char *names = kzalloc(strlen(text) + 1, GFP_KERNEL), *to = names;

	for (; names && *text; text++) {
		if (*text != ',' && !isspace(*text))
			*to++ = *text;
		else if (to > names && to[-1] != ' ')
			*to++ = ' ';
	}
	if (names && to > names && to[-1] == ' ')
		to[-1] = 0;
	return names;
}

static void set(struct pp_patch *patch, char *names)
{
	mutex_lock(&patch->report_lock);
	swap(patch->replaces, names);
	mutex_unlock(&patch->report_lock);
	kfree(names);
}

int pp_replace_set(struct pp_patch *patch, const char *text)
{
	char *names = canonical(text);
	int ret = names ? 0 : -ENOMEM;

	if (!ret && *names)
		ret = check_names(patch, names);
	if (ret) {
		kfree(names);
		return ret;
	}
	if (!*names) {
		kfree(names);
		names = NULL;
	}
	set(patch, names);
	return 0;
}

static bool names_it(const char *names, const char *name)
{
	const size_t length = strlen(name);

	while (names) {
		if (!strncmp(names, name, length) && (!names[length] || names[length] == ' '))
			return true;
		names = strchr(names, ' ');
		names = names ? names + 1 : NULL;
	}
	return false;
}

static bool replaces(const struct pp_patch *patch, const struct pp_patch *other)
{
	return other != patch && other->enabled &&
	       (names_it(patch->replaces, ALL) || names_it(patch->replaces, other->name));
}

/*
 * Only tried: who switches @other may want @patch, to replace it in turn.
 */
static int take(struct pp_patch *patch, struct pp_patch *other)
{
	if (!down_trylock(&other->op))
		return 0;
	pr_notice("%s: cannot replace %s, which is just being switched\n", patch->name,
		  other->name);
	return -EBUSY;
}

struct pp_patch **pp_replace_begin(struct pp_patch *patch, unsigned int *nr)
{
	struct pp_patch **off = NULL, *other;
	unsigned int room = 0;
	int ret = 0;

	*nr = 0;
	mutex_lock(&pp_mutex);
	list_for_each_entry(other, &pp_patches, list)
		room += replaces(patch, other);
	if (room) {
		off = kmalloc_array(room, sizeof(*off), GFP_KERNEL);
		ret = off ? 0 : -ENOMEM;
	}
	list_for_each_entry_reverse(other, &pp_patches, list) {
		if (ret || !replaces(patch, other))
			continue;
		ret = take(patch, other);
		if (!ret)
			off[(*nr)++] = other;
	}
	mutex_unlock(&pp_mutex);
	if (!ret)
		return off;
	while (*nr)
		up(&off[--*nr]->op);
	kfree(off);
	return ERR_PTR(ret);
}

void pp_replace_done(struct pp_patch *patch)
{
	set(patch, NULL);
}
