// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes to the files that decide what is compiled; see build_rules.h. */
#include "pokepatch-build/build_rules.h"

#include <stdlib.h>
#include <string.h>

#include "common/source.h"
#include "pokepatch-build/kconfig.h"
#include "pokepatch-build/overlay.h"

struct error *build_rules_unused(const struct build *build, const char *path, bool *ret)
{
	_free_ char *config = xasprintf("%s/.config", build->tree);
	_free_ char *full = xasprintf("%s/%s", build->tree, path);
	struct args folders = {};
	struct error *error = source_left_out(config, build->arch, &folders);

	*ret = false;
	for (size_t i = 0; !error && i < folders.count; i++) {
		const char *folder = folders.list[i];
		size_t length = strlen(folder);

		/* The Kconfig files of a driver that is off are read, but not those of a machine.
		 */
		if (!strncmp(path, folder, length) && path[length] == '/')
			*ret |= has_prefix(folder, "arch/") || !file_exists(full);
	}
	args_deinit(&folders);
	return error;
}

static struct error *judge_kconfig(const struct build *build, const struct changed_file *file,
				   const char *new_text, char **ret_reason)
{
	_free_ char *path = xasprintf("%s/include/config/auto.conf", build->tree);
	struct kconfig_values values;
	struct error *error = kconfig_values_read(path, &values);

	if (!error)
		*ret_reason = kconfig_judge(&values, build->tree, file->text, new_text);
	kconfig_values_deinit(&values);
	return error;
}

static struct error *judge_file(struct build *build, const struct changed_file *file)
{
	_free_ char *reason = NULL;
	struct buffer text = {};
	struct error *error;

	buffer_add(&text, "", 0);
	text_lines_join(&file->new_lines, &text);
	error = judge_kconfig(build, file, text.text ?: "", &reason);
	buffer_deinit(&text);
	if (error)
		return error;
	if (reason)
		refusals_add(&build->refusals, "kconfig-changed", file->path, file->path,
			     "%s; the configuration of a running kernel cannot change; leave this "
			     "file out of the diff",
			     reason);
	else
		build_note(build, "%s: left out: it changes nothing in this kernel's configuration",
			   file->path);
	return NULL;
}

struct error *build_rules_judge(struct build *build)
{
	for (size_t i = 0; i < build->changes->rules.count; i++) {
		const struct changed_file *file = &build->changes->rules.list[i];

		if (!text_lines_equal(&file->old_lines, &file->new_lines))
			TRY(judge_file(build, file));
	}
	return NULL;
}
