// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch-diff: runs the differ on one pair of objects; see pokepatch-diff(1). */
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diff/diff.h"
#include "diff/diff_report.h"
#include "object/object.h"
#include "common/version.h"

static const char usage[] =
	"Usage: pokepatch-diff [options] -o OUT.o ORIG.o PATCHED.o\n"
	"Compare two builds of a unit, compiled with -ffunction-sections -fdata-sections\n"
	"and without objtool, and write an object with what a patch must include.\n"
	"\n"
	"  -o, --output FILE            the object to write\n"
	"      --allow CODE[:SUBJECT]   leave out changes refused with this code\n"
	"      --report FILE            write a report in JSON; - is standard output\n"
	"      --symtab FILE            the vmlinux or module that the unit is part of\n"
	"      --symvers FILE           Module.symvers of that kernel\n"
	"  -h, --help                   show this text\n"
	"      --version                show the version\n"
	"\n"
	"Exit status: 0 done, 1 usage or environment, 2 refused, 3 nothing differs.\n";

struct arguments {
	const char *out, *report, *symtab, *symvers, *orig, *patched;
	VEC(const char *) allow;
};

enum { OPTION_ALLOW = 256, OPTION_REPORT, OPTION_SYMTAB, OPTION_SYMVERS, OPTION_VERSION };

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"allow", required_argument, NULL, OPTION_ALLOW},
	{"report", required_argument, NULL, OPTION_REPORT},
	{"symtab", required_argument, NULL, OPTION_SYMTAB},
	{"symvers", required_argument, NULL, OPTION_SYMVERS},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

/* Returns -1 to go on, or an exit status. */
static int parse_arguments(int argc, char **argv, struct arguments *ret)
{
	int option;

	while ((option = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1) {
		switch (option) {
		case 'o':
			ret->out = optarg;
			break;
		case OPTION_ALLOW:
			*vec_push(&ret->allow) = optarg;
			break;
		case OPTION_REPORT:
			ret->report = optarg;
			break;
		case OPTION_SYMTAB:
			ret->symtab = optarg;
			break;
		case OPTION_SYMVERS:
			ret->symvers = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return STATUS_DONE;
		case OPTION_VERSION:
			puts("pokepatch-diff " POKEPATCH_VERSION);
			return STATUS_DONE;
		default:
			fputs("try 'pokepatch-diff --help'\n", stderr);
			return STATUS_FAILED;
		}
	}
	if (argc - optind != 2 || !ret->out) {
		fputs("pokepatch-diff: give -o OUT.o, the original object and the patched object; "
		      "try 'pokepatch-diff --help'\n",
		      stderr);
		return STATUS_FAILED;
	}
	ret->orig = argv[optind];
	ret->patched = argv[optind + 1];
	return -1;
}

struct tables {
	struct parent *parent, *vmlinux;
	struct symvers symvers;
	struct externals externals;
};

/* A file whose name ends in ".ko" is a module, any other file a vmlinux. */
static struct error *read_tables(const struct arguments *arguments, struct tables *ret)
{
	if (arguments->symvers)
		TRY(symvers_read(arguments->symvers, &ret->symvers));
	if (!arguments->symtab)
		return NULL;
	if (!has_suffix(arguments->symtab, ".ko")) {
		TRY(parent_open("vmlinux", arguments->symtab, &ret->vmlinux));
		ret->parent = ret->vmlinux;
		return NULL;
	}

	const char *slash = strrchr(arguments->symtab, '/');
	char *name _free_ = underscored(slash ? slash + 1 : arguments->symtab);
	name[strlen(name) - strlen(".ko")] = '\0';
	return parent_open(name, arguments->symtab, &ret->parent);
}

static struct json_object *make_report(const struct diff_result *result,
				       const struct refusals *refusals, const struct tables *tables)
{
	struct json_object *report = json_object_new_object();
	struct json_object *functions = json_object_new_array(), *data = json_object_new_array();
	struct json_object *symbols = json_object_new_array(), *callbacks = json_object_new_array();
	struct json_object *types = json_object_new_array();
	struct report_seen seen = {0};
	const char *parent = tables->parent ? tables->parent->name : NULL;

	json_object_object_add(report, "version", json_object_new_int(1));
	report_functions(functions, result, parent, NULL);
	report_data(data, result, parent);
	report_callbacks(callbacks, result, parent);
	report_types(types, &seen, result);
	report_seen_deinit(&seen);
	for (size_t i = 0; i < tables->externals.list.count; i++) {
		const struct external *external = tables->externals.list.list[i];
		struct json_object *item = json_object_new_object();

		json_object_object_add(item, "name", json_object_new_string(external->name));
		json_object_object_add(item, "parent",
				       json_object_new_string(external->parent->name));
		json_object_object_add(item, "link_name",
				       json_object_new_string(external->link_name));
		json_object_object_add(item, "position",
				       json_object_new_int64(parent_position(
					       external->parent, external->symbol)));
		json_object_array_add(symbols, item);
	}
	json_object_object_add(report, "functions", functions);
	json_object_object_add(report, "data", data);
	json_object_object_add(report, "callbacks", callbacks);
	json_object_object_add(report, "types", types);
	json_object_object_add(report, "symbols", symbols);
	json_object_object_add(report, "refusals", report_refusals(refusals));
	return report;
}

/*
 * For a pair of big objects, the differ needs a heap of hundreds of megabytes and accesses it in no
 * order.  With pages of 4 KiB, address translation and page faults take a third of the time.  So
 * make the heap for such a pair in one piece, of huge pages if the kernel has them.  All of this is
 * advice: if a step fails, the heap grows as usual.
 */
static void expect_objects(const char *orig, const char *patched)
{
	enum { BIG = 8 << 20, HEAP_OF_INPUT = 4, HUGE_PAGE = 2 << 20 };
	struct stat of_orig, of_patched;

	if (stat(orig, &of_orig) || stat(patched, &of_patched))
		return;
	off_t input = of_orig.st_size + of_patched.st_size;
	if (input < BIG || input > INT_MAX / HEAP_OF_INPUT)
		return;

	uintptr_t start = ((uintptr_t)sbrk(0) | (HUGE_PAGE - 1)) + 1;
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, (int)input * HEAP_OF_INPUT);
	free(xmalloc(1 << 20));
	mallopt(M_TOP_PAD, HUGE_PAGE);
	uintptr_t end = (uintptr_t)sbrk(0);
	if (start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

static struct error *run(const struct arguments *arguments, struct tables *tables,
			 struct refusals *refusals, struct diff_result *result)
{
	for (size_t i = 0; i < arguments->allow.count; i++)
		TRY(error_prefix(refusals_allow(refusals, arguments->allow.list[i]),
				 "--allow %s", arguments->allow.list[i]));
	TRY(read_tables(arguments, tables));
	struct diff_options options = {
		.withdraws = true,
		.orig = arguments->orig,
		.patched = arguments->patched,
		.out = arguments->out,
		.parent = tables->parent,
		.vmlinux = tables->vmlinux,
		.symvers = arguments->symvers ? &tables->symvers : NULL,
		.externals = &tables->externals,
	};
	TRY(diff_run(&options, refusals, result));
	refusals_disallow(refusals, 0, "--allow");
	refusals_sort(refusals);
	if (!arguments->report)
		return NULL;
	struct json_object *report = make_report(result, refusals, tables);
	struct error *error = report_save(report, arguments->report);
	json_object_put(report);
	return error;
}

static int finish(const struct arguments *arguments, struct error *error,
		  const struct refusals *refusals, const struct diff_result *result)
{
	if (error) {
		fprintf(stderr, "pokepatch-diff: %s\n", error->text);
		return error->status;
	}
	refusals_print(refusals, stderr);
	if (refusals_fatal(refusals))
		return STATUS_REFUSED;
	if (!result->has_output) {
		fprintf(stderr, "pokepatch-diff: %s and %s do not differ\n", arguments->orig,
			arguments->patched);
		return STATUS_NOTHING;
	}
	if (!arguments->symtab)
		fputs("pokepatch-diff: no --symtab: symbols stay undefined and have no positions\n",
		      stderr);
	return STATUS_DONE;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {0};
	struct tables tables = {0};
	struct refusals refusals = {0};
	struct diff_result result = {0};

	int status = parse_arguments(argc, argv, &arguments);
	if (status >= 0)
		return status;
	expect_objects(arguments.orig, arguments.patched);
	struct error *error = run(&arguments, &tables, &refusals, &result);
	status = finish(&arguments, error, &refusals, &result);

	vec_deinit(&arguments.allow);
	error_destroy(error);
	diff_result_deinit(&result);
	refusals_deinit(&refusals);
	externals_deinit(&tables.externals);
	symvers_deinit(&tables.symvers);
	parent_close(tables.parent);
	if (tables.vmlinux != tables.parent)
		parent_close(tables.vmlinux);
	return status;
}
