// SPDX-License-Identifier: GPL-2.0-or-later
/* Phases: read the user's diffs; refuse changes that cannot be patched, and apply the others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pokepatch-build/blame.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/build_rules.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/include_graph.h"
#include "pokepatch-build/module_source.h"
#include "pokepatch-build/series.h"

/* What to do with a change, by the path of the file. */
enum file_action {
	FILE_COMPILE, /* a .c file or a header: find its units */
	FILE_IGNORE,  /* nothing in the kernel is compiled from it */
	FILE_JUDGE,   /* it decides what is compiled: refuse it if that changes (build_rules.h) */
	FILE_REFUSE,
};

enum match {
	MATCH_FOLDER, /* the path begins with the pattern; * stands for one component */
	MATCH_NAME,   /* the last component is the pattern */
	MATCH_NAME_PREFIX, /* the last component begins with it */
	MATCH_SUFFIX, /* the path ends with it */
};

/* The first row that matches a path decides. */
static const struct file_rule {
	enum match match;
	const char *pattern;
	enum file_action action;
	const char *code;
	const char *text;
} file_rules[] = {
	{MATCH_FOLDER, "Documentation/", FILE_IGNORE, NULL, NULL},
	{MATCH_FOLDER, "LICENSES/", FILE_IGNORE, NULL, NULL},
	{MATCH_FOLDER, "debian/", FILE_IGNORE, NULL, NULL},
	/* lib/ includes libfdt. */
	{MATCH_FOLDER, "scripts/dtc/libfdt/", FILE_COMPILE, NULL, NULL},
	{MATCH_FOLDER, "tools/", FILE_IGNORE, NULL, NULL},
	{MATCH_NAME, ".gitignore", FILE_IGNORE, NULL, NULL},
	{MATCH_NAME, ".gitattributes", FILE_IGNORE, NULL, NULL},
	{MATCH_NAME, ".mailmap", FILE_IGNORE, NULL, NULL},
	{MATCH_NAME, "MAINTAINERS", FILE_IGNORE, NULL, NULL},
	{MATCH_NAME, "CREDITS", FILE_IGNORE, NULL, NULL},
	{MATCH_NAME, "README", FILE_IGNORE, NULL, NULL},
	{MATCH_SUFFIX, ".rst", FILE_IGNORE, NULL, NULL},
	{MATCH_SUFFIX, ".md", FILE_IGNORE, NULL, NULL},
	{MATCH_NAME_PREFIX, "Kconfig", FILE_JUDGE, "kconfig-changed",
	 "the configuration of a running kernel cannot change; leave this file out of the diff"},
	{MATCH_NAME_PREFIX, "Makefile", FILE_JUDGE, "makefile-changed",
	 "how files are compiled cannot change in a live patch; leave this file out of the diff"},
	{MATCH_NAME, "Kbuild", FILE_JUDGE, "makefile-changed",
	 "how files are compiled cannot change in a live patch; leave this file out of the diff"},
	{MATCH_SUFFIX, ".lds.S", FILE_REFUSE, "makefile-changed",
	 "the linker script of a running kernel cannot change; leave this file out of the diff"},
	{MATCH_FOLDER, "scripts/", FILE_IGNORE, NULL, NULL},
	{MATCH_FOLDER, "arch/*/configs/", FILE_IGNORE, NULL, NULL},
	{MATCH_FOLDER, "kernel/configs/", FILE_IGNORE, NULL, NULL},
	{MATCH_FOLDER, "arch/*/boot/", FILE_REFUSE, "boot-changed",
	 "boot code has run already; leave this file out of the diff"},
	{MATCH_FOLDER, "arch/*/realmode/", FILE_REFUSE, "boot-changed",
	 "boot code has run already; leave this file out of the diff"},
	{MATCH_FOLDER, "drivers/firmware/efi/libstub/", FILE_REFUSE, "boot-changed",
	 "the EFI stub has run already; leave this file out of the diff"},
	{MATCH_FOLDER, "arch/*/purgatory/", FILE_REFUSE, "boot-changed",
	 "this is a program for kexec, in the kernel's data; leave this file out of the diff"},
	{MATCH_SUFFIX, ".c", FILE_COMPILE, NULL, NULL},
	{MATCH_FOLDER, "arch/*/entry/vdso/", FILE_REFUSE, "vdso-changed",
	 "the vDSO is mapped into every process and cannot be live-patched"},
	{MATCH_FOLDER, "arch/*/kernel/vdso/", FILE_REFUSE, "vdso-changed",
	 "the vDSO is mapped into every process and cannot be live-patched"},
	{MATCH_FOLDER, "arch/*/vdso/", FILE_REFUSE, "vdso-changed",
	 "the vDSO is mapped into every process and cannot be live-patched"},
	{MATCH_FOLDER, "lib/vdso/", FILE_REFUSE, "vdso-changed",
	 "the vDSO is mapped into every process and cannot be live-patched"},
	{MATCH_SUFFIX, ".S", FILE_REFUSE, "assembly-changed",
	 "assembly cannot be live-patched; change the C code that calls it"},
	{MATCH_SUFFIX, ".h", FILE_COMPILE, NULL, NULL},
	{MATCH_SUFFIX, "", FILE_REFUSE, "file-unknown",
	 "what is compiled from this kind of file is not known; leave it out of the diff"},
};

/* Does path begin with the folder?  A * in the folder stands for one component. */
static bool in_folder(const char *path, const char *folder)
{
	while (*folder) {
		if (*folder == '*') {
			size_t length = strcspn(path, "/");

			if (!length)
				return false;
			path += length;
			folder++;
		} else if (*path++ != *folder++) {
			return false;
		}
	}
	return true;
}

static const struct file_rule *find_rule(const char *path)
{
	static const struct file_rule outside = {.action = FILE_COMPILE};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (const char *const *file = include_graph_outside; *file; file++)
		if (!strcmp(path, *file))
			return &outside;
	for (size_t i = 0; i < ARRAY_SIZE(file_rules); i++) {
		const struct file_rule *rule = &file_rules[i];
		bool matches = false;

		switch (rule->match) {
		case MATCH_FOLDER:
			matches = in_folder(path, rule->pattern);
			break;
		case MATCH_NAME:
			matches = !strcmp(name, rule->pattern);
			break;
		case MATCH_NAME_PREFIX:
			matches = has_prefix(name, rule->pattern);
			break;
		case MATCH_SUFFIX:
			matches = has_suffix(path, rule->pattern);
			break;
		}
		if (matches)
			return rule;
	}
	return &file_rules[ARRAY_SIZE(file_rules) - 1]; /* not reached: "" matches any path */
}

/* The rules for folders are about the kernel's source. */
static const struct file_rule *find_file_rule(const struct build *build, const char *path)
{
	const char *slash = strrchr(path, '/');

	return find_rule(slash && module_source_has(build, path) ? slash + 1 : path);
}

/* mm/vmscan.c for "./mm/vmscan.c", and for that file in the folder. */
static const char *name_inside(const char *folder, const char *path)
{
	size_t length = folder ? strlen(folder) : 0;

	while (length && folder[length - 1] == '/')
		length--;
	if (length && !strncmp(path, folder, length) && path[length] == '/')
		path += length + 1;
	while (has_prefix(path, "./"))
		path += 2;
	return path;
}

struct error *read_patches(struct build *build)
{
	size_t count = build->options.nr_patches, empty = 0;

	if (build->options.series)
		return series_read(build, build->options.series);
	build->patches = xcalloc(count, sizeof(*build->patches));
	for (size_t i = 0; i < count; i++) {
		struct patch_file *file = &build->patches[i];
		_free_ char *text = NULL;
		struct error *error;
		struct stat status;
		size_t length;

		file->path = build->options.patches[i];
		build->nr_patches = i + 1;
		if (build->options.instrument && has_suffix(file->path, ".c")) {
			file->source = name_inside(build->options.module_source, file->path);
			file->source = name_inside(build->options.source, file->source);
			if (!path_is_sound(file->source))
				return error_new(STATUS_FAILED,
						 "%s: give its path in the kernel's source, as in "
						 "fs/proc/version.c",
						 file->path);
			continue;
		}
		if (!stat(file->path, &status) && S_ISDIR(status.st_mode))
			return error_new(STATUS_FAILED, "%s: a folder, not a diff", file->path);
		TRY(file_read(file->path, &text, &length));
		sha256_hex(text, length, file->sha256);
		error = patch_parse(file->path, text, length, &file->patch);
		if (error && error->status == STATUS_NOTHING && ++empty < count) {
			build_note(build, "%s", error->text);
			error_destroy(error);
			error = NULL;
		}
		if (error)
			return error;
	}
	return NULL;
}

/* ---- applying --------------------------------------------------------------- */

static void refuse(struct build *build, const struct patch_entry *entry, const char *code,
		   const char *text)
{
	const char *path = entry->old_path ? entry->old_path : entry->new_path;

	refusals_add(&build->refusals, code, path, path, "%s", text);
	map_slot(&build->changes->refused, path);
	if (entry->new_path)
		map_slot(&build->changes->refused, entry->new_path);
}

static void refuse_missing(struct build *build, const struct patch_entry *entry)
{
	refuse(build, entry, "not-in-kernel",
	       "there is no such file in this kernel's source, or its configuration leaves it out; "
	       "file names count from the second component on, as in a/fs/file.c");
}

/* Set the text of a file of the tree, which it takes over. */
static void set_text(struct changed_file *file, char *text, size_t length)
{
	file->text = text;
	text_lines_split(text, length, &file->old_lines);
	text_lines_split(text, length, &file->new_lines);
}

/* Where a file is before the diffs, if it is there; the caller frees it. */
static char *source_path(const struct build *build, const char *path)
{
	return module_source_find(build, path) ?: xasprintf("%s/%s", build->tree, path);
}

/*
 * Get the changed file at path, and read it from the tree first; *ret is NULL if it is refused, or
 * left out because this kernel does not use its folder.
 */
static struct error *load_file(struct build *build, const struct patch_entry *entry,
			       const char *path, struct changed_file **ret)
{
	_free_ char *from = source_path(build, path);
	struct changed_file *file = changes_find(build->changes, path);
	char *text;
	size_t length;

	*ret = file;
	if (file && file->deleted)
		return error_new(STATUS_FAILED, "%s: an earlier diff has removed it", path);
	if (file)
		return NULL;
	if (!file_exists(from)) {
		refuse_missing(build, entry);
		return NULL;
	}
	TRY(file_read(from, &text, &length));
	file = changes_add(build->changes, path);
	file->outside = module_source_has(build, path);
	set_text(file, text, length);
	*ret = file;
	return NULL;
}

/* Add a file with the text that another changed file has now, or an empty one (NULL). */
static struct changed_file *create_file(struct build *build, const char *path,
					const char *from_path)
{
	struct changed_file *file = changes_find(build->changes, path), *from;

	if (!file)
		file = changes_add(build->changes, path);
	from = from_path ? changes_find(build->changes, from_path) : NULL;
	file->created = !file->text;
	file->outside = from ? from->outside : file->outside || module_source_has_place(build, path);
	file->deleted = false;
	text_lines_deinit(&file->new_lines);
	for (size_t i = 0; from && i < from->new_lines.count; i++)
		*vec_push(&file->new_lines) = from->new_lines.list[i];
	/* They are new here: no line has a number to keep. */
	for (size_t i = 0; i < file->new_lines.count; i++)
		file->new_lines.list[i].origin = 0;
	file->new_lines.no_newline = from && from->new_lines.no_newline;
	return file;
}

/* Get the file that an entry's hunks apply to, as it is before them; *ret as load_file() has it. */
static struct error *open_file(struct build *build, const struct patch_entry *entry,
			       struct changed_file **ret)
{
	struct changed_file *from = NULL, *present;
	_free_ char *full = NULL;

	if (entry->change == PATCH_MODIFY || entry->change == PATCH_DELETE)
		return load_file(build, entry, entry->old_path, ret);
	*ret = NULL;
	full = source_path(build, entry->new_path);
	present = changes_find(build->changes, entry->new_path);
	if (present ? !present->deleted : file_exists(full))
		return error_new(STATUS_FAILED,
				 "%s: the diff makes this file, which the source has already; "
				 "is it another kernel's diff, or applied already?",
				 entry->new_path);
	if (entry->change != PATCH_CREATE) {
		TRY(load_file(build, entry, entry->old_path, &from));
		if (!from)
			return NULL;
	}
	*ret = create_file(build, entry->new_path, from ? entry->old_path : NULL);
	if (entry->change == PATCH_RENAME) {
		from = changes_find(build->changes, entry->old_path); /* the list may have moved */
		from->deleted = from->renamed = (*ret)->renamed = true;
		text_lines_deinit(&from->new_lines);
	}
	return NULL;
}

/* Note each hunk that applied with an offset or fuzz. */
static void note_places(struct build *build, const struct patch_entry *entry,
			const struct hunk_place *places)
{
	const char *path = entry->new_path ?: entry->old_path;

	for (size_t i = 0; i < entry->nr_hunks; i++) {
		const struct hunk_place *place = &places[i];
		long lines = place->offset < 0 ? -place->offset : place->offset;

		if (!place->offset && !place->fuzz)
			continue;
		if (place->fuzz)
			build_note(build,
				   "hunk %zu of %s applied at line %zu (offset %ld line%s, fuzz "
				   "%u)",
				   i + 1, path, place->line, place->offset,
				   lines == 1 ? "" : "s", place->fuzz);
		else
			build_note(build,
				   "hunk %zu of %s applied at line %zu (offset %ld line%s)", i + 1,
				   path, place->line, place->offset,
				   lines == 1 ? "" : "s");
	}
}

/*
 * Get the changed file of an entry for a file that decides what is compiled.  Its text is "" if the
 * diff adds it.  *ret is NULL if refused.
 */
static struct error *load_rules(struct build *build, const struct patch_entry *entry,
				struct changed_file **ret)
{
	const char *path = entry->new_path ?: entry->old_path;
	_free_ char *from = xasprintf("%s/%s", build->tree, path);
	struct changes *changes = build->changes;
	char *text = NULL;
	size_t length = 0;

	size_t place = (size_t)map_get(&changes->rules_by_path, path);

	*ret = place ? &changes->rules.list[place - 1] : NULL;
	if (place)
		return NULL;
	if (file_exists(from)) {
		TRY(file_read(from, &text, &length));
	} else if (entry->change != PATCH_CREATE) {
		refuse_missing(build, entry);
		return NULL;
	}
	*ret = vec_push(&changes->rules);
	(*ret)->path = xstrdup(path);
	*map_slot(&changes->rules_by_path, (*ret)->path) = (void *)changes->rules.count;
	set_text(*ret, text ?: xstrdup(""), length);
	return NULL;
}

static struct error *apply_to_rules(struct build *build, const struct patch_file *patch,
				    const struct patch_entry *entry, const struct file_rule *rule)
{
	const char *path = entry->new_path ?: entry->old_path;
	_free_ struct hunk_place *places = NULL;
	struct changed_file *file;

	if (entry->binary || entry->change == PATCH_RENAME || entry->change == PATCH_COPY) {
		refuse(build, entry, rule->code, rule->text);
		return NULL;
	}
	TRY(load_rules(build, entry, &file));
	if (!file)
		return NULL;
	TRY(blame_apply(build, patch, entry, path, &file->new_lines, &places));
	note_places(build, entry, places);
	return NULL;
}

static struct error *apply_entry(struct build *build, const struct patch_file *patch,
				 const struct patch_entry *entry)
{
	const char *path = entry->new_path ? entry->new_path : entry->old_path;
	const struct file_rule *rule = find_file_rule(build, path);
	_free_ struct hunk_place *places = NULL;
	struct changed_file *file;
	bool unused;

	if (rule->action == FILE_IGNORE && entry->old_path)
		rule = find_rule(entry->old_path); /* it may be moved out of the kernel's code */
	if (map_has(&build->changes->refused, path))
		return NULL;
	if (rule->action == FILE_IGNORE) {
		build_note(build, "%s: left out: nothing in the kernel is compiled from it", path);
		return NULL;
	}
	TRY(build_rules_unused(build, path, &unused));
	if (unused) {
		build_note(build, "%s: left out: this kernel does not use its folder", path);
		return NULL;
	}
	if (rule->action == FILE_JUDGE)
		return apply_to_rules(build, patch, entry, rule);
	if (rule->action == FILE_REFUSE) {
		refuse(build, entry, rule->code, rule->text);
		return NULL;
	}
	if (entry->binary) {
		refuse(build, entry, "binary-diff",
		       "the diff changes this source file as binary data; make a text diff");
		return NULL;
	}
	if (entry->mode_changed)
		build_note(build, "%s: the change of its file mode has no effect", path);
	TRY(open_file(build, entry, &file));
	if (!file)
		return NULL;
	TRY(blame_apply(build, patch, entry, file->path, &file->new_lines, &places));
	file->deleted = entry->change == PATCH_DELETE;
	note_places(build, entry, places);
	return NULL;
}

/* Add a source file of the command line, to be instrumented. */
static struct error *add_source(struct build *build, struct patch_file *patch)
{
	const struct patch_entry entry = {
		.old_path = (char *)patch->source,
		.new_path = (char *)patch->source,
	};
	struct changed_file *file;

	TRY(load_file(build, &entry, patch->source, &file));
	if (!file)
		return NULL;
	file->instrument = true;
	sha256_hex(file->text, strlen(file->text), patch->sha256);
	return NULL;
}

/* The rule for code that is linked neither into vmlinux nor into a module; or NULL. */
static const struct file_rule *find_special_rule(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_rules); i++)
		if (file_rules[i].action == FILE_REFUSE && file_rules[i].match == MATCH_FOLDER &&
		    in_folder(path, file_rules[i].pattern))
			return &file_rules[i];
	return NULL;
}

bool source_is_special(const char *path)
{
	return find_special_rule(path) != NULL;
}

bool source_is_vdso(const char *path)
{
	const struct file_rule *rule = find_special_rule(path);

	return rule && !strcmp(rule->code, "vdso-changed");
}

void build_refuse_uncompiled(struct build *build, const char *path, const char *source)
{
	const struct file_rule *rule = find_special_rule(source);

	if (module_source_has(build, path))
		module_source_refuse_uncompiled(build, path);
	else if (rule)
		refusals_add(&build->refusals, rule->code, path, path, "%s", rule->text);
	else if (build->options.series) /* the rest of its commit may be compiled */
		build_note(build, "%s: left out: nothing in this kernel is compiled from it", path);
	else
		refusals_add(&build->refusals, "not-in-kernel", path, path,
			     "nothing in kernel %s is compiled from this file; leave it out of "
			     "the diff",
			     build->release);
}

void build_refuse_deleted(struct build *build, const struct changed_file *file)
{
	if (file->renamed)
		refusals_add(&build->refusals, "file-renamed", file->path, file->path,
			     "a renamed source file is part of no object; make the change in the "
			     "file as it was named");
	else
		refusals_add(&build->refusals, "file-deleted", file->path, file->path,
			     "code cannot be taken out of a running kernel; leave this file out of "
			     "the diff");
}

void build_refuse_new(struct build *build, const struct changed_file *file)
{
	refusals_add(&build->refusals, "new-file", file->path, file->path,
		     "a new source file that no makefile of the diffs has compiled is part of no "
		     "object; change the makefile, or put its functions into a file that uses "
		     "them");
}

struct error *apply_patches(struct build *build)
{
	struct changes *changes = xcalloc(1, sizeof(*changes));

	build->changes = changes;
	for (size_t i = 0; i < build->nr_patches; i++) {
		struct patch_file *patch = &build->patches[i];

		if (patch->commit && patch->commit->left_out)
			continue;
		build->applying = patch;
		if (patch->source)
			TRY(add_source(build, patch));
		for (size_t j = 0; j < patch->patch.nr_entries; j++)
			TRY(apply_entry(build, patch, patch->patch.in_order[j]));
		if (patch->commit)
			patch->commit->noted = true;
	}
	build->applying = NULL;
	TRY(build_rules_judge(build));
	changes_drop_unchanged(changes);
	if (!changes->files.count && !refusals_fatal(&build->refusals))
		return error_new(STATUS_NOTHING,
				 "the diffs change nothing that is compiled into the kernel: "
				 "nothing to do");
	return NULL;
}
