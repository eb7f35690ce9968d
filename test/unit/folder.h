/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For unit tests that write files: gives each test a folder of its own. */
#ifndef POKEPATCH_TEST_FOLDER_H
#define POKEPATCH_TEST_FOLDER_H

#include <stdlib.h>

#include "errors.h"
#include "common/util.h"

static char *folder, *file;

/*
 * For cmocka: setup() makes the folder and names a file that does not exist yet, teardown() removes
 * both.
 */
static int setup(void **state)
{
	(void)state;
	struct error *error = temp_dir(&folder);
	if (error)
		fail_msg("%s", error->text);
	file = xasprintf("%s/object.o", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	error_destroy(remove_tree(folder));
	free(folder);
	free(file);
	return 0;
}

#endif /* POKEPATCH_TEST_FOLDER_H */
