// SPDX-License-Identifier: GPL-2.0-or-later
/* sockets - hold a TCP, a UDP (port 1234 each) and a raw socket open on the loopback. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET,
		.sin_port = htons(1234),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	static const struct {
		int type, protocol;
	} kinds[] = {
		{ SOCK_STREAM, 0 },
		{ SOCK_RAW, IPPROTO_ICMP },
		{ SOCK_DGRAM, 0 }, /* last, because the test waits for it */
	};
	int fds[3];
	size_t i;

	for (i = 0; i < 3; i++) {
		fds[i] = socket(AF_INET, kinds[i].type, kinds[i].protocol);
		if (fds[i] < 0 || bind(fds[i], (struct sockaddr *)&here, sizeof(here)) ||
		    (kinds[i].type == SOCK_STREAM && listen(fds[i], 1))) {
			perror("sockets");
			return 1;
		}
	}
	pause();
	return 0;
}
