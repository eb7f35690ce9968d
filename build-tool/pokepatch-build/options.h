/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of pokepatch-build. */
#ifndef POKEPATCH_BUILD_OPTIONS_H
#define POKEPATCH_BUILD_OPTIONS_H

#include "common/args.h"
#include "common/util.h"

/* The user gave no --transition: choose one when the machine is known. */
#define TRANSITION_DEFAULT UINT32_MAX

/* The command line.  Strings point into argv. */
struct build_options {
	const char *kernel;  /* -k; NULL: the running kernel */
	bool fetch;          /* --fetch */
	/* Parts of the kernel; where one is NULL, the cache has it. */
	const char *source;  /* -s */
	const char *config;  /* -c */
	const char *vmlinux; /* -v */
	const char *modules; /* -m */
	const char *kbuild;  /* --kbuild */
	const char *arch;    /* --arch; NULL: the architecture of vmlinux */
	const char *cross;   /* --cross-compile; NULL: by the architecture, none on that machine */
	const char *output;  /* -o; NULL: pokepatch-NAME.ko */
	const char *name;    /* -n; NULL: from the file name of the first patch or of the series */
	unsigned int jobs, fuzz; /* -j, --fuzz */
	const struct output_format *format; /* --format; never NULL (format.h) */
	uint32_t mode;	     /* enum pokepatch_mode */
	uint32_t transition; /* enum pokepatch_transition, or TRANSITION_DEFAULT */
	const char *report;  /* --report; "-" is standard output */
	const char *html;    /* --html; NULL: write no page */
	bool explain;	     /* --explain */
	const char *keep;    /* --keep: use this work folder, and do not remove it */
	VEC(const char *) allow; /* one for each --allow */
	bool instrument;	 /* --instrument */
	VEC(const char *) defines; /* one for each -D: "NAME" or "NAME=V" */
	VEC(const char *) mark_functions; /* one for each --mark-functions: "NAME,NAME,..." */
	VEC(const char *) returns; /* one for each --return */
	const char *module_source; /* --module-source */
	const char *series;  /* --series */
	bool leave_out;	     /* --leave-out */
	unsigned int level;  /* --level; 0: the patch is not cumulative */
	bool level_given;
	unsigned int least_level; /* --revoke-below */
	bool deb;	     /* --deb: write a Debian package, not a module (package.h) */
	const char *sign;    /* --sign: "KEY,CERTIFICATE" or "dkms"; or NULL */
	const char *until;   /* --until: "2027-05-01"; or NULL */
	struct args cves, unfixed; /* --cve, --unfixed: "CVE-2026-1234" */
	bool dry_run, quiet, verbose;
	char **patches; /* diffs; with --instrument also source files */
	size_t nr_patches;
};

/*
 * options_parse - read the command line into *ret, whose vectors build_deinit() frees.
 * @ret_done: set if the command line asked for --help or --version, which is then printed.
 * Errors: STATUS_FAILED for an option or a value that is not understood, or without any PATCH.
 */
struct error *options_parse(int argc, char **argv, struct build_options *ret, bool *ret_done);
/* options_no_patch - is there nothing to patch, only a package of level 0 to make? */
bool options_no_patch(const struct build_options *options);
/* mode_name - the name that --mode has for an enum pokepatch_mode; constant. */
const char *mode_name(uint32_t mode);

#endif /* POKEPATCH_BUILD_OPTIONS_H */
