// SPDX-License-Identifier: GPL-2.0-or-later
/* Module.symvers, as the kernel's scripts/mod/modpost.c writes it: a line for each symbol. */
#include "object/symvers.h"

#include <stdlib.h>
#include <string.h>

/* A line of Module.symvers: "0xCRC\tname\tmodule\tEXPORT_SYMBOL[_GPL]\tnamespace". */
static bool parse_export(char *line, struct export *ret)
{
	char *fields[5] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		fields[i] = strsep(&line, "\t");
	if (!fields[3])
		return false;
	*ret = (struct export){
		.crc = strtoul(fields[0], NULL, 16),
		.name = fields[1],
		.module = fields[2],
		.namespace = fields[4] ?: "",
		.gpl = has_suffix(fields[3], "_GPL"),
	};
	return true;
}

struct error *symvers_read(const char *path, struct symvers *ret)
{
	*ret = (struct symvers){0};
	TRY(file_read(path, &ret->text, NULL));

	char *rest = ret->text, *line;
	size_t number = 0;
	while ((line = strsep(&rest, "\n"))) {
		struct export export;

		number++;
		if (!*line)
			continue;
		if (!parse_export(line, &export)) {
			symvers_deinit(ret);
			return error_new(STATUS_FAILED,
					 "%s:%zu: not a line of Module.symvers; fetch the headers "
					 "package again",
					 path, number);
		}
		*vec_push(&ret->exports) = export;
	}
	for (size_t i = 0; i < ret->exports.count; i++)
		*map_slot(&ret->by_name, ret->exports.list[i].name) = &ret->exports.list[i];
	return NULL;
}

void symvers_deinit(struct symvers *symvers)
{
	map_deinit(&symvers->by_name);
	vec_deinit(&symvers->exports);
	free(symvers->text);
	*symvers = (struct symvers){0};
}

const struct export *symvers_find(const struct symvers *symvers, const char *name)
{
	return map_get(&symvers->by_name, name);
}
