/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The declarations that the parts of torture share; main.c says what torture does. */
#ifndef TORTURE_H
#define TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATCHES 8
#define FUNCTIONS 4
#define LIVEPATCH 9 /* the number that pp_torture_klp has, like a patch */
#define ANYTHING 15 /* tells pp_torture that a function may return anything */
#define TRACING "/sys/kernel/tracing/"
#define PARAMETERS "/sys/module/pp_torture/parameters/"

enum count {
	LOADS, UNLOADS, ENABLES, DISABLES, REPLACES, BUSY, ENTRY, DIRECT, FTRACE,
	TRACERS, PROBES, BPFS, HOTPLUGS, MODULES,
	KLP_LOADS, KLP_EFFECTS, KLP_SHADOWED, KLP_REFUSED, KLP_REFUSES, READERS, COUNTS,
};

/* main.c */
extern const char *const functions[FUNCTIONS];
extern unsigned long long addresses[FUNCTIONS];
extern char extra[256]; /* the folder of the test's modules */
extern unsigned long counts[COUNTS];
/* The calls that the new functions of each patch have counted. */
extern unsigned long calls[LIVEPATCH + 1][FUNCTIONS];

/* Does the architecture have the capability @what (arch_lacks in test/vm/arch/)? */
bool can(const char *what);

/* util.c */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
int put(const char *path, const char *text);
int putf(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void get(const char *path, char *text, size_t size);
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned int chance(unsigned int n);
int load_module(const char *name, const char *options);

/* patches.c */
extern const char *const modes[];
extern size_t nr_modes; /* less the modes that the guest does not have */
extern int nr_enabled;
bool is_enabled(int k);
int newest_of_module(void);
int patch_of(int f);
bool is_in_entry_mode(int k, int f);
void load(int k);
void unload(int k);
void switch_patch(int k, bool on, const char *mode, unsigned int replaced);
void surely_switch(int k, bool on, const char *mode);
void replace(int k, const char *mode);
void act_on_patch(void);
void all_patches_leave(void);
uint16_t vector(bool after);
void tell_current(void);

/* peek.c */

/* Read the word at the variable @name of a loaded module, where a new function counts its calls. */
unsigned long peek(const char *module, const char *name);

/* neighbours.c */
void trace(unsigned int which);
void probe(int f, bool at_return);
void no_return_probes(void);
void act_on_processor(void);
void act_on_module(void);
void act_on_bpf(void);
void bpf_once(void);
void act_on_reader(bool kill_it);
void all_neighbours_leave(void);

/* livepatch.c */

/*
 * The kernel's livepatch.  While it comes or goes, its function returns the old result to some
 * tasks and the new one to others.
 */
struct livepatch {
	enum { KLP_AWAY, KLP_COMES, KLP_THERE, KLP_GOES } state;
	int function;
	/* It has an effect.  If it came to a claimed site, it never has one. */
	bool works;
};
extern struct livepatch klp;
bool livepatch_moves(void);
void redirected(int f, bool now);
void look_at_livepatch(void);
void act_on_livepatch(void);
void livepatch_leaves(void);
void livepatch_once(void);

#endif
