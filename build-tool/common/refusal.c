// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every reason for a refusal: sorted by code.  Codes are never renamed; the
 * manual pages list them.
 */
#include "error.h"

const struct refusal_code refusal_codes[] = {
	{ "address-escapes", "new code or data may still be pointed to: the patch stays loaded (a warning)" },
	{ "assembly-changed", "an assembly file changed" },
	{ "binary-diff", "a source file changes as binary data" },
	{ "boot-changed", "code that only runs while the kernel boots changed" },
	{ "compiler-differs", "the compiler is not the one that built the kernel" },
	{ "config-differs", "the configuration and the build folder are of different kernels" },
	{ "data-changed", "the initial value of existing data changed" },
	{ "data-size", "existing data has another size" },
	{ "elf-malformed", "an object file is damaged" },
	{ "elf-unsupported", "an object file has something that is not understood" },
	{ "export-changed", "what a symbol is exported as changed" },
	{ "file-deleted", "a source file is deleted" },
	{ "file-renamed", "a source file is renamed" },
	{ "file-unknown", "a file of a kind that is not understood changed" },
	{ "header-changed", "a header changed" },
	{ "init-changed", "code or data that is only used at initialisation changed" },
	{ "kconfig-changed", "the configuration's description changed" },
	{ "makefile-changed", "a makefile or linker script changed" },
	{ "new-file", "a source file is new" },
	{ "no-entry", "a changed function has no entry that calls can be rerouted at" },
	{ "not-in-kernel", "nothing in this kernel is compiled from a changed file" },
	{ "objtool", "objtool does not accept the new code" },
	{ "parent-unknown", "a unit's module is not among the kernel's modules" },
	{ "relocation-in-alternative", "a place that the kernel patches needs a late relocation" },
	{ "relocation-unknown", "a relocation of a kind that is not understood" },
	{ "section-changed", "a section that cannot be carried changed" },
	{ "section-unknown", "a section of a kind that is not understood" },
	{ "source-differs", "the source is not of the kernel's version" },
	{ "static-ambiguous", "which of several static symbols is meant cannot be told" },
	{ "static-key-in-module", "new code uses a static key that lives in a module" },
	{ "symbol-ambiguous", "which of several symbols is meant cannot be told" },
	{ "symbol-missing", "the kernel has no symbol that the new code needs" },
	{ "symbol-unknown", "a symbol of a kind that is not understood" },
	{ "tracepoint-inert", "a module's tracepoint does not fire in new code (a warning)" },
	{ "vdso-changed", "code of the vDSO changed" },
	{ "verify-mismatch", "the original as compiled here differs from the kernel that runs" },
	{ "vmlinux-differs", "vmlinux is of another build than the kernel" },
	{ NULL, NULL },
};
