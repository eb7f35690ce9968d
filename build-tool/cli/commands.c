// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands. */
#include "cli.h"

#define JSON_OPTION { "json", 0, NULL, "print JSON instead of a table" }

static const struct cli_option fetch_options[] = {
	{ "latest", 0, "FLAVOUR", "fetch the newest release of a flavour, such as cloud-amd64" },
	{ "quiet", 'q', NULL, "print nothing but the release on standard output" },
	JSON_OPTION,
	{ 0 },
};

const struct cli_command cli_commands[] = {
	{
		.name = "fetch",
		.arguments = "RELEASE",
		.summary = "Bring a Debian kernel release into the cache",
		.help = "Downloads the packages with image, debug information, headers and source\n"
			"of one release by way of apt, verifies and unpacks them; nothing is\n"
			"installed.  What is there already is kept; what is missing or damaged is\n"
			"fetched again.  With --latest, RELEASE is left out; if there is no network,\n"
			"the newest complete release in the cache is taken.\n"
			"The cache is ${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch.\n",
		.options = fetch_options,
		.min_arguments = 0,
		.max_arguments = 1,
		.run = cli_fetch,
	},
	{ 0 },
};
