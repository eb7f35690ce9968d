// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tun NAME [read] - make a network device of that name.  Read 0 bytes from it and print the result;
 * with "read", sleep in a read until a signal comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR);
	char packet[2048];
	ssize_t length;

	if (argc < 2)
		return 1;
	strncpy(request.ifr_name, argv[1], sizeof(request.ifr_name) - 1);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request)) {
		perror("tun");
		return 1;
	}
	length = read(fd, packet, argc == 3 ? sizeof(packet) : 0);
	puts(length < 0 ? strerror(errno) : "nothing");
	return 0;
}
