// SPDX-License-Identifier: GPL-2.0-or-later
/* Debian's suites beside those of the system's own package sources; see suites.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "pokepatch/suites.h"

/* ---- names ------------------------------------------------------------------ */

/*
 * What in the name of a kernel release tells for which Debian it was built, as the changelog of
 * Debian's linux package shows it.  The first row that matches counts.  With "+deb13" one name
 * scheme serves trixie, trixie-security and trixie-backports.
 */
static const struct {
	const char *part; /* "^": at the beginning */
	const char *base;
} release_marks[] = {
	{"+deb15", "duke"},     {"+deb14", "forky"},        {"+deb13", "trixie"},
	{"+deb12", "bookworm"}, {"+deb11", "bullseye"},     {"-0.deb12.", "bookworm"},
	{"-0.deb11.", "bullseye"}, /* backports of 5.18 to 6.1 */
	{"+bpo-", "bookworm"},	   /* backports of 6.4 to 6.12 */
	{"^6.1.0-", "bookworm"}, {"^5.10.0-", "bullseye"},
};

/* sid gave its kernels no mark before 6.12; experimental still gives none. */
static const char unmarked[] = "sid";

const char *suites_of_release(const char *release)
{
	for (size_t i = 0; i < ARRAY_SIZE(release_marks); i++) {
		const char *part = release_marks[i].part;

		if (part[0] == '^' ? has_prefix(release, part + 1) : strstr(release, part) != NULL)
			return release_marks[i].base;
	}
	return release[0] >= '6' && release[0] <= '9' ? unmarked : NULL;
}

/* Suites beside a base suite: BASE-updates, ... */
static const struct {
	const char *ending;
	bool security;
} beside[] = {
	{"-updates", false},
	{"-security", true},
	{"-backports", false},
};

/* Bases that have other suites beside them. */
static const struct other_suites {
	const char *base;
	const char *beside;  /* an optional suite that is searched too */
	int priority;	     /* of that suite's packages */
	bool alone;	     /* without -updates, -security and -backports */
} other_suites[] = {
	/* Until Debian releases them, their kernels are in sid. */
	{"forky", "sid", 100, false},
	{"duke", "sid", 100, false},
	{"testing", "sid", 100, false},
	{"sid", "experimental", 1, true},
};

/* Other names of a suite. */
static const struct {
	const char *name, *means, *base;
} aliases[] = {
	{"unstable", "sid", "sid"},
	{"experimental", "experimental", "sid"},
};

static const struct other_suites *find_other(const char *base)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_suites); i++) {
		if (!strcmp(other_suites[i].base, base))
			return &other_suites[i];
	}
	return NULL;
}

/* The base suite of a name; the caller frees it. */
static char *base_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		if (!strcmp(aliases[i].name, name))
			return xstrdup(aliases[i].base);
	}
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		if (has_suffix(name, beside[i].ending))
			return xstrndup(name, strlen(name) - strlen(beside[i].ending));
	}
	return xstrdup(name);
}

/* What the user calls NAME, if that is a name of its own. */
static const char *meaning_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		if (!strcmp(aliases[i].name, name))
			return aliases[i].means;
	}
	return name;
}

static struct suite *add_suite(struct suites *suites, char *name)
{
	struct suite *suite = vec_push(suites);

	suite->name = name;
	suite->optional = suites->count > 1;
	return suite;
}

/* Names of suites become parts of paths and of apt's configuration. */
static bool is_suite(const char *name)
{
	return islower((unsigned char)name[0]) &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-")] == '\0';
}

#define PRIORITY_PREFERRED 990 /* apt_preferences(5): more than any other source's */

struct error *suites_describe(const char *name, struct suites *ret)
{
	const struct other_suites *other;
	struct suites suites = {0};

	if (!is_suite(name))
		return error_new(STATUS_FAILED,
				 "'%s' is not a suite of Debian, such as trixie or trixie-backports",
				 name);
	suites.base = base_of(name);
	other = find_other(suites.base);
	add_suite(&suites, xstrdup(suites.base));
	for (size_t i = 0; i < ARRAY_SIZE(beside) && !(other && other->alone); i++)
		add_suite(&suites, xasprintf("%s%s", suites.base, beside[i].ending))->security =
			beside[i].security;
	if (other)
		add_suite(&suites, xstrdup(other->beside))->priority = other->priority;
	for (size_t i = 1; i < suites.count; i++) {
		struct suite *suite = &suites.list[i];

		if (strcmp(suite->name, meaning_of(name)) != 0)
			continue;
		suite->optional = false;
		suite->priority = PRIORITY_PREFERRED;
	}
	*ret = suites;
	return NULL;
}

void suites_deinit(struct suites *suites)
{
	for (size_t i = 0; i < suites->count; i++)
		free(suites->list[i].name);
	vec_deinit(suites);
	free(suites->base);
	suites->base = NULL;
}

/* ---- the system's sources --------------------------------------------------- */

/* One stanza of `apt-get indextargets`; deb822(5). */
struct target {
	char *uri, *origin, *label, *codename, *entry, *component;
};

static void target_deinit(struct target *target)
{
	free(target->uri);
	free(target->origin);
	free(target->label);
	free(target->codename);
	free(target->entry);
	free(target->component);
	*target = (struct target){0};
}

static void target_line(const char *line, struct target *target)
{
	const struct {
		const char *name;
		char **field;
	} fields[] = {
		{"Repo-URI: ", &target->uri},       {"Origin: ", &target->origin},
		{"Label: ", &target->label},        {"Codename: ", &target->codename},
		{"Sourcesentry: ", &target->entry}, {"Component: ", &target->component},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!has_prefix(line, fields[i].name))
			continue;
		line += strlen(fields[i].name);
		free(*fields[i].field);
		*fields[i].field = xstrndup(line, strcspn(line, "\n"));
		return;
	}
}

/* Is it a main component of Debian's own archive?  That needs its Release file. */
static bool is_debian(const struct target *target)
{
	return target->uri && target->origin && target->label && target->codename &&
	       target->component && !strcmp(target->component, "main") &&
	       (!strcmp(target->origin, "Debian") || !strcmp(target->origin, "Debian Backports"));
}

/* The lines of stanza number @wanted (from 1) of a .sources file; owned, NULL: it has none. */
static char *find_stanza(const char *text, long wanted)
{
	struct buffer stanza = {0};
	bool inside = false;
	long number = 0;

	for (size_t length; *text; text += length) {
		length = strcspn(text, "\n");
		length += text[length] == '\n';
		if (text[strspn(text, " \t")] == '\n') {
			inside = false;
		} else if (text[0] != '#') {
			number += !inside;
			inside = true;
			if (number == wanted)
				buffer_add(&stanza, text, length);
		}
	}
	return stanza.text;
}

/* Keep from a stanza the fields that say which keys apt trusts, with their further lines. */
static char *stanza_options(const char *stanza)
{
	static const char *const kept[] = {"Signed-By:", "Trusted:"};
	struct buffer text = {0};
	bool keep = false;

	buffer_add_string(&text, "");
	for (size_t length; stanza && *stanza; stanza += length) {
		length = strcspn(stanza, "\n");
		length += stanza[length] == '\n';
		if (!isspace((unsigned char)stanza[0])) {
			keep = false;
			for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
				keep |= !strncasecmp(stanza, kept[i], strlen(kept[i]));
		}
		if (keep)
			buffer_add(&text, stanza, length);
	}
	return text.text;
}

/* The same from "deb [signed-by=/FILE arch=amd64] URI SUITE main". */
static char *line_options(const char *line)
{
	static const struct {
		const char *option, *field;
	} kept[] = {{"signed-by=", "Signed-By"}, {"trusted=", "Trusted"}};
	const char *p = line + strcspn(line, "[\n");
	struct buffer text = {0};

	buffer_add_string(&text, "");
	for (p += *p == '['; *p && !strchr("]\n", *p); p += strcspn(p, " ]\n")) {
		p += strspn(p, " ");
		for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
			size_t skip = strlen(kept[i].option);

			if (!strncasecmp(p, kept[i].option, skip))
				buffer_printf(&text, "%s: %.*s\n", kept[i].field,
					      (int)(strcspn(p, " ]\n") - skip), p + skip);
		}
	}
	return text.text;
}

/*
 * The options of a source: @entry is "FILE:N", where N counts the stanzas of a .sources file and
 * the lines of a .list file.  Without any, apt uses the keys that it trusts for all sources.
 */
static char *entry_options(const char *entry)
{
	const char *colon = entry ? strrchr(entry, ':') : NULL;
	_free_ char *path = colon ? xstrndup(entry, colon - entry) : NULL;
	_free_ char *text = NULL;
	_free_ char *stanza = NULL;
	const char *line;
	long number;

	if (!path)
		return xstrdup("");
	error_destroy(file_read(path, &text, NULL));
	number = strtol(colon + 1, NULL, 10);
	if (!text)
		return xstrdup("");
	if (has_suffix(path, ".sources")) {
		stanza = find_stanza(text, number);
		return stanza_options(stanza);
	}
	for (line = text; line && --number > 0;) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return line ? line_options(line) : xstrdup("");
}

static void take_source(const struct target *target, struct debian_sources *sources,
			struct args *codenames)
{
	bool security = !strcmp(target->label, "Debian-Security");
	struct debian_source *to = security ? &sources->security : &sources->main;

	args_add(codenames, target->codename);
	if (to->uri)
		return;
	to->uri = xstrdup(target->uri);
	to->options = entry_options(target->entry);
}

void debian_sources_parse(const char *text, struct debian_sources *ret)
{
	struct target target = {0};
	struct args codenames = {0};

	*ret = (struct debian_sources){0};
	for (const char *line = text; line && *line; line += *line == '\n') {
		for (; *line && *line != '\n'; line += strcspn(line, "\n"), line += *line == '\n')
			target_line(line, &target);
		if (is_debian(&target))
			take_source(&target, ret, &codenames);
		target_deinit(&target);
	}
	ret->codenames = codenames.list;
}

void debian_sources_deinit(struct debian_sources *sources)
{
	free(sources->main.uri);
	free(sources->main.options);
	free(sources->security.uri);
	free(sources->security.options);
	strings_free(sources->codenames);
	*sources = (struct debian_sources){0};
}

bool debian_sources_have(const struct debian_sources *sources, const char *suite)
{
	for (char **name = sources->codenames; name && *name; name++) {
		if (!strcmp(*name, suite))
			return true;
	}
	return false;
}

/* ---- apt's files ------------------------------------------------------------ */

static bool is_listed(char *const *list, const char *name)
{
	for (; list && *list; list++) {
		if (!strcmp(*list, name))
			return true;
	}
	return false;
}

char *suites_sources(const struct suites *suites, const struct debian_sources *sources,
		     char *const *absent)
{
	struct buffer text = {0};

	buffer_add_string(&text, "");
	for (size_t i = 0; i < suites->count; i++) {
		const struct suite *suite = &suites->list[i];
		const struct debian_source *from = suite->security && sources->security.uri
							   ? &sources->security
							   : &sources->main;

		if (is_listed(absent, suite->name))
			continue;
		buffer_printf(&text, "Types: %s\nURIs: %s\nSuites: %s\nComponents: main\n%s\n",
			      suites->source ? "deb-src" : "deb", from->uri, suite->name, from->options);
	}
	return text.text;
}

char *suites_preferences(const struct suites *suites)
{
	struct buffer text = {0};

	buffer_add_string(&text, "");
	for (size_t i = 0; i < suites->count; i++) {
		const struct suite *suite = &suites->list[i];

		/* A suite's name here can be its codename or its suite ("experimental"). */
		if (suite->priority)
			buffer_printf(&text,
				      "Package: *\nPin: release n=%s\nPin-Priority: %d\n\n"
				      "Package: *\nPin: release a=%s\nPin-Priority: %d\n\n",
				      suite->name, suite->priority, suite->name, suite->priority);
	}
	return text.text;
}

/* What apt says of a suite that the mirror lacks; of one that it cannot ask, it says others. */
static const char *const absent_marks[] = {
	"does not have a Release file",
	"404  Not Found",
	"No such file or directory",
};

static bool says_absent(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(absent_marks); i++) {
		if (strstr(line, absent_marks[i]))
			return true;
	}
	return false;
}

/*
 * The lines are "E: The repository 'URI SUITE Release' does not have a Release file.", and for
 * sources that are trusted without a signature "E: Failed to fetch URI/dists/SUITE/...  404 ...".
 */
static bool is_absent(const char *suite, const char *output)
{
	_free_ char *repository = xasprintf(" %s Release' ", suite);
	_free_ char *folder = xasprintf("/dists/%s/", suite);

	for (const char *p = output; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		_free_ char *line = xstrndup(p, strcspn(p, "\n"));

		if (has_prefix(line, "E: ") && says_absent(line) &&
		    (strstr(line, repository) || strstr(line, folder)))
			return true;
	}
	return false;
}

char **suites_absent(const struct suites *suites, const char *output)
{
	struct args absent = {0};

	for (size_t i = 0; output && i < suites->count; i++) {
		const struct suite *suite = &suites->list[i];

		if (!is_absent(suite->name, output))
			continue;
		if (!suite->optional) {
			args_deinit(&absent);
			break;
		}
		args_add(&absent, suite->name);
	}
	return absent.list ?: xcalloc(1, sizeof(*absent.list));
}

char *suites_names(const struct suites *suites)
{
	struct buffer text = {0};

	for (size_t i = 0; i < suites->count; i++)
		buffer_printf(&text, "%s%s",
			      !i			       ? ""
			      : i + 1 < suites->count ? ", "
							       : " and ",
			      suites->list[i].name);
	return text.text;
}
