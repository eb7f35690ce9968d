/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers (pokepatch_mark.h) without pokepatch's core; a part of livepatch.c.
 *
 * There are no probes.  The module's parameter "markers" takes the name of an instance of tracefs,
 * and while it has one, each marker of the module writes a line to that instance's buffer.  An empty
 * line ends that, and so does "-NAME" if NAME is the instance: by that, a program that made an
 * instance leaves no other program's.
 *
 * Concurrency: the kernel holds the module's param_lock when it calls markers_set() and
 * markers_get().  open_markers() and close_markers() take it.  A marker may be reached in any
 * context, also in an NMI.  It reads the instance once, and uses it with preemption off, where RCU
 * watches and waits for the CPU (it does not for one that comes or goes).  So when
 * synchronize_rcu() returns, no CPU uses an instance that was taken away before.
 */
#ifndef POKEPATCH_LIVEPATCH_MARKERS_H
#define POKEPATCH_LIVEPATCH_MARKERS_H

#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/trace.h>

#include <pokepatch_mark.h>
#include <pokepatch_mark_guard.h>

#include <../features.h> /* of the core, for the same kernel */

/* Since Linux 6.7, what an instance shows of events can be limited. */
#ifdef PP_HAS_TRACE_ARRAY_SYSTEMS
#define get_instance(name) trace_array_get_by_name(name, NULL)
#else
#define get_instance(name) trace_array_get_by_name(name)
#endif

/* Where the markers write to, with a reference; NULL: nowhere.  Written under param_lock. */
static struct trace_array *instance;
static char instance_name[NAME_MAX + 1]; /* under param_lock */
static bool markers_open; /* the patch is loaded; under param_lock */

/* An interrupt or an NMI comes at another level; a marker that an exception leads to is missed. */
static DEFINE_PER_CPU(struct pokepatch_mark_guard, serving);

notrace void pokepatch_mark_hit(struct pokepatch_marker *marker, const char *format, ...)
{
	bool *busy = pokepatch_mark_begin(&serving, marker);
	struct trace_array *to;
	struct va_format text;
	va_list list;

	if (!busy)
		return;
	to = rcu_is_watching() && cpu_online(raw_smp_processor_id()) ? READ_ONCE(instance) : NULL;
	if (to) {
		va_start(list, format);
		text.fmt = format;
		text.va = &list;
		if (trace_array_printk(to, _RET_IP_, "%s: %pV\n", marker->name, &text) <= 0)
			pokepatch_mark_missed(marker);
		va_end(list);
	} else if (READ_ONCE(instance)) {
		pokepatch_mark_missed(marker);
	}
	pokepatch_mark_end(busy);
}

static struct pokepatch_marker *first_marker(void)
{
	return (struct pokepatch_marker *)(unsigned long)pokepatch_image.markers;
}

/* A marker that is on is one whose pointer to probes is not NULL; it is not followed. */
static void switch_markers(void *probes)
{
	struct pokepatch_marker *marker = first_marker();
	u32 i;

	for (i = 0; i < pokepatch_image.nr_markers; i++)
		WRITE_ONCE(marker[i].probes, probes);
}

/* param_lock is held. */
static void leave_instance(void)
{
	struct trace_array *left = instance;

	if (!left)
		return;
	switch_markers(NULL);
	WRITE_ONCE(instance, NULL);
	synchronize_rcu();
	trace_array_put(left);
}

static notrace int markers_set(const char *value, const struct kernel_param *param)
{
	char name[NAME_MAX + 1], *wanted;
	struct trace_array *to;

	if (strscpy(name, value, sizeof(name)) < 0)
		return -ENAMETOOLONG;
	wanted = strim(name);
	if (*wanted == '-' && (!instance || strcmp(wanted + 1, instance_name)))
		return -ENOENT;
	if (!*wanted || *wanted == '-') {
		leave_instance();
		return 0;
	}
	/* As a parameter of insmod: if the load failed afterwards, nothing would put the reference. */
	if (!markers_open)
		return -EAGAIN;
	if (instance)
		return -EBUSY;
	to = get_instance(wanted);
	if (!to)
		return -EINVAL;
	if (trace_array_init_printk(to)) {
		trace_array_put(to);
		return -ENOMEM;
	}
	strscpy(instance_name, wanted, sizeof(instance_name));
	/* Publish a complete instance; READ_ONCE() in pokepatch_mark_hit() depends on this. */
	smp_store_release(&instance, to);
	switch_markers(to);
	return 0;
}

/* A line for each marker, as in pokepatch's own sysfs: NAME FILE:LINE PROBES MISSED FORMAT. */
static notrace int markers_get(char *buffer, const struct kernel_param *param)
{
	const struct pokepatch_marker *marker = first_marker();
	int length = 0;
	u32 i;

	for (i = 0; i < pokepatch_image.nr_markers; i++)
		length += sysfs_emit_at(buffer, length, "%s %s:%u %u %ld %s\n", marker[i].name,
					marker[i].file, marker[i].line, marker[i].probes != NULL,
					READ_ONCE(marker[i].missed), marker[i].format);
	return length;
}

static const struct kernel_param_ops markers_ops = {
	.set = markers_set,
	.get = markers_get,
};
module_param_cb(markers, &markers_ops, NULL, 0600);

static void __init open_markers(void)
{
	kernel_param_lock(THIS_MODULE);
	markers_open = true;
	kernel_param_unlock(THIS_MODULE);
}

/* The parameter's file goes later than the module's exit function is called. */
static void __maybe_unused close_markers(void)
{
	kernel_param_lock(THIS_MODULE);
	markers_open = false;
	leave_instance();
	kernel_param_unlock(THIS_MODULE);
}

#endif /* POKEPATCH_LIVEPATCH_MARKERS_H */
