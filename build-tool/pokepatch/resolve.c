// SPDX-License-Identifier: GPL-2.0-or-later
/* Which packages to fetch, and from which package sources; see resolve.h. */
#include <stdlib.h>

#include "common/proc.h"
#include "pokepatch/featureset.h"
#include "pokepatch/kernel_packages.h"
#include "pokepatch/progress.h"
#include "pokepatch/resolve.h"

static void close_apt(struct resolve *resolve)
{
	if (resolve->apt_open)
		apt_close(&resolve->apt);
	apt_suites_deinit(&resolve->suites);
	resolve->apt_open = false;
}

void resolve_deinit(struct resolve *resolve)
{
	close_apt(resolve);
	apt_packages_deinit(&resolve->packages);
	buffer_deinit(&resolve->releases);
	given_packages_deinit(&resolve->given);
	free(resolve->release);
}

static struct error *ask_apt(struct resolve *resolve)
{
	char *release;

	if (resolve->list)
		return kernel_list(&resolve->apt, resolve->list, &resolve->releases);
	if (!resolve->flavour)
		return kernel_resolve(&resolve->apt, resolve->release, &resolve->packages);
	TRY(kernel_resolve_latest(&resolve->apt, resolve->flavour, &release, &resolve->packages));
	free(resolve->release);
	resolve->release = release;
	return NULL;
}

/*
 * Ask apt for the packages of the release.  Update old lists first, and newer ones if they lack a
 * package.  If the update fails and a package is missing, report the failed update, which is the
 * cause.
 */
static struct error *search(struct resolve *resolve, struct error *no_update)
{
	struct error *error;

	if (!resolve->apt.updated && apt_is_stale(&resolve->apt))
		no_update = apt_update(&resolve->apt);
	error = proc_interrupted() ? proc_check_interrupted() : ask_apt(resolve);
	if (error && !resolve->apt.updated && !proc_interrupted()) {
		no_update = apt_update(&resolve->apt);
		if (!no_update) {
			error_destroy(error);
			error = ask_apt(resolve);
		}
	}
	if (error && no_update) {
		error_destroy(error);
		error = no_update;
		no_update = NULL;
	} else if (no_update) {
		progress_note("%s; using the lists of an earlier day", no_update->text);
	}
	error_destroy(no_update);
	return error;
}

static struct error *open_apt(struct resolve *resolve, const struct apt_suites *suites)
{
	const char *name = resolve->list ?: resolve->flavour ?: resolve->release;

	TRY(apt_open(kernel_arch(name), suites, &resolve->apt));
	resolve->apt_open = true;
	resolve->apt.given = &resolve->given.packages;
	return NULL;
}

/* Search other suites, on the mirror of the system's sources. */
static struct error *search_suites(struct resolve *resolve, const char *suite,
				   struct debian_sources *sources)
{
	struct suites suites;

	TRY(suites_describe(suite, &suites));
	close_apt(resolve);
	resolve->suites = (struct apt_suites){.suites = suites, .sources = *sources};
	*sources = (struct debian_sources){0};
	TRY(open_apt(resolve, &resolve->suites));
	return search(resolve, NULL);
}

/* Do the system's sources come first?  Without a mirror of Debian there are no others. */
static bool system_is_first(const struct resolve *resolve, const struct debian_sources *sources,
			    const char *suite)
{
	return !resolve->suite && (!sources->main.uri || debian_sources_have(sources, suite));
}

static struct error *search_all(struct resolve *resolve, const char *suite,
				struct error *no_update)
{
	struct debian_sources sources;
	struct error *error = apt_sources(&resolve->apt, &sources);
	bool others;

	if (error) {
		error_destroy(no_update);
		return error;
	}
	if (system_is_first(resolve, &sources, suite)) {
		error = search(resolve, no_update);
		others = error && sources.main.uri;
	} else {
		if (no_update)
			progress_note("%s", no_update->text);
		error_destroy(no_update);
		others = true;
	}
	if (others && !proc_interrupted()) {
		error_destroy(error);
		error = search_suites(resolve, suite, &sources);
	}
	debian_sources_deinit(&sources);
	return error;
}

static struct error *find(struct resolve *resolve)
{
	const char *suite = resolve->suite;
	struct error *no_update = NULL;

	if (!suite && resolve->release)
		suite = suites_of_release(resolve->release);
	TRY(open_apt(resolve, NULL));
	if (!suite)
		return search(resolve, NULL);
	/* apt knows which sources are Debian's once it has their lists. */
	if (apt_is_stale(&resolve->apt))
		no_update = apt_update(&resolve->apt);
	if (!proc_interrupted())
		return search_all(resolve, suite, no_update);
	error_destroy(no_update);
	return proc_check_interrupted();
}

/* Without the patches of its featureset most functions of a kernel can still be patched. */
static void add_featureset(struct resolve *resolve)
{
	struct error *error;

	if (resolve->list || !featureset_of(resolve->release))
		return;
	error = featureset_resolve(&resolve->apt, resolve->release,
				   resolve->suite ?: suites_of_release(resolve->release),
				   &resolve->packages);
	if (error && !proc_interrupted())
		featureset_note_missing(resolve->release, error);
	error_destroy(error);
}

struct error *resolve_packages(struct resolve *resolve)
{
	struct error *error = find(resolve);

	apt_unlock(&resolve->apt);
	if (!error)
		add_featureset(resolve);
	if (!error)
		error = given_packages_check(&resolve->given, resolve->release, &resolve->packages);
	resolve->done = !error;
	return error;
}
