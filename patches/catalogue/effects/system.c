// SPDX-License-Identifier: GPL-2.0-or-later
/* Effects of fixes in the core of the kernel: clocks, io_uring, BPF. */
#include <errno.h>
#include <linux/bpf.h>
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

const struct effect system_effects[] = {
	{ "timens-nanoseconds", time_offset },
	{ "io-uring-pin-pages", pin_pages },
	{ "bpf-inode-storage", inode_storage },
	{ 0 }
};
