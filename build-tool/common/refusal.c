// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every reason for a refusal: sorted by code.  Codes are never renamed; the
 * manual pages list them.  The last column: can the author allow it, so that all
 * but what is refused is done?
 */
#include "error.h"

const struct refusal_code refusal_codes[] = {
	{ "address-escapes", "new code or data may still be pointed to: the patch stays loaded (a warning)", false },
	{ "allow-unused", "the author allows or ignores what is not there (a warning)", false },
	{ "assembly-changed", "an assembly file changed", true },
	{ "binary-diff", "a source file changes as binary data", true },
	{ "boot-changed", "code that only runs while the kernel boots changed", true },
	{ "compiler-differs", "the compiler is not the one that built the kernel", false },
	{ "config-differs", "the configuration and the build folder are of different kernels", false },
	{ "data-changed", "the initial value of existing data changed", true },
	{ "data-size", "existing data has another size", false },
	{ "elf-malformed", "an object file is damaged", false },
	{ "elf-unsupported", "an object file has something that is not understood", false },
	{ "export-changed", "what a symbol is exported as changed", true },
	{ "file-deleted", "a source file is deleted", false },
	{ "file-renamed", "a source file is renamed", false },
	{ "file-unknown", "a file of a kind that is not understood changed", true },
	{ "header-changed", "a header changed", false },
	{ "init-changed", "code or data that is only used at initialisation changed", true },
	{ "kconfig-changed", "the configuration's description changed", true },
	{ "makefile-changed", "a makefile or linker script changed", true },
	{ "new-file", "a source file is new", false },
	{ "no-entry", "a changed function has no entry that calls can be rerouted at", false },
	{ "not-in-kernel", "nothing in this kernel is compiled from a changed file", true },
	{ "note-unknown", "a note of the author in the source is not understood", false },
	{ "objtool", "objtool does not accept the new code", false },
	{ "parent-unknown", "a unit's module is not among the kernel's modules", false },
	{ "percpu-in-module", "a per-CPU variable of a parent module is needed", false },
	{ "relocation-in-alternative", "a place that the kernel patches needs a late relocation", false },
	{ "relocation-in-percpu", "a new per-CPU variable holds the address of something not exported", false },
	{ "relocation-unknown", "a relocation of a kind that is not understood", false },
	{ "section-changed", "a section that cannot be carried changed", true },
	{ "section-needed", "new code or data needs a new entry in a table of the kernel", false },
	{ "section-unknown", "a section of a kind that is not understood", false },
	{ "source-differs", "the source is not of the kernel's version", false },
	{ "static-ambiguous", "which of several static symbols is meant cannot be told", false },
	{ "static-key-in-module", "new code uses a static key that lives in a module", false },
	{ "symbol-ambiguous", "which of several symbols is meant cannot be told", false },
	{ "symbol-in-module", "a symbol is needed from a module that the parent does not depend on", false },
	{ "symbol-missing", "the kernel has no symbol that the new code needs", false },
	{ "symbol-unknown", "a symbol of a kind that is not understood", false },
	{ "tracepoint-inert", "a module's tracepoint does not fire in new code (a warning)", false },
	{ "vdso-changed", "code of the vDSO changed", true },
	{ "verify-mismatch", "the original as compiled here differs from the kernel that runs", false },
	{ "vmlinux-differs", "vmlinux is of another build than the kernel", false },
	{ NULL, NULL, false },
};
