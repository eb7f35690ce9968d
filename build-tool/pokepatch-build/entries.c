// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A MIPS kernel has patchable entries if it was built by "pokepatch-as --build", which adds to
 * KCFLAGS.  Nothing in the build folder tells; but gcc notes in the DWARF of each unit how it was
 * called, so vmlinux does.  Units are compiled with the same, and through pokepatch-as.
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

/* In the tree, where compilers run: many builds use it, of checkouts that come and go. */
#define FOLDER ".pokepatch/as"

static const char option[] = "-fpatchable-function-entry=";

/* The number in the option of a unit's compiler, or 0. */
static unsigned long entry_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
	const char *found = producer ? strstr(producer, option) : NULL;

	return found ? strtoul(found + strlen(option), NULL, 10) : 0;
}

/* Linked to an address that is 32 bits, sign-extended, as one half of the address space's is? */
static bool is_short(uint64_t address)
{
	return (uint64_t)(int64_t)(int32_t)address == address;
}

/* Assembly and boot code have no entries: the first unit that has is asked. */
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
		*ret = entry_of(&die);
	dwarf_units_close(&units);
	return NULL;
}

struct error *find_entry_flags(struct build *build)
{
	const char *vmlinux = build->files.vmlinux;
	unsigned long slots;
	bool is_short;

	if (!build->machine->entries_by_as)
		return NULL;
	TRY(read_kernel(vmlinux, &slots, &is_short));
	if (!slots)
		refusals_add(&build->refusals, "no-entry", vmlinux, "vmlinux",
			     "none of its functions has a patchable entry; build the kernel by "
			     "'pokepatch-as --build', see pokepatch-as(1)");
	else if (!is_short)
		refusals_add(&build->refusals, "relocation-out-of-reach", vmlinux, "vmlinux",
			     "the kernel is linked to an address of 64 bits, and jumps to it are "
			     "made of two instructions, for 32; patch one in KSEG0");
	else
		build->kcflags = xasprintf("%s%lu -DCC_USING_PATCHABLE_FUNCTION_ENTRY -B%s/",
					   option, slots, FOLDER);
	return refusals_check(build);
}

/* A link to the program: what it is called by must end in "as". */
struct error *use_entry_flags(const struct build *build)
{
	_free_ char *folder = NULL, *program = NULL, *link = NULL, *new = NULL, *target = NULL;
	_free_ char *there = NULL;

	if (!build->kcflags)
		return NULL;
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
