// SPDX-License-Identifier: GPL-2.0-or-later
/* What a cumulative patch says of itself; see about.h. */
#include "pokepatch-build/about.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pokepatch-build/build.h"
#include "pokepatch-build/series.h"

size_t cve_length(const char *text)
{
	const char *p = text + strlen("CVE-");
	size_t digits;

	if (strncasecmp(text, "CVE-", strlen("CVE-")) || strspn(p, "0123456789") != 4 ||
	    p[4] != '-')
		return 0;
	digits = strspn(p + 5, "0123456789");
	return digits >= 4 ? strlen("CVE-") + 5 + digits : 0;
}

struct error *about_parse_cves(const char *option, const char *list, struct args *ret)
{
	for (const char *p = list; *p; p += *p == ',') {
		const size_t length = cve_length(p);

		if (!length || (p[length] && p[length] != ','))
			return error_new(STATUS_FAILED,
					 "%s: '%s' is not a CVE number, such as CVE-2026-1234",
					 option, p);
		char *number = xstrndup(p, length);
		for (char *c = number; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		args_add(ret, number);
		free(number);
		p += length;
	}
	return NULL;
}

struct error *about_check_date(const char *text)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year, month, day, end = 0;

	if (strlen(text) == strlen("2027-05-01") &&
	    sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3 && !text[end] &&
	    strspn(text, "0123456789-") == strlen(text) && year > 0 && month >= 1 && month <= 12 &&
	    day >= 1) {
		const bool leap = (year % 4 == 0 && year % 100) || year % 400 == 0;

		if (day <= days[month - 1] + (leap && month == 2))
			return NULL;
	}
	return error_new(STATUS_FAILED, "--until %s: not a day, such as 2027-05-01", text);
}

/* Collects numbers, each once. */
struct numbers {
	struct args *list;
	struct map seen;
	size_t begin; /* those of @list from here on are ours */
};

static void numbers_add(struct numbers *numbers, const char *number)
{
	if (map_has(&numbers->seen, number))
		return;
	map_slot(&numbers->seen, number);
	args_add(numbers->list, number);
}

static void numbers_add_commits(struct numbers *numbers, const struct build *build, bool left_out)
{
	for (size_t i = 0; i < build->nr_patches; i++) {
		const struct commit *commit = build->patches[i].commit;

		if (!commit || commit->left_out != left_out)
			continue;
		for (size_t j = 0; j < commit->cves.count; j++)
			numbers_add(numbers, commit->cves.list[j]);
	}
}

static void numbers_end(struct numbers *numbers)
{
	const size_t count = numbers->list->count - numbers->begin;

	if (count)
		qsort(numbers->list->list + numbers->begin, count, sizeof(char *), order_strings);
	map_deinit(&numbers->seen);
}

void about_cves(const struct build *build, struct args *ret)
{
	struct numbers numbers = {.list = ret, .begin = ret->count};
	struct args unfixed = {0};

	/* What a commit that is left out names is fixed in part at most. */
	about_unfixed(build, &unfixed);
	for (size_t i = 0; i < unfixed.count; i++)
		map_slot(&numbers.seen, unfixed.list[i]);
	for (size_t i = 0; i < build->options.cves.count; i++)
		numbers_add(&numbers, build->options.cves.list[i]);
	numbers_add_commits(&numbers, build, false);
	numbers_end(&numbers);
	args_deinit(&unfixed);
}

void about_unfixed(const struct build *build, struct args *ret)
{
	struct numbers numbers = {.list = ret, .begin = ret->count};

	/* The author's word, by --cve, counts more than what commits name. */
	for (size_t i = 0; i < build->options.cves.count; i++)
		map_slot(&numbers.seen, build->options.cves.list[i]);
	for (size_t i = 0; i < build->options.unfixed.count; i++)
		numbers_add(&numbers, build->options.unfixed.list[i]);
	numbers_add_commits(&numbers, build, true);
	numbers_end(&numbers);
}

/* Add a line with a list, unless that is empty. */
static void add_list(struct args *ret, const char *key, struct args *list)
{
	_free_ char *joined = args_join(list, ",");

	if (list->count)
		args_addf(ret, "%s=%s", key, joined);
	args_deinit(list);
}

void about_lines(const struct build *build, struct args *ret)
{
	struct args cves = {0}, unfixed = {0};

	if (!build->options.level)
		return;
	about_cves(build, &cves);
	about_unfixed(build, &unfixed);
	args_addf(ret, "pokepatch_level=%u", build->options.level);
	if (build->options.least_level)
		args_addf(ret, "pokepatch_revokes_below=%u", build->options.least_level);
	if (build->options.until)
		args_addf(ret, "pokepatch_until=%s", build->options.until);
	add_list(ret, "pokepatch_cve", &cves);
	add_list(ret, "pokepatch_unfixed", &unfixed);
}
