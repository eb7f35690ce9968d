// SPDX-License-Identifier: GPL-2.0-or-later
/* nonblock FILE TEXT - write TEXT to FILE, which it opens with O_NONBLOCK. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd;

	if (argc != 3)
		return 1;
	fd = open(argv[1], O_WRONLY | O_NONBLOCK);
	if (fd < 0 || write(fd, argv[2], strlen(argv[2])) != (ssize_t)strlen(argv[2])) {
		perror(argv[1]);
		return 1;
	}
	return close(fd);
}
