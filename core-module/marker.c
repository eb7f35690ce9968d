// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers of patches, and the probes that are attached to them (pokepatch_mark.h).
 *
 * marker->probes is NULL or an array of probes.  A marker reads it once, without a lock and
 * in any context; pokepatch_mark_hit() then holds preemption off, and does nothing where RCU
 * does not watch, so that after synchronize_rcu() nobody is in an array that is no longer
 * there, nor in a probe that was taken out.
 *
 * A probe is taken out by writing NULL over its function, which needs no memory and so cannot
 * fail.  Its private pointer stays: who has read the function before may read it after.  A new
 * probe always comes with a new array, so that function and pointer never change together.
 *
 * Lock order: pp_mutex or the kernel's tracepoints_mutex (the tracepoint's probe is attached
 * under it), then marker_mutex.  Nothing is locked under that, and grace periods are waited for
 * without it.
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

#include "marker.h"
#include "pp_patch.h"
#include "trace.h"

/* The longest text that the tracepoint gets. */
#define TEXT_MAX 256
/* Contexts that interrupt each other on one processor: interrupt_context_level(). */
#define LEVELS 4

struct attached {
	struct list_head old;	/* of those that are to be freed */
	unsigned int nr;
	struct {
		pokepatch_probe_t probe; /* NULL: it was taken out */
		void *private;
	} list[];
};

/* What the core notes of a marker. */
struct pp_marker {
	const struct pp_patch *patch;
	unsigned int name_size;	/* of the marker's name, with its 0 */
	unsigned int nr_args;
	char types[POKEPATCH_MARK_ARGS + 1];
};

/* Who asked for markers of a name, or, with NULL, for all. */
struct interest {
	struct list_head node;
	char *name;
	pokepatch_probe_t probe;
	void *private;
};

static DEFINE_MUTEX(marker_mutex);
static LIST_HEAD(interests);
static LIST_HEAD(patches);

/* --- attaching --------------------------------------------------------------------- */

static bool wants(const struct interest *interest, const struct pokepatch_marker *marker)
{
	return !interest->name || !strcmp(interest->name, marker->name);
}

/*
 * Add a probe to a marker; what it replaces goes to @old.  A probe that asked for a name and
 * for all markers is called twice, and taken out once for each.
 */
static int attach(struct pokepatch_marker *marker, const struct interest *interest,
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
	/* Who sees the array sees what is in it. */
	smp_store_release(&marker->probes, after);
	if (before)
		list_add(&before->old, old);
	return 0;
}

static void detach(struct pokepatch_marker *marker, const struct interest *interest,
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

/* Nobody may be in them any more. */
static void free_old(struct list_head *old)
{
	struct attached *attached, *next;

	list_for_each_entry_safe(attached, next, old, old)
		kfree(attached);
}

/* Of all markers that @interest wants, those before @end, or all if that is NULL. */
static void detach_until(const struct interest *interest, const struct pokepatch_marker *end,
			 struct list_head *old)
{
	struct pp_patch *patch;
	unsigned int i;

	list_for_each_entry(patch, &patches, marked) {
		for (i = 0; i < patch->image->nr_markers; i++) {
			if (&patch->markers[i] == end)
				return;
			if (wants(interest, &patch->markers[i]))
				detach(&patch->markers[i], interest, old);
		}
	}
}

static int attach_all(const struct interest *interest, struct list_head *old)
{
	struct pp_patch *patch;
	unsigned int i;

	list_for_each_entry(patch, &patches, marked) {
		for (i = 0; i < patch->image->nr_markers; i++) {
			if (!wants(interest, &patch->markers[i]) ||
			    !attach(&patch->markers[i], interest, old))
				continue;
			detach_until(interest, &patch->markers[i], old);
			return -ENOMEM;
		}
	}
	return 0;
}

static struct interest *find(const char *name, pokepatch_probe_t probe, const void *private)
{
	struct interest *interest;

	list_for_each_entry(interest, &interests, node)
		if (interest->probe == probe && interest->private == private &&
		    !name == !interest->name && (!name || !strcmp(name, interest->name)))
			return interest;
	return NULL;
}

static void interest_free(struct interest *interest)
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
	if (!ret && find(name, probe, private))
		ret = -EEXIST;
	ret = ret ?: attach_all(interest, &old);
	if (!ret)
		list_add_tail(&interest->node, &interests);
	mutex_unlock(&marker_mutex);

	/* After a failure the probe may have been called, too. */
	if (ret || !list_empty(&old))
		synchronize_rcu();
	free_old(&old);
	if (ret)
		interest_free(interest);
	return ret;
}
EXPORT_SYMBOL_GPL(pokepatch_marker_register);

int pokepatch_marker_unregister(const char *name, pokepatch_probe_t probe, void *private)
{
	struct interest *interest;
	LIST_HEAD(old);

	mutex_lock(&marker_mutex);
	interest = find(name, probe, private);
	if (interest) {
		list_del(&interest->node);
		detach_until(interest, NULL, &old);
	}
	mutex_unlock(&marker_mutex);
	if (!interest)
		return -ENOENT;
	/* Also if there is nothing to free: the probe may be running. */
	synchronize_rcu();
	free_old(&old);
	interest_free(interest);
	return 0;
}
EXPORT_SYMBOL_GPL(pokepatch_marker_unregister);

/* --- being met ----------------------------------------------------------------------- */

/* How far a marker is being served on this processor, at each level. */
static DEFINE_PER_CPU(bool [LEVELS], serving);

struct arguments {
	const char *format;
	va_list list;
};

static unsigned long long take(struct arguments *arguments, char type)
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

static void serve(const struct attached *attached, struct pokepatch_marker *marker,
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
		args[i] = take(&arguments, core->types[i]);
	va_end(arguments.list);
	for (i = 0; i < attached->nr; i++) {
		pokepatch_probe_t probe = READ_ONCE(attached->list[i].probe);

		if (probe)
			probe(attached->list[i].private, &mark);
	}
	va_end(text.list);
}

/*
 * Any context.  A marker that a probe, or what it calls, meets at the same level is left out,
 * as it would lead back here; and so is one where RCU does not watch, as in the idle loop.
 */
notrace void pp_mark_met(struct pokepatch_marker *marker, va_list list, unsigned long ip)
{
	const struct attached *attached;
	bool *busy;

	preempt_disable_notrace();
	busy = &(*this_cpu_ptr(&serving))[interrupt_context_level()];
	if (*busy) {
		atomic_long_inc((atomic_long_t *)&marker->missed);
		preempt_enable_notrace();
		return;
	}
	/* Before the first call of anything, which may have a marker. */
	WRITE_ONCE(*busy, true);
	barrier();
	attached = rcu_is_watching() ? smp_load_acquire(&marker->probes) : NULL;
	if (attached) {
		serve(attached, marker, ip, list);
	} else if (READ_ONCE(marker->probes)) {
		atomic_long_inc((atomic_long_t *)&marker->missed);
	}
	barrier();
	WRITE_ONCE(*busy, false);
	preempt_enable_notrace();
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

/* serving[] keeps a second user of the same level away. */
static DEFINE_PER_CPU(char [LEVELS][TEXT_MAX], texts);

static void trace_probe(void *private, const struct pokepatch_mark *mark)
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
	return pokepatch_marker_register(NULL, trace_probe, NULL);
}

void pp_marker_untrace(void)
{
	pokepatch_marker_unregister(NULL, trace_probe, NULL);
}

/* --- patches --------------------------------------------------------------------------- */

/*
 * The type of the conversion at *@format, behind its %, and go behind it: a letter of
 * pokepatch_mark.types, or 0 if it takes no argument or is not known.
 */
static char conversion(const char **format)
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
	case '*': /* a width, or a precision: the conversion itself comes next */
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

static void read_types(struct pp_marker *core, const char *format)
{
	while ((format = strchr(format, '%'))) {
		char type;

		format++;
		for (;;) {
			type = conversion(&format);
			if (type && core->nr_args < POKEPATCH_MARK_ARGS)
				core->types[core->nr_args++] = type;
			if (*format != '*')
				break;
			format++;
		}
	}
}

static int attach_interests(struct pokepatch_marker *marker)
{
	struct interest *interest;
	LIST_HEAD(old);
	int ret = 0;

	list_for_each_entry(interest, &interests, node)
		if (!ret && wants(interest, marker))
			ret = attach(marker, interest, &old);
	/* The patch's code has not run yet. */
	free_old(&old);
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
		read_types(&patch->marks[i], patch->markers[i].format);
		patch->markers[i].core = &patch->marks[i];
	}
	mutex_lock(&marker_mutex);
	list_add_tail(&patch->marked, &patches);
	for (i = 0; i < nr && !ret; i++)
		ret = attach_interests(&patch->markers[i]);
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
	/* Nobody finds the markers any more, and nobody is in the patch's code. */
	for (i = 0; i < patch->image->nr_markers; i++) {
		kfree(patch->markers[i].probes);
		patch->markers[i].probes = NULL;
	}
	kvfree(patch->marks);
	patch->marks = NULL;
}

static unsigned int count(const struct attached *attached)
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
				   marker->line, count(marker->probes), READ_ONCE(marker->missed),
				   marker->format);
	}
	mutex_unlock(&marker_mutex);
	return length;
}
