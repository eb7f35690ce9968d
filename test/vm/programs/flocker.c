// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flocker FILE        - wait for the lock of FILE, print "locked", and keep the lock until killed
 * flocker FILE error  - print the error number of a lock of an unknown kind
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0) {
		perror("flocker");
		return 1;
	}
	if (argc > 2) {
		printf("%d\n", flock(fd, 0) ? errno : 0);
		return 0;
	}
	if (flock(fd, LOCK_EX)) {
		perror("flocker");
		return 1;
	}
	puts("locked");
	fflush(stdout);
	pause();
	return 0;
}
