// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers of patches, and the probes that are attached to them (pokepatch_mark.h).
 *
 * marker->probes is NULL or an array of probes.  A marker reads the pointer once, without a lock
 * and in any context.  pokepatch_mark_hit() keeps preemption off from that read until the last
 * probe has returned, and calls no probe where RCU does not watch.  So after synchronize_rcu() no
 * CPU uses an array that was replaced, or runs a probe that was taken out.
 *
 * A probe is taken out by writing NULL over its function.  That needs no memory, so it cannot
 * fail.  The probe's private pointer stays: a CPU that has read the function may read the pointer
 * afterwards.  A new probe always comes with a new array, so a function never meets another
 * probe's pointer.
 *
 * Lock order: pp_mutex or the kernel's tracepoints_mutex (under which the tracepoint's probe is
 * attached), then marker_mutex.  No lock is taken and no grace period is awaited under that.
 */
#include <linux/ctype.h>
#include <linux/hardirq.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <pokepatch_mark.h>
#include <pokepatch_mark_guard.h>

#include "marker.h"
#include "pp_patch.h"
#include "trace.h"

/* The longest text that the tracepoint gets, in bytes with its 0. */
#define TEXT_MAX 256

struct attached {
	struct list_head old;	/* in a list of arrays that will be freed */
	unsigned int nr;
	struct {
		pokepatch_probe_t probe; /* NULL: it was taken out */
		void *private;
	} list[];
};

/* What the core works out beforehand for a marker. */
struct pp_marker {
	const struct pp_patch *patch;
	unsigned int name_size;	/* of the marker's name, with its 0 */
	unsigned int nr_args;
	char types[POKEPATCH_MARK_ARGS + 1];
};

/* A registered probe, which is attached to all markers of its name. */
struct interest {
	struct list_head node;
	char *name;		/* NULL: all markers */
	pokepatch_probe_t probe;
	void *private;
};

static DEFINE_MUTEX(marker_mutex);
static LIST_HEAD(interests);
static LIST_HEAD(patches);

/* --- attaching --------------------------------------------------------------------- */

static bool marker_wants(const struct interest *interest, const struct pokepatch_marker *marker)
{
	return !interest->name || !strcmp(interest->name, marker->name);
}

/*
 * Attach a probe to a marker, and put the array that this replaces into @old.  A probe that is
 * registered both for the marker's name and for all markers is attached twice.
 */
static int marker_attach(struct pokepatch_marker *marker, const struct interest *interest,
			 struct list_head *old)
{
	struct attached *before = marker->probes, *after;
	const unsigned int nr = before ? before->nr : 0;
	unsigned int i;

	after = kzalloc(struct_size(after, list, nr + 1), GFP_KERNEL);
	if (!after)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		if (before->list[i].probe)
			after->list[after->nr++] = before->list[i];
	after->list[after->nr].probe = interest->probe;
	after->list[after->nr++].private = interest->private;
	/* A CPU that reads the new pointer reads the array as it was filled in above. */
	smp_store_release(&marker->probes, after);
	if (before)
		list_add(&before->old, old);
	return 0;
}

static void marker_detach(struct pokepatch_marker *marker, const struct interest *interest,
			  struct list_head *old)
{
	struct attached *attached = marker->probes;
	bool found = false, more = false;
	unsigned int i;

	for (i = 0; attached && i < attached->nr; i++) {
		if (!found && attached->list[i].probe == interest->probe &&
		    attached->list[i].private == interest->private) {
			WRITE_ONCE(attached->list[i].probe, NULL);
			found = true;
		}
		more |= attached->list[i].probe != NULL;
	}
	if (attached && !more) {
		WRITE_ONCE(marker->probes, NULL);
		list_add(&attached->old, old);
	}
}

/* No CPU uses these arrays any more. */
static void marker_free_old(struct list_head *old)
{
	struct attached *attached, *next;

	list_for_each_entry_safe(attached, next, old, old)
		kfree(attached);
}

/* Detach from the markers that @interest wants and that come before @end; NULL: from all. */
static void marker_detach_until(const struct interest *interest, const struct pokepatch_marker *end,
				struct list_head *old)
{
	struct pp_patch *patch;
	unsigned int i;

	list_for_each_entry(patch, &patches, marked) {
		for (i = 0; i < patch->image->nr_markers; i++) {
			if (&patch->markers[i] == end)
				return;
			if (marker_wants(interest, &patch->markers[i]))
				marker_detach(&patch->markers[i], interest, old);
		}
	}
}

static int marker_attach_all(const struct interest *interest, struct list_head *old)
{
	struct pp_patch *patch;
	unsigned int i;

	list_for_each_entry(patch, &patches, marked) {
		for (i = 0; i < patch->image->nr_markers; i++) {
			if (!marker_wants(interest, &patch->markers[i]) ||
			    !marker_attach(&patch->markers[i], interest, old))
				continue;
			marker_detach_until(interest, &patch->markers[i], old);
			return -ENOMEM;
		}
	}
	return 0;
}

static struct interest *marker_find_interest(const char *name, pokepatch_probe_t probe,
					     const void *private)
{
	struct interest *interest;

	list_for_each_entry(interest, &interests, node)
		if (interest->probe == probe && interest->private == private &&
		    !name == !interest->name && (!name || !strcmp(name, interest->name)))
			return interest;
	return NULL;
}

static void marker_interest_free(struct interest *interest)
{
	kfree(interest->name);
	kfree(interest);
}

int pokepatch_marker_register(const char *name, pokepatch_probe_t probe, void *private)
{
	struct interest *interest;
	LIST_HEAD(old);
	int ret = 0;

	if (!probe)
		return -EINVAL;
	interest = kzalloc(sizeof(*interest), GFP_KERNEL);
	if (!interest)
		return -ENOMEM;
	interest->probe = probe;
	interest->private = private;
	if (name) {
		interest->name = kstrdup(name, GFP_KERNEL);
		if (!interest->name)
			ret = -ENOMEM;
	}
	mutex_lock(&marker_mutex);
	if (!ret && marker_find_interest(name, probe, private))
		ret = -EEXIST;
	ret = ret ?: marker_attach_all(interest, &old);
	if (!ret)
		list_add_tail(&interest->node, &interests);
	mutex_unlock(&marker_mutex);

	/* Even after a failure the probe may have been attached for a moment. */
	if (ret || !list_empty(&old))
		synchronize_rcu();
	marker_free_old(&old);
	if (ret)
		marker_interest_free(interest);
	return ret;
}
EXPORT_SYMBOL_GPL(pokepatch_marker_register);

int pokepatch_marker_unregister(const char *name, pokepatch_probe_t probe, void *private)
{
	struct interest *interest;
	LIST_HEAD(old);

	mutex_lock(&marker_mutex);
	interest = marker_find_interest(name, probe, private);
	if (interest) {
		list_del(&interest->node);
		marker_detach_until(interest, NULL, &old);
	}
	mutex_unlock(&marker_mutex);
	if (!interest)
		return -ENOENT;
	/* Wait even if there is nothing to free: the probe may be running. */
	synchronize_rcu();
	marker_free_old(&old);
	marker_interest_free(interest);
	return 0;
}
EXPORT_SYMBOL_GPL(pokepatch_marker_unregister);

/* --- a marker was reached ------------------------------------------------------------ */

static DEFINE_PER_CPU(struct pokepatch_mark_guard, serving);

struct arguments {
	const char *format;
	va_list list;
};

static unsigned long long marker_take_arg(struct arguments *arguments, char type)
{
	switch (type) {
	case 'i':
		return (long long)va_arg(arguments->list, int);
	case 'u':
	case 'c':
		return va_arg(arguments->list, unsigned int);
	case 'l':
	case 'w':
		return va_arg(arguments->list, unsigned long long);
	default:
		return (unsigned long)va_arg(arguments->list, void *);
	}
}

static void marker_serve(const struct attached *attached, struct pokepatch_marker *marker,
			 unsigned long ip, va_list list)
{
	const struct pp_marker *core = marker->core;
	unsigned long long args[POKEPATCH_MARK_ARGS];
	struct arguments text = { .format = marker->format }, arguments;
	struct pokepatch_mark mark = {
		.marker = marker,
		.patch = core->patch->name,
		.ip = ip,
		.nr_args = core->nr_args,
		.types = core->types,
		.args = args,
		.core = &text,
	};
	unsigned int i;

	va_copy(text.list, list);
	va_copy(arguments.list, list);
	for (i = 0; i < core->nr_args; i++)
		args[i] = marker_take_arg(&arguments, core->types[i]);
	va_end(arguments.list);
	for (i = 0; i < attached->nr; i++) {
		pokepatch_probe_t probe = READ_ONCE(attached->list[i].probe);

		if (probe)
			probe(attached->list[i].private, &mark);
	}
	va_end(text.list);
}

/*
 * Any context.  If a probe, or a function that it calls, reaches a marker at the same level, no
 * probe is called for that, since it would come back here.  The same holds where RCU does not
 * watch, as in the idle loop, and on a CPU that comes or goes, for which RCU does not wait at its
 * end although it watches.  All count as missed.
 */
notrace void pp_mark_met(struct pokepatch_marker *marker, va_list list, unsigned long ip)
{
	bool *busy = pokepatch_mark_begin(&serving, marker);
	const struct attached *attached;

	if (!busy)
		return;
	attached = rcu_is_watching() && cpu_online(raw_smp_processor_id()) ?
			   smp_load_acquire(&marker->probes) : NULL;
	if (attached)
		marker_serve(attached, marker, ip, list);
	else if (READ_ONCE(marker->probes))
		pokepatch_mark_missed(marker);
	pokepatch_mark_end(busy);
}

notrace void pokepatch_mark_hit(struct pokepatch_marker *marker, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	pp_mark_met(marker, list, _RET_IP_);
	va_end(list);
}
EXPORT_SYMBOL_GPL(pokepatch_mark_hit);

int pokepatch_mark_text(const struct pokepatch_mark *mark, char *buf, unsigned long size)
{
	struct arguments *text = mark->core;
	va_list list;
	int length;

	va_copy(list, text->list);
	length = vsnprintf(buf, size, text->format, list);
	va_end(list);
	return length;
}
EXPORT_SYMBOL_GPL(pokepatch_mark_text);

/* --- the tracepoint -------------------------------------------------------------------- */

/* serving keeps out a second user on the same CPU and level. */
static DEFINE_PER_CPU(char [POKEPATCH_MARK_LEVELS][TEXT_MAX], texts);

static void marker_trace_probe(void *private, const struct pokepatch_mark *mark)
{
	char *text = (*this_cpu_ptr(&texts))[interrupt_context_level()];
	const struct pp_marker *core = mark->marker->core;
	const int length = pokepatch_mark_text(mark, text, TEXT_MAX);
	const struct pp_mark_strings strings = {
		.text = text,
		.text_size = min(length, TEXT_MAX - 1) + 1,
		.name_size = core->name_size,
		.patch_size = core->patch->name_len + 1,
		.types_size = core->nr_args + 1,
	};

	trace_marker(mark, &strings);
}

int pp_marker_trace(void)
{
	return pokepatch_marker_register(NULL, marker_trace_probe, NULL);
}

void pp_marker_untrace(void)
{
	pokepatch_marker_unregister(NULL, marker_trace_probe, NULL);
}

/* --- patches --------------------------------------------------------------------------- */

/*
 * Read the conversion at *@format, which points behind its %, and move *@format behind it.  Return:
 * the letter for pokepatch_mark.types, or 0 if it takes no argument or is not known.  For a "*" (a
 * width or a precision) that is the letter of its argument, and the rest of the conversion
 * follows.
 */
static char marker_conversion(const char **format)
{
	const char *p = *format;
	bool wide = false;
	char type = 0;

	for (; *p && strchr("-+ #0123456789.hlLzjt", *p); p++)
		wide |= strchr("lLzjt", *p) != NULL;
	switch (*p) {
	case 'd':
	case 'i':
		type = wide ? 'l' : 'i';
		break;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		type = wide ? 'w' : 'u';
		break;
	case 'c':
	case 's':
	case 'p':
		type = *p;
		break;
	case '*':
		type = 'i';
		break;
	}
	if (type != 'i' || *p != '*') {
		if (*p)
			p++;
		while (type == 'p' && isalnum(*p))
			p++;
	}
	*format = p;
	return type;
}

unsigned int pp_marker_types(const char *format, char *types)
{
	unsigned int nr = 0;

	while ((format = strchr(format, '%'))) {
		char type;

		format++;
		for (;;) {
			type = marker_conversion(&format);
			if (type && nr < POKEPATCH_MARK_ARGS)
				types[nr++] = type;
			if (*format != '*')
				break;
			format++;
		}
	}
	return nr;
}

static int marker_attach_interests(struct pokepatch_marker *marker)
{
	struct interest *interest;
	LIST_HEAD(old);
	int ret = 0;

	list_for_each_entry(interest, &interests, node)
		if (!ret && marker_wants(interest, marker))
			ret = marker_attach(marker, interest, &old);
	/* The patch's code has not run yet. */
	marker_free_old(&old);
	return ret;
}

int pp_markers_add(struct pp_patch *patch)
{
	const unsigned int nr = patch->image->nr_markers;
	unsigned int i;
	int ret = 0;

	if (!nr)
		return 0;
	patch->marks = kvcalloc(nr, sizeof(*patch->marks), GFP_KERNEL);
	if (!patch->marks)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		patch->marks[i].patch = patch;
		patch->marks[i].name_size = strlen(patch->markers[i].name) + 1;
		patch->marks[i].nr_args = pp_marker_types(patch->markers[i].format,
							  patch->marks[i].types);
		patch->markers[i].core = &patch->marks[i];
	}
	mutex_lock(&marker_mutex);
	list_add_tail(&patch->marked, &patches);
	for (i = 0; i < nr && !ret; i++)
		ret = marker_attach_interests(&patch->markers[i]);
	mutex_unlock(&marker_mutex);
	if (ret)
		pp_markers_del(patch);
	return ret;
}

void pp_markers_del(struct pp_patch *patch)
{
	unsigned int i;

	if (!patch->marks)
		return;
	mutex_lock(&marker_mutex);
	list_del(&patch->marked);
	mutex_unlock(&marker_mutex);
	/* No task can find the markers any more, and none is in the patch's code. */
	for (i = 0; i < patch->image->nr_markers; i++) {
		kfree(patch->markers[i].probes);
		patch->markers[i].probes = NULL;
	}
	kvfree(patch->marks);
	patch->marks = NULL;
}

static unsigned int marker_count_probes(const struct attached *attached)
{
	unsigned int i, nr = 0;

	for (i = 0; attached && i < attached->nr; i++)
		nr += attached->list[i].probe != NULL;
	return nr;
}

size_t pp_markers_show(const struct pp_patch *patch, char *buf, size_t size)
{
	size_t length = 0;
	unsigned int i;

	mutex_lock(&marker_mutex);
	for (i = 0; patch->marks && i < patch->image->nr_markers; i++) {
		const struct pokepatch_marker *marker = &patch->markers[i];

		length += snprintf(buf + min(length, size), size - min(length, size),
				   "%s %s:%u %u %ld %s\n", marker->name, marker->file,
				   marker->line, marker_count_probes(marker->probes),
				   READ_ONCE(marker->missed), marker->format);
	}
	mutex_unlock(&marker_mutex);
	return length;
}
