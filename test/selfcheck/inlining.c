// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads from gcc (-fopt-info-inline) which functions it inlined into which. */
#include <stdlib.h>
#include <string.h>

#include "selfcheck.h"

/* The name behind a word; "foo.isra/34" is a clone of foo. */
static char *name_behind(const char *line, const char *word)
{
	const char *name = strstr(line, word);

	return name ? xstrndup(name + strlen(word), strcspn(name + strlen(word), "./")) : NULL;
}

/*
 * "fs/stat.c:211:8: optimized:  Inlining vfs_fstatat/8123 into vfs_stat/8126.", or later
 * "fs/stat.c:211:8: optimized:  Inlined vfs_fstatat/9123 into vfs_stat/8126 which now has ..."
 */
struct error *inlining_read(const char *path, struct inlining *ret)
{
	_free_ char *text = NULL;
	size_t length;

	TRY(file_read(path, &text, &length));
	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		_free_ char *callee =
			name_behind(line, " Inlining ") ?: name_behind(line, " Inlined ");
		_free_ char *caller = name_behind(line, " into ");

		if (callee && caller) {
			*vec_push(&ret->list) = (struct inlined_call){callee, caller};
			callee = caller = NULL;
		}
	}
	return NULL;
}

void inlining_follow(struct inlining *inlining, const char *name)
{
	bool more = true;

	map_slot(&inlining->holders, name);
	while (more) {
		more = false;
		for (size_t i = 0; i < inlining->list.count; i++) {
			const struct inlined_call *call = &inlining->list.list[i];

			if (map_has(&inlining->holders, call->callee) &&
			    !map_has(&inlining->holders, call->caller)) {
				map_slot(&inlining->holders, call->caller);
				more = true;
			}
		}
	}
}

bool inlining_is_holder(const struct inlining *inlining, const char *symbol)
{
	_free_ char *name = xstrndup(symbol, strcspn(symbol, "."));

	return map_has(&inlining->holders, name);
}

void inlining_deinit(struct inlining *inlining)
{
	for (size_t i = 0; i < inlining->list.count; i++) {
		free(inlining->list.list[i].callee);
		free(inlining->list.list[i].caller);
	}
	vec_deinit(&inlining->list);
	map_deinit(&inlining->holders);
}
