// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf-attach fentry|fexit FUNCTION FILE - attach a BPF program that counts the calls of a kernel
 * function, until this process is killed.  FILE appears once the program is attached.  It holds
 * the count and is written anew ten times a second.  Status 2: the kernel refused to attach it.
 *
 * It uses system calls only, so that the guest needs no library.  Formats:
 * Documentation/bpf/btf.rst, bpf(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
		.prog_type = BPF_PROG_TYPE_TRACING,
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

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: bpf-attach fentry|fexit FUNCTION FILE\n");
		return 1;
	}
	union bpf_attr map_attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
	int map = bpf(BPF_MAP_CREATE, &map_attr);
	if (map < 0)
		fail("making a map");
	int program = load(map, find_function(argv[2]),
			   strcmp(argv[1], "fexit") ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT);
	union bpf_attr attach = {.raw_tracepoint = {.prog_fd = program}};
	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &attach) < 0) {
		fprintf(stderr, "bpf-attach: attaching to %s: %s\n", argv[2], strerror(errno));
		return 2;
	}
	char *new_file = malloc(strlen(argv[3]) + sizeof(".new"));
	sprintf(new_file, "%s.new", argv[3]);
	for (;;) {
		unsigned int key = 0;
		unsigned long long value = 0;
		union bpf_attr look = {
			.map_fd = map, .key = (unsigned long)&key, .value = (unsigned long)&value};
		if (bpf(BPF_MAP_LOOKUP_ELEM, &look) < 0)
			fail("reading the map");
		FILE *file = fopen(new_file, "w");
		if (!file || fprintf(file, "%llu\n", value) < 0 || fclose(file) ||
		    rename(new_file, argv[3]))
			fail(argv[3]);
		usleep(100000);
	}
}
