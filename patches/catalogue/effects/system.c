// SPDX-License-Identifier: GPL-2.0-or-later
/* Effects of fixes in the core of the kernel: clocks, io_uring, BPF. */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "effects.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static enum verdict time_offset(void)
{
	if (unshare(CLONE_NEWTIME) != 0)
		return broken("no time namespace");
	/* The number is read without a sign, and so becomes -1. */
	return judge(write_file("/proc/self/timens_offsets", "monotonic 0 18446744073709551615\n"),
		     EINVAL, 0);
}

static enum verdict pin_pages(void)
{
	struct io_uring_params parameters = { 0 };
	/* Its last page is the last one that there can be. */
	struct io_uring_buf_reg ring = { .ring_addr = -4096, .ring_entries = 4096 / 16 };
	int fd = syscall(__NR_io_uring_setup, 4, &parameters);
	int error = 0;

	if (fd < 0)
		return broken("no ring");
	if (syscall(__NR_io_uring_register, fd, IORING_REGISTER_PBUF_RING, &ring, 1) != 0)
		error = errno;
	close(fd);
	return judge(error == EFAULT ? ENOMEM : error, EOVERFLOW, ENOMEM);
}

static enum verdict inode_storage(void)
{
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_INODE_STORAGE,
		.key_size = sizeof(int),
		.value_size = sizeof(int),
		.map_flags = BPF_F_NO_PREALLOC,
		/* Types of descriptions that are not there: a kernel that gets so far refuses these. */
		.btf_fd = -1,
		.btf_key_type_id = 1,
		.btf_value_type_id = 1,
	};
	int fd = syscall(__NR_bpf, BPF_MAP_CREATE, &map, sizeof(map));

	if (fd >= 0) {
		close(fd);
		errno = 0;
		return broken("a map without types was made");
	}
	return judge(errno, EOPNOTSUPP, EBADF);
}

/* Descriptions of a function: static int f(void). */
static int load_types(void)
{
	const struct {
		struct btf_header header;
		struct btf_type number;
		uint32_t number_bits;
		struct btf_type prototype, function;
		char names[8];
	} types = {
		.header = {
			.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(types.header),
			.type_len = offsetof(typeof(types), names) - sizeof(types.header),
			.str_off = offsetof(typeof(types), names) - sizeof(types.header),
			.str_len = sizeof(types.names),
		},
		.number = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 },
		.number_bits = BTF_INT_SIGNED << 24 | 32,
		.prototype = { .info = BTF_KIND_FUNC_PROTO << 24, .type = 1 },
		.function = { .name_off = 5, .info = BTF_KIND_FUNC << 24 | BTF_FUNC_STATIC, .type = 2 },
		.names = "\0int\0f",
	};
	union bpf_attr load = { .btf = (uintptr_t)&types, .btf_size = sizeof(types) };

	return syscall(__NR_bpf, BPF_BTF_LOAD, &load, sizeof(load));
}

static enum verdict main_function(void)
{
	const struct bpf_insn code[] = {
		/* The function is named by its distance to the next instruction. */
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = BPF_PSEUDO_FUNC, .imm = -1 },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct bpf_func_info function = { .type_id = 3 };
	union bpf_attr program = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)code,
		.insn_cnt = sizeof(code) / sizeof(*code),
		.license = (uintptr_t)"GPL",
		.func_info = (uintptr_t)&function,
		.func_info_rec_size = sizeof(function),
		.func_info_cnt = 1,
	};
	int types = load_types(), fd, error = 0;

	if (types < 0)
		return broken("no types");
	program.prog_btf_fd = types;
	fd = syscall(__NR_bpf, BPF_PROG_LOAD, &program, sizeof(program));
	if (fd < 0)
		error = errno;
	else
		close(fd);
	close(types);
	/* A kernel that takes the pointer finds a function that calls itself, without end. */
	return judge(error, EINVAL, E2BIG);
}

const struct effect system_effects[] = {
	{ "timens-nanoseconds", time_offset },
	{ "io-uring-pin-pages", pin_pages },
	{ "bpf-inode-storage", inode_storage },
	{ "bpf-pseudo-func-main", main_function },
	{ 0 }
};
