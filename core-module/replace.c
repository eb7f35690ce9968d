// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which patches a patch replaces: those that its sysfs file `replace` names, if they are enabled
 * when the patch is switched on.
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
#include "sysfs.h"

#define ALL "*"

static struct pp_patch *replace_find_patch(const char *name)
{
	struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list)
		if (!strcmp(patch->name, name))
			return patch;
	return NULL;
}

/* Each of @names, which single spaces separate, must be a patch that @patch may replace. */
static int replace_check_names(const struct pp_patch *patch, char *names)
{
	char *name, *rest = names;
	int ret = 0;

	mutex_lock(&pp_mutex);
	while (!ret && (name = strsep(&rest, " "))) {
		if (!strcmp(name, patch->name))
			ret = -EINVAL;
		else if (strcmp(name, ALL) && !replace_find_patch(name))
			ret = -ENOENT;
		if (rest)
			rest[-1] = ' ';
	}
	mutex_unlock(&pp_mutex);
	return ret;
}

/* A copy of @text with one space for each run of commas and white space, or NULL: no memory. */
static char *replace_canonical(const char *text)
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

static void replace_store(struct pp_patch *patch, char *names)
{
	mutex_lock(&patch->report_lock);
	swap(patch->replaces, names);
	mutex_unlock(&patch->report_lock);
	kfree(names);
}

int pp_replace_set(struct pp_patch *patch, const char *text)
{
	char *names = replace_canonical(text);
	int ret = names ? 0 : -ENOMEM;

	if (!ret && *names)
		ret = replace_check_names(patch, names);
	if (ret) {
		kfree(names);
		return ret;
	}
	if (!*names) {
		kfree(names);
		names = NULL;
	}
	replace_store(patch, names);
	return 0;
}

static bool replace_names_contain(const char *names, const char *name)
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

static bool replace_names(const struct pp_patch *patch, const struct pp_patch *other)
{
	return other != patch && (replace_names_contain(patch->replaces, ALL) ||
				  replace_names_contain(patch->replaces, other->name));
}

static bool replace_applies(const struct pp_patch *patch, const struct pp_patch *other)
{
	return other->enabled && replace_names(patch, other);
}

/*
 * Take @other's op without waiting: its holder may be waiting for @patch's op, to replace @patch in
 * turn.
 */
static int replace_take_op(struct pp_patch *patch, struct pp_patch *other)
{
	if (!down_trylock(&other->op))
		return 0;
	pr_notice("%s: cannot replace %s, which is being switched; try again\n", patch->name,
		  other->name);
	return -EBUSY;
}

/*
 * A patch that is not enabled, but tried again, would replace @patch later, or lie on top of it:
 * the newer request counts. Its op is taken for that alone; under pp_mutex.
 */
static int replace_end_retry(struct pp_patch *patch, struct pp_patch *other)
{
	int ret = replace_take_op(patch, other);

	if (ret)
		return ret;
	if (other->retry_due) {
		pr_notice("%s: not tried again, since %s replaces it\n", other->name, patch->name);
		pp_sysfs_give_up(other);
		pp_sysfs_state(other, PP_DISABLED);
	}
	up(&other->op);
	return 0;
}

struct pp_patch **pp_replace_begin(struct pp_patch *patch, unsigned int *nr)
{
	struct pp_patch **off = NULL, *other;
	unsigned int room = 0;
	int ret = 0;

	*nr = 0;
	mutex_lock(&pp_mutex);
	list_for_each_entry(other, &pp_patches, list)
		room += replace_applies(patch, other);
	if (room) {
		off = kmalloc_array(room, sizeof(*off), GFP_KERNEL);
		ret = off ? 0 : -ENOMEM;
	}
	list_for_each_entry(other, &pp_patches, list)
		if (!ret && !other->enabled && READ_ONCE(other->retry_due) &&
		    replace_names(patch, other))
			ret = replace_end_retry(patch, other);
	list_for_each_entry_reverse(other, &pp_patches, list) {
		if (ret || !replace_applies(patch, other))
			continue;
		ret = replace_take_op(patch, other);
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

int pp_replace_names(struct pp_patch *const *off, unsigned int nr, char **ret)
{
	size_t size = 1;
	unsigned int i;
	char *to;

	if (!nr)
		return 0;
	for (i = 0; i < nr; i++)
		size += off[i]->name_len + 1;
	to = *ret = kzalloc(size, GFP_KERNEL);
	if (!to)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		memcpy(to, off[i]->name, off[i]->name_len);
		to += off[i]->name_len + 1;
	}
	return 0;
}

void pp_replace_done(struct pp_patch *patch)
{
	replace_store(patch, NULL);
}
