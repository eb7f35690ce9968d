// SPDX-License-Identifier: GPL-2.0-or-later
/* targets: the kernel's memory, by /proc/kcore, and the symbols of its code, by /proc/kallsyms. */
#include "target_kernel.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("targets: ");
	vprintf(format, args);
	printf("\n");
	exit(2);
}

void *make(size_t size)
{
	void *made = calloc(1, size ? size : 1);

	if (!made)
		die("no memory");
	return made;
}

/* --- the kernel's memory ---------------------------------------------------------------- */

static int kcore;
static Elf64_Phdr *ranges;
static unsigned int nr_ranges;

void open_kcore(void)
{
	Elf64_Ehdr ehdr;

	kcore = open("/proc/kcore", O_RDONLY);
	if (kcore < 0 || pread(kcore, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr))
		die("/proc/kcore: %s", strerror(errno));
	nr_ranges = ehdr.e_phnum;
	ranges = make(nr_ranges * sizeof(*ranges));
	if (pread(kcore, ranges, nr_ranges * sizeof(*ranges), (off_t)ehdr.e_phoff) < 0)
		die("/proc/kcore: %s", strerror(errno));
}

void read_kernel(uint64_t at, void *to, size_t size)
{
	unsigned int i;

	for (i = 0; i < nr_ranges; i++)
		if (ranges[i].p_type == PT_LOAD && at >= ranges[i].p_vaddr &&
		    at + size <= ranges[i].p_vaddr + ranges[i].p_memsz &&
		    pread(kcore, to, size, (off_t)(ranges[i].p_offset + at - ranges[i].p_vaddr)) ==
			    (ssize_t)size)
			return;
	die("cannot read %zu bytes at %lx", size, (unsigned long)at);
}

/* --- its symbols ------------------------------------------------------------------------ */

static struct symbol *symbols;
static unsigned int nr_symbols;
uint64_t stext, etext;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

void read_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned int room = 0;
	char line[512], name[400];

	while (file && fgets(line, sizeof(line), file)) {
		unsigned long at;
		char type;

		if (sscanf(line, "%lx %c %399[^\n]", &at, &type, name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		if (nr_symbols == room) {
			room = room ? 2 * room : 1 << 16;
			symbols = realloc(symbols, room * sizeof(*symbols));
			if (!symbols)
				die("no memory");
		}
		symbols[nr_symbols++] = (struct symbol){at, type, strdup(name)};
		if (!strcmp(name, "_stext"))
			stext = at;
		if (!strcmp(name, "_etext"))
			etext = at;
	}
	if (!stext || !etext)
		die("/proc/kallsyms has no addresses");
	fclose(file);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
}

/* The symbol of code at or before an address, or NULL. */
const struct symbol *symbol_before(uint64_t at)
{
	unsigned int low = 0, high = nr_symbols;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (symbols[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &symbols[low - 1] : NULL;
}

const char *name_of(uint64_t at)
{
	static char text[512];
	const struct symbol *symbol = symbol_before(at);

	snprintf(text, sizeof(text), at == symbol->at ? "%s" : "%s+0x%lx", symbol->name,
		 (unsigned long)(at - symbol->at));
	return text;
}
