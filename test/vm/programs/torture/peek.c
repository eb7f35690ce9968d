// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Part of torture: reads a variable of a loaded module.  Not every kernel lists variables in
 * kallsyms.  So the offset in its section comes from the module's file, and the section's address
 * from sysfs.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "torture.h"

/* Map the file of a module.  Its headers are trusted. */
static const char *map(const char *module, size_t *size)
{
	struct stat status;
	char path[512];
	void *image;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.ko", extra, module);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &status))
		fail("%s", path);
	*size = status.st_size;
	image = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image == MAP_FAILED)
		fail("%s", path);
	close(fd);
	return image;
}

/* Find the symbol's section, by the name that the kernel uses, and its offset in that. */
static void find(const char *module, const char *name, char *section, size_t room,
		 unsigned long long *offset)
{
	size_t size;
	const char *const image = map(module, &size);
	const Elf64_Ehdr *const header = (const void *)image;
	const Elf64_Shdr *const sections = (const void *)(image + header->e_shoff);
	const char *const names = image + sections[header->e_shstrndx].sh_offset;
	bool found = false;

	for (int i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbol = (const void *)(image + sections[i].sh_offset), *last;
		const char *strings;

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		last = symbol + sections[i].sh_size / sizeof(*symbol);
		strings = image + sections[sections[i].sh_link].sh_offset;
		while (symbol < last && strcmp(strings + symbol->st_name, name))
			symbol++;
		if (symbol == last || symbol->st_shndx >= header->e_shnum)
			break;
		snprintf(section, room, "%s", names + sections[symbol->st_shndx].sh_name);
		*offset = symbol->st_value;
		found = true;
	}
	munmap((void *)image, size);
	if (!found)
		fail("%s has no variable %s", module, name);
}

unsigned long peek(const char *module, const char *name)
{
	char section[64], path[256], text[64], folder[64];
	unsigned long long offset;

	find(module, name, section, sizeof(section), &offset);
	snprintf(folder, sizeof(folder), "%s", module);
	for (char *at = folder; (at = strchr(at, '-'));)
		*at = '_';
	snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", folder, section);
	get(path, text, sizeof(text));
	snprintf(text, sizeof(text), "%llu", strtoull(text, NULL, 16) + offset);
	if (put(PARAMETERS "peek", text))
		fail("%s of %s, at %s", name, module, text);
	get(PARAMETERS "peek", text, sizeof(text));
	return strtoul(text, NULL, 10);
}
