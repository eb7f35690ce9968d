// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The compiler flags for patchable entries of a MIPS kernel.
 *
 * "pokepatch-as --build" adds them to KCFLAGS when it builds a kernel.  The build folder does not
 * record KCFLAGS, but gcc records its options in the DWARF of each unit, so vmlinux has them.  We
 * compile units with the same number of NOPs, and with the assembler that moves them.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/dwarf_units.h"
#include "common/libexec.h"
#include "pokepatch-build/tree.h"

/*
 * Relative to the tree, where the compilers run.  Builds by several checkouts share the tree, and a
 * checkout may be removed, so the link is checked and renewed by each build.
 */
#define FOLDER ".pokepatch/as"

static const char option[] = "-fpatchable-function-entry=";

/* The number of NOPs that a unit was compiled with, or 0. */
static unsigned long entry_slots(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
	const char *found = producer ? strstr(producer, option) : NULL;

	return found ? strtoul(found + strlen(option), NULL, 10) : 0;
}

/* Is the address a sign-extended 32-bit one, as all of KSEG0 are? */
static bool is_short(uint64_t address)
{
	return (uint64_t)(int64_t)(int32_t)address == address;
}

/*
 * Read the number of NOPs (0: none), and whether the kernel is linked at a 32-bit address.
 * Assembly and boot code have no entries, so the first unit that has some decides.
 */
static struct error *read_kernel(const char *vmlinux, unsigned long *ret, bool *ret_short)
{
	struct dwarf_units units;
	GElf_Ehdr elf;
	Dwarf_Die die;

	*ret = 0;
	*ret_short = false;
	TRY(dwarf_units_open(vmlinux, &units));
	*ret_short = gelf_getehdr(dwarf_getelf(units.dwarf), &elf) && is_short(elf.e_entry);
	while (!*ret && dwarf_units_next(&units, &die))
		*ret = entry_slots(&die);
	dwarf_units_close(&units);
	return NULL;
}

struct error *entry_flags_find(struct build *build)
{
	const char *vmlinux = build->files.vmlinux;
	unsigned long slots;
	bool is_short;

	if (!build->machine->entries.by_as)
		return NULL;
	TRY(read_kernel(vmlinux, &slots, &is_short));
	if (!slots)
		refusals_add(&build->refusals, "no-entry", vmlinux, "vmlinux",
			     "none of its functions has a patchable entry; build the kernel with "
			     "'pokepatch-as --build', see pokepatch-as(1)");
	else if (!is_short)
		refusals_add(&build->refusals, "relocation-out-of-reach", vmlinux, "vmlinux",
			     "the kernel is linked at a 64-bit address, and pokepatch jumps to "
			     "32-bit addresses only; patch a kernel that is linked into KSEG0");
	else
		build->kcflags = xasprintf("%s%lu -DCC_USING_PATCHABLE_FUNCTION_ENTRY -B%s/",
					   option, slots, FOLDER);
	return build_check_refusals(build);
}

/* The compiler looks for a program called "as" in the -B folder, so the link has that name. */
struct error *entry_flags_install(const struct build *build)
{
	_free_ char *folder = NULL, *program = NULL, *link = NULL, *new = NULL, *target = NULL;
	_free_ char *there = NULL;

	if (!build->kcflags)
		return NULL; /* the compiler makes this machine's entries */
	TRY(libexec_find("as", &folder));
	program = xasprintf("%sas", folder);
	target = realpath(program, NULL);
	if (!target)
		return error_errno("cannot find %s", program);
	free(folder);
	folder = xasprintf("%s/%s", build->tree, FOLDER);
	link = xasprintf("%s/as", folder);
	new = xasprintf("%s.%d", link, (int)getpid());
	there = realpath(link, NULL);
	if (there && !strcmp(there, target))
		return NULL;
	TRY(make_dirs(folder));
	unlink(new);
	if (symlink(target, new) || rename(new, link))
		return error_errno("cannot make %s", link);
	return NULL;
}
