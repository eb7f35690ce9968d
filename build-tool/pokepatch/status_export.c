// SPDX-License-Identifier: GPL-2.0-or-later
/* The status of a machine for monitoring and scanners; see status_export.h. */
#include "pokepatch/status_export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/version.h"
#include "pokepatch/table.h"

/* A member of an object, or NULL. */
static json_object *member(json_object *object, const char *key)
{
	json_object *value = NULL;

	if (object)
		json_object_object_get_ex(object, key, &value);
	return value;
}

static size_t count_of(json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

static bool is_on(json_object *patch)
{
	const char *state = patch ? json_text(patch, "state") : NULL;

	return state && !strcmp(state, "enabled");
}

/* ---- Prometheus ---------------------------------------------------------------- */

/* The lines above a metric's values. */
static void add_head(struct buffer *out, const char *name, const char *help)
{
	buffer_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void add_metric(struct buffer *out, const char *name, const char *help, int64_t value)
{
	add_head(out, name, help);
	buffer_printf(out, "%s %" PRId64 "\n", name, value);
}

/* Names of patches and states have no character that would have to be quoted. */
static void add_patches(struct buffer *out, json_object *patches)
{
	if (count_of(patches))
		add_head(out, "pokepatch_patch_enabled", "Is the patch on?");
	for (size_t i = 0; i < count_of(patches); i++) {
		json_object *patch = json_object_array_get_idx(patches, i);

		buffer_printf(out, "pokepatch_patch_enabled{name=\"%s\",state=\"%s\"} %d\n",
			      json_text(patch, "name"), json_text(patch, "state"), is_on(patch));
	}
}

/* A switch that waits for long needs an administrator; alerts go by this. */
static void add_blocked(struct buffer *out, json_object *patches)
{
	if (count_of(patches))
		add_head(out, "pokepatch_patch_blocked_seconds",
			 "For how long tasks have been in the way of a switch; 0: they are not.");
	for (size_t i = 0; i < count_of(patches); i++) {
		json_object *patch = json_object_array_get_idx(patches, i);

		buffer_printf(out, "pokepatch_patch_blocked_seconds{name=\"%s\"} %" PRId64 "\n",
			      json_text(patch, "name"),
			      json_object_get_int64(member(patch, "blocked_seconds")));
	}
}

void status_metrics(struct buffer *out, json_object *status)
{
	json_object *livepatch = member(status, "livepatch"), *days = member(livepatch, "days_left");

	add_metric(out, "pokepatch_core_loaded", "Is the core module loaded?",
		   json_text(status, "core") != NULL);
	add_patches(out, member(status, "patches"));
	add_blocked(out, member(status, "patches"));
	if (!livepatch)
		return;
	/* Of a file that cannot be read, no more is known. */
	if (member(livepatch, "level"))
		add_metric(out, "pokepatch_level", "The level that is installed.",
			   json_object_get_int64(member(livepatch, "level")));
	add_metric(out, "pokepatch_level_enabled", "Is the level that is installed on?",
		   is_on(livepatch));
	if (!member(livepatch, "level"))
		return;
	add_metric(out, "pokepatch_fixed_cves", "CVEs that the level fixes.",
		   (int64_t)count_of(member(livepatch, "cve")));
	add_metric(out, "pokepatch_unfixed_cves", "CVEs that the level does not fix.",
		   (int64_t)count_of(member(livepatch, "unfixed")));
	if (days)
		add_metric(out, "pokepatch_days_left", "Days that the level is meant to last.",
			   json_object_get_int64(days));
}

/* ---- OpenVEX ------------------------------------------------------------------- */

static void add_statements(json_object *statements, json_object *cves, const char *status,
			   const char *product, const char *action)
{
	for (size_t i = 0; i < count_of(cves); i++) {
		json_object *statement = json_object_new_object();
		json_object *vulnerability = json_object_new_object();
		json_object *products = json_object_new_array(), *id = json_object_new_object();

		json_object_object_add(vulnerability, "name",
				       json_object_get(json_object_array_get_idx(cves, i)));
		json_add_text(id, "@id", product);
		json_object_array_add(products, id);
		json_object_object_add(statement, "vulnerability", vulnerability);
		json_object_object_add(statement, "products", products);
		json_add_text(statement, "status", status);
		if (action)
			json_add_text(statement, "action_statement", action);
		json_object_array_add(statements, statement);
	}
}

/* The document's name: a sum of what it says, as its specification proposes. */
static char *document_id(json_object *statements)
{
	const char *text = json_object_to_json_string(statements);
	char digest[65];

	sha256_hex(text, strlen(text), digest);
	return xasprintf("urn:pokepatch:vex:%s", digest);
}

void status_vex(struct buffer *out, json_object *status, const char *release)
{
	_json_ json_object *document = json_object_new_object();
	json_object *livepatch = member(status, "livepatch");
	json_object *statements = json_object_new_array();
	_free_ char *product = xasprintf("pkg:deb/debian/linux-image-%s", release), *id = NULL;
	const time_t seconds = time(NULL);
	char now[64];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", &utc);
	if (is_on(livepatch))
		add_statements(statements, member(livepatch, "cve"), "fixed", product, NULL);
	else
		add_statements(statements, member(livepatch, "cve"), "affected", product,
			       "Switch the live patch on; see pokepatch status.");
	add_statements(statements, member(livepatch, "unfixed"), "affected", product,
		       "Boot a newer kernel.");
	id = document_id(statements);
	json_add_text(document, "@context", "https://openvex.dev/ns/v0.2.0");
	json_add_text(document, "@id", id);
	json_add_text(document, "author", "pokepatch");
	json_add_text(document, "timestamp", now);
	json_add_number(document, "version", 1);
	json_add_text(document, "tooling", "pokepatch " POKEPATCH_VERSION);
	json_object_object_add(document, "statements", statements);
	json_print(out, document);
}
