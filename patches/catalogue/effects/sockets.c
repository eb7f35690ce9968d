// SPDX-License-Identifier: GPL-2.0-or-later
/* Effects of fixes in sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "effects.h"

/* linux/sctp.h is not part of every system. */
#define SCTP_AUTH_CHUNK 21

/* Chunks that cannot be authenticated: INIT, INIT ACK, SHUTDOWN COMPLETE, AUTH (RFC 4895, 3.2). */
static bool is_never_authenticated(int chunk)
{
	return chunk == 1 || chunk == 2 || chunk == 14 || chunk == 15;
}

static enum verdict auth_chunks(void)
{
	int fd, taken = 0;

	if (!new_network())
		return BROKEN;
	errno = write_file("/proc/sys/net/sctp/auth_enable", "1");
	if (errno)
		return broken("SCTP does not authenticate");
	fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	if (fd < 0)
		return broken("no SCTP socket");
	for (int chunk = 0; chunk < 256; chunk++) {
		unsigned char byte = chunk;

		if (is_never_authenticated(chunk))
			continue;
		if (setsockopt(fd, IPPROTO_SCTP, SCTP_AUTH_CHUNK, &byte, 1) != 0)
			break;
		taken++;
	}
	close(fd);
	/* There are 20 types of chunks that the kernel knows, and these four among them. */
	if (taken != 16 && taken != 20)
		return broken("%d types of chunks were taken", taken);
	printf("%s: %d types of chunks were taken\n", taken == 16 ? "fixed" : "affected", taken);
	return taken == 16 ? FIXED : AFFECTED;
}

/* A packet with a header that says what its sender wants to be done with it. */
struct packet {
	struct virtio_net_hdr wish;
	struct {
		struct ethhdr ethernet;
		struct iphdr ip;
		struct tcphdr tcp;
		char data[100];
	} __attribute__((packed)) frame;
} __attribute__((packed));

static int packet_socket(int protocol)
{
	const struct sockaddr_ll loopback = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = 1,
	};
	const struct timeval wait = { .tv_sec = 5 };
	int fd = socket(AF_PACKET, SOCK_RAW, htons(protocol));

	if (fd < 0 || bind(fd, (void *)&loopback, sizeof(loopback)) != 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &(int){ 1 }, sizeof(int)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) != 0) {
		broken("no packet socket");
		return -1;
	}
	return fd;
}

static enum verdict segment_size(void)
{
	struct packet out = {
		.wish = {
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
			.hdr_len = sizeof(out.frame) - sizeof(out.frame.data),
			.gso_size = 1,
			.csum_start = sizeof(struct ethhdr) + sizeof(struct iphdr),
			.csum_offset = offsetof(struct tcphdr, check),
		},
		.frame = {
			.ethernet.h_proto = htons(ETH_P_IP),
			.ip = {
				.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_TCP,
				.saddr = htonl(INADDR_LOOPBACK), .daddr = htonl(INADDR_LOOPBACK),
				.tot_len = htons(sizeof(out.frame) - sizeof(struct ethhdr)),
			},
			.tcp = { .source = htons(1234), .dest = htons(4321), .doff = 5, .ack = 1 },
		},
	}, in;
	int from, to;

	if (!new_network())
		return BROKEN;
	from = packet_socket(0);
	to = packet_socket(ETH_P_ALL);
	if (from < 0 || to < 0)
		return BROKEN;
	if (send(from, &out, sizeof(out), 0) != sizeof(out))
		return broken("the packet was not sent");
	do {
		if (recv(to, &in, sizeof(in), 0) < (ssize_t)sizeof(in.wish))
			return broken("the packet did not come");
	} while (in.wish.gso_type != VIRTIO_NET_HDR_GSO_TCPV4);
	printf("%s: segments of %u bytes\n", in.wish.gso_size > 1 ? "fixed" : "affected",
	       in.wish.gso_size);
	return in.wish.gso_size > 1 ? FIXED : AFFECTED;
}

const struct effect socket_effects[] = {
	{ "sctp-auth-chunks", auth_chunks },
	{ "virtio-net-gso-size", segment_size },
	{ 0 }
};
