// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands, with their options and help. */
#include <limits.h>

#include "pokepatch/cli.h"

#define JSON_OPTION                                                                                \
	{                                                                                          \
		"json", 0, NULL, "print JSON instead of a table"                                   \
	}

static const struct cli_option fetch_options[] = {
	{"latest", 0, "FLAVOUR", "fetch the newest release of a flavour, such as cloud-amd64"},
	{"list", 0, "FLAVOUR", "only list its releases; of one series: 6.1-cloud-amd64"},
	{"suite", 0, "SUITE",
	 "search this suite of Debian, such as trixie or trixie-backports, not the system's"},
	{"deb", 0, NULL, "take these packages, or those in a folder, before the archive's"},
	{"modules", 0, NULL, "unpack all modules with debug information, not when first needed"},
	{"quiet", 'q', NULL, "print only the release on standard output"},
	JSON_OPTION,
	{0},
};

#define TIMEOUT_OPTION                                                                             \
	{                                                                                          \
		"timeout", 0, "MS", "how long to wait for tasks in the way (default 5000)"         \
	}

#define EVICT_OPTION                                                                               \
	{                                                                                          \
		"evict", 0, NULL,                                                                  \
			"ask tasks in the way to leave at once; given twice: kill those that stay" \
	}
#define RETRY_OPTION                                                                               \
	{                                                                                          \
		"retry", 0, "MS", "if tasks are in the way, the core tries again after so long"    \
	}

static const struct cli_option load_options[] = {
	{"core", 0, "FILE", "the core module to insert if it is not loaded"},
	{"mode", 0, "MODE",
	 "how to reroute calls: auto, entry, direct or ftrace (default: the patch's)"},
	{"replace", 0, "[=NAME,...]", "switch these patches, or all, off at the same moment"},
	{"installed", 0, NULL, "load all patches that 'pokepatch install' installed, as at boot"},
	TIMEOUT_OPTION,
	EVICT_OPTION,
	RETRY_OPTION,
	{0},
};

#define ROOT_OPTION                                                                                \
	{                                                                                          \
		"root", 0, "DIR", "use the system below this folder, not the running one"          \
	}
#define NO_UNIT_OPTION                                                                             \
	{                                                                                          \
		"no-unit", 0, NULL, "leave systemd's pokepatch.service as it is"                   \
	}

static const struct cli_option install_options[] = {
	{"core", 0, "FILE", "the core module to install with it"},
	ROOT_OPTION,
	NO_UNIT_OPTION,
	{0},
};

static const struct cli_option uninstall_options[] = {
	{"kernel", 'k', "RELEASE", "the kernel of the patch (default: the running one)"},
	ROOT_OPTION,
	NO_UNIT_OPTION,
	{0},
};

static const struct cli_option check_options[] = {
	{"core", 0, "FILE", "the core module to check if none is loaded"},
	{0},
};

static const struct cli_option trace_options[] = {
	{"core", 0, "FILE", "the core module to insert if it is not loaded"},
	{0},
};

static const struct cli_option switch_options[] = {TIMEOUT_OPTION, EVICT_OPTION, RETRY_OPTION, {0}};
static const struct cli_option unload_options[] = {TIMEOUT_OPTION, EVICT_OPTION, {0}};

#define CLOCK_OPTION                                                                               \
	{                                                                                          \
		"clock", 0, "CLOCK", "the clock of all times: monotonic (default) or perf"         \
	}
#define FROM_OPTION                                                                                \
	{                                                                                          \
		"from", 0, "FILE", "read an exported history, not the running kernel's"            \
	}

static const struct cli_option history_options[] = {
	{"follow", 'f', NULL, "show new records too, until Ctrl-C"},
	{"export", 0, "FILE", "write a file for 'history' and 'text' on other machines"},
	{"all-text", 0, NULL, "with --export: also write text that no record is about"},
	{"perfetto", 0, "FILE", "write a timeline that Perfetto and Chrome open"},
	{"path", 0, "TIMES.txt", "for each line \"TIME ADDRESS\": show which code calls led to"},
	FROM_OPTION,
	CLOCK_OPTION,
	JSON_OPTION,
	{0},
};

static const struct cli_option text_options[] = {
	{"at", 0, "TIME", "in seconds, such as 12.345678901 (default: now, or the file's end)"},
	FROM_OPTION,
	CLOCK_OPTION,
	JSON_OPTION,
	{0},
};

static const struct cli_option json_only[] = {JSON_OPTION, {0}};

static const struct cli_option status_options[] = {
	JSON_OPTION,
	{"metrics", 0, NULL, "print metrics for Prometheus"},
	{"vex", 0, NULL, "print an OpenVEX document about the running kernel"},
	{0},
};

const struct cli_command cli_commands[] = {
	{
		.name = "fetch",
		.arguments = "[RELEASE] [FILE.deb|DIR]...",
		.summary = "Bring a Debian kernel release into the cache",
		.help = "Downloads the packages with image, debug information, headers and source of\n"
			"one release (default: the running one) with apt, verifies and unpacks them.\n"
			"Nothing is installed.  A release of another Debian (+deb13) comes from the\n"
			"suites of that one, on the system's mirror.  If this machine lacks the\n"
			"kernel's compiler, that is fetched into the cache too.  If the archive has\n"
			"dropped the release's linux-kbuild package, its programs are built from the\n"
			"source.  --deb takes packages that you have kept, such as those that the\n"
			"archive has dropped; the release may follow from their names.\n"
			"Complete packages in the cache are kept; missing or damaged ones\n"
			"are fetched again.  With --latest, leave out RELEASE; if the network fails,\n"
			"the newest complete release in the cache is used.  The cache is\n"
			"${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch.\n",
		.options = fetch_options,
		.min_arguments = 0,
		.max_arguments = INT_MAX, /* of --deb */
		.run = cli_fetch,
	},
	{
		.name = "cache",
		.arguments = "[list|prune|remove RELEASE]",
		.summary = "List the kernels in the cache, and make room",
		.help = "list (default) shows each kernel with its size on disk.  prune removes what\n"
			"can be made again: packages that are unpacked, trees and cores that no build\n"
			"will use again or whose release has a newer one in the cache, what\n"
			"interrupted runs left, and package lists older than a day.  remove removes\n"
			"one kernel.  What a running build or fetch uses is left alone.\n",
		.options = json_only,
		.max_arguments = 2,
		.run = cli_cache,
	},
	{
		.name = "load",
		.arguments = "FILE|NAME",
		.summary = "Insert a patch module and switch it on",
		.help = "NAME means pokepatch-NAME.ko in this folder, or else in\n"
			"/lib/modules/RELEASE/pokepatch.  If the core module, pokepatch.ko, is not\n"
			"loaded, it is inserted first.  It is looked for beside the patch module,\n"
			"then in /lib/modules/RELEASE.  A patch that cannot be switched on is\n"
			"removed again, unless --retry is given and tasks are in its way.\n",
		.options = load_options,
		.min_arguments = 0, /* with --installed */
		.max_arguments = 1,
		.run = cli_load,
	},
	{
		.name = "unload",
		.arguments = "NAME",
		.summary = "Switch a patch off and remove its module",
		.help = "",
		.options = unload_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_unload,
	},
	{
		.name = "enable",
		.arguments = "NAME",
		.summary = "Switch a loaded patch on",
		.help = "",
		.options = switch_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_enable,
	},
	{
		.name = "disable",
		.arguments = "NAME",
		.summary = "Switch a patch off; its module stays loaded",
		.help = "",
		.options = switch_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_disable,
	},
	{
		.name = "install",
		.arguments = "FILE",
		.summary = "Have a patch loaded at every boot of its kernel",
		.help = "Copies the patch and the core module to /lib/modules/RELEASE/pokepatch, and\n"
			"enables pokepatch.service, which runs 'pokepatch load --installed' before\n"
			"the network comes up.  Nothing is loaded now.  pokepatch=off on the\n"
			"kernel's command line skips the service.\n",
		.options = install_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_install,
	},
	{
		.name = "uninstall",
		.arguments = "NAME",
		.summary = "No longer load a patch at boot",
		.help = "A loaded patch stays loaded until the next boot or 'pokepatch unload'.\n",
		.options = uninstall_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_uninstall,
	},
	{
		.name = "check",
		.arguments = "FILE",
		.summary = "Would a patch module be accepted?  Changes nothing",
		.help = "Verifies all that a load would verify: the file, the kernel and its\n"
			"modules, the core, the symbols that the patch needs, and whether its\n"
			"functions can be switched.  Exit status 0 if the patch can be loaded.\n",
		.options = check_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_check,
	},
	{
		.name = "status",
		.arguments = "",
		.summary = "Show the core, patches, what is in their way, and what is installed",
		.help = "Exit status 2: the level of the installed package linux-livepatch-RELEASE is not\n"
			"on, or is meant to last no longer.\n",
		.options = status_options,
		.run = cli_status,
	},
	{
		.name = "list",
		.arguments = "",
		.summary = "List the loaded patches",
		.help = "",
		.options = json_only,
		.run = cli_list,
	},
	{
		.name = "info",
		.arguments = "FILE|NAME",
		.summary = "Show what a patch module changes",
		.help = "A FILE ends in .ko or has a slash in it; its contents are shown.  A NAME is\n"
			"a loaded patch, as 'pokepatch list' shows it.\n",
		.options = json_only,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_info,
	},
	{
		.name = "trace",
		.arguments = "FILE|NAME",
		.summary = "Switch an instrumented copy on and show its markers as they come",
		.help = "Loads the patch if it is not loaded, switches it on if it is off, and shows\n"
			"its markers (the tracepoint pokepatch:marker) until Ctrl-C, SIGTERM, or\n"
			"until the reader of the output closes it.  Then it undoes the switch and\n"
			"the load.\n",
		.options = trace_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_trace,
	},
	{
		.name = "history",
		.arguments = "",
		.summary = "Show the recorded changes of the kernel's text",
		.help = "One line for each record of the core: text before and after a change,\n"
			"switches of functions, code that comes and goes.  With --path, ADDRESS is\n"
			"the entry of a function, or its name.  The answer is old (the kernel's own\n"
			"code), new (a patch's), either (during the switch), unknown (records are\n"
			"missing), or none (never patched).\n",
		.options = history_options,
		.run = cli_history,
	},
	{
		.name = "text",
		.arguments = "ADDR|SYMBOL [LEN]",
		.summary = "Show the kernel's text as it was at some time",
		.help = "SYMBOL may be MODULE:NAME and have +OFFSET.  Without LEN, shows the text up\n"
			"to the end of the function.  Bytes during a change are shown twice, as\n"
			"'either old' and 'either new'.  Bytes that the history cannot give are\n"
			"shown as unknown.\n",
		.options = text_options,
		.min_arguments = 1,
		.max_arguments = 2,
		.run = cli_text,
	},
	{
		.name = "version",
		.arguments = "",
		.summary = "Show the versions of program, patch format and loaded core",
		.help = "",
		.options = json_only,
		.run = cli_version,
	},
	{0},
};
