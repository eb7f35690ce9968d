// SPDX-License-Identifier: GPL-2.0-or-later
/* Effects of fixes in network devices (ip-link(8), bridge(8)), and in IPsec's states. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/xfrm.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "effects.h"

#define NAME "effect1"

static enum verdict queue_length(void)
{
	/* Not by netlink, which newer kernels do not let so far. */
	struct ifreq request = { .ifr_name = "effect0", .ifr_qlen = 40000 };
	int fd, error = 0;

	if (!new_network() || !dummy_make(1500))
		return BROKEN;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return broken("no socket");
	if (ioctl(fd, SIOCSIFTXQLEN, &request) != 0)
		error = errno;
	close(fd);
	return judge(error, ERANGE, 0);
}

/* A kind of tunnel, with what is given when one is made and when it is changed. */
struct tunnel {
	const char *kind;
	void (*put)(struct message *m, bool change);
};

static const struct tunnel *tunnel;

static void put_vxlan(struct message *m, bool change)
{
	message_put32(m, IFLA_VXLAN_ID, 42);
	if (change)
		message_put32(m, IFLA_VXLAN_AGEING, 100);
}

static void put_geneve(struct message *m, bool change)
{
	if (!change)
		message_put32(m, IFLA_GENEVE_ID, 42);
	message_put32(m, IFLA_GENEVE_REMOTE, htonl(0x0a000001));
	message_put8(m, IFLA_GENEVE_TTL, change ? 5 : 4);
}

static void put_gre(struct message *m, bool change)
{
	message_put32(m, IFLA_GRE_LOCAL, htonl(0x0a000002));
	message_put32(m, IFLA_GRE_REMOTE, htonl(0x0a000001));
	message_put8(m, IFLA_GRE_TTL, change ? 5 : 4);
}

static void put_ip6(struct message *m, bool change)
{
	const struct in6_addr local = { .s6_addr = { 0xfd, [15] = 2 } };
	const struct in6_addr remote = { .s6_addr = { 0xfd, [15] = 1 } };

	message_put(m, IFLA_IPTUN_LOCAL, &local, sizeof(local));
	message_put(m, IFLA_IPTUN_REMOTE, &remote, sizeof(remote));
	message_put8(m, IFLA_IPTUN_TTL, change ? 5 : 4);
}

/* In the child, who owns only the namespace that the device is in: change it. */
static int change_tunnel(void)
{
	const struct ifinfomsg fixed = { 0 };
	struct message m;
	size_t info, data;

	message_begin(&m, RTM_NEWLINK, 0, &fixed, sizeof(fixed));
	message_put_text(&m, IFLA_IFNAME, NAME);
	info = message_nest(&m, IFLA_LINKINFO);
	message_put_text(&m, IFLA_INFO_KIND, tunnel->kind);
	data = message_nest(&m, IFLA_INFO_DATA);
	tunnel->put(&m, true);
	message_end(&m, data);
	message_end(&m, info);
	return message_send(&m, NETLINK_ROUTE);
}

static enum verdict changelink(const struct tunnel *which)
{
	struct ifinfomsg fixed = { 0 };
	struct helper helper;
	struct message m;
	size_t info, data;

	tunnel = which;
	if (!new_network())
		return BROKEN;
	link_begin(&m, NAME, which->kind, &info, &data);
	which->put(&m, false);
	fixed.ifi_index = link_make(&m, NAME, info, data);
	if (!fixed.ifi_index ||
	    !helper_start(&helper, CLONE_NEWUSER | CLONE_NEWNET, 1000, NULL, change_tunnel))
		return BROKEN;
	message_begin(&m, RTM_NEWLINK, 0, &fixed, sizeof(fixed));
	message_put32(&m, IFLA_NET_NS_PID, helper.pid);
	errno = message_send(&m, NETLINK_ROUTE);
	if (errno)
		return broken("the device cannot be moved");
	return judge(helper_finish(&helper), EPERM, 0);
}

static enum verdict vxlan_changelink(void)
{
	return changelink(&(struct tunnel){ "vxlan", put_vxlan });
}

static enum verdict geneve_changelink(void)
{
	return changelink(&(struct tunnel){ "geneve", put_geneve });
}

static enum verdict gre_changelink(void)
{
	return changelink(&(struct tunnel){ "gre", put_gre });
}

static enum verdict ip6_changelink(void)
{
	return changelink(&(struct tunnel){ "ip6tnl", put_ip6 });
}

/* A VXLAN that gets its numbers with each packet (collects metadata). */
static int external_vxlan(bool filter)
{
	struct message m;
	size_t info, data;

	link_begin(&m, NAME, "vxlan", &info, &data);
	message_put8(&m, IFLA_VXLAN_COLLECT_METADATA, 1);
	message_put8(&m, IFLA_VXLAN_LEARNING, 0);
	if (filter)
		message_put8(&m, IFLA_VXLAN_VNIFILTER, 1);
	return link_make(&m, NAME, info, data);
}

static enum verdict vxlan_vnifilter(void)
{
	struct tunnel_msg fixed = { .family = PF_BRIDGE };
	struct message m;
	size_t entry;
	int error;

	if (!new_network())
		return BROKEN;
	fixed.ifindex = external_vxlan(true);
	if (!fixed.ifindex)
		return BROKEN;
	message_begin(&m, RTM_NEWTUNNEL, NLM_F_CREATE, &fixed, sizeof(fixed));
	entry = message_nest(&m, VXLAN_VNIFILTER_ENTRY);
	message_put32(&m, VXLAN_VNIFILTER_ENTRY_START, 42);
	message_put8(&m, VXLAN_VNIFILTER_ENTRY_GROUP, 10);
	message_end(&m, entry);
	error = message_send(&m, NETLINK_ROUTE);
	return judge(error == EINVAL ? ERANGE : error, ERANGE, 0);
}

static int make_nexthop(uint32_t id, uint32_t member)
{
	const struct nhmsg fixed = { .nh_family = member ? AF_UNSPEC : AF_INET };
	const struct nexthop_grp group = { .id = member };
	struct message m;

	message_begin(&m, RTM_NEWNEXTHOP, NLM_F_CREATE | NLM_F_EXCL, &fixed, sizeof(fixed));
	message_put32(&m, NHA_ID, id);
	if (member)
		message_put(&m, NHA_GROUP, &group, sizeof(group));
	else
		message_put32(&m, NHA_GATEWAY, htonl(0x0a000001));
	message_put(&m, NHA_FDB, NULL, 0);
	return message_send(&m, NETLINK_ROUTE);
}

static enum verdict vxlan_fdb_nexthop(void)
{
	struct ndmsg fixed = { .ndm_family = AF_BRIDGE, .ndm_state = NUD_REACHABLE, .ndm_flags = NTF_SELF };
	const unsigned char address[6] = { 2, 0, 0, 0, 0, 1 };
	struct message m;
	size_t info, data;

	if (!new_network())
		return BROKEN;
	link_begin(&m, NAME, "vxlan", &info, &data);
	message_put32(&m, IFLA_VXLAN_ID, 42);
	fixed.ndm_ifindex = link_make(&m, NAME, info, data);
	if (!fixed.ndm_ifindex)
		return BROKEN;
	errno = make_nexthop(1, 0);
	if (!errno)
		errno = make_nexthop(2, 1);
	if (errno)
		return broken("no nexthops");
	message_begin(&m, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL, &fixed, sizeof(fixed));
	message_put(&m, NDA_LLADDR, address, sizeof(address));
	message_put32(&m, NDA_NH_ID, 2);
	return judge(message_send(&m, NETLINK_ROUTE), EINVAL, 0);
}

static void put_tunnel_vlan(struct message *m, uint16_t number, uint16_t flags)
{
	size_t nest = message_nest(m, IFLA_BRIDGE_VLAN_TUNNEL_INFO);

	message_put32(m, IFLA_BRIDGE_VLAN_TUNNEL_ID, number);
	message_put(m, IFLA_BRIDGE_VLAN_TUNNEL_VID, &number, sizeof(number));
	message_put(m, IFLA_BRIDGE_VLAN_TUNNEL_FLAGS, &flags, sizeof(flags));
	message_end(m, nest);
}

/* The VXLAN becomes a port of a bridge, one that maps VLANs to tunnels. */
static bool make_port(int index)
{
	const struct ifinfomsg fixed = { .ifi_index = index };
	const struct ifinfomsg as_port = { .ifi_family = AF_BRIDGE, .ifi_index = index };
	struct message m;
	size_t info, data;
	int bridge;

	link_begin(&m, "effect2", "bridge", &info, &data);
	message_put8(&m, IFLA_BR_VLAN_FILTERING, 1);
	bridge = link_make(&m, "effect2", info, data);
	if (!bridge)
		return false;
	message_begin(&m, RTM_NEWLINK, 0, &fixed, sizeof(fixed));
	message_put32(&m, IFLA_MASTER, bridge);
	errno = message_send(&m, NETLINK_ROUTE);
	if (!errno) {
		message_begin(&m, RTM_SETLINK, 0, &as_port, sizeof(as_port));
		info = message_nest(&m, IFLA_PROTINFO);
		message_put8(&m, IFLA_BRPORT_VLAN_TUNNEL, 1);
		message_end(&m, info);
		errno = message_send(&m, NETLINK_ROUTE);
	}
	if (errno)
		broken("no port of a bridge");
	return !errno;
}

static enum verdict vlan_tunnel(void)
{
	struct ifinfomsg fixed = { .ifi_family = AF_BRIDGE };
	struct message m;
	size_t nest;

	if (!new_network())
		return BROKEN;
	fixed.ifi_index = external_vxlan(false);
	if (!fixed.ifi_index || !make_port(fixed.ifi_index))
		return BROKEN;
	message_begin(&m, RTM_SETLINK, 0, &fixed, sizeof(fixed));
	nest = message_nest(&m, IFLA_AF_SPEC);
	put_tunnel_vlan(&m, 10, BRIDGE_VLAN_INFO_RANGE_BEGIN);
	put_tunnel_vlan(&m, 5, BRIDGE_VLAN_INFO_RANGE_END);
	message_end(&m, nest);
	return judge(message_send(&m, NETLINK_ROUTE), EINVAL, 0);
}

static int allocate_spi(uint32_t to)
{
	const struct xfrm_userspi_info fixed = {
		.info = {
			.id = { .daddr.a4 = htonl(to), .proto = IPPROTO_ESP },
			.saddr.a4 = htonl(0x0a000001),
			.family = AF_INET,
			.mode = XFRM_MODE_TUNNEL,
			.reqid = to,
		},
		.min = 0x1234,
		.max = 0x1234,
	};
	struct message m;

	message_begin(&m, XFRM_MSG_ALLOCSPI, 0, &fixed, sizeof(fixed));
	return message_send(&m, NETLINK_XFRM);
}

static enum verdict duplicate_spi(void)
{
	if (!new_network())
		return BROKEN;
	errno = allocate_spi(0x0a000002);
	if (errno)
		return broken("no state with this SPI");
	return judge(allocate_spi(0x0a000003), ENOENT, 0);
}

const struct effect link_effects[] = {
	{ "tx-queue-len", queue_length },
	{ "vxlan-changelink", vxlan_changelink },
	{ "geneve-changelink", geneve_changelink },
	{ "ip-gre-changelink", gre_changelink },
	{ "ip6-tunnel-changelink", ip6_changelink },
	{ "vxlan-vnifilter", vxlan_vnifilter },
	{ "vxlan-fdb-nexthop", vxlan_fdb_nexthop },
	{ "bridge-vlan-tunnel", vlan_tunnel },
	{ "xfrm-duplicate-spi", duplicate_spi },
	{ 0 }
};
