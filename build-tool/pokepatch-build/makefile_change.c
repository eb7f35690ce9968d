// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether changes to makefiles change how this kernel is compiled; see makefile_change.h. */
#include "pokepatch-build/makefile_change.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/changes.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/shadow_tree.h"
#include "pokepatch-build/units.h"

/* ---- without make ----------------------------------------------------------- */

/* Lines of the top Makefile that every release changes. */
static const char *const version_names[] = {
	"VERSION = ", "PATCHLEVEL = ", "SUBLEVEL = ", "EXTRAVERSION =", "NAME = ",
};

static bool is_version(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(version_names); i++)
		if (has_prefix(line, version_names[i]))
			return true;
	return false;
}

/* The lines of a makefile that make obeys: without comments, and without versions if so wanted. */
static void add_lines(const char *text, bool versions, struct buffer *out)
{
	bool keep = text && strstr(text, "define "); /* there, # is no comment */
	bool continued = false;

	buffer_add(out, "", 0);
	for (const char *line = text ?: ""; *line;) {
		size_t length = strcspn(line, "\n");
		bool comment = (*line == '#' || !length) && !keep;

		if (continued || !(comment || (!versions && is_version(line)))) {
			buffer_add(out, line, length);
			buffer_add(out, "\n", 1);
		}
		continued = length && line[length - 1] == '\\';
		line += length + (line[length] == '\n');
	}
}

static bool same_lines(const struct makefile_change *change, bool versions)
{
	struct buffer old = {}, new = {};
	bool same;

	add_lines(change->old_text, versions, &old);
	add_lines(change->new_text, versions, &new);
	same = !strcmp(old.text ?: "", new.text ?: "");
	buffer_deinit(&old);
	buffer_deinit(&new);
	return same;
}

/* Does every folder's compilation depend on it?  "Makefile", "arch/x86/Makefile", "scripts/..." */
static bool is_for_all(const char *path)
{
	const char *slash = strchr(path, '/');
	const char *machine = has_prefix(path, "arch/") ? strchr(slash + 1, '/') : NULL;

	if (!slash || has_prefix(path, "scripts/"))
		return true;
	return machine && !strchr(machine + 1, '/') && strcmp(machine, "/Kbuild");
}

/* Judge a change that needs no run of make. */
static bool judge_text(struct makefile_change *change)
{
	if (same_lines(change, true)) {
		change->note = "only comments change";
		return true;
	}
	if (!strcmp(change->path, "Makefile") && same_lines(change, false)) {
		change->note = "only the version of the kernel changes, and the running kernel's "
			       "stays";
		return true;
	}
	if (is_for_all(change->path))
		change->reason = xstrdup("it decides how every file is compiled");
	else if (source_is_special(change->path))
		change->reason = xstrdup("it compiles boot code or the vDSO");
	return change->reason;
}

/* ---- make in a shadow of the tree ------------------------------------------- */

/*
 * Write one text of a changed makefile into the shadow, with a first line that makes make
 * say that it reads the file.
 */
static const char read_mark[] = "pokepatch: read ";

static struct error *write_makefile(struct shadow *shadow, const char *path, const char *text)
{
	struct buffer marked = {};
	struct error *error;

	if (!text)
		return shadow_take(shadow, path);
	buffer_printf(&marked, "$(info %s%s)\n%s", read_mark, path, text);
	error = shadow_put(shadow, path, marked.text, marked.length);
	buffer_deinit(&marked);
	return error;
}

static bool was_read(const char *output, const char *path)
{
	_free_ char *line = xasprintf("%s%s\n", read_mark, path);

	return output && strstr(output, line);
}

/* ---- comparing commands ----------------------------------------------------- */

/* "fs/open.o" of a line that compiles it, which the caller frees; or NULL. */
static char *compiled_object(const char *line)
{
	const char *found = strstr(line, " -c -o ");

	if (!found)
		return NULL;
	found += strlen(" -c -o ");
	return xstrndup(found, strcspn(found, " ;"));
}

/* The file that a line of kbuild makes, and removes if it fails; the caller frees it.  Or NULL. */
static char *made_file(const char *line)
{
	const char *target = strstr(line, "trap 'rm -f ");

	if (!target)
		return NULL;
	target += strlen("trap 'rm -f ");
	return xstrndup(target, strcspn(target, ";"));
}

/*
 * Files of kbuild that tell no more of the kernel than the lines that compile: lists of what
 * subfolders have, and the results of tests that run while the kernel is built.
 */
static const char *const derived_files[] = {"/built-in.a", "/modules.order", ".log"};

/*
 * Does a line only make such a file, or have make enter a folder?  make does enter it with -n, so
 * what it does there is in the output, too.
 */
static bool is_derived(const char *line)
{
	static const char *const entering[] = {
		"make -f ./scripts/Makefile.build obj=", "need-builtin=", "need-modorder=",
	};
	_free_ char *target = made_file(line);

	for (size_t i = 0; i < ARRAY_SIZE(entering); i++)
		if (has_prefix(line, entering[i]))
			return true;
	for (size_t i = 0; target && i < ARRAY_SIZE(derived_files); i++)
		if (has_suffix(target, derived_files[i]))
			return true;
	return false;
}

/* The lines of an output, in place, and the lines that compile, by object. */
struct commands {
	char *text;
	VEC(char *) lines;
	VEC(char *) objects;  /* of each line; NULL: it compiles nothing */
	struct map by_object; /* to the line */
	struct map by_line;
};

/*
 * Does a line make the object of a new source after the compiler, as by adding the checksums of
 * its exports, or list what a module of it alone is linked from?
 */
static bool makes_added(const char *line, const struct added_objects *added)
{
	_free_ char *made = made_file(line);

	if (made && has_suffix(made, ".mod"))
		strcpy(made + strlen(made) - strlen(".mod"), ".o");
	return made && map_has(&added->places, made);
}

/*
 * Take the objects of new sources out of a line that lists what is linked, in place: "fs/new.o", or
 * "new.o" as in the list that kbuild makes of a module's objects.
 */
static void drop_added(char *line, const struct added_objects *added)
{
	_free_ char *folder = made_file(line);
	char *to = line, *word = line;

	if (!folder || !strchr(folder, '/'))
		return;
	*strrchr(folder, '/') = '\0';
	while (*word) {
		size_t length = strcspn(word, " ");
		_free_ char *name = xstrndup(word, length);
		_free_ char *inside = xasprintf("%s/%s", folder, name);
		bool drop = length && (map_has(&added->places, name) || map_has(&added->places, inside));

		length += word[length] == ' ';
		if (!drop) {
			memmove(to, word, length);
			to += length;
		}
		word += length;
	}
	*to = '\0';
}

static void commands_read(const char *output, const struct added_objects *added, struct commands *ret)
{
	char *rest = NULL;

	*ret = (struct commands){.text = xstrdup(output ?: "")};
	for (char *line = strtok_r(ret->text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *object;

		if (has_prefix(line, read_mark) || is_derived(line))
			continue;
		object = compiled_object(line);
		if (!object && added->names.count) {
			if (makes_added(line, added))
				continue;
			drop_added(line, added);
		}
		*vec_push(&ret->lines) = line;
		*vec_push(&ret->objects) = object;
		*map_slot(&ret->by_line, line) = line;
		if (object)
			*map_slot(&ret->by_object, object) = line;
	}
}

static void commands_deinit(struct commands *commands)
{
	for (size_t i = 0; i < commands->objects.count; i++)
		free(commands->objects.list[i]);
	vec_deinit(&commands->objects);
	vec_deinit(&commands->lines);
	map_deinit(&commands->by_object);
	map_deinit(&commands->by_line);
	free(commands->text);
}

static bool has_word(const char *line, const char *word, size_t length)
{
	for (; *line; line += strcspn(line, " "), line += strspn(line, " "))
		if (strcspn(line, " ") == length && !strncmp(line, word, length))
			return true;
	return false;
}

/* The first word of two command lines that differs: "with -Wall", or "without -Wall". */
static char *differing_argument(const char *old, const char *new)
{
	size_t same = 0, length;

	while (old[same] && old[same] == new[same])
		same++;
	while (same && old[same - 1] != ' ')
		same--;
	old += same;
	length = strcspn(new + same, " ");
	if (length && !has_word(old, new + same, length))
		return xasprintf("with %.*s", (int)length, new + same);
	return xasprintf("without %.*s", (int)strcspn(old, " "), old);
}

/* What a line that compiles nothing does: "AR fs/built-in.a", "No rule to make target ...". */
static char *step_name(const char *line)
{
	const char *target = strstr(line, "No rule to make target '");
	const char *said = strstr(line, "echo '  ");
	struct buffer name = {};
	char *ret;

	if (target) {
		target += strlen("No rule to make target '");
		return xasprintf("%.*s would be made, and there is nothing to make it of",
				 (int)strcspn(target, "'"), target);
	}
	if (!said)
		return xasprintf("another step would be \"%.60s\"", line);
	buffer_add(&name, "", 0);
	for (said += strlen("echo '  "); *said && *said != '\''; said++)
		if (*said != ' ' || said[1] != ' ')
			buffer_add(&name, said, 1);
	ret = xasprintf("%s: another command", name.text ?: "");
	buffer_deinit(&name);
	return ret;
}

/* The first object that only one of the outputs compiles. */
static char *only_object(const struct commands *commands, const struct commands *other,
			 const struct added_objects *added, const char *what)
{
	for (size_t i = 0; i < commands->lines.count; i++) {
		const char *object = commands->objects.list[i];

		if (object && !map_has(&other->by_object, object) && !map_has(&added->places, object))
			return xasprintf("%s would %s", object, what);
	}
	return NULL;
}

static char *other_command(const struct commands *old, const struct commands *new)
{
	for (size_t i = 0; i < old->lines.count; i++) {
		const char *object = old->objects.list[i], *line = old->lines.list[i];
		const char *now = object ? map_get(&new->by_object, object) : NULL;

		if (now && strcmp(line, now)) {
			_free_ char *argument = differing_argument(line, now);

			return xasprintf("%s would be compiled %s", object, argument);
		}
	}
	return NULL;
}

/* The first line that only one of the outputs has; an error of make before others. */
static char *only_line(const struct commands *commands, const struct commands *other,
		       const struct added_objects *added)
{
	const char *first = NULL;

	for (size_t i = 0; i < commands->lines.count; i++) {
		const char *line = commands->lines.list[i], *object = commands->objects.list[i];

		if (map_has(&other->by_line, line) || (object && map_has(&added->places, object)))
			continue;
		if (strstr(line, "No rule to make target"))
			return step_name(line);
		first = first ?: line;
	}
	return first ? step_name(first) : NULL;
}

void added_objects_add(struct added_objects *added, char *name)
{
	*vec_push(&added->names) = name;
	*vec_push(&added->commands) = NULL;
	*map_slot(&added->places, name) = (void *)added->names.count;
}

void added_objects_deinit(struct added_objects *added)
{
	for (size_t i = 0; i < added->names.count; i++) {
		free(added->names.list[i]);
		free(added->commands.list[i]);
	}
	vec_deinit(&added->names);
	vec_deinit(&added->commands);
	map_deinit(&added->places);
}

/* Give the objects of new sources the lines that compile them. */
static void take_commands(const struct commands *commands, struct added_objects *added)
{
	for (size_t i = 0; i < commands->lines.count; i++) {
		const char *object = commands->objects.list[i];
		size_t place = object ? (size_t)map_get(&added->places, object) : 0;

		if (place && !added->commands.list[place - 1])
			added->commands.list[place - 1] = xstrdup(commands->lines.list[i]);
	}
}

char *makefile_first_difference(const char *old_output, const char *new_output,
				struct added_objects *added)
{
	struct commands old, new;
	char *reason;

	commands_read(old_output, added, &old);
	commands_read(new_output, added, &new);
	reason = only_object(&new, &old, added, "be compiled");
	if (!reason)
		reason = only_object(&old, &new, added, "no longer be compiled");
	if (!reason)
		reason = other_command(&old, &new);
	if (!reason)
		reason = only_line(&new, &old, added);
	if (!reason)
		reason = only_line(&old, &new, added);
	take_commands(&new, added);
	commands_deinit(&old);
	commands_deinit(&new);
	return reason;
}

/* ---- one folder ------------------------------------------------------------- */

/* Run make -n for the folder. */
static struct error *run_make(const struct build *build, const struct shadow *shadow,
			      const char *folder, struct buffer *ret)
{
	char *const targets[] = {"-n", "KBUILD_MODULES=1", NULL};
	struct build in_shadow = *build;
	bool ok;

	in_shadow.tree = shadow->folder;
	in_shadow.options.jobs = 1; /* several makes would mix their lines */
	buffer_add(ret, "", 0);
	return kbuild_make(&in_shadow, folder, targets, &ok, ret);
}

/* Write the old or new texts; or, if @alone is not NULL, only that new one, and all new files. */
static struct error *write_all(struct shadow *shadow, struct makefile_change *const *changes,
			       size_t count, bool new, const struct makefile_change *alone)
{
	for (size_t i = 0; i < count; i++) {
		const struct makefile_change *change = changes[i];
		bool now = alone ? change == alone || !change->old_text : new;

		TRY(write_makefile(shadow, change->path, now ? change->new_text : change->old_text));
	}
	return NULL;
}

static bool is_within(const char *folder, const char *outer)
{
	size_t length = strlen(outer);

	return !strncmp(folder, outer, length) && (!folder[length] || folder[length] == '/');
}

/* Is it a source file that the diffs add to the kernel's tree? */
static bool is_new_source(const struct changed_file *file)
{
	return file->created && !file->deleted && !file->outside && has_suffix(file->path, ".c");
}

/* Put the new sources of a folder into the shadow; for make -n it is enough that they are there. */
static struct error *put_new_sources(struct shadow *shadow, const struct changes *changes,
				     const char *folder)
{
	for (size_t i = 0; i < changes->files.count; i++) {
		const struct changed_file *file = &changes->files.list[i];

		if (is_new_source(file) && is_within(file->path, folder))
			TRY(shadow_put(shadow, file->path, "", 0));
	}
	return NULL;
}

static bool any_command(const struct added_objects *added)
{
	for (size_t i = 0; i < added->commands.count; i++)
		if (added->commands.list[i])
			return true;
	return false;
}

/* Set the note of a change whose folder has no difference, or the reason why that says nothing. */
static void judge_unread(struct makefile_change *change, const char *output,
			 const struct added_objects *added)
{
	const char *name = strrchr(change->path, '/') + 1;

	if (any_command(added) && was_read(output, change->path))
		change->note = "it has only new files compiled, which the patch brings";
	else if (was_read(output, change->path) || !change->new_text)
		change->note = "it changes nothing that this kernel compiles";
	else if (!strcmp(name, "Makefile") || !strcmp(name, "Kbuild"))
		change->note = "this kernel does not use its folder";
	else /* as virt/kvm/Makefile.kvm, which arch/x86/kvm/Makefile includes */
		change->reason = xstrdup("it is not known which makefile includes it");
}

static struct error *judge_folder(const struct build *build, struct shadow *shadow,
				  const char *folder, struct makefile_change *const *changes,
				  size_t count, struct added_objects *added)
{
	struct buffer old = {}, new = {}, alone = {};
	_free_ char *reason = NULL;
	struct error *error = put_new_sources(shadow, build->changes, folder);

	if (!error)
		error = write_all(shadow, changes, count, false, NULL);
	if (!error)
		error = run_make(build, shadow, folder, &old);
	if (!error)
		error = write_all(shadow, changes, count, true, NULL);
	if (!error)
		error = run_make(build, shadow, folder, &new);
	if (!error)
		reason = makefile_first_difference(old.text, new.text, added);
	/* Of several, find those that make a difference alone. */
	for (size_t i = 0; !error && reason && count > 1 && i < count; i++) {
		error = write_all(shadow, changes, count, false, changes[i]);
		if (!error)
			error = run_make(build, shadow, folder, &alone);
		if (!error)
			changes[i]->reason =
				makefile_first_difference(old.text, alone.text, added);
		buffer_deinit(&alone);
		alone = (struct buffer){};
	}

	bool found = false;
	for (size_t i = 0; i < count; i++)
		found |= changes[i]->reason != NULL;
	for (size_t i = 0; !error && i < count; i++) {
		if (reason && !found)
			changes[i]->reason = xstrdup(reason);
		if (!changes[i]->reason)
			judge_unread(changes[i], new.text, added);
	}
	buffer_deinit(&old);
	buffer_deinit(&new);
	return error;
}

/* The text of the makefile that kbuild reads in a folder, which the caller frees; or NULL. */
static char *folder_makefile(const struct build *build, const char *folder)
{
	static const char *const names[] = {"Kbuild", "Makefile"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *path = xasprintf("%s/%s/%s", build->tree, folder, names[i]);
		char *text = NULL;
		size_t length;

		if (file_exists(path))
			error_destroy(file_read(path, &text, &length));
		if (text)
			return text;
	}
	return NULL;
}

/*
 * Does the nearest makefile above a folder send kbuild into it?  Otherwise, another folder's may
 * include the one there.  kbuild's names of subfolders end with a slash.
 */
static bool is_entered(const struct build *build, const char *folder)
{
	_free_ char *above = xstrdup(folder);
	char *slash;

	while ((slash = strrchr(above, '/'))) {
		const char *name = folder + (slash - above) + 1;
		size_t length = strlen(name);
		_free_ char *text = NULL;

		*slash = '\0';
		text = folder_makefile(build, above);
		if (!text)
			continue;
		for (const char *p = text; (p = strstr(p, name)); p++)
			if (p > text && strchr(" \t", p[-1]) && p[length] == '/' &&
			    strchr(" \t\n\\", p[length + 1]))
				return true;
		return false;
	}
	return false;
}

/*
 * The folder to run make for, which the caller frees: the makefile's own, if kbuild enters that.
 * Otherwise the makefile may be included by one of the same part of the kernel, as
 * drivers/misc/habanalabs/Makefile includes common/Makefile.  A part is a folder of the first
 * level, or of the second or third, where the first is large.
 */
static char *folder_of(const struct build *build, const char *path)
{
	_free_ char *own = xstrdup(path);
	const char *end = strchr(path, '/');

	/* A folder that is new is read by the makefile of one that is there. */
	for (char *slash = strrchr(own, '/'); slash; slash = strrchr(own, '/')) {
		_free_ char *full = NULL;

		*slash = '\0';
		full = xasprintf("%s/%s", build->tree, own);
		if (file_exists(full))
			break;
	}
	if (!end || is_entered(build, own))
		return take_pointer(own);
	if (own[end - path] && (has_prefix(path, "drivers/") || has_prefix(path, "arch/")))
		end += 1 + strcspn(end + 1, "/");
	if (has_prefix(path, "arch/") && own[end - path])
		end += 1 + strcspn(end + 1, "/");
	return xstrndup(path, (size_t)(end - path));
}

/*
 * Judge the changes that need a run of make, those in one folder together.
 * @added: as makefile_first_difference() has it
 */
static struct error *judge_folders(const struct build *build, struct makefile_change *changes,
				   char *const *folders, size_t count, struct added_objects *added)
{
	_free_ char *path = xasprintf("%s/makefiles", build->work);
	_free_ struct makefile_change **within = xcalloc(count, sizeof(struct makefile_change *));

	for (;;) {
		const char *outer = NULL;
		size_t nr = 0;

		for (size_t i = 0; i < count; i++)
			if (!changes[i].note && !changes[i].reason &&
			    (!outer || strlen(folders[i]) < strlen(outer)))
				outer = folders[i];
		if (!outer)
			return NULL;
		for (size_t i = 0; i < count; i++)
			if (!changes[i].note && !changes[i].reason && is_within(folders[i], outer))
				within[nr++] = &changes[i];
		struct shadow shadow;
		struct error *error = shadow_init(&shadow, build->tree, path);

		if (!error)
			error = shadow_open(&shadow, outer);
		if (!error)
			error = judge_folder(build, &shadow, outer, within, nr, added);
		if (!error)
			error = remove_tree(path);
		shadow_deinit(&shadow);
		TRY(error);
	}
}

/* Judge as judge_folders() does, and note the commands of the diffs' new sources. */
static struct error *judge_with_sources(const struct build *build, struct makefile_change *changes,
					char *const *folders, size_t count)
{
	struct changed_file *files = build->changes->files.list;
	_free_ size_t *places = xcalloc(build->changes->files.count, sizeof(*places));
	struct added_objects added = {};
	struct error *error;

	for (size_t i = 0; i < build->changes->files.count; i++) {
		if (!is_new_source(&files[i]))
			continue;
		added_objects_add(&added, unit_object_name(files[i].path));
		places[i] = added.names.count;
	}
	error = judge_folders(build, changes, folders, count, &added);
	for (size_t i = 0; i < build->changes->files.count; i++)
		if (places[i] && !files[i].command)
			files[i].command = take_pointer(added.commands.list[places[i] - 1]);
	added_objects_deinit(&added);
	return error;
}

struct error *makefiles_judge(const struct build *build, struct makefile_change *changes,
			      size_t count)
{
	_free_ char *path = xasprintf("%s/.pokepatch/kbuild", build->tree);
	_free_ char **folders = xcalloc(count + 1, sizeof(*folders));
	_close_ int lock = -1;
	struct error *error = NULL;
	bool all = true;

	for (size_t i = 0; i < count; i++) {
		all &= judge_text(&changes[i]);
		folders[i] = folder_of(build, changes[i].path);
	}
	/* No other run of kbuild may compile there between our two runs. */
	if (!all)
		error = cache_lock(path, false, &lock);
	if (!all && !error)
		error = judge_with_sources(build, changes, folders, count);
	for (size_t i = 0; i < count; i++)
		free(folders[i]);
	return error;
}
