// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shows that the proof (build-tool/proof) catches what it should: makes one change at a time to a
 * finished module and runs the proof on each changed module.
 *
 *	mutate [-n NUMBER] [-s SEED] [-v] FOLDER...
 *
 * Each folder is one that pokepatch-build --keep left.  One of --format livepatch has two modules: the
 * linked one, of pokepatch's own format, and livepatch.ko, which was made of it.  Both are changed.  NUMBER is how many changes are made in each
 * way to each section of each module.  The same seed gives the same changes.  A change that the
 * proof lets pass is a survivor, unless there is an argument that it changes nothing that matters
 * (meaning.c).  Changes with such an argument are counted apart, by argument.
 *
 * Prints tables and the survivors.  Status 1: the proof caught fewer than 95 of 100 changes of a
 * class, or missed a changed relocation of code, or there were fewer than 500 changes in all.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutate.h"
#include "proof/proof.h"

#define LEAST_CHANGES 500
#define LEAST_PERCENT 95
#define LIVEPATCH "livepatch.ko" /* in a folder of --format livepatch */

static uint64_t random_state;

uint64_t random_below(uint64_t limit) /* xorshift64*, which needs no library */
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dULL >> 11) % limit;
}

void tell(struct mutation *mutation, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	mutation->what = xvasprintf(format, arguments);
	va_end(arguments);
}

/* ---- scores ------------------------------------------------------------------------- */

struct score {
	char *name;
	size_t made, caught;
};
struct scores {
	const char *title;
	VEC(struct score) list;
};

static struct score *score_of(struct scores *scores, const char *name)
{
	for (size_t i = 0; i < scores->list.count; i++)
		if (!strcmp(scores->list.list[i].name, name))
			return &scores->list.list[i];
	struct score *score = vec_push(&scores->list);
	score->name = xstrdup(name);
	return score;
}

static void count(struct scores *scores, const char *name, bool caught)
{
	struct score *score = score_of(scores, name);

	score->made++;
	score->caught += caught;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct score *)left)->name, ((const struct score *)right)->name);
}

/* Print the scores.  Was at least this percentage of each caught? */
static bool print_scores(struct scores *scores, size_t percent)
{
	bool good = true;

	if (scores->list.count)
		qsort(scores->list.list, scores->list.count, sizeof(struct score), by_name);
	printf("%s:\n", scores->title);
	for (size_t i = 0; i < scores->list.count; i++) {
		const struct score *score = &scores->list.list[i];
		bool enough = score->caught * 100 >= score->made * percent;

		printf("  %-52s %5zu of %5zu%s\n", score->name, score->caught, score->made,
		       enough ? "" : "  TOO FEW");
		good &= enough;
	}
	return good;
}

static void free_scores(struct scores *scores)
{
	for (size_t i = 0; i < scores->list.count; i++)
		free(scores->list.list[i].name);
	vec_deinit(&scores->list);
}

/* ---- running ------------------------------------------------------------------------ */

struct run {
	struct scores ways, sections, types, code_types, same;
	size_t made, caught;
	VEC(char *) survivors;
	struct map seen;
	VEC(char *) keys;
	size_t number;
	bool verbose;
	char *file; /* where a changed module is written */
};

/* The module that is changed, and what stays the same from one change to the next. */
struct subject {
	struct run *run;
	struct proof *proof;
	const char *ko;
	const char *proved; /* the module of which ko was made for livepatch; or NULL */
	const char *vmlinux;
	const struct object *object; /* unchanged */
};

static void die(struct error *error)
{
	if (!error)
		return;
	fprintf(stderr, "mutate: %s\n", error->text);
	exit(STATUS_FAILED);
}

static struct error *read_module(const struct subject *subject, const char *path,
				 struct object *ret)
{
	return subject->proved ? object_read_livepatch(path, ret) : object_read(path, ret);
}

static struct error *check_module(const struct subject *subject, const char *path)
{
	return subject->proved ? proof_check_livepatch(subject->proof, subject->proved, path)
			       : proof_check(subject->proof, path);
}

static bool is_new(struct run *run, const char *ko, const char *what)
{
	char *key = xasprintf("%s: %s", ko, what);
	bool new = !map_has(&run->seen, key);

	*vec_push(&run->keys) = key;
	*map_slot(&run->seen, key) = NULL;
	return new;
}

static void judge(const struct subject *subject, const struct mutation *mutation, const char *way,
		  const char *section, bool text)
{
	struct run *run = subject->run;

	die(object_write(mutation->object, run->file));
	struct error *error = check_module(subject, run->file);
	bool caught = error != NULL;

	if (run->verbose)
		printf("%s: %s%s%s\n", mutation->what, error ? error->text : "not caught",
		       mutation->same ? "; means the same: " : "", mutation->same ?: "");
	error_destroy(error);
	if (mutation->same) {
		count(&run->same, mutation->same, caught);
		return;
	}
	char *type _free_ = xasprintf("type %u", mutation->type);
	run->made++;
	run->caught += caught;
	count(&run->ways, way, caught);
	count(&run->sections, section, caught);
	if (mutation->type)
		count(text ? &run->code_types : &run->types, type, caught);
	if (!caught)
		*vec_push(&run->survivors) = xasprintf("%s: %s", subject->ko, mutation->what);
}

/* Make one change; false: it does not apply, was made before, or means the same. */
static bool mutate_once(const struct subject *subject, const struct way *way, size_t index)
{
	struct object object;

	die(read_module(subject, subject->ko, &object));
	struct mutation mutation = {
		.before = subject->object, .object = &object, .section = object.sections.list[index],
		.vmlinux = subject->vmlinux};
	char *section _free_ = xstrdup(mutation.section->name);
	bool text = section_is_text(mutation.section), done = false;

	if (way->apply(&mutation) && is_new(subject->run, subject->ko, mutation.what)) {
		if (!mutation.same)
			mutation.same = entries_argument(&mutation);
		done = !mutation.same;
		judge(subject, &mutation, way->name, section, text);
	}
	free(mutation.what);
	object_deinit(&object);
	return done;
}

static char *find_module(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char *ko = NULL;

	while (dir && (entry = readdir(dir)))
		if (!ko && has_suffix(entry->d_name, ".ko") && strcmp(entry->d_name, LIVEPATCH))
			ko = xasprintf("%s/%s", folder, entry->d_name);
	if (dir)
		closedir(dir);
	if (!ko)
		die(error_new(STATUS_FAILED, "%s: no module in it", folder));
	return ko;
}

/* The proof must accept the module unchanged, and as object_write() writes it. */
static void check_unchanged(const struct subject *subject)
{
	struct object object;

	die(check_module(subject, subject->ko));
	die(read_module(subject, subject->ko, &object));
	die(object_write(&object, subject->run->file));
	object_deinit(&object);
	die(check_module(subject, subject->run->file));
}

static void mutate_sections(const struct subject *subject, const struct way *way, bool relocs)
{
	size_t number = subject->run->number * (way->weight ?: 1);

	for (size_t i = 1; i < subject->object->sections.count; i++) {
		size_t made = 0;

		/* What livepatch relocates has no contents but its relocations. */
		if (!is_loaded(subject->object->sections.list[i]) ||
		    (subject->object->sections.list[i]->target && !relocs))
			continue;
		for (size_t tries = 0; made < number && tries < number * 6; tries++)
			made += mutate_once(subject, way, i);
	}
}

static void mutate_subject(struct subject *subject)
{
	static const struct way *const ways[] = {reloc_ways, content_ways, image_ways};
	struct object object;

	die(read_module(subject, subject->ko, &object));
	subject->object = &object;
	check_unchanged(subject);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		for (const struct way *way = ways[i]; way->name; way++)
			mutate_sections(subject, way, !i);
	object_deinit(&object);
}

static void mutate_module(struct run *run, const char *folder)
{
	char *input_file _free_ = xasprintf("%s/proof.txt", folder);
	char *ko _free_ = find_module(folder), *livepatch _free_ = xasprintf("%s/" LIVEPATCH, folder);
	struct subject subject = {.run = run, .ko = ko};
	struct proof_input input;

	die(proof_input_read(input_file, &input));
	subject.vmlinux = input.parents.list[0].path;
	die(proof_open(&input, &subject.proof));
	mutate_subject(&subject);
	if (input.livepatch) {
		subject.ko = livepatch;
		subject.proved = ko;
		mutate_subject(&subject);
	}
	proof_close(subject.proof);
	proof_input_deinit(&input);
}

static bool print_all(struct run *run)
{
	bool good = print_scores(&run->ways, LEAST_PERCENT);

	good &= print_scores(&run->sections, LEAST_PERCENT);
	good &= print_scores(&run->types, LEAST_PERCENT);
	good &= print_scores(&run->code_types, 100);
	print_scores(&run->same, 0);
	printf("In all %zu of %zu changes were caught.\n", run->caught, run->made);
	for (size_t i = 0; i < run->survivors.count; i++)
		printf("not caught: %s\n", run->survivors.list[i]);
	if (run->made < LEAST_CHANGES)
		printf("fewer than %d changes\n", LEAST_CHANGES);
	return good && run->caught * 100 >= run->made * LEAST_PERCENT &&
	       run->made >= LEAST_CHANGES;
}

static void free_run(struct run *run)
{
	for (size_t i = 0; i < run->keys.count; i++)
		free(run->keys.list[i]);
	for (size_t i = 0; i < run->survivors.count; i++)
		free(run->survivors.list[i]);
	vec_deinit(&run->keys);
	vec_deinit(&run->survivors);
	free_scores(&run->ways);
	free_scores(&run->sections);
	free_scores(&run->types);
	free_scores(&run->code_types);
	free_scores(&run->same);
	map_deinit(&run->seen);
	free(run->file);
}

int main(int argc, char **argv)
{
	struct run run = {
		.number = 2,
		.ways = {.title = "Caught, by what was changed"},
		.sections = {.title = "by section"},
		.types = {.title = "by type of the relocation, outside code"},
		.code_types = {.title = "by type of the relocation, in code"},
		.same = {.title = "Caught as well, although the change does not matter"},
	};
	char *folder;
	int option;

	random_state = 20221211;
	while ((option = getopt(argc, argv, "n:s:v")) != -1) {
		if (option == 'n')
			run.number = strtoul(optarg, NULL, 10);
		else if (option == 's')
			random_state = strtoull(optarg, NULL, 10) | 1;
		else if (option == 'v')
			run.verbose = true;
		else
			return STATUS_FAILED;
	}
	die(temp_dir(&folder));
	run.file = xasprintf("%s/changed.ko", folder);
	for (int i = optind; i < argc; i++)
		mutate_module(&run, argv[i]);
	die(remove_tree(folder));

	bool good = print_all(&run);
	free_run(&run);
	free(folder);
	return good ? STATUS_DONE : STATUS_FAILED;
}
