/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of pokepatch-build, and the data that its phases share.  main() calls the phases in the
 * order in which they are declared below; each reads what earlier ones left in struct build.
 */
#ifndef POKEPATCH_BUILD_H
#define POKEPATCH_BUILD_H

#include "object/arch.h"
#include "common/args.h"
#include "common/cache.h"
#include "pokepatch-build/options.h"
#include "pokepatch-build/patch.h"
#include "common/util.h"

/* A diff that the user gave, a source file to instrument unchanged, or a --return. */
struct patch_file {
	const char *path; /* as given, or the commit's */
	const char *source; /* its path in the tree, or a --return; NULL: this is a diff */
	char sha256[65];
	struct patch patch;
	struct commit *commit; /* owned (series.h); NULL: not of a series */
};

/* The core module and the glue, built once per kernel and kept in the cache. */
struct core_artefacts {
	char *ko;	   /* pokepatch.ko */
	char *sources;	   /* the cache's copy of core-module/ */
	char *symvers;	   /* the core's Module.symvers: the CRCs of its exports */
	char *glue_object; /* patches/module/glue.c, before objtool */
	/*
	 * What every module of this kernel has besides its own code and modpost's
	 * (scripts/module-common.c, since 6.12); NULL: nothing.
	 */
	char *common_object;
	char *dir;	   /* run the commands below in this folder */
	/* Commands that kbuild used, without their file arguments; each list ends with NULL. */
	char **mod_compile; /* add -DKBUILD_MODNAME= -D__KBUILD_MODNAME= -c -o OUT NAME.mod.c */
	char **objtool;	    /* with --module; add the object, which objtool rewrites in place */
	char **modpost;	    /* add -o SYMVERS, -i SYMVERS for each input, OBJECT.o */
	char **ld;	    /* ld -r ... -T module.lds; add -o OUT.ko IN.o IN.mod.o */
};

/* One compiled source file that the change touches, in one parent: an object of two is two. */
struct unit {
	char *source;	   /* "fs/proc/version.c" */
	char *object;	   /* "fs/proc/version.o" */
	char *parent;	   /* "vmlinux", or the module's name: "nf_tables" */
	char *parent_path; /* "kernel/net/netfilter/nf_tables.ko" in lib/modules/R; NULL: vmlinux */
	bool shares;	   /* the object of the unit before, which has argv */
	char **argv;	   /* compiler and flags as kbuild ran them (cwd: the tree), ends with NULL;
			    * without -c, -o, the source and the dependency file */
	char *exact_object;   /* compiled by kbuild itself: no section splitting, after objtool; of
			       * a new source the original, once it is compiled */
	bool objtool_ran;     /* kbuild ran objtool on it by itself, as on a module of one unit */
	char *orig_object;    /* compiled by us, one section per function and object, no objtool */
	char *patched_object; /* likewise, from the changed source */
	char *patched_key;    /* key of the kept patched_object (object_cache.h), or NULL */
	char **changed_files; /* files that the diffs change and that this unit compiles */
	size_t nr_changed_files;
	bool is_new;  /* the diffs add its source: the kernel has nothing of it */
	char *edited; /* a file of its own that was changed after the kernel was built; or NULL */
	struct module_unit *outside; /* of --module-source (module_source.h); NULL: the kernel's */
};

struct phase_time {
	const char *name;
	double seconds;
};

struct build {
	struct build_options options;
	char *release;	   /* "6.1.0-56-cloud-amd64" */
	char *name;	   /* the patch's name, as in pokepatch-NAME.ko */
	char *output;	   /* path of the .ko to write */
	char *ko;	   /* the linked module, still in the work folder (link.c) */
	struct kernel_files files; /* from the options, or else from the cache */
	bool own;	   /* the kernel was built in the folder of --kbuild */
	const struct arch *machine; /* the kernel's machine */
	char *arch;	   /* "x86": the kernel's folder in arch/ */
	char *cross;	   /* CROSS_COMPILE: "aarch64-linux-gnu-"; NULL: the host's own tools */
	char *cc;	   /* compiler: "gcc-12", "aarch64-linux-gnu-gcc-12" */
	bool objtool_late; /* kbuild runs objtool on whole modules and vmlinux, not on units */
	bool clang;	   /* cc is a clang, whatever its name is (kernel_check.c) */
	char *compiler_version; /* what cc's preprocessor says about it (kernel_check.c) */
	struct args make_variables; /* "CC=clang-19": tools for make (toolchain.c) */
	char *cc1;	   /* the kernel's own cc1, run in an emulator (own_compiler.c); or NULL */
	char *kcflags;	   /* KCFLAGS that make patchable entries (entries.c); or NULL */
	char *user_flags;  /* KCFLAGS of the user who built the kernel (toolchain.c); or NULL */
	time_t begun;	   /* no later than any file of this build: for object_cache_trim() */
	char *work;	   /* private work folder */
	char *tree;	   /* prepared tree, absolute; only kbuild writes there, under a lock */
	int tree_lock;	   /* file descriptor; held shared while we read the tree; or -1 */
	int core_lock;	   /* the same for the core's folder */
	int kernel_lock;   /* the same for the kernel's folder in the cache */
	char **make_env;   /* exported to scripts/Makefile.build (kbuild_read_environment()) */
	char *kernel_build_id;	/* of the boot image, hexadecimal; NULL: not known */
	char *vmlinux_build_id; /* of the vmlinux with DWARF, hexadecimal */
	struct core_artefacts core;
	struct worker *core_ahead; /* makes the core while we make the tree; NULL: none does */
	char *glue_object; /* this patch's glue with its stubs (link.c); NULL until then */
	char *module_source; /* the folder of --module-source, absolute; or NULL */
	struct patch_file *patches;
	size_t nr_patches;
	struct changes *changes; /* changes.h */
	struct shadow *shadow;	 /* the tree with the changed files; NULL until then */
	const struct patch_file *applying; /* what apply_patches() is at; NULL: it is done */
	struct blame *blame; /* of a series (blame.h); NULL until it is applied */
	bool again; /* commits were left out, and the phases run again (leave_out.h) */
	bool cut_short; /* this run has ended before it judged units, and counts as none */
	struct earlier_verdicts *earlier; /* of the runs before (header_verdicts.h); or NULL */
	struct string_set failed; /* sources that did not compile in a run before */
	bool guessed; /* units were found by verdicts of an earlier run, which had more commits */
	bool exact;   /* judge all units: use no verdict of an earlier run */
	char *marks_header; /* header that --mark-functions makes units include; or NULL */
	struct unit *units; /* sorted by source; then units of one object, by parent */
	size_t nr_units;
	struct places *return_places; /* of the functions of --return (returns.h); or NULL */
	struct comparison *comparison; /* comparison.h */
	struct symtab *proof_vmlinux;  /* read ahead for the proof; NULL: the proof reads it */
	struct refusals refusals; /* of all phases */
	struct buffer notes;	  /* lines for the user that refuse nothing: fuzz, ignored files */
	struct string_set noted;  /* those of all phases */
	bool noted_all;		  /* an earlier run has found all units, and noted as much */
	struct phase_time *phases;
	size_t nr_phases;
	double phase_start;
	size_t steps, steps_done; /* of the phase, for the progress; 0: it is short */
	double progress_shown;	  /* now_seconds() when the progress was printed last */
};

/* ---- work.c ----------------------------------------------------------------- */

/*
 * build_init - find the kernel's files, choose the patch's name and output, make the work folder.
 * On an error too, the caller frees everything with build_deinit().
 */
struct error *build_init(struct build *build, const struct build_options *options);
/* build_forget - free what the phases from apply_patches() on have made, so that they run again. */
void build_forget(struct build *build);
/* build_deinit - free everything, drop the locks, and remove the work folder unless --keep. */
void build_deinit(struct build *build);
/* unit_deinit - free what a unit has. */
void unit_deinit(struct unit *unit);
/* phase_begin - start the clock of a phase; name is constant. */
void phase_begin(struct build *build, const char *name);
/*
 * build_expect - tell of steps that the phase will do, each of which ends with build_step(); a
 * terminal shows how many are done, and otherwise a line says so twice a minute, unless -q.
 */
void build_expect(struct build *build, size_t steps);
/* build_step - a step is done; @build is a struct build (struct proc_options, ended). */
void build_step(void *build);
/* phase_end - print the notes and a line with the phase's time on standard error, unless -q. */
void phase_end(struct build *build);
/* build_print_notes - print the notes so far on standard error, unless -q, and drop them. */
void build_print_notes(struct build *build);
/* build_note - add a note, once: a line for the user about something that refuses nothing. */
void build_note(struct build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* build_notes_deinit - free the notes; build_deinit() calls it. */
void build_notes_deinit(struct build *build);
/* build_check_refusals - STATUS_REFUSED if anything but warnings was refused so far. */
struct error *build_check_refusals(struct build *build);

/*
 * ---- the phases --------------------------------------------------------------
 *
 * An error ends the run.  Refusals go to build->refusals; a phase that later ones depend on
 * returns STATUS_REFUSED at its end if there are any.
 */
struct error *read_patches(struct build *build);   /* patches.c: build->patches */
struct error *prepare_tree(struct build *build);   /* tree.c: build->tree, cc, arch, make_env */
struct error *prepare_core(struct build *build);   /* core.c: build->core */
struct error *apply_patches(struct build *build);  /* patches.c: build->changes */
struct error *find_units(struct build *build);	   /* units.c: build->units up to exact_object */
struct error *mark_functions(struct build *build); /* marks.c: add --mark-functions' markers */
struct error *compile_units(struct build *build);  /* compile.c: orig_object, patched_object */
struct error *compare_units(struct build *build);  /* comparison.c: build->comparison */
struct error *verify_units(struct build *build);   /* verify.c: does the original match vmlinux? */
struct error *link_module(struct build *build);	   /* link.c: build->ko */
struct error *prove_module(struct build *build);   /* prove.c: the proof (proof/) */
struct error *write_module(struct build *build);   /* prove.c: copy build->ko to the output */

/*
 * core_start - begin what prepare_core() does in a process of its own (core.c).  prepare_tree()
 * calls it, so that the core is compiled while the source is unpacked.  build->core_ahead may stay
 * NULL.
 */
struct error *core_start(struct build *build);

/* ---- report.c --------------------------------------------------------------- */

/* report_write - write what --report and --html name, if anything: both or none. */
struct error *report_write(struct build *build);
/* report_remove - remove these again: the module that they describe was not written. */
void report_remove(const struct build *build);
/* summary_print - a summary on standard output, unless -q or the report goes there. */
void summary_print(const struct build *build);

#endif /* POKEPATCH_BUILD_H */
