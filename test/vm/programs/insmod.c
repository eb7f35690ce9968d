// SPDX-License-Identifier: GPL-2.0-or-later
/* insmod FILE [PARAMETER...] - load a module by one call; busybox's insmod tries twice. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char parameters[1024] = "";
	size_t size = 0;
	int fd, i;

	if (argc < 2)
		return 1;
	for (i = 2; i < argc && size < sizeof(parameters); i++)
		size += snprintf(parameters + size, sizeof(parameters) - size, "%s ", argv[i]);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || size >= sizeof(parameters) || syscall(SYS_finit_module, fd, parameters, 0)) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return 0;
}
