// SPDX-License-Identifier: GPL-2.0-or-later
/* Argument lists; see args.h. */
#include "common/args.h"

#include <stdarg.h>
#include <stdlib.h>

#include "common/util.h"

void args_add(struct args *args, const char *text)
{
	if (args->count + 1 >= args->room) {
		args->room = args->room ? args->room * 2 : 16;
		args->list = xreallocarray(args->list, args->room, sizeof(*args->list));
	}
	args->list[args->count++] = xstrdup(text);
	args->list[args->count] = NULL;
}

void args_addf(struct args *args, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	_free_ char *text = xvasprintf(format, arguments);
	va_end(arguments);
	args_add(args, text);
}

void args_add_all(struct args *args, char *const *list)
{
	for (; list && *list; list++)
		args_add(args, *list);
}

static const char *const environment_kept[] = {"PATH", "HOME", "USER", "LOGNAME"};

void args_add_clean_environment(struct args *args, const char *work)
{
	args_add(args, "env");
	args_add(args, "-i");
	args_add(args, "LANG=C");
	args_addf(args, "TMPDIR=%s", work);
	for (size_t i = 0; i < ARRAY_SIZE(environment_kept); i++) {
		const char *value = getenv(environment_kept[i]);

		if (value)
			args_addf(args, "%s=%s", environment_kept[i], value);
	}
}

char *args_join(const struct args *args, const char *separator)
{
	struct buffer out = {0};

	for (size_t i = 0; i < args->count; i++)
		buffer_printf(&out, "%s%s", i ? separator : "", args->list[i]);
	return out.text ?: xstrdup("");
}

void args_deinit(struct args *args)
{
	strings_free(args->list);
	*args = (struct args){};
}

void strings_free(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}
