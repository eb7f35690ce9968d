// SPDX-License-Identifier: GPL-2.0-or-later
/* history-seeds DIR: exported histories for fuzz_history to begin with. */
#include <stdio.h>
#include <stdlib.h>

#include "records.h"

static int seed(const char *dir, const char *name, const struct synthetic *s)
{
	static const char text[] = "\x0f\x1f\x44\x00\x00\x55\x48\x89\xe5\xc3";
	_free_ char *path = xasprintf("%s/%s", dir, name);
	struct buffer file =
		synthetic_file(s, SYNTHETIC_STEXT + 0x1000, text, sizeof(text) - 1, 10000);
	struct error *error = file_write(path, file.text, file.length);

	if (error)
		fprintf(stderr, "history-seeds: %s\n", error->text);
	buffer_deinit(&file);
	return error ? (error_destroy(error), 1) : 0;
}

int main(int argc, char **argv)
{
	struct synthetic story = {0}, swapped = {.swap = true}, lost = {0};
	int failed;

	if (argc != 2) {
		fprintf(stderr, "usage: history-seeds DIR\n");
		return 1;
	}
	synthetic_story(&story);
	synthetic_story(&swapped);
	synthetic_info(&lost, 0);
	synthetic_lost(&lost, 5);
	synthetic_transition(&lost, 2, POKEPATCH_HISTORY_AFTER, 2000, "fix");
	synthetic_lost(&lost, 1);
	failed = seed(argv[1], "story", &story) || seed(argv[1], "swapped", &swapped) ||
		 seed(argv[1], "lost", &lost);
	buffer_deinit(&story.bytes);
	buffer_deinit(&swapped.bytes);
	buffer_deinit(&lost.bytes);
	return failed;
}
