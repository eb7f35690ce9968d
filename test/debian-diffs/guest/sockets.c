// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workload - what it does with sockets: of the common families, of BPF programs, of rarer families.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/genetlink.h>
#include <linux/if_alg.h>
#include <linux/kcm.h>
#include <linux/netlink.h>
#include <linux/pfkeyv2.h>
#include <linux/sctp.h>
#include <linux/seg6.h>
#include <linux/tipc.h>
#include <linux/tipc_config.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workload.h"

/* ---- sockets ------------------------------------------------------------------- */

static struct sockaddr_in local(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* A connected pair of stream sockets over the loopback, of a family like AF_INET. */
static int stream_pair(int family, int port, int pair[2])
{
	struct sockaddr_in address = local(port);
	int one = 1, listener = socket(family, SOCK_STREAM, 0);

	if (listener < 0)
		return -1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	pair[0] = socket(family, SOCK_STREAM, 0);
	if (bind(listener, (void *)&address, sizeof(address)) || listen(listener, 4) ||
	    connect(pair[0], (void *)&address, sizeof(address)))
		return -1;
	pair[1] = accept(listener, NULL, NULL);
	close(listener);
	return pair[1] < 0 ? -1 : 0;
}

void tcp(void)
{
	static char data[1 << 16];
	int pair[2], low = 4096;

	if (stream_pair(AF_INET, 4001, pair))
		return;
	setsockopt(pair[0], IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low, sizeof(low));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	fcntl(pair[1], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 200; i++)
		if (write(pair[0], data, sizeof(data)) < 0)
			while (read(pair[1], data, sizeof(data)) > 0)
				;
	close(pair[0]);
	close(pair[1]);
}

void udp(void)
{
	static char data[9000];
	struct sockaddr_in address = local(4002);
	int receiver = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
	int one = 1;

	bind(receiver, (void *)&address, sizeof(address));
	sendto(sender, data, sizeof(data), 0, (void *)&address, sizeof(address));
	recv(receiver, data, sizeof(data), MSG_DONTWAIT);
	address.sin_port = htons(4003); /* nobody is there: an ICMP error comes back */
	setsockopt(sender, IPPROTO_IP, IP_RECVERR, &one, sizeof(one));
	for (int i = 0; i < 3; i++)
		sendto(sender, data, 100, 0, (void *)&address, sizeof(address));
	/* Multicast, to ourselves. */
	struct ip_mreqn group = { .imr_multiaddr.s_addr = inet_addr("239.1.1.1"),
				  .imr_address.s_addr = htonl(INADDR_LOOPBACK) };
	setsockopt(receiver, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group));
	setsockopt(sender, IPPROTO_IP, IP_MULTICAST_IF, &group, sizeof(group));
	address = local(4002);
	address.sin_addr = group.imr_multiaddr;
	sendto(sender, data, 100, 0, (void *)&address, sizeof(address));
	close(receiver);
	close(sender);
}

void other_sockets(void)
{
	int pair[2], fd, six = socket(AF_INET6, SOCK_DGRAM, 0);
	struct {
		struct ipv6_sr_hdr header;
		struct in6_addr segment;
	} route = { .header = { .hdrlen = 2, .type = 4 }, .segment = IN6ADDR_LOOPBACK_INIT };

	setsockopt(six, IPPROTO_IPV6, IPV6_RTHDR, &route, sizeof(route));
	close(six);
	if (!stream_pair(AF_SMC, 4004, pair)) {
		write(pair[0], "x", 1);
		read(pair[1], &fd, 1);
		close(pair[0]);
		close(pair[1]);
	}
	fd = socket(AF_TIPC, SOCK_RDM, 0);
	if (fd >= 0) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		poll(&p, 1, 1);
		close(fd);
	}
}

void crypto(void)
{
	static const struct {
		const char *type, *name;
	} algorithms[] = { { "hash", "sha256" },
			   { "aead", "rfc4309(ccm(aes))" },
			   { "skcipher", "cbc(aes)" } };
	int pipes[2], file = open("/proc/self/exe", O_RDONLY);

	for (size_t i = 0; i < 3; i++) {
		struct sockaddr_alg address = { .salg_family = AF_ALG };
		int fd = socket(AF_ALG, SOCK_SEQPACKET, 0), op;
		char digest[64];
		off_t offset = 0;

		strcpy((char *)address.salg_type, algorithms[i].type);
		strcpy((char *)address.salg_name, algorithms[i].name);
		if (!bind(fd, (void *)&address, sizeof(address)) && i == 0) {
			op = accept(fd, NULL, NULL);
			if (!pipe(pipes)) {
				splice(file, &offset, pipes[1], NULL, 4096, 0);
				splice(pipes[0], NULL, op, NULL, 4096, 0);
				read(op, digest, sizeof(digest));
				close(pipes[0]);
				close(pipes[1]);
			}
			close(op);
		}
		if (i > 0) { /* splice into the others' requests too */
			setsockopt(fd, SOL_ALG, ALG_SET_KEY, "0123456789abcdefghi",
				   i == 1 ? 19 : 16);
			op = accept(fd, NULL, NULL);
			if (op >= 0 && !pipe(pipes)) {
				offset = 0;
				splice(file, &offset, pipes[1], NULL, 4096, 0);
				splice(pipes[0], NULL, op, NULL, 4096, SPLICE_F_NONBLOCK);
				close(pipes[0]);
				close(pipes[1]);
			}
			close(op);
		}
		close(fd);
	}
	close(file);
}

/* ---- BPF and what takes its programs ------------------------------------------------ */

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

static int load_filter(void)
{
	static const struct bpf_insn code[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 7),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 2, 10, 0, 0), /* scalar += pointer */
		INSN(BPF_STX | BPF_MEM | BPF_DW, 10, 2, -16, 0),
		INSN(BPF_LD | BPF_ABS | BPF_B, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
				.insns = (uintptr_t)code,
				.insn_cnt = sizeof(code) / sizeof(code[0]),
				.license = (uintptr_t)"GPL" };

	return bpf(BPF_PROG_LOAD, &attr);
}

void bpf_programs(void)
{
	int program = load_filter(), map, pair[2], kcm;
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { .info = { .bpf_fd = program,
					  .info_len = sizeof(info),
					  .info = (uintptr_t)&info } };

	bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	attr = (union bpf_attr){ .map_type = BPF_MAP_TYPE_SOCKMAP,
				 .key_size = 4,
				 .value_size = 4,
				 .max_entries = 2 };
	map = bpf(BPF_MAP_CREATE, &attr);
	if (!stream_pair(AF_INET, 4005, pair)) {
		int key = 0;
		attr = (union bpf_attr){ .map_fd = map,
					 .key = (uintptr_t)&key,
					 .value = (uintptr_t)&pair[0] };
		bpf(BPF_MAP_UPDATE_ELEM, &attr);
		close(map);
		close(pair[0]);
		close(pair[1]);
	}
	kcm = socket(AF_KCM, SOCK_DGRAM, KCMPROTO_CONNECTED);
	if (kcm >= 0 && !stream_pair(AF_INET, 4006, pair)) {
		struct kcm_attach attach = { .fd = pair[0], .bpf_fd = program };
		struct kcm_unattach unattach = { .fd = pair[0] };
		ioctl(kcm, SIOCKCMATTACH, &attach);
		ioctl(kcm, SIOCKCMUNATTACH, &unattach);
		close(pair[0]);
		close(pair[1]);
	}
	close(kcm);
	close(program);
}

/* ---- sockets of rarer families ---------------------------------------------------------- */

/* A key to IPsec's PF_KEY, with all that it needs missing. */
void ipsec_key(void)
{
	struct sadb_msg message = { .sadb_msg_version = PF_KEY_V2,
				    .sadb_msg_type = SADB_ADD,
				    .sadb_msg_satype = SADB_SATYPE_ESP,
				    .sadb_msg_len = sizeof(message) / 8 };
	int fd = socket(PF_KEY, SOCK_RAW, PF_KEY_V2);

	write(fd, &message, sizeof(message));
	close(fd);
}

/* Streams of an association are reset, ours and the peer's. */
void sctp(void)
{
	struct sctp_assoc_value both = {
		.assoc_value = SCTP_ENABLE_RESET_STREAM_REQ | SCTP_ENABLE_RESET_ASSOC_REQ |
			       SCTP_ENABLE_CHANGE_ASSOC_REQ,
	};
	struct sctp_reset_streams reset = { .srs_flags = SCTP_STREAM_RESET_INCOMING |
							 SCTP_STREAM_RESET_OUTGOING };
	struct sockaddr_in address = local(4007);
	int setting = open("/proc/sys/net/sctp/reconf_enable", O_WRONLY);
	int listener, fd, peer;
	char c;

	write(setting, "1", 1);
	close(setting);
	listener = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	both.assoc_id = SCTP_FUTURE_ASSOC;
	setsockopt(listener, IPPROTO_SCTP, SCTP_ENABLE_STREAM_RESET, &both, sizeof(both));
	setsockopt(fd, IPPROTO_SCTP, SCTP_ENABLE_STREAM_RESET, &both, sizeof(both));
	if (bind(listener, (void *)&address, sizeof(address)) || listen(listener, 4) ||
	    connect(fd, (void *)&address, sizeof(address)))
		return;
	peer = accept(listener, NULL, NULL);
	write(fd, "x", 1);
	read(peer, &c, 1);
	usleep(300000); /* all is acknowledged */
	setsockopt(fd, IPPROTO_SCTP, SCTP_RESET_STREAMS, &reset, sizeof(reset));
	usleep(100000);
	reset.srs_flags = SCTP_STREAM_RESET_INCOMING;
	setsockopt(peer, IPPROTO_SCTP, SCTP_RESET_STREAMS, &reset, sizeof(reset));
	usleep(100000);
	close(fd);
	close(peer);
	close(listener);
}

/* The number of a generic netlink family. */
static int family_of(int fd, const char *name)
{
	struct {
		struct nlmsghdr header;
		struct genlmsghdr genl;
		struct nlattr attr;
		char name[16];
	} ask = { .header = { .nlmsg_len = sizeof(ask),
			      .nlmsg_type = GENL_ID_CTRL,
			      .nlmsg_flags = NLM_F_REQUEST },
		  .genl = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 },
		  .attr = { .nla_len = sizeof(ask.attr) + sizeof(ask.name),
			    .nla_type = CTRL_ATTR_FAMILY_NAME } };
	char answer[4096];
	ssize_t length;

	strncpy(ask.name, name, sizeof(ask.name) - 1);
	send(fd, &ask, sizeof(ask), 0);
	length = recv(fd, answer, sizeof(answer), 0);
	for (ssize_t at = NLMSG_LENGTH(GENL_HDRLEN); at + 4 <= length;) {
		struct nlattr *attr = (void *)(answer + at);

		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)(attr + 1);
		if (attr->nla_len < sizeof(*attr))
			break;
		at += NLA_ALIGN(attr->nla_len);
	}
	return -1;
}

/* What the old tipc-config asked. */
void tipc(void)
{
	static const uint16_t commands[] = { TIPC_CMD_GET_BEARER_NAMES, TIPC_CMD_GET_MEDIA_NAMES,
					     TIPC_CMD_SHOW_PORTS, TIPC_CMD_GET_LINKS };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC), family = family_of(fd, "TIPC");
	char answer[32768];

	for (size_t i = 0; family > 0 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct {
			struct nlmsghdr header;
			struct genlmsghdr genl;
			struct tipc_genlmsghdr tipc;
			struct tlv_desc tlv;
			uint32_t network;
		} ask = { .header = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST },
			  .genl = { .cmd = TIPC_GENL_CMD, .version = TIPC_GENL_VERSION },
			  .tipc = { .cmd = commands[i] } };

		ask.header.nlmsg_len = sizeof(ask) - sizeof(ask.tlv) - sizeof(ask.network);
		if (commands[i] == TIPC_CMD_GET_LINKS) {
			ask.header.nlmsg_len = sizeof(ask);
			ask.tlv.tlv_len = htons(8);
			ask.tlv.tlv_type = htons(TIPC_TLV_NET_ADDR);
		}
		send(fd, &ask, ask.header.nlmsg_len, 0);
		usleep(10000);
		recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	}
	close(fd);
}
