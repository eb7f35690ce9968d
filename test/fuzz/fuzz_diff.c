// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: runs the differ on a pair of objects.
 *
 * An input is the length of the first object (32 bits, little endian), that object, and the other
 * one.  Nothing may crash, hang or leak.  The text of a refusal must be one line.  The output object
 * must be readable.
 *
 * corpus/ has inputs that once broke it:
 *	message-of-two-lines	a section's name with a line feed
 *	addend-overflow		an addend of 2^63 - 1 into a string section
 *	string-outside		a reference to a place in front of a string section, by a function with
 *				a static local
 *	riscv-no-upper-part	PCREL_LO12 without a PCREL_HI20, in a section whose name has a line feed
 *	riscv-parts-at-one-place	PCREL_HI20 and PCREL_LO12 in the same place
 *	common-size		a common symbol of 2^63 - 1 bytes
 *	addend-moved		an addend of nearly 2^56 to a symbol that becomes another with an offset
 *	relocations-overlap	two relocations whose fields overlap, the first of which ends behind the
 *				last, and behind its symbol
 *	mips-unaligned-low	a LO16 at a place that is not a multiple of 4, less than 4 bytes behind
 *				the start of its function
 */
#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "diff/diff.h"
#include "object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define HEADER sizeof(uint32_t)

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_diff: %s\n", what);
	abort();
}

/* A file in memory; path is for as long as the descriptor is open. */
static int make_file(const uint8_t *data, size_t size, char path[static 32])
{
	int fd = memfd_create("object", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "cannot make a file");
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static const char *out_path(void)
{
	static char path[64];

	if (!*path)
		snprintf(path, sizeof(path), "/dev/shm/pokepatch-fuzz-%d.o", (int)getpid());
	return path;
}

static void check_line(const char *text)
{
	require(text && *text && !strchr(text, '\n'), "a message is not one line");
}

static void check_out(void)
{
	struct object object;
	struct error *error = object_read(out_path(), &object);

	require(!error, error ? error->text : "");
	object_deinit(&object);
	unlink(out_path());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char orig[32], patched[32];
	struct externals externals = {0};
	struct refusals refusals = {0};
	struct diff_result result = {0};
	uint32_t first;

	if (size < HEADER)
		return 0;
	memcpy(&first, data, HEADER);
	first = le32toh(first);
	if (first > size - HEADER)
		return 0;
	int orig_fd = make_file(data + HEADER, first, orig);
	int patched_fd = make_file(data + HEADER + first, size - HEADER - first, patched);

	struct diff_options options = {
		.orig = orig, .patched = patched, .out = out_path(), .externals = &externals};
	struct error *error = diff_run(&options, &refusals, &result);
	if (error)
		check_line(error->text);
	else if (result.has_output)
		check_out();
	refusals_sort(&refusals);
	for (size_t i = 0; i < refusals.count; i++)
		check_line(refusals.list[i].text);
	error_destroy(error);
	diff_result_deinit(&result);
	refusals_deinit(&refusals);
	externals_deinit(&externals);
	close(orig_fd);
	close(patched_fd);
	return 0;
}

/* ---- mutation --------------------------------------------------------------- */

/*
 * Random bytes of an ELF file are mostly code and names, and a header that is off
 * ends in the reader.  So change fields of headers, symbols and relocations, one at
 * a time, in the file's own byte order, to values that are likely to hurt.
 */
struct mutation {
	uint8_t *file;
	size_t size;
	uint64_t seed;
	bool swapped;
};

static uint64_t next_random(struct mutation *mutation)
{
	mutation->seed = mutation->seed * 6364136223846793005u + 1442695040888963407u;
	return mutation->seed >> 33;
}

static uint64_t get(const struct mutation *mutation, size_t at, size_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)mutation->file[at + i]
			 << 8 * (mutation->swapped ? width - 1 - i : i);
	return value;
}

static void put(struct mutation *mutation, size_t at, size_t width, uint64_t value)
{
	for (size_t i = 0; i < width; i++)
		mutation->file[at + i] = value >> 8 * (mutation->swapped ? width - 1 - i : i);
}

static uint64_t hurtful(struct mutation *mutation, uint64_t old)
{
	static const uint64_t values[] = {
		0,	1,	    2,		3,	   4,	   7,	  8,
		0xff,	0xff00,	    0xffff,	0xfff1,	   0xfff2, 0x7fff, 0x8000,
		1 << 16, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, 1ull << 63, UINT64_MAX,
	};
	uint64_t choice = next_random(mutation);

	switch (choice % 4) {
	case 0:
		return values[next_random(mutation) % (sizeof(values) / sizeof(*values))];
	case 1:
		return old + next_random(mutation) % 9 - 4;
	case 2:
		return old ^ 1ull << next_random(mutation) % 64;
	default:
		return next_random(mutation) % 64;
	}
}

/* A field of an entry of a table of the file. */
static void mutate_entry(struct mutation *mutation, uint64_t table, uint64_t bytes, size_t entry,
			 const uint8_t *widths)
{
	if (table > mutation->size || bytes > mutation->size - table || bytes < entry)
		return;
	size_t at = table + next_random(mutation) % (bytes / entry) * entry;
	size_t fields = strlen((const char *)widths), field = next_random(mutation) % fields;

	for (size_t i = 0; i < field; i++)
		at += widths[i];
	put(mutation, at, widths[field], hurtful(mutation, get(mutation, at, widths[field])));
}

static void mutate_elf(struct mutation *mutation)
{
	static const uint8_t section_fields[] = {4, 4, 8, 8, 8, 8, 4, 4, 8, 8, 0};
	static const uint8_t symbol_fields[] = {4, 1, 1, 2, 8, 8, 0};
	static const uint8_t rela_fields[] = {8, 4, 4, 8, 0};

	if (mutation->size < sizeof(Elf64_Ehdr))
		return;
	mutation->swapped = mutation->file[EI_DATA] == ELFDATA2MSB;
	uint64_t table = get(mutation, offsetof(Elf64_Ehdr, e_shoff), 8);
	uint64_t count = get(mutation, offsetof(Elf64_Ehdr, e_shnum), 2);
	if (!count || table > mutation->size ||
	    count * sizeof(Elf64_Shdr) > mutation->size - table)
		return;

	uint64_t header = table + next_random(mutation) % count * sizeof(Elf64_Shdr);
	uint64_t type = get(mutation, header + offsetof(Elf64_Shdr, sh_type), 4);
	uint64_t offset = get(mutation, header + offsetof(Elf64_Shdr, sh_offset), 8);
	uint64_t bytes = get(mutation, header + offsetof(Elf64_Shdr, sh_size), 8);
	if (next_random(mutation) % 4 == 0)
		mutate_entry(mutation, header, sizeof(Elf64_Shdr), sizeof(Elf64_Shdr),
			     section_fields);
	else if (type == SHT_SYMTAB)
		mutate_entry(mutation, offset, bytes, sizeof(Elf64_Sym), symbol_fields);
	else if (type == SHT_RELA)
		mutate_entry(mutation, offset, bytes, sizeof(Elf64_Rela), rela_fields);
	else if (type != SHT_NOBITS && offset < mutation->size && bytes &&
		 bytes <= mutation->size - offset)
		LLVMFuzzerMutate(mutation->file + offset, bytes, bytes);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutation mutation = {.seed = seed * 2654435761u + 1};
	uint32_t first = 0;

	if (size > HEADER)
		memcpy(&first, data, HEADER);
	first = le32toh(first);
	if (first > size - HEADER || size <= HEADER || next_random(&mutation) % 16 == 0)
		return LLVMFuzzerMutate(data, size, max_size);

	bool second = next_random(&mutation) % 2;
	mutation.file = data + HEADER + (second ? first : 0);
	mutation.size = second ? size - HEADER - first : first;
	for (uint64_t changes = 1 + next_random(&mutation) % 3; changes; changes--)
		mutate_elf(&mutation);
	return size;
}
