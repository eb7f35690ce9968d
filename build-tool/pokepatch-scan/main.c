// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch-scan: tells which kernels of the cache have a fix; see pokepatch-scan(1). */
#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch-scan/catalogue.h"
#include "pokepatch-scan/scan.h"
#include "common/cache.h"
#include "common/proc.h"
#include "common/version.h"

static const char usage[] =
	"Usage: pokepatch-scan [-k RELEASE]... CVE|COMMIT|ENTRY|DIFF\n"
	"Tell which kernels of the cache have a fix, and which are affected.\n"
	"\n"
	"  -k, --kernel RELEASE   look at this kernel, and not at all in the cache\n"
	"  -h, --help             show this text\n"
	"      --version          show the version\n"
	"\n"
	"A CVE, a COMMIT and an ENTRY are looked for in the catalogue of pokepatch; a DIFF is a\n"
	"file, with a slash in its path.\n"
	"\n"
	"Exit status: 0 a kernel is affected, 1 usage or environment, 3 none is.\n";

enum { OPTION_VERSION = 256 };

static const struct option long_options[] = {
	{"kernel", required_argument, NULL, 'k'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

/* Returns -1 to go on, or an exit status. */
static int parse_arguments(int argc, char **argv, struct args *ret_kernels)
{
	int option;

	while ((option = getopt_long(argc, argv, "k:h", long_options, NULL)) != -1) {
		switch (option) {
		case 'k':
			args_add(ret_kernels, optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			return STATUS_DONE;
		case OPTION_VERSION:
			printf("pokepatch-scan %s\n", POKEPATCH_VERSION);
			return STATUS_DONE;
		default:
			fprintf(stderr, "Try 'pokepatch-scan --help'.\n");
			return STATUS_FAILED;
		}
	}
	if (argc - optind != 1) {
		fprintf(stderr, "pokepatch-scan: give one CVE, commit, entry or diff; try "
				"'pokepatch-scan --help'\n");
		return STATUS_FAILED;
	}
	return -1;
}

static int compare_releases(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Has the cache all of a kernel that a build needs? */
static bool is_complete(const char *release)
{
	struct kernel_files files;
	struct error *error = kernel_files_find(release, &files);
	bool complete = !error && files.source && files.vmlinux && files.kbuild && files.config;

	error_destroy(error);
	kernel_files_deinit(&files);
	return complete;
}

/* All complete kernels of the cache, sorted by version. */
static struct error *list_kernels(struct args *ret)
{
	_free_ char *root = NULL, *path = NULL;
	DIR *list;

	TRY(cache_root(&root));
	path = xasprintf("%s/kernels", root);
	list = opendir(path);
	for (struct dirent *entry; list && (entry = readdir(list));)
		if (entry->d_name[0] != '.' && !has_suffix(entry->d_name, ".lock") &&
		    is_complete(entry->d_name))
			args_add(ret, entry->d_name);
	if (list)
		closedir(list);
	if (!ret->count)
		return error_new(STATUS_FAILED,
				 "no kernel in %s; get one with: pokepatch fetch RELEASE", path);
	qsort(ret->list, ret->count, sizeof(*ret->list), compare_releases);
	return NULL;
}

/* Are the kernels that the user names there? */
static struct error *check_kernels(const struct args *kernels)
{
	for (size_t i = 0; i < kernels->count; i++)
		if (!is_complete(kernels->list[i]))
			return error_new(STATUS_FAILED,
					 "kernel %s is not in the cache; get it with: pokepatch "
					 "fetch %s",
					 kernels->list[i], kernels->list[i]);
	return NULL;
}

/* A line for each kernel; counts those that are affected. */
static struct error *scan_all(const char *diff, const struct args *kernels, size_t *affected)
{
	const char *name = strrchr(diff, '/') ? strrchr(diff, '/') + 1 : diff;

	printf("%s\n", name);
	for (size_t i = 0; i < kernels->count; i++) {
		struct scan_result result;
		struct error *error = scan_kernel(kernels->list[i], diff, &result);

		if (!error) {
			*affected += result.state == SCAN_AFFECTED;
			printf("  %-36s %-9s  %s\n", kernels->list[i], scan_state_name(result.state),
			       result.why ?: result.parents);
			fflush(stdout);
		}
		scan_result_deinit(&result);
		TRY(error);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct args kernels = {}, diffs = {};
	int status = parse_arguments(argc, argv, &kernels);
	struct error *error = NULL;
	size_t affected = 0;

	if (status < 0) {
		proc_catch_signals();
		proc_catch_broken_pipes();
		error = catalogue_find(argv[optind], &diffs);
		if (!error)
			error = kernels.count ? check_kernels(&kernels) : list_kernels(&kernels);
		for (size_t i = 0; !error && i < diffs.count; i++)
			error = scan_all(diffs.list[i], &kernels, &affected);
		status = affected ? STATUS_DONE : STATUS_NOTHING;
	}
	if (fflush(stdout) != 0 && !error)
		error = error_errno("cannot write to standard output");
	if (error) {
		fprintf(stderr, "pokepatch-scan: %s\n", error->text);
		status = STATUS_FAILED;
		error_destroy(error);
	}
	args_deinit(&kernels);
	args_deinit(&diffs);
	return status;
}
