// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * targets - find what modules call indirectly, in the kernel's memory, and check that each of these
 * targets begins with ENDBR (x86-64 kernels with CONFIG_X86_KERNEL_IBT).
 *
 * targets FILE.ko...           the modules that were loaded from these files
 *
 * A CPU with IBT lets an indirect call arrive at an ENDBR only.  The kernel overwrites ("seals")
 * the ENDBR of each function of which no address is taken, when it boots and when it loads a
 * module.  Emulators have no IBT, so there no such call fails.
 *
 * An address that is called indirectly must lie in data, or some code must make it.  So these are
 * the targets:
 *
 * - Each aligned word of a module's data that is the address of code, of the kernel's or of any
 *   module's: the slots that the core has filled, the operations of ftrace, kobjects, files,
 *   notifiers and tracepoints, and a patch's callbacks.
 * - Each immediate operand and each LEA in a module's code that yields such an address: timers,
 *   work, threads, probes that are registered.
 * - Each word that an indirect call in a module's code reads at a fixed address.
 *
 * Places and names of what is never called are in tables and functions of their own below.
 *
 * The program prints a line for each target, "bad" where there is no ENDBR, and the sums.  Its
 * status is 1 if any is bad.
 */
#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../../core-module/include/pokepatch_format.h"
#include "target_kernel.h"

/* --- a module, in its file and in memory ------------------------------------------------ */

/* Eight bytes of a section. */
struct word {
	bool relocated;
	/* Where it leads, if to code of init, whose memory is gone; section 0: elsewhere. */
	unsigned int section;
	uint64_t offset;
};

struct place {
	unsigned int section;
	uint64_t offset;
};

struct module {
	const char *file;
	const uint8_t *elf;
	const Elf64_Shdr *sections;
	unsigned int nr_sections;
	const char *section_names;
	uint64_t *at;        /* of each section in memory; 0: it is not there */
	uint8_t **bytes;     /* of each section in memory */
	struct word **words; /* of each section of data in memory: what the file says of each */
	const Elf64_Sym *symtab;
	unsigned int nr_symtab;
	const char *strtab;
	char name[64];
	struct pokepatch_image image; /* of a patch; magic is 0 if the module is none */
	struct place *seals; /* what its own table tells the kernel to seal */
	unsigned int nr_seals;
	unsigned int sealed;
};

static const char *section_name(const struct module *module, unsigned int i)
{
	return module->section_names + module->sections[i].sh_name;
}

static unsigned int find_section(const struct module *module, const char *name)
{
	unsigned int i;

	for (i = 1; i < module->nr_sections; i++)
		if (!strcmp(section_name(module, i), name))
			return i;
	return 0;
}

static void map_file(struct module *module)
{
	int fd = open(module->file, O_RDONLY);
	const Elf64_Ehdr *ehdr;
	struct stat stat;
	unsigned int i;

	if (fd < 0 || fstat(fd, &stat))
		die("%s: %s", module->file, strerror(errno));
	module->elf = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (module->elf == MAP_FAILED)
		die("%s: %s", module->file, strerror(errno));
	close(fd);
	ehdr = (const void *)module->elf;
	module->sections = (const void *)(module->elf + ehdr->e_shoff);
	module->nr_sections = ehdr->e_shnum;
	module->section_names =
		(const char *)module->elf + module->sections[ehdr->e_shstrndx].sh_offset;
	for (i = 1; i < module->nr_sections; i++) {
		const Elf64_Shdr *section = &module->sections[i];

		if (section->sh_type != SHT_SYMTAB)
			continue;
		module->symtab = (const void *)(module->elf + section->sh_offset);
		module->nr_symtab = (unsigned int)(section->sh_size / sizeof(Elf64_Sym));
		module->strtab =
			(const char *)module->elf + module->sections[section->sh_link].sh_offset;
	}
}

static void read_name(struct module *module)
{
	const Elf64_Shdr *modinfo = &module->sections[find_section(module, ".modinfo")];
	const char *at = (const char *)module->elf + modinfo->sh_offset;
	const char *end = at + modinfo->sh_size;

	for (; at < end; at += strlen(at) + 1)
		if (!strncmp(at, "name=", 5))
			snprintf(module->name, sizeof(module->name), "%s", at + 5);
	if (!module->name[0])
		die("%s: no module", module->file);
}

/* Sections of init are in sysfs too, but their memory is gone. */
static void read_sections(struct module *module)
{
	unsigned int i;
	char path[512];

	module->at = make(module->nr_sections * sizeof(*module->at));
	module->bytes = make(module->nr_sections * sizeof(*module->bytes));
	for (i = 1; i < module->nr_sections; i++) {
		const Elf64_Shdr *section = &module->sections[i];
		FILE *file;

		if (!(section->sh_flags & SHF_ALLOC) || !section->sh_size ||
		    !strncmp(section_name(module, i), ".init", 5))
			continue;
		snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", module->name,
			 section_name(module, i));
		file = fopen(path, "r");
		/* Per-CPU data is in none of the module's regions, and is not in sysfs. */
		if (!file || fscanf(file, "%lx", &module->at[i]) != 1)
			module->at[i] = 0;
		if (file)
			fclose(file);
		if (!module->at[i])
			continue;
		module->bytes[i] = make(section->sh_size);
		read_kernel(module->at[i], module->bytes[i], section->sh_size);
	}
}

/* The n-th section has relocations for which section?  0: it has none. */
static unsigned int relocates(const struct module *module, unsigned int n)
{
	return module->sections[n].sh_type == SHT_RELA ? module->sections[n].sh_info : 0;
}

static const Elf64_Rela *relocs_of(const struct module *module, unsigned int n, size_t *ret_count)
{
	*ret_count = module->sections[n].sh_size / sizeof(Elf64_Rela);
	return (const void *)(module->elf + module->sections[n].sh_offset);
}

static bool is_lost_code(const struct module *module, unsigned int section)
{
	return section && section < module->nr_sections && !module->at[section] &&
	       (module->sections[section].sh_flags & SHF_EXECINSTR);
}

static void read_words(struct module *module)
{
	unsigned int n, i;
	size_t count, r;

	module->words = make(module->nr_sections * sizeof(*module->words));
	for (i = 1; i < module->nr_sections; i++)
		if (module->bytes[i])
			module->words[i] = make((module->sections[i].sh_size / 8 + 1) *
						sizeof(**module->words));
	for (n = 1; n < module->nr_sections; n++) {
		const Elf64_Rela *relocs = relocs_of(module, n, &count);

		i = relocates(module, n);
		for (r = 0; i && module->bytes[i] && r < count; r++) {
			const Elf64_Sym *symbol = &module->symtab[ELF64_R_SYM(relocs[r].r_info)];
			struct word *word = &module->words[i][relocs[r].r_offset / 8];

			if (ELF64_R_TYPE(relocs[r].r_info) != R_X86_64_64)
				continue;
			word->relocated = true;
			if (!is_lost_code(module, symbol->st_shndx))
				continue;
			word->section = symbol->st_shndx;
			word->offset = symbol->st_value + (uint64_t)relocs[r].r_addend;
		}
	}
}

/* A patch's tables, as they are in memory. */
static void read_image(struct module *module)
{
	unsigned int i;

	for (i = 1; i < module->nr_symtab; i++) {
		const Elf64_Sym *symbol = &module->symtab[i];

		if (symbol->st_shndx < module->nr_sections && module->at[symbol->st_shndx] &&
		    !strcmp(module->strtab + symbol->st_name, POKEPATCH_IMAGE_SYMBOL))
			read_kernel(module->at[symbol->st_shndx] + symbol->st_value, &module->image,
				    sizeof(module->image));
	}
}

static bool in_section(const struct module *module, unsigned int i, uint64_t at)
{
	return module->at[i] && at - module->at[i] < module->sections[i].sh_size;
}

/* The symbol of a module's own that holds a place, or the one before it in its section. */
static const char *place_of(const struct module *module, unsigned int section, uint64_t at)
{
	static char text[512];
	const Elf64_Sym *best = NULL;
	const uint64_t offset = at - module->at[section];
	unsigned int i;

	for (i = 1; i < module->nr_symtab; i++) {
		const Elf64_Sym *symbol = &module->symtab[i];
		const int type = ELF64_ST_TYPE(symbol->st_info);

		if (symbol->st_shndx == section && symbol->st_value <= offset &&
		    (type == STT_OBJECT || type == STT_FUNC) &&
		    (!best || symbol->st_value >= best->st_value))
			best = symbol;
	}
	if (best)
		snprintf(text, sizeof(text), "%s %s+0x%lx", section_name(module, section),
			 module->strtab + best->st_name, (unsigned long)(offset - best->st_value));
	else
		snprintf(text, sizeof(text), "%s+0x%lx", section_name(module, section),
			 (unsigned long)offset);
	return text;
}

/* --- targets ---------------------------------------------------------------------------- */

/* In these sections, addresses of code say where it is. */
static const char *const tables[] = {
	"__mcount_loc",                 /* ftrace's sites */
	"__patchable_function_entries", /* padding in front of functions */
	"_kprobe_blacklist",            /* functions in which kprobes allows no probe */
};

/* What these names begin is never called indirectly. */
static const char *const called_directly[] = {
	"__SCT__",         /* the trampoline of a static call */
	"pokepatch_stubs", /* ftrace's sites call a patch's stubs */
	"x86_detours",     /* the handler of breakpoints leads there, x86_detour.c */
	"pp_x86_",         /* where the core tries breakpoints, x86_breaks.c */
};

/* Rows of the core's tables (pp_needed.h) by which it compares addresses, or probes a function. */
static const char *const compared[] = {
	"_stext",
	"__indirect_thunk_start",
	"__indirect_thunk_end",
	"__x86_indirect_thunk_array",
	"__x86_return_thunk",
	"ftrace_stub",
	"return_to_handler",
	"srso_alias_safe_ret",
	"arch_rethook_trampoline",
	"__text_poke",
	"text_poke_memcpy",
	"ftrace_set_filter_ip",
	"ftrace_set_filter_ips",
	"bpf_trampoline_link_prog",
	"arch_prepare_kprobe",
	"arch_prepare_kprobe_ftrace",
	"native_play_dead",
	"hlt_play_dead",
	"mwait_play_dead",
	"mwait_play_dead_cpuid_hint",
	"arch_cpu_idle_dead",
	"cpuidle_play_dead",
	"acpi_idle_play_dead",
	"sev_es_play_dead",
	"xen_pv_play_dead",
	"intel_idle_enter_dead",
	"acpi_processor_ffh_play_dead",
};

#define IN_LIST(list, name, prefix) in_list(list, sizeof(list) / sizeof(*list), name, prefix)

static bool in_list(const char *const *list, size_t count, const char *name, bool prefix)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (prefix ? !strncmp(list[i], name, strlen(list[i])) : !strcmp(list[i], name))
			return true;
	return false;
}

/* struct pp_needed of core-module/pp_needed.h */
struct needed {
	char name[48];
	uint64_t slot;
	bool optional, function;
	uint8_t padding[6];
};

/* Is this the slot of an address that the core does not call?  Each such slot is a word of data. */
static bool is_compared(const struct module *module, uint64_t place)
{
	const unsigned int i = find_section(module, ".rodata.pp_needed");
	const struct needed *rows = (const void *)(i ? module->bytes[i] : NULL);
	size_t row, count = rows ? module->sections[i].sh_size / sizeof(*rows) : 0;

	for (row = 0; row < count; row++)
		if (rows[row].slot == place)
			return !rows[row].function && IN_LIST(compared, rows[row].name, false);
	return false;
}

/*
 * The tables of a patch's functions and relocations: the core jumps to the functions, and writes at
 * the places.  Callbacks are called.
 */
static bool in_patch_tables(const struct module *module, uint64_t at)
{
	const struct pokepatch_image *image = &module->image;

	return image->magic == POKEPATCH_MAGIC &&
	       (at - image->funcs < image->nr_funcs * sizeof(struct pokepatch_func) ||
		at - image->relocs < image->nr_relocs * sizeof(struct pokepatch_reloc));
}

static struct module *modules;
static unsigned int nr_modules;

/* Is it code that is in memory now, and does a symbol have it? */
static bool is_code(uint64_t at)
{
	const struct symbol *symbol;
	unsigned int m, i;

	if (at >= stext && at < etext)
		return true;
	for (m = 0; m < nr_modules; m++)
		for (i = 1; i < modules[m].nr_sections; i++)
			if (in_section(&modules[m], i, at))
				return modules[m].sections[i].sh_flags & SHF_EXECINSTR;
	/* Of another module, or a trampoline: then a symbol is near. */
	symbol = at > etext ? symbol_before(at) : NULL;
	return symbol && symbol->at >= etext && strchr(symbol->name, '[') &&
	       at - symbol->at < 0x1000;
}

static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
/* What the kernel leaves of a sealed one: nopw (%rax). */
static const uint8_t seal[4] = {0x66, 0x0f, 0x1f, 0x00};

static unsigned int nr_good, nr_bad, nr_never, nr_ours, nr_kernel, nr_gates;

/* A gate of the core: behind its ENDBR, a direct jump into the kernel. */
static const char *gate_leads(uint64_t at)
{
	static char text[600];
	uint8_t jump[5];
	int32_t distance;

	read_kernel(at + 4, jump, sizeof(jump));
	memcpy(&distance, jump + 1, 4);
	if (jump[0] != 0xe9 || at + 9 + (uint64_t)distance - stext >= etext - stext)
		return "";
	nr_gates++;
	snprintf(text, sizeof(text), ", a gate to %s", name_of(at + 9 + (uint64_t)distance));
	return text;
}

/* x86_gate.c takes the address of the jump in a gate, to write it. */
static bool is_gates_jump(uint64_t at)
{
	const struct symbol *symbol = symbol_before(at);

	return !strncmp(symbol->name, "x86_gates\t", 10) && (at - symbol->at) % 16 == 4;
}

static void target(const struct module *module, const char *place, uint64_t at)
{
	uint8_t bytes[4];

	if (IN_LIST(called_directly, symbol_before(at)->name, true) || is_gates_jump(at)) {
		nr_never++;
		return;
	}
	read_kernel(at, bytes, sizeof(bytes));
	if (at >= stext && at < etext)
		nr_kernel++;
	else
		nr_ours++;
	if (!memcmp(bytes, endbr64, sizeof(bytes))) {
		nr_good++;
		printf("good: %s: %s: %s%s\n", module->name, place, name_of(at), gate_leads(at));
		return;
	}
	nr_bad++;
	printf("bad: %s: %s: %s %s\n", module->name, place, name_of(at),
	       memcmp(bytes, seal, sizeof(bytes)) ? "has no ENDBR" : "is sealed");
}

/* Read the file's own table of what the kernel shall seal. */
static void read_seals(struct module *module)
{
	const unsigned int table = find_section(module, ".ibt_endbr_seal");
	unsigned int n;
	size_t count, r;

	for (n = 1; table && n < module->nr_sections; n++) {
		const Elf64_Rela *relocs = relocs_of(module, n, &count);

		if (relocates(module, n) != table || !count)
			continue;
		module->seals = make(count * sizeof(*module->seals));
		module->nr_seals = (unsigned int)count;
		for (r = 0; r < count; r++) {
			const Elf64_Sym *symbol = &module->symtab[ELF64_R_SYM(relocs[r].r_info)];

			module->seals[r].section = symbol->st_shndx;
			module->seals[r].offset = symbol->st_value + (uint64_t)relocs[r].r_addend;
		}
	}
}

static bool is_in_seals(const struct module *module, unsigned int section, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < module->nr_seals; i++)
		if (module->seals[i].section == section && module->seals[i].offset == offset)
			return true;
	return false;
}

/* Code of init, which is in no memory any more: what counts is what the kernel had to load. */
static void target_in_file(const struct module *module, const char *place, unsigned int section,
			   uint64_t offset)
{
	const uint8_t *code = module->elf + module->sections[section].sh_offset + offset;
	const bool sealed = is_in_seals(module, section, offset);

	nr_ours++;
	if (!sealed && !memcmp(code, endbr64, sizeof(endbr64))) {
		nr_good++;
		return;
	}
	nr_bad++;
	printf("bad: %s: %s: %s+0x%lx %s\n", module->name, place, section_name(module, section),
	       (unsigned long)offset, sealed ? "is sealed" : "has no ENDBR");
}

/* --- where they come from --------------------------------------------------------------- */

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/*
 * The core's struct kprobe (others.c, guard.c) has the address of the probed instruction and of its
 * copy, to which the kernel returns from an exception.  The handlers, which it calls, are the core's.
 */
static bool in_probe(const struct module *module, unsigned int i, uint64_t place, uint64_t word)
{
	unsigned int own;

	for (own = 1; own < module->nr_sections; own++)
		if (in_section(module, own, word))
			return false;
	return has_prefix(place_of(module, i, place), ".bss probe+") ||
	       has_prefix(place_of(module, i, place), ".data guards+");
}

static void look_at_data(const struct module *module, unsigned int i)
{
	const uint64_t size = module->sections[i].sh_size;
	/* The kernel writes the rest of struct module: where the module lies, say. */
	const bool linked = !strcmp(section_name(module, i), ".gnu.linkonce.this_module");
	uint64_t offset, word;

	for (offset = -module->at[i] & 7; offset + 8 <= size; offset += 8) {
		const uint64_t place = module->at[i] + offset;
		const struct word *word_in_file = &module->words[i][offset / 8];

		memcpy(&word, module->bytes[i] + offset, 8);
		if (IN_LIST(tables, section_name(module, i), false)) {
			nr_never += is_code(word);
			continue;
		}
		if (word_in_file->section) {
			target_in_file(module, place_of(module, i, place), word_in_file->section,
				       word_in_file->offset);
			continue;
		}
		if (!is_code(word) || (linked && !word_in_file->relocated))
			continue;
		if (is_compared(module, place) || in_patch_tables(module, place) ||
		    in_probe(module, i, place, word))
			nr_never++;
		else
			target(module, place_of(module, i, place), word);
	}
}

static unsigned int nr_calls, nr_undecoded;

static bool is_branch(const cs_insn *insn)
{
	unsigned int i;

	for (i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == X86_GRP_CALL ||
		    insn->detail->groups[i] == X86_GRP_JUMP)
			return true;
	return false;
}

static bool is_thunk(uint64_t at)
{
	const struct symbol *symbol = symbol_before(at);

	return symbol && !strncmp(symbol->name, "__x86_indirect_thunk_", 21);
}

static void look_at_operand(const struct module *module, unsigned int i, const cs_insn *insn,
			    const cs_x86_op *op)
{
	const char *place = place_of(module, i, insn->address);
	const bool branch = is_branch(insn);
	uint64_t at;

	if (op->type == X86_OP_IMM) {
		/* sync_core() pushes where its IRET returns to. */
		if (branch)
			nr_calls += is_thunk((uint64_t)op->imm);
		else if (insn->id != X86_INS_PUSH && is_code((uint64_t)op->imm))
			target(module, place, (uint64_t)op->imm);
		return;
	}
	if (branch && op->type != X86_OP_INVALID) {
		nr_calls++;
		if (op->type == X86_OP_REG)
			return;
	}
	if (op->type != X86_OP_MEM || op->mem.index != X86_REG_INVALID)
		return;
	at = (uint64_t)op->mem.disp;
	if (op->mem.base == X86_REG_RIP)
		at += insn->address + insn->size;
	else if (op->mem.base != X86_REG_INVALID)
		return;
	if (insn->id == X86_INS_LEA && is_code(at)) {
		target(module, place, at);
	} else if (branch) {
		uint64_t word;

		read_kernel(at, &word, 8);
		target(module, place, word);
	}
}

/* The length of an instruction that Debian 12's capstone cannot decode, or 0. */
static unsigned int unknown_to_capstone(const uint8_t *bytes, size_t left)
{
	static const uint8_t serialize[3] = {0x0f, 0x01, 0xe8};

	if (left >= sizeof(endbr64) && !memcmp(bytes, endbr64, sizeof(endbr64)))
		return sizeof(endbr64);
	return left >= sizeof(serialize) && !memcmp(bytes, serialize, sizeof(serialize))
		       ? sizeof(serialize)
		       : 0;
}

static void look_at_code(const struct module *module, unsigned int i, csh handle)
{
	const uint8_t *bytes = module->bytes[i];
	uint64_t at = module->at[i];
	size_t left = module->sections[i].sh_size;
	cs_insn *insn = cs_malloc(handle);
	unsigned int n;

	while (left) {
		const unsigned int length = unknown_to_capstone(bytes, left);

		if (length) {
			bytes += length, at += length, left -= length;
			continue;
		}
		if (!cs_disasm_iter(handle, &bytes, &left, &at, insn)) {
			nr_undecoded++;
			printf("undecoded: %s\n", place_of(module, i, at));
			bytes++, at++, left--;
			continue;
		}
		for (n = 0; n < insn->detail->x86.op_count; n++)
			look_at_operand(module, i, insn, &insn->detail->x86.operands[n]);
	}
	cs_free(insn, 1);
}

/*
 * The addresses that code of init made, by the file: this code has run, and is gone.  Relocations
 * of other types belong to calls and jumps.
 */
static void look_at_init(const struct module *module)
{
	unsigned int n;
	size_t count, r;

	for (n = 1; n < module->nr_sections; n++) {
		const Elf64_Rela *relocs = relocs_of(module, n, &count);

		for (r = 0; is_lost_code(module, relocates(module, n)) && r < count; r++) {
			const Elf64_Sym *symbol = &module->symtab[ELF64_R_SYM(relocs[r].r_info)];
			const unsigned int to = symbol->st_shndx;
			const uint64_t offset = symbol->st_value + (uint64_t)relocs[r].r_addend;

			if (ELF64_R_TYPE(relocs[r].r_info) != R_X86_64_32S &&
			    ELF64_R_TYPE(relocs[r].r_info) != R_X86_64_64)
				continue;
			if (is_lost_code(module, to))
				target_in_file(module, "code of init", to, offset);
			else if (to && to < module->nr_sections && is_code(module->at[to] + offset))
				target(module, "code of init", module->at[to] + offset);
		}
	}
}

/* That the kernel has sealed what it shall seal, and how much that is. */
static void check_seals(struct module *module)
{
	unsigned int i;

	for (i = 0; i < module->nr_seals; i++) {
		const struct place *at = &module->seals[i];

		if (!module->bytes[at->section])
			continue; /* of init */
		if (memcmp(module->bytes[at->section] + at->offset, seal, sizeof(seal)))
			die("%s: %s+0x%lx is to be sealed, and is not", module->name,
			    section_name(module, at->section), (unsigned long)at->offset);
		module->sealed++;
	}
}

int main(int argc, char **argv)
{
	unsigned int m, i, sealed = 0;
	csh handle;

	if (argc < 2)
		die("usage: targets FILE.ko...");
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) ||
	    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON))
		die("capstone");
	open_kcore();
	read_symbols();
	nr_modules = (unsigned int)argc - 1;
	modules = make(nr_modules * sizeof(*modules));
	for (m = 0; m < nr_modules; m++) {
		modules[m].file = argv[m + 1];
		map_file(&modules[m]);
		read_name(&modules[m]);
		read_sections(&modules[m]);
		read_words(&modules[m]);
		read_image(&modules[m]);
		read_seals(&modules[m]);
		check_seals(&modules[m]);
		sealed += modules[m].sealed;
	}
	for (m = 0; m < nr_modules; m++) {
		look_at_init(&modules[m]);
		for (i = 1; i < modules[m].nr_sections; i++) {
			if (!modules[m].bytes[i])
				continue;
			if (modules[m].sections[i].sh_flags & SHF_EXECINSTR)
				look_at_code(&modules[m], i, handle);
			else
				look_at_data(&modules[m], i);
		}
	}
	printf("modules %u, places with targets %u: %u in modules, %u in the kernel; gates %u\n",
	       nr_modules, nr_good + nr_bad, nr_ours, nr_kernel, nr_gates);
	printf("indirect branches %u, sealed functions %u, addresses never called %u, undecoded "
	       "%u\n",
	       nr_calls, sealed, nr_never, nr_undecoded);
	printf("bad %u\n", nr_bad);
	return nr_bad > 0;
}
