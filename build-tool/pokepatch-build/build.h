/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of pokepatch-build: what the phases share.  main() calls the phases
 * in the order in which they stand here; each reads what the ones before it
 * left in struct build.
 */
#ifndef POKEPATCH_BUILD_H
#define POKEPATCH_BUILD_H

#include "object/arch.h"
#include "common/cache.h"
#include "pokepatch-build/patch.h"
#include "common/util.h"

/* The command line.  Strings point into argv. */
#define TRANSITION_DEFAULT UINT32_MAX

struct build_options {
	const char *kernel;  /* -k; NULL: the running one */
	const char *source;  /* -s; the four below too: NULL means from the cache */
	const char *config;  /* -c */
	const char *vmlinux; /* -v */
	const char *modules; /* -m */
	const char *kbuild;  /* --kbuild */
	const char *arch;    /* --arch; NULL: that of vmlinux */
	const char *cross;   /* --cross-compile; NULL: the architecture's, unless we run on it */
	const char *output;  /* -o; NULL: pokepatch-NAME.ko */
	const char *name;    /* -n; NULL: from the first patch's file name */
	unsigned int jobs;   /* -j */
	uint32_t mode;	     /* enum pokepatch_mode */
	uint32_t transition; /* enum pokepatch_transition, or TRANSITION_DEFAULT until the machine is known */
	const char *report;  /* --report; "-" is standard output */
	const char *keep;    /* --keep: the work folder, which then stays */
	VEC(const char *) allow; /* --allow, each */
	bool instrument;	 /* --instrument */
	VEC(const char *) defines; /* -D, each: "NAME" or "NAME=V" */
	VEC(const char *) mark_functions; /* --mark-functions, each: names with commas between */
	bool dry_run, quiet, verbose;
	char **patches; /* diffs; with --instrument source files too */
	size_t nr_patches;
};

/* A diff that the user gave, or a source file that is to be instrumented as it is. */
struct patch_file {
	const char *path; /* as given */
	const char *source; /* the file's path in the tree, or NULL: it is a diff */
	char sha256[65];
	struct patch patch;
};

/* The core module and the glue, built once per kernel and kept in the cache. */
struct core_artefacts {
	char *ko;	   /* pokepatch.ko */
	char *sources;	   /* core-module/, copied */
	char *symvers;	   /* its Module.symvers: the CRCs of what it exports */
	char *glue_object; /* patches/module/glue.c, before objtool */
	char *dir;	   /* where the commands below are to run */
	/* Commands that kbuild used, without their files; each ends with NULL. */
	char **mod_compile; /* add -DKBUILD_MODNAME=... -D__KBUILD_MODNAME=... -c -o OUT NAME.mod.c */
	char **objtool;	    /* with --module; add the object, which it rewrites */
	char **modpost;	    /* add -o SYMVERS, -i SYMVERS for each input, OBJECT.o */
	char **ld;	    /* ld -r ... -T module.lds; add -o OUT.ko IN.o IN.mod.o */
};

/* One compiled source file that the change touches. */
struct unit {
	char *source;	   /* "fs/proc/version.c" */
	char *object;	   /* "fs/proc/version.o" */
	char *parent;	   /* "vmlinux", or the module's name: "nf_tables" */
	char *parent_path; /* "kernel/net/netfilter/nf_tables.ko" in lib/modules/R; NULL: vmlinux */
	char *modfile;	   /* KBUILD_MODFILE, or NULL where kbuild gives none */
	char **argv;	   /* compiler and flags as kbuild ran them (cwd: the tree), ends with NULL;
			    * without -c, -o, the source and the dependency file */
	char *exact_object;   /* compiled by kbuild itself: no section splitting, after objtool */
	char *orig_object;    /* compiled by us, one section per function and object, no objtool */
	char *patched_object; /* the same from the changed source */
	char **changed_files; /* the files of the diffs that it compiles */
	size_t nr_changed_files;
	struct overlay *overlay; /* units.c and overlay.c */
};

struct phase_time {
	const char *name;
	double seconds;
};

struct build {
	struct build_options options;
	char *release;	   /* "6.1.0-56-cloud-amd64" */
	char *name;	   /* of the patch, as in pokepatch-NAME.ko */
	char *output;	   /* the .ko's path */
	char *ko;	   /* the linked module, still in the work folder (link.c) */
	struct kernel_files files; /* what the options gave, else from the cache */
	const struct arch *machine; /* what the kernel runs on */
	char *arch;	   /* "x86": the folder in arch/ */
	char *cross;	   /* CROSS_COMPILE: "aarch64-linux-gnu-"; NULL: we run on that machine */
	char *cc;	   /* compiler: "gcc-12", "aarch64-linux-gnu-gcc-12" */
	bool cc_named;	   /* the kernel's Makefile has to be told: it would take $(CROSS_COMPILE)gcc */
	char *cc1;	   /* the kernel's own compiler, which is emulated (own_compiler.c); or NULL */
	char *kcflags;	   /* what more the kernel was compiled with (entries.c); or NULL */
	char *work;	   /* private work folder */
	char *tree;	   /* prepared tree, absolute; only kbuild writes there, under a lock */
	int tree_lock;	   /* shared while we read it, or -1 */
	int core_lock;	   /* the same for the core's folder */
	char **make_env;   /* what the kernel's Makefile exports to scripts/Makefile.build */
	char *kernel_build_id;	/* of the image's vmlinuz, hexadecimal; NULL: not known */
	char *vmlinux_build_id; /* of the vmlinux with DWARF */
	struct core_artefacts core;
	char *glue_object; /* of this patch: the core's, with stubs.  NULL until it is linked */
	struct patch_file *patches;
	size_t nr_patches;
	struct changes *changes; /* overlay.h */
	char *marks_header; /* what --mark-functions has included first, or NULL */
	struct unit *units; /* sorted by source */
	size_t nr_units;
	struct comparison *comparison; /* compare.c */
	struct refusals refusals; /* of all phases */
	struct buffer notes;	  /* lines for the user that refuse nothing: fuzz, files left out */
	struct phase_time *phases;
	size_t nr_phases;
	double phase_start;
};

/* options.c: the command line.  *ret_done: --help or --version was answered. */
struct error *options_parse(int argc, char **argv, struct build_options *ret, bool *ret_done);
/* mode_name - what --mode calls an enum pokepatch_mode; constant. */
const char *mode_name(uint32_t mode);

/* work.c */
struct error *build_init(struct build *build, const struct build_options *options);
void build_deinit(struct build *build); /* removes the work folder, unless it is to be kept */
void phase_begin(struct build *build, const char *name);
void phase_end(struct build *build); /* a line with its time on standard error, unless -q */
/* notes_tell - the notes so far to standard error, unless -q; each is told once. */
void notes_tell(struct build *build);
void note(struct build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* refusals_check - error STATUS_REFUSED if anything was refused so far. */
struct error *refusals_check(struct build *build);

/* The phases.  An error ends the run; refusals are collected in build->refusals. */
struct error *read_patches(struct build *build);  /* patches.c */
struct error *prepare_tree(struct build *build);  /* tree.c: build->tree, cc, arch, make_env */
struct error *prepare_core(struct build *build);  /* core.c: build->core */
struct error *apply_patches(struct build *build); /* patches.c: build->changes */
struct error *find_units(struct build *build);	  /* units.c: build->units up to exact_object */
struct error *mark_functions(struct build *build); /* marks.c: what --mark-functions adds */
struct error *compile_units(struct build *build); /* compile.c: orig_object, patched_object */
struct error *compare_units(struct build *build); /* by the differ library */
struct error *check_exports(struct build *build); /* exports.c: a part of it */
struct error *verify_units(struct build *build); /* verify.c: the original is what runs */
struct error *link_module(struct build *build);
struct error *check_module(struct build *build);
struct error *prove_module(struct build *build); /* prove.c: the final check, by build-tool/proof */
struct error *write_module(struct build *build); /* check.c: the output gets its name */

/* report.c */
struct error *report_write(struct build *build); /* where --report wants it, if it does */
void report_remove(const struct build *build); /* the module that it is about was not written */
void summary_print(const struct build *build); /* to standard output, unless -q */

#endif /* POKEPATCH_BUILD_H */
