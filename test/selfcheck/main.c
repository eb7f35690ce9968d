// SPDX-License-Identifier: GPL-2.0-or-later
/* selfcheck: runs check_unit() on each unit, in a process of its own, and judges the results. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"
#include "selfcheck.h"

static const char usage[] =
	"usage: selfcheck -k RELEASE -w FOLDER [-j JOBS] [-e EXCEPTIONS] [-s STEP] [-o PART] [-g "
	"FLAG] [-r SEED]\n"
	"\n"
	"  -k  the kernel\n"
	"  -w  keeps objects and results, so that a second run only compares again\n"
	"  -e  problems that are explained\n"
	"  -s  every STEPth unit only\n"
	"  -o  only units with PART in their path\n"
	"  -g  how much debugging data is compiled (-g1)\n"
	"  -r  a number for another choice of tokens (0); give it a folder of its own\n";

/* make -n takes a second, however many units it is asked for. */
#define PLANNED_AT_ONCE 64
/* Seconds after which a unit is given up; the slowest take half a minute. */
#define UNIT_TIMEOUT 900

struct arguments {
	const char *folder, *exceptions, *part;
	unsigned int step;
};

/* ---- exceptions -------------------------------------------------------------------- */

/* CASE SOURCE KIND SUBJECT, and the explanation; "*" stands for any. */
struct exception {
	char *fields[4];
	char *reason;
	size_t used;
};

struct exceptions {
	VEC(struct exception) list;
	char *text;
};

static struct error *exceptions_read(const char *path, struct exceptions *ret)
{
	size_t length;

	if (!path)
		return NULL;
	TRY(file_read(path, &ret->text, &length));
	for (char *save, *line = strtok_r(ret->text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct exception exception = {};
		char *rest = line;

		if (*line == '#')
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(exception.fields); i++) {
			rest += strspn(rest, " \t");
			exception.fields[i] = rest;
			rest += strcspn(rest, " \t");
			if (!*rest)
				return error_new(STATUS_FAILED, "%s: a line has no explanation: %s",
						 path, line);
			*rest++ = '\0';
		}
		exception.reason = rest + strspn(rest, " \t");
		*vec_push(&ret->list) = exception;
	}
	return NULL;
}

static struct exception *exceptions_find(const struct exceptions *exceptions, char *const *fields)
{
	for (size_t i = 0; i < exceptions->list.count; i++) {
		struct exception *exception = &exceptions->list.list[i];
		bool fits = true;

		for (size_t j = 0; j < ARRAY_SIZE(exception->fields); j++)
			fits &= !strcmp(exception->fields[j], "*") ||
				!strcmp(exception->fields[j], fields[j]);
		if (fits)
			return exception;
	}
	return NULL;
}

/* ---- results ----------------------------------------------------------------------- */

struct totals {
	size_t shift, token, functions, shift_units, token_units, refused, no_code, inlined,
		follows, ipa;
	size_t explained, unexplained, failed;
};

static void split_fields(char *line, char **fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fields[i] = line;
		line += strcspn(line, "\t");
		if (*line)
			*line++ = '\0';
	}
}

/* Lines of one unit; problems that are not explained go to standard error. */
static void take_results(char *text, struct exceptions *exceptions, struct totals *totals,
			 FILE *table)
{
	bool exact[2] = {true, true};

	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *fields[6];
		struct exception *exception;

		fprintf(table, "%s\n", line);
		_free_ char *copy = xstrdup(line);
		split_fields(copy, fields, ARRAY_SIZE(fields));
		if (!strcmp(fields[0], "shift")) {
			totals->shift++;
			totals->shift_units += exact[0];
			totals->functions += strtoul(fields[2], NULL, 10);
			continue;
		}
		if (!strcmp(fields[0], "token")) {
			totals->token++;
			totals->token_units += exact[1];
			continue;
		}
		if (!strcmp(fields[0], "refused")) {
			totals->refused++;
			continue;
		}
		if (!strcmp(fields[0], "inlined")) {
			totals->inlined++;
			continue;
		}
		if (!strcmp(fields[0], "follows")) {
			totals->follows++;
			continue;
		}
		if (!strcmp(fields[0], "ipa")) {
			totals->ipa++;
			continue;
		}
		if (!strcmp(fields[0], "no-code")) {
			totals->no_code++;
			continue;
		}
		exact[!strcmp(fields[1], "token")] = false;
		exception = exceptions_find(exceptions, fields + 1);
		if (exception) {
			exception->used++;
			totals->explained++;
			continue;
		}
		totals->unexplained++;
		fprintf(stderr, "selfcheck: %s: %s: %s: %s (%s)\n", fields[1], fields[2], fields[3],
			fields[4], fields[5]);
	}
}

/* ---- running ------------------------------------------------------------------------- */

static char *result_path(const struct selfcheck *check, const struct target *target)
{
	_free_ char *name = xstrdup(target->source);

	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = ':';
	return xasprintf("%s/results/%s", check->folder, name);
}

/* In the child: never returns. */
static void run_unit(struct selfcheck *check, const struct target *target,
		     struct kbuild_unit *answer)
{
	_free_ char *path = result_path(check, target);
	struct buffer results = {};
	struct error *error;

	alarm(UNIT_TIMEOUT);
	error = check_unit(check, target, answer, &results);
	if (error) {
		error->text[strcspn(error->text, "\n")] = ' ';
		for (char *p = error->text; *p; p++)
			if (*p == '\n' || *p == '\t')
				*p = ' ';
		buffer_printf(&results, "problem\tunit\t%s\terror\t-\t%.400s\n", target->source,
			      error->text);
	}
	error = file_write(path, results.text ?: "", results.length);
	if (error)
		fprintf(stderr, "selfcheck: %s\n", error->text);
	fflush(NULL);
	_exit(error != NULL);
}

struct runner {
	struct selfcheck *check;
	struct target **targets;
	size_t count;
	pid_t *pids; /* of targets */
	size_t running;
};

/* One that has ended; a crash leaves a result that says so. */
static struct error *wait_for_one(struct runner *runner)
{
	int status;
	pid_t pid = wait(&status);

	TRY(proc_check_interrupted());
	if (pid < 0)
		return error_errno("wait");
	runner->running--;
	for (size_t i = 0; i < runner->count && status; i++) {
		if (runner->pids[i] != pid)
			continue;
		_free_ char *path = result_path(runner->check, runner->targets[i]);
		_free_ char *text = xasprintf("problem\tunit\t%s\tcrash\t-\tstatus %#x\n",
					      runner->targets[i]->source, (unsigned int)status);

		return file_write(path, text, strlen(text));
	}
	return NULL;
}

static struct error *run_batch(struct runner *runner, size_t first, size_t count)
{
	struct selfcheck *check = runner->check;
	_free_ char **sources = xcalloc(count + 1, sizeof(*sources));
	struct kbuild_unit *answers = xcalloc(count, sizeof(*answers));
	struct error *error;

	for (size_t i = 0; i < count; i++)
		sources[i] = runner->targets[first + i]->source;
	error = kbuild_plan_units(&check->build, sources, answers);
	for (size_t i = 0; !error && i < count; i++) {
		if (runner->running == check->build.options.jobs)
			error = wait_for_one(runner);
		if (error)
			break;
		pid_t pid = runner->pids[first + i] = fork();
		if (!pid)
			run_unit(check, runner->targets[first + i], &answers[i]);
		if (pid < 0)
			error = error_errno("fork");
		else
			runner->running++;
	}
	for (size_t i = 0; i < count; i++)
		kbuild_unit_deinit(&answers[i]);
	free(answers);
	return error;
}

static struct error *run_all(struct runner *runner)
{
	double start = now_seconds();
	struct error *error = NULL;

	for (size_t i = 0; !error && i < runner->count; i += PLANNED_AT_ONCE) {
		size_t count =
			runner->count - i < PLANNED_AT_ONCE ? runner->count - i : PLANNED_AT_ONCE;

		error = run_batch(runner, i, count);
		if (!error && isatty(STDERR_FILENO))
			fprintf(stderr, "%zu of %zu units, %.0f s\n", i + count, runner->count,
				now_seconds() - start);
	}
	while (!error && runner->running)
		error = wait_for_one(runner);
	return error;
}

/* Of a run of all units: a line that has nothing to explain is wrong. */
static void check_used(const struct exceptions *exceptions, struct totals *totals)
{
	for (size_t i = 0; i < exceptions->list.count; i++) {
		const struct exception *exception = &exceptions->list.list[i];

		if (exception->used)
			continue;
		totals->unexplained++;
		fprintf(stderr, "selfcheck: exception without need: %s %s %s %s\n",
			exception->fields[0], exception->fields[1], exception->fields[2],
			exception->fields[3]);
	}
}

static struct error *report(const struct runner *runner, const struct arguments *arguments,
			    double seconds)
{
	_free_ char *path = xasprintf("%s/table", runner->check->folder);
	_fclose_ FILE *table = fopen(path, "w");
	struct exceptions exceptions = {};
	struct totals totals = {};

	if (!table)
		return error_errno("cannot write %s", path);
	TRY(exceptions_read(arguments->exceptions, &exceptions));
	for (size_t i = 0; i < runner->count; i++) {
		_free_ char *result = result_path(runner->check, runner->targets[i]);
		_free_ char *text = NULL;
		size_t length;

		TRY(file_read(result, &text, &length));
		take_results(text, &exceptions, &totals, table);
	}
	if (arguments->step == 1 && !arguments->part)
		check_used(&exceptions, &totals);
	printf("selfcheck: %zu units in %.0f s\n", runner->count, seconds);
	printf("  lines shifted in front of %zu functions: nothing to do in %zu of %zu units\n",
	       totals.functions, totals.shift_units, totals.shift);
	printf("  one token changed: exactly the expected functions in %zu of %zu units\n",
	       totals.token_units, totals.token);
	printf("  of these, rightly refused, without a patchable entry or also inlined in init "
	       "code: %zu; no code to change outside init: %zu more units\n",
	       totals.refused, totals.no_code);
	printf("  functions that hold a copy of which DWARF says nothing, but gcc does: %zu\n",
	       totals.inlined);
	printf("  functions that are new or gone as those that call them differ, or call such: %zu\n",
	       totals.follows);
	printf("  further functions that differ by inter-procedural optimisation: %zu\n",
	       totals.ipa);
	printf("  exceptions: %zu explained, %zu not\n", totals.explained, totals.unexplained);
	vec_deinit(&exceptions.list);
	free(exceptions.text);
	return totals.unexplained
		       ? error_new(STATUS_REFUSED, "%zu unexplained, above", totals.unexplained)
		       : NULL;
}

static struct error *read_inclusions(struct selfcheck *check)
{
	_free_ char *path = xasprintf("%s/.pokepatch/includes", check->build.tree);
	char *text; /* as long as this process */
	size_t length;

	TRY(file_read(path, &text, &length));
	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *fields[3];

		split_fields(line, fields, ARRAY_SIZE(fields));
		*vec_push(&check->inclusions) = (struct inclusion){fields[0], fields[1], fields[2]};
	}
	return NULL;
}

static struct error *prepare(struct selfcheck *check)
{
	_free_ char *symvers = NULL, *inventory = xasprintf("%s/inventory", check->folder);
	_free_ char *results = xasprintf("%s/results", check->folder);

	TRY(prepare_tree(&check->build));
	TRY(make_dirs(results));
	TRY(inventory_read(&check->build, inventory_central, inventory, &check->inventory));
	TRY(read_inclusions(check));
	symvers = xasprintf("%s/Module.symvers", check->build.files.kbuild);
	TRY(symvers_read(symvers, &check->symvers));
	return parent_open("vmlinux", check->build.files.vmlinux, &check->vmlinux);
}

static struct error *run(struct selfcheck *check, const struct arguments *arguments)
{
	struct runner runner = {.check = check};
	double start = now_seconds();
	struct error *error;

	TRY(prepare(check));
	runner.targets = xcalloc(check->inventory.list.count, sizeof(*runner.targets));
	runner.pids = xcalloc(check->inventory.list.count, sizeof(*runner.pids));
	for (size_t i = 0; i < check->inventory.list.count; i += arguments->step)
		if (!arguments->part ||
		    strstr(check->inventory.list.list[i].source, arguments->part))
			runner.targets[runner.count++] = &check->inventory.list.list[i];
	error = run_all(&runner);
	if (!error)
		error = report(&runner, arguments, now_seconds() - start);
	free(runner.targets);
	free(runner.pids);
	return error;
}

static int parse_arguments(int argc, char **argv, struct selfcheck *check,
			   struct build_options *options, struct arguments *ret)
{
	int option;

	while ((option = getopt(argc, argv, "k:w:j:e:s:o:g:r:")) != -1) {
		switch (option) {
		case 'k':
			options->kernel = optarg;
			break;
		case 'w':
			ret->folder = optarg;
			break;
		case 'j':
			options->jobs = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'e':
			ret->exceptions = optarg;
			break;
		case 's':
			ret->step = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'o':
			ret->part = optarg;
			break;
		case 'g':
			check->debug = optarg;
			break;
		case 'r':
			check->seed = strtoul(optarg, NULL, 10);
			break;
		default:
			return -1;
		}
	}
	return options->kernel && ret->folder && ret->step && optind == argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct selfcheck check = {.debug = "-g1"};
	struct arguments arguments = {.step = 1};
	struct build_options options = {.name = "selfcheck", .jobs = proc_jobs(), .quiet = true};
	struct error *error;
	int status = STATUS_DONE;

	if (parse_arguments(argc, argv, &check, &options, &arguments)) {
		fputs(usage, stderr);
		return STATUS_FAILED;
	}
	proc_catch_signals();
	check.folder = (char *)arguments.folder;
	error = build_init(&check.build, &options);
	if (!error)
		error = run(&check, &arguments);
	if (error) {
		fprintf(stderr, "selfcheck: %s\n", error->text);
		status = error->status;
		error_destroy(error);
	}
	symvers_deinit(&check.symvers);
	parent_close(check.vmlinux);
	inventory_deinit(&check.inventory);
	build_deinit(&check.build);
	return status;
}
