// SPDX-License-Identifier: GPL-2.0-or-later
/* Effects of fixes in queues and their filters (tc(8)). */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "effects.h"

#define HUGE_MTU 0x7f000000
#define LIMIT (1 << 20)

/* What is looked for in a dump, and found. */
struct query {
	int device, type;
	uint32_t handle;
	char options[256];
	size_t size;		/* of options */
	uint64_t bytes;
	uint32_t packets;
};

static bool is_it(const struct nlmsghdr *header, void *argument)
{
	const struct tcmsg *fixed = NLMSG_DATA(header);
	const struct nlattr *options = attribute_in(header, sizeof(*fixed), TCA_OPTIONS);
	const struct nlattr *stats = attribute_in(header, sizeof(*fixed), TCA_STATS);
	struct query *query = argument;

	if (fixed->tcm_ifindex != query->device || fixed->tcm_handle != query->handle)
		return false;
	if (options && options->nla_len <= sizeof(query->options)) {
		query->size = options->nla_len;
		memcpy(query->options, options, query->size);
	}
	if (stats) {
		struct tc_stats counts;

		memcpy(&counts, attribute_data(stats), sizeof(counts));
		query->bytes = counts.bytes;
		query->packets = counts.packets;
	}
	return true;
}

static bool look(struct query *query)
{
	const struct tcmsg fixed = { .tcm_ifindex = query->device };
	struct message m;

	message_begin(&m, query->type, 0, &fixed, sizeof(fixed));
	return message_dump(&m, NETLINK_ROUTE, is_it, query);
}

static void queue_begin(struct message *m, int device, const char *kind)
{
	const struct tcmsg fixed = {
		.tcm_ifindex = device,
		.tcm_handle = 0x10000,
		.tcm_parent = TC_H_ROOT,
	};

	message_begin(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &fixed, sizeof(fixed));
	message_put_text(m, TCA_KIND, kind);
}

static enum verdict judge_quantum(uint32_t quantum, uint32_t fixed)
{
	bool is_fixed = fixed == LIMIT ? quantum <= fixed : quantum == fixed;

	printf("%s: the quantum is %u\n", is_fixed ? "fixed" : "affected", quantum);
	return is_fixed ? FIXED : AFFECTED;
}

/* The quantum that a queue gets from an MTU; @type is the attribute, or -1: a structure begins with it. */
static enum verdict default_quantum(const char *kind, int type)
{
	struct query query = { .type = RTM_GETQDISC, .handle = 0x10000 };
	const struct nlattr *quantum, *options = (void *)query.options;
	struct message m;

	if (!new_network())
		return BROKEN;
	query.device = dummy_make(HUGE_MTU);
	if (!query.device)
		return BROKEN;
	queue_begin(&m, query.device, kind);
	errno = message_send(&m, NETLINK_ROUTE);
	if (errno)
		return broken("no queue %s", kind);
	if (!look(&query) || !query.size)
		return broken("no options in the dump of %s", kind);
	if (type < 0)
		return judge_quantum(attribute32(options), LIMIT);
	quantum = attribute_nested(options, type);
	if (!quantum)
		return broken("no quantum in the dump of %s", kind);
	return judge_quantum(attribute32(quantum), LIMIT);
}

static enum verdict hhf(void)
{
	return default_quantum("hhf", TCA_HHF_QUANTUM);
}

static enum verdict fq(void)
{
	return default_quantum("fq", TCA_FQ_QUANTUM);
}

static enum verdict fq_pie(void)
{
	return default_quantum("fq_pie", TCA_FQ_PIE_QUANTUM);
}

static enum verdict fq_codel(void)
{
	return default_quantum("fq_codel", TCA_FQ_CODEL_QUANTUM);
}

static int sfq_with(int device, unsigned int quantum)
{
	const struct tc_sfq_qopt options = { .quantum = quantum };
	struct message m;

	queue_begin(&m, device, "sfq");
	message_put(&m, TCA_OPTIONS, &options, sizeof(options));
	return message_send(&m, NETLINK_ROUTE);
}

static enum verdict sfq_overflow(void)
{
	enum verdict by_mtu = default_quantum("sfq", -1);
	enum verdict by_option;
	int device;

	if (by_mtu == BROKEN || !new_network())
		return BROKEN;
	device = dummy_make(1500);
	if (!device)
		return BROKEN;
	by_option = judge(sfq_with(device, LIMIT + 1), EINVAL, 0);
	if (by_option != by_mtu) {
		errno = 0;
		return broken("one half of the fix is there");
	}
	return by_mtu;
}

static enum verdict sfq_quantum(void)
{
	struct query query = { .type = RTM_GETQDISC, .handle = 0x10000 };

	if (!new_network())
		return BROKEN;
	query.device = dummy_make(1500);
	if (!query.device)
		return BROKEN;
	errno = sfq_with(query.device, 1);
	if (errno)
		return broken("no queue sfq");
	if (!look(&query) || !query.size)
		return broken("no options in the dump of sfq");
	return judge_quantum(attribute32((void *)query.options), 256);
}

static enum verdict drr_quantum(void)
{
	struct query query = { .type = RTM_GETTCLASS, .handle = 0x10001 };
	struct tcmsg fixed = { .tcm_handle = 0x10001, .tcm_parent = 0x10000 };
	const struct nlattr *quantum;
	struct message m;
	size_t options;

	if (!new_network())
		return BROKEN;
	query.device = fixed.tcm_ifindex = dummy_make(1500);
	if (!query.device)
		return BROKEN;
	queue_begin(&m, query.device, "drr");
	errno = message_send(&m, NETLINK_ROUTE);
	if (errno)
		return broken("no queue drr");
	message_begin(&m, RTM_NEWTCLASS, NLM_F_CREATE, &fixed, sizeof(fixed));
	message_put_text(&m, TCA_KIND, "drr");
	options = message_nest(&m, TCA_OPTIONS);
	message_put32(&m, TCA_DRR_QUANTUM, 1);
	message_end(&m, options);
	errno = message_send(&m, NETLINK_ROUTE);
	if (errno)
		return broken("no class of drr");
	if (!look(&query) || !query.size ||
	    !(quantum = attribute_nested((void *)query.options, TCA_DRR_QUANTUM)))
		return broken("no quantum in the dump of drr");
	return judge_quantum(attribute32(quantum), 256);
}

static bool send_packet(int device)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_LOOPBACK),
		.sll_ifindex = device,
	};
	const char frame[100] = { [12] = ETH_P_LOOPBACK >> 8, [13] = ETH_P_LOOPBACK & 0xff };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	bool sent = fd >= 0 && sendto(fd, frame, sizeof(frame), 0, (void *)&to, sizeof(to)) > 0;

	if (!sent)
		broken("no packet");
	if (fd >= 0)
		close(fd);
	return sent;
}

static enum verdict packet_length(void)
{
	/* No table: only what is added to each length. */
	const struct tc_sizespec sizes = { .overhead = 3 * LIMIT, .mtu = 2047 };
	struct query query = { .type = RTM_GETQDISC, .handle = 0x10000 };
	struct message m;
	size_t table;
	bool fixed;

	if (!new_network())
		return BROKEN;
	query.device = dummy_make(1500);
	if (!query.device)
		return BROKEN;
	queue_begin(&m, query.device, "pfifo");
	table = message_nest(&m, TCA_STAB);
	message_put(&m, TCA_STAB_BASE, &sizes, sizeof(sizes));
	message_end(&m, table);
	errno = message_send(&m, NETLINK_ROUTE);
	if (errno)
		return broken("no queue with a size table");
	if (!link_up(query.device) || !send_packet(query.device))
		return BROKEN;
	errno = 0;
	if (!look(&query) || !query.packets)
		return broken("no packet was counted");
	fixed = query.bytes / query.packets <= LIMIT;
	printf("%s: %u packets of %llu bytes\n", fixed ? "fixed" : "affected", query.packets,
	       (unsigned long long)query.bytes / query.packets);
	return fixed ? FIXED : AFFECTED;
}

static enum verdict u32_offshift(void)
{
	struct tcmsg fixed = {
		.tcm_parent = 0x10000,
		.tcm_info = TC_H_MAKE(1 << 16, htons(ETH_P_IP)),
	};
	const struct tc_prio_qopt bands = { .bands = 3, .priomap = { 1 } };
	struct {
		struct tc_u32_sel sel;
		struct tc_u32_key key;
	} selector = { .sel = { .offshift = 16, .nkeys = 1, .flags = TC_U32_TERMINAL } };
	struct message m;
	size_t options;

	if (!new_network())
		return BROKEN;
	fixed.tcm_ifindex = dummy_make(1500);
	if (!fixed.tcm_ifindex)
		return BROKEN;
	queue_begin(&m, fixed.tcm_ifindex, "prio");
	message_put(&m, TCA_OPTIONS, &bands, sizeof(bands));
	errno = message_send(&m, NETLINK_ROUTE);
	if (errno)
		return broken("no queue prio");
	message_begin(&m, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, &fixed, sizeof(fixed));
	message_put_text(&m, TCA_KIND, "u32");
	options = message_nest(&m, TCA_OPTIONS);
	message_put32(&m, TCA_U32_CLASSID, 0x10001);
	message_put(&m, TCA_U32_SEL, &selector, sizeof(selector));
	message_end(&m, options);
	return judge(message_send(&m, NETLINK_ROUTE), EINVAL, 0);
}

const struct effect queue_effects[] = {
	{ "sch-drr-quantum", drr_quantum },
	{ "sch-sfq-quantum", sfq_quantum },
	{ "sch-sfq-overflow", sfq_overflow },
	{ "sch-hhf-quantum", hhf },
	{ "sch-fq-quantum", fq },
	{ "sch-fq-pie-quantum", fq_pie },
	{ "sch-fq-codel-quantum", fq_codel },
	{ "qdisc-pkt-len", packet_length },
	{ "cls-u32-offshift", u32_offshift },
	{ 0 }
};
