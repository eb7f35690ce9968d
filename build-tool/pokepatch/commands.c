// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands. */
#include "pokepatch/cli.h"

#define JSON_OPTION                                                                                \
	{                                                                                          \
		"json", 0, NULL, "print JSON instead of a table"                                   \
	}

static const struct cli_option fetch_options[] = {
	{"latest", 0, "FLAVOUR", "fetch the newest release of a flavour, such as cloud-amd64"},
	{"quiet", 'q', NULL, "print nothing but the release on standard output"},
	JSON_OPTION,
	{0},
};

#define TIMEOUT_OPTION                                                                             \
	{                                                                                          \
		"timeout", 0, "MS", "how long to wait for tasks in the way (default 5000)"         \
	}

static const struct cli_option load_options[] = {
	{"core", 0, "FILE", "the core module to insert if it is not loaded"},
	{"mode", 0, "MODE", "how to reroute calls: auto, entry, direct or ftrace (default: the patch's)"},
	{"replace", 0, "[=NAME,...]", "switch these patches, or all, off in the same moment"},
	{"installed", 0, NULL, "load all that 'pokepatch install' has put there, as at boot"},
	TIMEOUT_OPTION,
	{0},
};

#define ROOT_OPTION                                                                                \
	{                                                                                          \
		"root", 0, "DIR", "the system below this folder, instead of the running one"       \
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
	{"kernel", 'k', "RELEASE", "of this kernel's patches (default: the running one's)"},
	ROOT_OPTION,
	NO_UNIT_OPTION,
	{0},
};

static const struct cli_option check_options[] = {
	{"core", 0, "FILE", "the core module to look at if none is loaded"},
	{0},
};

static const struct cli_option trace_options[] = {
	{"core", 0, "FILE", "the core module to insert if it is not loaded"},
	{0},
};

static const struct cli_option timeout_only[] = {TIMEOUT_OPTION, {0}};

#define CLOCK_OPTION                                                                               \
	{                                                                                          \
		"clock", 0, "CLOCK", "what times are of: monotonic (default) or perf"              \
	}
#define FROM_OPTION                                                                                \
	{                                                                                          \
		"from", 0, "FILE", "an exported history, instead of the running kernel's"          \
	}

static const struct cli_option history_options[] = {
	{"follow", 'f', NULL, "show what comes, too, until Ctrl-C"},
	{"export", 0, "FILE", "write all that is needed to tell old text on another machine"},
	{"all-text", 0, NULL, "with --export: also text that no record is about"},
	{"path", 0, "TIMES.txt", "tell for each line, \"TIME ADDRESS\", which code calls led to"},
	FROM_OPTION,
	CLOCK_OPTION,
	JSON_OPTION,
	{0},
};

static const struct cli_option text_options[] = {
	{"at", 0, "TIME", "in seconds, as 12.345678901 (default: now, or the file's end)"},
	FROM_OPTION,
	CLOCK_OPTION,
	JSON_OPTION,
	{0},
};

static const struct cli_option json_only[] = {JSON_OPTION, {0}};

const struct cli_command cli_commands[] = {
	{
		.name = "fetch",
		.arguments = "RELEASE",
		.summary = "Bring a Debian kernel release into the cache",
		.help = "Downloads the packages with image, debug information, headers and source\n"
			"of one release by way of apt, verifies and unpacks them; nothing is\n"
			"installed.  For a kernel of another architecture than this machine's, the\n"
			"compiler that it names comes too, as that architecture's program.\n"
			"What is there already is kept; what is missing or damaged is fetched\n"
			"again.  With --latest, RELEASE is left out; if there is no "
			"network,\n"
			"the newest complete release in the cache is taken.\n"
			"The cache is ${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch.\n",
		.options = fetch_options,
		.min_arguments = 0,
		.max_arguments = 1,
		.run = cli_fetch,
	},
	{
		.name = "load",
		.arguments = "FILE|NAME",
		.summary = "Insert a patch module and switch it on",
		.help = "NAME means pokepatch-NAME.ko in this folder, or else in\n"
			"/lib/modules/RELEASE/pokepatch.  The core module, pokepatch.ko, is "
			"inserted\n"
			"first if it is not loaded; it is looked for beside the patch module, "
			"then\n"
			"in /lib/modules/RELEASE.  If the patch cannot be switched on, it is "
			"removed\n"
			"again.\n",
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
		.options = timeout_only,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_unload,
	},
	{
		.name = "enable",
		.arguments = "NAME",
		.summary = "Switch a loaded patch on",
		.help = "",
		.options = timeout_only,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_enable,
	},
	{
		.name = "disable",
		.arguments = "NAME",
		.summary = "Switch a patch off; its module stays loaded",
		.help = "",
		.options = timeout_only,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_disable,
	},
	{
		.name = "install",
		.arguments = "FILE",
		.summary = "Have a patch loaded at every boot of its kernel",
		.help = "Copies it and the core module to /lib/modules/RELEASE/pokepatch, and "
			"enables\n"
			"pokepatch.service, which runs 'pokepatch load --installed' before the "
			"network\n"
			"comes up.  Nothing is loaded now.  pokepatch=off on the kernel's command "
			"line\n"
			"skips it.\n",
		.options = install_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_install,
	},
	{
		.name = "uninstall",
		.arguments = "NAME",
		.summary = "No longer load a patch at boot",
		.help = "A patch that is loaded stays loaded until the next boot, or 'pokepatch "
			"unload'.\n",
		.options = uninstall_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_uninstall,
	},
	{
		.name = "check",
		.arguments = "FILE",
		.summary = "Would a patch module be accepted?  Changes nothing",
		.help = "Looks at all that a load would verify: the file, the kernel and its "
			"modules, the\n"
			"core, the symbols that the patch needs, and whether its functions can be "
			"switched.\n"
			"Exit status 0 if nothing speaks against it.\n",
		.options = check_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_check,
	},
	{
		.name = "status",
		.arguments = "",
		.summary = "Show the core, patches, what is in their way, and what is installed",
		.help = "",
		.options = json_only,
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
		.help = "A FILE ends in .ko or has a slash in it; its contents are shown.  A NAME "
			"is\n"
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
		.help = "Loads the patch if it is not loaded, switches it on if it is off, and shows "
			"the\n"
			"tracepoint pokepatch:marker of its markers until Ctrl-C, SIGTERM, or until "
			"nobody\n"
			"reads the output any more.  Then everything is again as it was.\n",
		.options = trace_options,
		.min_arguments = 1,
		.max_arguments = 1,
		.run = cli_trace,
	},
	{
		.name = "history",
		.arguments = "",
		.summary = "Show what was done to the kernel's text, and when",
		.help = "One line for each record of the core: text before and after a change, "
			"ways that\n"
			"calls take, code that comes and goes.  With --path, ADDRESS is where "
			"calls of\n"
			"a function lead to, or its name; the answer is old (the kernel's own "
			"code),\n"
			"new (a patch's), either (in the middle of the switch), unknown (records "
			"are\n"
			"missing), or none (never patched).\n",
		.options = history_options,
		.run = cli_history,
	},
	{
		.name = "text",
		.arguments = "ADDR|SYMBOL [LEN]",
		.summary = "Show the kernel's text as it was at some time",
		.help = "SYMBOL may be MODULE:NAME and have +OFFSET.  Without LEN, up to the end "
			"of the\n"
			"function.  Bytes in the middle of a change are shown twice, as either "
			"old and\n"
			"either new; what nobody can tell is shown as unknown.\n",
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
