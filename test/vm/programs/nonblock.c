// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nonblock FILE TEXT - write TEXT to FILE, which it opens with O_NONBLOCK.
 * nonblock FILE TEXT plain - open FILE without a capability, and write TEXT with all that there are.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
static struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3];

static int open_plain(const char *path)
{
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
	int fd;

	if (syscall(SYS_capget, &header, all))
		return -1;
	memcpy(none, all, sizeof(none));
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		none[i].effective = 0;
	if (syscall(SYS_capset, &header, none))
		return -1;
	fd = open(path, O_WRONLY);
	return syscall(SYS_capset, &header, all) ? -1 : fd;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 3 && (argc != 4 || strcmp(argv[3], "plain") != 0))
		return 1;
	fd = argc == 4 ? open_plain(argv[1]) : open(argv[1], O_WRONLY | O_NONBLOCK);
	if (fd < 0 || write(fd, argv[2], strlen(argv[2])) != (ssize_t)strlen(argv[2])) {
		perror(argv[1]);
		return 1;
	}
	return close(fd);
}
