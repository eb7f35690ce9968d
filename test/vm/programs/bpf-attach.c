// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf-attach KIND FUNCTION FILE - count the calls of a kernel function until this process is killed:
 *
 *	fentry fexit fmod_ret	by a BPF program at its entry, its exit, or in between
 *	kprobe			by a BPF program on perf's probe, as bpftrace does it
 *	perf			by perf's probe alone
 *	perf-function		by perf's event ftrace:function, with a filter
 *
 * FILE appears once that is attached.  It holds the count and is written anew ten times a second.
 * Status 2: the kernel refused to attach it.
 *
 * It uses system calls only, so that the guest needs no library.  Formats:
 * Documentation/bpf/btf.rst, bpf(2), perf_event_open(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "bpf-attach: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* The number of bytes behind a type's header. */
static size_t extra(const struct btf_type *type)
{
	size_t count = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return count * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

static unsigned int find_function(const char *name)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		fail("/sys/kernel/btf/vmlinux");
	char *data = malloc(status.st_size);
	for (off_t done = 0; done < status.st_size;) {
		ssize_t got = read(fd, data + done, status.st_size - done);

		if (got <= 0)
			fail("reading /sys/kernel/btf/vmlinux");
		done += got;
	}
	close(fd);
	const struct btf_header *header = (const void *)data;
	const char *types = data + header->hdr_len + header->type_off;
	const char *strings = data + header->hdr_len + header->str_off;
	unsigned int id = 1;

	for (size_t at = 0; at < header->type_len; id++) {
		const struct btf_type *type = (const void *)(types + at);

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    !strcmp(strings + type->name_off, name))
			return id;
		at += sizeof(*type) + extra(type);
	}
	fprintf(stderr, "bpf-attach: no function %s\n", name);
	exit(1);
}

/* Load a program that counts its runs in @map: on @function, or for a perf event if that is 0. */
static int load(int map, unsigned int function, int attach_type)
{
	/* Add one to element 0 of the map. */
	struct bpf_insn program[] = {
		{.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = 10, .off = -4},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -4},
		{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = map},
		{0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 2},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 1},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 0, .src_reg = 1, .imm = BPF_ADD},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	static char log[16384];
	union bpf_attr attr = {
		.prog_type = function ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_KPROBE,
		.insns = (unsigned long)program,
		.insn_cnt = sizeof(program) / sizeof(*program),
		.license = (unsigned long)"GPL",
		.log_buf = (unsigned long)log,
		.log_size = sizeof(log),
		.log_level = 1,
		.expected_attach_type = attach_type,
		.attach_btf_id = function,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0) {
		fputs(log, stderr);
		fail("loading");
	}
	return fd;
}

static int refused(const char *function)
{
	fprintf(stderr, "bpf-attach: attaching to %s: %s\n", function, strerror(errno));
	return 2;
}

static unsigned long long map_count(const int *map, int nr)
{
	unsigned int key = 0;
	unsigned long long value = 0;
	union bpf_attr look = {
		.map_fd = *map, .key = (unsigned long)&key, .value = (unsigned long)&value};

	(void)nr;
	if (bpf(BPF_MAP_LOOKUP_ELEM, &look) < 0)
		fail("reading the map");
	return value;
}

static unsigned long long events_count(const int *events, int nr)
{
	unsigned long long sum = 0;

	for (int i = 0; i < nr; i++) {
		unsigned long long value = 0;

		if (read(events[i], &value, sizeof(value)) != sizeof(value))
			fail("reading an event");
		sum += value;
	}
	return sum;
}

static unsigned int read_number(const char *path)
{
	unsigned int number;
	FILE *file = fopen(path, "r");

	if (!file || fscanf(file, "%u", &number) != 1)
		fail(path);
	fclose(file);
	return number;
}

/* The address of vmlinux's function: a loaded patch may have one of the same name. */
static unsigned long find_address(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[512], symbol[256], module[256];
	unsigned long address;

	if (!file)
		fail("/proc/kallsyms");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %*c %255s %255s", &address, symbol, module) == 2 &&
		    !strcmp(symbol, name)) {
			fclose(file);
			return address;
		}
	fprintf(stderr, "bpf-attach: no function %s\n", name);
	exit(1);
}

#define CPUS_MAX 64

/*
 * Open an event for @function on each processor, with the program @program unless that is -1.
 * Return: how many, or 0 if the kernel refuses.
 */
static int open_events(const char *kind, const char *function, int program, int *events)
{
	const int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct perf_event_attr attr = {.size = sizeof(attr)};
	char filter[128];

	if (!strcmp(kind, "perf-function")) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = read_number("/sys/kernel/tracing/events/ftrace/function/id");
		snprintf(filter, sizeof(filter), "ip == %s", function);
	} else {
		attr.type = read_number("/sys/bus/event_source/devices/kprobe/type");
		attr.kprobe_addr = find_address(function);
	}
	for (int i = 0; i < cpus && i < CPUS_MAX; i++) {
		events[i] = syscall(SYS_perf_event_open, &attr, -1, i, -1, 0);
		if (events[i] < 0 ||
		    (attr.type == PERF_TYPE_TRACEPOINT &&
		     ioctl(events[i], PERF_EVENT_IOC_SET_FILTER, filter)) ||
		    (program >= 0 && ioctl(events[i], PERF_EVENT_IOC_SET_BPF, program)))
			return 0;
	}
	return cpus;
}

/* Write what @count counts to @path, for ever. */
static void show(const char *path, unsigned long long (*count)(const int *, int), const int *of, int nr)
{
	char *new_path = malloc(strlen(path) + sizeof(".new"));

	sprintf(new_path, "%s.new", path);
	for (;;) {
		FILE *file = fopen(new_path, "w");

		if (!file || fprintf(file, "%llu\n", count(of, nr)) < 0 || fclose(file) ||
		    rename(new_path, path))
			fail(path);
		usleep(100000);
	}
}

static const struct {
	const char *name;
	int attach_type;	/* of a program on the function itself, or -1 */
	int on_event;		/* a program on an event */
} kinds[] = {
	{"fentry", BPF_TRACE_FENTRY, 0}, {"fexit", BPF_TRACE_FEXIT, 0},
	{"fmod_ret", BPF_MODIFY_RETURN, 0}, {"kprobe", -1, 1},
	{"perf", -1, 0}, {"perf-function", -1, 0},
};

int main(int argc, char **argv)
{
	size_t kind = 0;
	int events[CPUS_MAX], program = -1, nr;

	while (argc == 4 && kind < sizeof(kinds) / sizeof(*kinds) && strcmp(argv[1], kinds[kind].name))
		kind++;
	if (argc != 4 || kind == sizeof(kinds) / sizeof(*kinds)) {
		fprintf(stderr, "usage: bpf-attach fentry|fexit|fmod_ret|kprobe|perf|perf-function "
				"FUNCTION FILE\n");
		return 1;
	}
	union bpf_attr map_attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
	int map = bpf(BPF_MAP_CREATE, &map_attr);
	if (map < 0)
		fail("making a map");
	if (kinds[kind].attach_type >= 0 || kinds[kind].on_event)
		program = load(map,
			       kinds[kind].on_event ? 0 : find_function(argv[2]),
			       kinds[kind].on_event ? 0 : kinds[kind].attach_type);
	if (kinds[kind].attach_type >= 0) {
		union bpf_attr attach = {.raw_tracepoint = {.prog_fd = program}};

		if (bpf(BPF_RAW_TRACEPOINT_OPEN, &attach) < 0)
			return refused(argv[2]);
		show(argv[3], map_count, &map, 1);
	}
	nr = open_events(argv[1], argv[2], program, events);
	if (!nr)
		return refused(argv[2]);
	if (kinds[kind].on_event)
		show(argv[3], map_count, &map, 1);
	show(argv[3], events_count, events, nr);
}
