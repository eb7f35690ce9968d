// SPDX-License-Identifier: GPL-2.0-or-later
/* Effects of fixes in packet filters: tables of iptables' old interface. */
#include <errno.h>
#include <netinet/in.h>
#include <linux/netfilter/xt_hashlimit.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "effects.h"

#define ACCEPT (-NF_ACCEPT - 1)

/* A table with its rules behind it. */
struct table {
	struct ipt_replace head;
	char rules[4096] __attribute__((aligned(8)));
};

/* Add a rule; with a match if @size of it is not 0.  Returns where it begins. */
static unsigned int add_rule(struct table *table, const char *match, const void *data, size_t size,
			     int verdict)
{
	unsigned int start = table->head.size;
	struct ipt_entry *entry = (void *)(table->rules + start);
	struct xt_entry_match *m = (void *)entry->elems;
	struct xt_standard_target *target;

	entry->target_offset = sizeof(*entry);
	if (size) {
		m->u.user.match_size = sizeof(*m) + XT_ALIGN(size);
		m->u.user.revision = 3;
		strcpy(m->u.user.name, match);
		memcpy(m->data, data, size);
		entry->target_offset += m->u.user.match_size;
	}
	target = (void *)((char *)entry + entry->target_offset);
	target->target.u.user.target_size = sizeof(*target);
	target->verdict = verdict;
	entry->next_offset = entry->target_offset + sizeof(*target);
	table->head.size += entry->next_offset;
	table->head.num_entries++;
	return start;
}

/* The end of all rules. */
static void add_error(struct table *table)
{
	struct ipt_entry *entry = (void *)(table->rules + table->head.size);
	struct xt_error_target *target = (void *)entry->elems;

	entry->target_offset = sizeof(*entry);
	entry->next_offset = sizeof(*entry) + sizeof(*target);
	target->target.u.user.target_size = sizeof(*target);
	strcpy(target->target.u.user.name, XT_ERROR_TARGET);
	strcpy(target->errorname, XT_ERROR_TARGET);
	table->head.size += entry->next_offset;
	table->head.num_entries++;
}

/* Two rules that share the hash table of one name. */
static void fill_table(struct table *table, const struct xt_hashlimit_mtinfo3 *first,
		       const struct xt_hashlimit_mtinfo3 *second)
{
	static const int hooks[] = { NF_INET_LOCAL_IN, NF_INET_FORWARD, NF_INET_LOCAL_OUT };

	strcpy(table->head.name, "filter");
	add_rule(table, "hashlimit", first, sizeof(*first), ACCEPT);
	add_rule(table, "hashlimit", second, sizeof(*second), ACCEPT);
	for (int i = 0; i < 3; i++) {
		unsigned int policy = add_rule(table, NULL, NULL, 0, ACCEPT);

		table->head.valid_hooks |= 1 << hooks[i];
		table->head.hook_entry[hooks[i]] = i ? policy : 0;
		table->head.underflow[hooks[i]] = policy;
	}
	add_error(table);
}

static enum verdict hashlimit_rate(void)
{
	static struct table table;
	static struct xt_counters counters[64];
	struct xt_hashlimit_mtinfo3 first = {
		.name = "effect",
		.cfg = {
			.mode = XT_HASHLIMIT_HASH_SIP, .avg = XT_HASHLIMIT_SCALE_v2, .burst = 5,
			.gc_interval = 1000, .expire = 1000, .srcmask = 32, .dstmask = 32,
		},
	}, second = first;
	struct ipt_getinfo info = { .name = "filter" };
	socklen_t size = sizeof(info);
	int fd, error = 0;

	second.cfg.mode |= XT_HASHLIMIT_RATE_MATCH;
	second.cfg.interval = 1;
	if (!new_network())
		return BROKEN;
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0 || getsockopt(fd, IPPROTO_IP, IPT_SO_GET_INFO, &info, &size) != 0 ||
	    info.num_entries > 64)
		return broken("no table");
	fill_table(&table, &first, &second);
	table.head.num_counters = info.num_entries;
	table.head.counters = counters;
	if (setsockopt(fd, IPPROTO_IP, IPT_SO_SET_REPLACE, &table,
		       sizeof(table.head) + table.head.size) != 0)
		error = errno;
	close(fd);
	return judge(error, EINVAL, 0);
}

const struct effect filter_effects[] = {
	{ "xt-hashlimit-rate", hashlimit_rate },
	{ 0 }
};
