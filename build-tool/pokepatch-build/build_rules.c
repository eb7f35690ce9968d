// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes to the files that decide what is compiled; see build_rules.h. */
#include "pokepatch-build/build_rules.h"

#include <stdlib.h>
#include <string.h>

#include "common/source.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/kconfig.h"
#include "pokepatch-build/makefile_change.h"

/* Read the configuration once for all files of the diffs. */
static struct error *find_unused(struct build *build)
{
	struct changes *changes = build->changes;
	_free_ char *config = xasprintf("%s/.config", build->tree);

	if (changes->unused_known)
		return NULL;
	changes->unused_known = true;
	return source_left_out(config, build->arch, &changes->unused);
}

struct error *build_rules_unused(struct build *build, const char *path, bool *ret)
{
	_free_ char *full = xasprintf("%s/%s", build->tree, path);
	const struct args *folders = &build->changes->unused;

	*ret = false;
	TRY(find_unused(build));
	for (size_t i = 0; i < folders->count; i++) {
		const char *folder = folders->list[i];
		size_t length = strlen(folder);

		/* The Kconfig files of a driver that is off are read, but not those of a machine.
		 */
		if (!strncmp(path, folder, length) && path[length] == '/')
			*ret |= has_prefix(folder, "arch/") || !file_exists(full);
	}
	return NULL;
}

/* The text of a file after all diffs, which the caller frees; "" if it is removed. */
static char *new_text(const struct changed_file *file)
{
	struct buffer text = {};

	buffer_add(&text, "", 0);
	text_lines_join(&file->new_lines, &text);
	return text.text ?: xstrdup("");
}

static bool is_kconfig(const struct changed_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return has_prefix(slash ? slash + 1 : file->path, "Kconfig");
}

/* ---- Kconfig files ---------------------------------------------------------- */

static void judge_kconfig(struct build *build, const struct kconfig_values *values,
			  const struct changed_file *file)
{
	_free_ char *text = new_text(file);
	_free_ char *reason = kconfig_judge(values, build->tree, file->text, text);

	if (reason)
		refusals_add(&build->refusals, "kconfig-changed", file->path, file->path,
			     "%s; the configuration of a running kernel cannot change; leave this "
			     "file out of the diff",
			     reason);
	else
		build_note(build, "%s: left out: it changes nothing in this kernel's configuration",
			   file->path);
}

static struct error *judge_kconfigs(struct build *build, struct changed_file *const *files,
				    size_t count)
{
	_free_ char *path = xasprintf("%s/include/config/auto.conf", build->tree);
	struct kconfig_values values = {};
	struct error *error = count ? kconfig_values_read(path, &values) : NULL;

	for (size_t i = 0; !error && i < count; i++)
		judge_kconfig(build, &values, files[i]);
	kconfig_values_deinit(&values);
	return error;
}

/* ---- makefiles -------------------------------------------------------------- */

static void report_makefile(struct build *build, const struct makefile_change *change)
{
	if (change->reason)
		refusals_add(&build->refusals, "makefile-changed", change->path, change->path,
			     "%s; how files are compiled cannot change in a live patch; leave this "
			     "file out of the diff",
			     change->reason);
	else
		build_note(build, "%s: left out: %s", change->path, change->note);
}

static struct error *judge_makefiles(struct build *build, struct changed_file *const *files,
				     size_t count)
{
	_free_ struct makefile_change *changes = xcalloc(count + 1, sizeof(*changes));
	_free_ char **texts = xcalloc(count + 1, sizeof(*texts));
	struct error *error;

	for (size_t i = 0; i < count; i++) {
		_free_ char *path = xasprintf("%s/%s", build->tree, files[i]->path);

		texts[i] = new_text(files[i]);
		changes[i].path = files[i]->path;
		changes[i].old_text = file_exists(path) ? files[i]->text : NULL;
		changes[i].new_text = *texts[i] ? texts[i] : NULL;
	}
	error = makefiles_judge(build, changes, count);
	for (size_t i = 0; i < count; i++) {
		if (!error)
			report_makefile(build, &changes[i]);
		free(changes[i].reason);
		free(texts[i]);
	}
	return error;
}

struct error *build_rules_judge(struct build *build)
{
	size_t count = build->changes->rules.count, nr_kconfigs = 0, nr_makefiles = 0;
	_free_ struct changed_file **kconfigs = xcalloc(count + 1, sizeof(*kconfigs));
	_free_ struct changed_file **makefiles = xcalloc(count + 1, sizeof(*makefiles));

	for (size_t i = 0; i < count; i++) {
		struct changed_file *file = &build->changes->rules.list[i];

		if (text_lines_equal(&file->old_lines, &file->new_lines))
			continue;
		if (is_kconfig(file))
			kconfigs[nr_kconfigs++] = file;
		else
			makefiles[nr_makefiles++] = file;
	}
	TRY(judge_kconfigs(build, kconfigs, nr_kconfigs));
	return judge_makefiles(build, makefiles, nr_makefiles);
}
