// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of suites.c: the suites of Debian that belong to a kernel, and the sources for apt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/args.h"
#include "folder.h"
#include "pokepatch/suites.h"

static void test_releases(void **state)
{
	static const struct {
		const char *release, *base;
	} rows[] = {
		{"6.1.0-56-cloud-amd64", "bookworm"},  {"5.10.0-30-amd64", "bullseye"},
		{"6.12.117+deb12-amd64", "bookworm"},  {"6.12.117+deb13-rt-amd64", "trixie"},
		{"6.12.115+deb13.1-amd64", "trixie"},  {"7.3.4+deb13-cloud-arm64", "trixie"},
		{"7.2.13+deb14-arm64-16k", "forky"},   {"6.12.12+bpo-amd64", "bookworm"},
		{"6.1.0-0.deb11.22-amd64", "bullseye"}, {"7.3-cloud-amd64", "sid"},
		{"1.2.3-4-tiny", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *base = suites_of_release(rows[i].release);

		if (rows[i].base ? !base || strcmp(base, rows[i].base) : base != NULL)
			fail_msg("%s: %s", rows[i].release, base ? base : "none");
	}
}

static void test_describe(void **state)
{
	struct suites suites;
	_free_ char *names = NULL;

	(void)state;
	assert_no_error(suites_describe("trixie-backports", &suites));
	assert_string_equal(suites.base, "trixie");
	names = suites_names(&suites);
	assert_string_equal(names,
			    "trixie, trixie-updates, trixie-security and trixie-backports");
	assert_false(suites.list[0].optional);
	assert_true(suites.list[1].optional);
	assert_true(suites.list[2].security);
	assert_false(suites.list[3].optional);
	assert_int_equal(suites.list[3].priority, 990);
	suites_deinit(&suites);
	assert_no_error(suites_describe("experimental", &suites));
	assert_string_equal(suites.base, "sid");
	assert_int_equal(suites.count, 2);
	assert_int_equal(suites.list[1].priority, 990);
	suites_deinit(&suites);
	assert_no_error(suites_describe("unstable", &suites));
	assert_string_equal(suites.list[0].name, "sid");
	assert_int_equal(suites.list[1].priority, 1);
	suites_deinit(&suites);
	assert_error(suites_describe("a b", &suites), STATUS_FAILED, "not a suite");
}

/* Debian's own main component alone counts, and each source keeps its keys. */
static void test_sources(void **state)
{
	static const char sources[] = "# comment\n"
				      "\n"
				      "Types: deb\n"
				      "URIs: http://example.org/other\n"
				      "\n"
				      " \n"
				      "Types: deb\n"
				      "Signed-By:\n"
				      " -----BEGIN\n"
				      " .\n"
				      " abc\n"
				      "Suites: bookworm\n";
	static const char list[] = "deb http://example.org x main\n"
				   "deb [arch=amd64 signed-by=/k.gpg] http://example.org/s y main\n";
	static const char format[] = "Repo-URI: http://docker.example/\n"
				     "Origin: Docker\nLabel: Docker\nCodename: bookworm\n"
				     "Component: main\n"
				     "\n"
				     "Repo-URI: http://example.org/debian/\n"
				     "Origin: Debian\nLabel: Debian\nCodename: bookworm\n"
				     "Component: contrib\n"
				     "\n"
				     "Repo-URI: http://example.org/debian/\n"
				     "Origin: Debian\nLabel: Debian\nCodename: bookworm\n"
				     "Component: main\nSourcesentry: %s/d.sources:2\n"
				     "\n"
				     "Repo-URI: http://example.org/security/\n"
				     "Origin: Debian\nLabel: Debian-Security\n"
				     "Codename: bookworm-security\n"
				     "Component: main\nSourcesentry: %s/s.list:2\n";
	_free_ char *path = xasprintf("%s/d.sources", folder), *other = xasprintf("%s/s.list", folder);
	_free_ char *text = xasprintf(format, folder, folder);
	_free_ char *made = NULL;
	char *absent[] = {"trixie-updates", NULL};
	struct debian_sources found;
	struct suites suites;

	(void)state;
	assert_no_error(file_write(path, sources, strlen(sources)));
	assert_no_error(file_write(other, list, strlen(list)));
	debian_sources_parse(text, &found);
	assert_string_equal(found.main.uri, "http://example.org/debian/");
	assert_string_equal(found.main.options, "Signed-By:\n -----BEGIN\n .\n abc\n");
	assert_string_equal(found.security.uri, "http://example.org/security/");
	assert_string_equal(found.security.options, "Signed-By: /k.gpg\n");
	assert_true(debian_sources_have(&found, "bookworm"));
	assert_false(debian_sources_have(&found, "trixie"));
	assert_no_error(suites_describe("trixie", &suites));
	made = suites_sources(&suites, &found, absent);
	assert_non_null(strstr(made, "URIs: http://example.org/security/\nSuites: trixie-security\n"
				     "Components: main\nSigned-By: /k.gpg\n"));
	assert_non_null(strstr(made, "URIs: http://example.org/debian/\nSuites: trixie-backports\n"));
	assert_null(strstr(made, "trixie-updates"));
	suites_deinit(&suites);
	debian_sources_deinit(&found);
	debian_sources_parse("", &found);
	assert_null(found.main.uri);
	assert_false(debian_sources_have(&found, "bookworm"));
	debian_sources_deinit(&found);
}

static void test_absent(void **state)
{
	static const char output[] =
		"Err:1 http://example.org trixie-updates InRelease\n"
		"  404  Not Found\n"
		"W: Failed to fetch http://example.org/dists/trixie-security/InRelease  404\n"
		"E: Failed to fetch http://example.org/dists/trixie-security/InRelease  Could not "
		"connect\n"
		"E: The repository 'http://example.org trixie-backports Release' does not have a "
		"Release file.\n";
	struct suites suites;
	char **absent;

	(void)state;
	assert_no_error(suites_describe("trixie", &suites));
	absent = suites_absent(&suites, output);
	assert_string_equal(absent[0], "trixie-backports");
	assert_null(absent[1]);
	strings_free(absent);
	suites_deinit(&suites);
	/* A suite that the user asked for is not left out. */
	assert_no_error(suites_describe("trixie-backports", &suites));
	absent = suites_absent(&suites, output);
	assert_null(absent[0]);
	strings_free(absent);
	suites_deinit(&suites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_releases),
		cmocka_unit_test(test_describe),
		cmocka_unit_test_setup_teardown(test_sources, setup, teardown),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
