// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searching all modules for a function.  The image's have symbol tables as well as those with debug
 * information, which are mostly still packed; kallsyms needs them.
 */
#include <fcntl.h>
#include <fts.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/modules.h"

/* Is it the function, "f.isra.0" or "f.constprop.0"?  "f.part.0" and "f.cold" are parts. */
static bool is_function(const char *symbol, const char *function)
{
	const size_t length = strlen(function);

	if (strncmp(symbol, function, length))
		return false;
	return !symbol[length] || has_prefix(symbol + length, ".isra.") ||
	       has_prefix(symbol + length, ".constprop.");
}

static bool table_has(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header, const char *function)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name;

		if (gelf_getsym(data, (int)i, &symbol) &&
		    GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
		    (name = elf_strptr(elf, header->sh_link, symbol.st_name)) &&
		    is_function(name, function))
			return true;
	}
	return false;
}

/* False also for a file that is no module: this is a search. */
static bool file_has(const char *path, const char *function)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	bool found = false;

	while (elf && !found && (scn = elf_nextscn(elf, scn)))
		found = gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB &&
			table_has(elf, scn, &header, function);
	elf_end(elf);
	return found;
}

static int path_order(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct error *modules_with_function(const struct build *build, const char *function,
				    struct args *ret)
{
	char *roots[] = {build->files.modules, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, path_order);
	FTSENT *entry;

	if (!walk)
		return error_errno("cannot read %s", build->files.modules);
	elf_version(EV_CURRENT);
	while ((entry = fts_read(walk))) {
		if (entry->fts_info != FTS_F || !has_suffix(entry->fts_name, ".ko") ||
		    !file_has(entry->fts_path, function))
			continue;
		args_addf(ret, "%.*s", (int)(entry->fts_namelen - strlen(".ko")), entry->fts_name);
		module_name_of_file(ret->list[ret->count - 1]);
	}
	fts_close(walk);
	return NULL;
}
