// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of programs that every build would ask; see answers.h. */
#include "pokepatch-build/answers.h"

#include <stdlib.h>
#include <string.h>

static char *answer_path(const struct build *build, const char *name)
{
	return xasprintf("%s/answer-%s", build->files.cache, name);
}

/* The checksum is of both, so it tells a damaged answer and one to another question. */
static void sum_both(const char *question, const char *answer, char ret[65])
{
	_free_ char *both = xasprintf("%s\n%s", question, answer);

	sha256_hex(both, strlen(both), ret);
}

char *answer_find(const struct build *build, const char *name, const char *question)
{
	_free_ char *path = answer_path(build, name);
	_free_ char *text = NULL;
	const char *answer;
	char sum[65];

	if (!file_exists(path))
		return NULL;
	error_destroy(file_read(path, &text, NULL)); /* not readable: as if it was not there */
	answer = text ? strchr(text, '\n') : NULL;
	if (!answer || answer - text != 64)
		return NULL;
	sum_both(question, ++answer, sum);
	return memcmp(text, sum, 64) ? NULL : xstrdup(answer);
}

static struct error *keep(const struct build *build, const char *name, const char *question,
			  const char *answer)
{
	_free_ char *path = answer_path(build, name);
	_free_ char *text = NULL;
	char sum[65];

	TRY(make_dirs(build->files.cache));
	sum_both(question, answer, sum);
	text = xasprintf("%s\n%s", sum, answer);
	return file_write_unsynced(path, text, strlen(text));
}

void answer_keep(const struct build *build, const char *name, const char *question,
		 const char *answer)
{
	error_destroy(keep(build, name, question, answer));
}
