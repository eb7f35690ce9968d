// SPDX-License-Identifier: GPL-2.0-or-later
/* Netlink messages, and the network devices that tests make with them (rtnetlink(7)). */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "effects.h"

void message_begin(struct message *m, int type, int flags, const void *fixed, size_t size)
{
	memset(m, 0, sizeof(*m));
	m->header.nlmsg_type = type;
	m->header.nlmsg_flags = NLM_F_REQUEST | flags;
	m->header.nlmsg_seq = 1;
	m->header.nlmsg_len = NLMSG_SPACE(size);
	memcpy(NLMSG_DATA(&m->header), fixed, size);
}

void message_put(struct message *m, int type, const void *data, size_t size)
{
	struct nlattr *attribute = (void *)(m->bytes + m->header.nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + size;
	if (size)
		memcpy(attribute + 1, data, size);
	m->header.nlmsg_len += NLA_ALIGN(attribute->nla_len);
}

void message_put32(struct message *m, int type, uint32_t value)
{
	message_put(m, type, &value, sizeof(value));
}

void message_put8(struct message *m, int type, uint8_t value)
{
	message_put(m, type, &value, sizeof(value));
}

void message_put_text(struct message *m, int type, const char *text)
{
	message_put(m, type, text, strlen(text) + 1);
}

size_t message_nest(struct message *m, int type)
{
	size_t at = m->header.nlmsg_len;

	message_put(m, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void message_end(struct message *m, size_t nest)
{
	((struct nlattr *)(m->bytes + nest))->nla_len = m->header.nlmsg_len - nest;
}

static int open_and_send(struct message *m, int protocol)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd >= 0 && send(fd, m, m->header.nlmsg_len, 0) < 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

int message_send(struct message *m, int protocol)
{
	struct message answer;
	int fd, error = 0;
	ssize_t size;

	m->header.nlmsg_flags |= NLM_F_ACK;
	fd = open_and_send(m, protocol);
	if (fd < 0)
		return errno;
	/* What else the kernel has to say comes before the acknowledgement. */
	do {
		size = recv(fd, &answer, sizeof(answer), 0);
		if (size < 0)
			error = errno;
		else if (answer.header.nlmsg_type == NLMSG_ERROR)
			error = -((struct nlmsgerr *)NLMSG_DATA(&answer.header))->error;
	} while (size >= 0 && answer.header.nlmsg_type != NLMSG_ERROR);
	close(fd);
	return error;
}

bool message_dump(struct message *m, int protocol,
		  bool (*each)(const struct nlmsghdr *header, void *argument), void *argument)
{
	static char buffer[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
	bool found = false, done = false;
	int fd;

	m->header.nlmsg_flags |= NLM_F_DUMP;
	fd = open_and_send(m, protocol);
	while (fd >= 0 && !done) {
		ssize_t size = recv(fd, buffer, sizeof(buffer), 0);
		const struct nlmsghdr *header = (void *)buffer;

		done = size <= 0;
		for (; !done && NLMSG_OK(header, size); header = NLMSG_NEXT(header, size)) {
			if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
				done = true;
			else if (!found)
				found = each(header, argument);
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

const struct nlattr *attribute(const void *first, size_t size, int type)
{
	const struct nlattr *at = first;

	while (size >= NLA_HDRLEN && at->nla_len >= NLA_HDRLEN && at->nla_len <= size) {
		if ((at->nla_type & NLA_TYPE_MASK) == type)
			return at;
		if ((size_t)NLA_ALIGN(at->nla_len) > size)
			break;
		size -= NLA_ALIGN(at->nla_len);
		at = (const void *)((const char *)at + NLA_ALIGN(at->nla_len));
	}
	return NULL;
}

const struct nlattr *attribute_in(const struct nlmsghdr *header, size_t size, int type)
{
	return attribute((const char *)header + NLMSG_SPACE(size),
			 header->nlmsg_len - NLMSG_SPACE(size), type);
}

const struct nlattr *attribute_nested(const struct nlattr *outer, int type)
{
	return attribute(outer + 1, outer->nla_len - NLA_HDRLEN, type);
}

const void *attribute_data(const struct nlattr *attribute)
{
	return attribute + 1;
}

uint32_t attribute32(const struct nlattr *attribute)
{
	uint32_t value;

	memcpy(&value, attribute + 1, sizeof(value));
	return value;
}

void link_begin(struct message *m, const char *name, const char *kind, size_t *info, size_t *data)
{
	const struct ifinfomsg fixed = { 0 };

	message_begin(m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &fixed, sizeof(fixed));
	message_put_text(m, IFLA_IFNAME, name);
	*info = message_nest(m, IFLA_LINKINFO);
	message_put_text(m, IFLA_INFO_KIND, kind);
	*data = message_nest(m, IFLA_INFO_DATA);
}

int link_make(struct message *m, const char *name, size_t info, size_t data)
{
	message_end(m, data);
	message_end(m, info);
	errno = message_send(m, NETLINK_ROUTE);
	if (errno) {
		broken("device %s cannot be made", name);
		return 0;
	}
	return if_nametoindex(name);
}

int dummy_make(unsigned int mtu)
{
	struct message m;
	size_t info, data;

	link_begin(&m, "effect0", "dummy", &info, &data);
	/* The MTU is no attribute of the kind. */
	message_end(&m, data);
	message_end(&m, info);
	message_put32(&m, IFLA_MTU, mtu);
	errno = message_send(&m, NETLINK_ROUTE);
	if (errno) {
		broken("no dummy device with an MTU of %u", mtu);
		return 0;
	}
	return if_nametoindex("effect0");
}

bool link_up(int index)
{
	const struct ifinfomsg fixed = { .ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	struct message m;

	message_begin(&m, RTM_NEWLINK, 0, &fixed, sizeof(fixed));
	errno = message_send(&m, NETLINK_ROUTE);
	if (errno) {
		broken("device %d cannot be switched on", index);
		return false;
	}
	return true;
}
