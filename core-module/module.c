// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules that come and go: patch modules, and their parents.
 *
 * The notifier is the first of all, so that at a patch module's COMING its
 * relocations are made before jump labels, static calls and tracepoints walk and
 * sort its tables, and at a parent's GOING its sites are let go while everything
 * about it still works.
 */
#include <linux/delay.h>
#include <linux/elf.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <pokepatch.h>
#include <pokepatch_format.h>
#include <pokepatch_history.h>

#include "callbacks.h"
#include "core_print.h"
#include "debug.h"
#include "direct.h"
#include "entry.h"
#include "ftrace.h"
#include "image.h"
#include "kernel_symbols.h"
#include "live.h"
#include "marker.h"
#include "module.h"
#include "module_symbols.h"
#include "parent_symbols.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "reloc.h"
#include "site.h"
#include "sysfs.h"
#include "text.h"
#include "trace_entry.h"
#include "transition.h"
#include "veneer.h"
#include "verify.h"

DEFINE_MUTEX(pp_mutex);
LIST_HEAD(pp_patches);

#define LONGEST_FORCED_PAUSE_MS 10000

/*
 * Modules whose COMING went through here and that are neither live nor gone.  A
 * module in state COMING that is not in it may still fail before its notifiers
 * run, and then nobody tells us that it goes.  pp_mutex.
 */
struct coming {
	struct list_head node;
	struct module *mod;
};

static LIST_HEAD(coming);

static struct coming *coming_find(const struct module *mod)
{
	struct coming *entry;

	list_for_each_entry(entry, &coming, node)
		if (entry->mod == mod)
			return entry;
	return NULL;
}

static int coming_add(struct module *mod)
{
	struct coming *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	entry->mod = mod;
	list_add(&entry->node, &coming);
	return 0;
}

static void coming_del(const struct module *mod)
{
	struct coming *entry = coming_find(mod);

	if (!entry)
		return;
	list_del(&entry->node);
	kfree(entry);
}

void pp_patches_number(void)
{
	struct pp_patch *patch;
	unsigned int nr = 0;

	lockdep_assert_held(&pp_mutex);
	list_for_each_entry(patch, &pp_patches, list)
		WRITE_ONCE(patch->stack_order, patch->enabled ? ++nr : 0);
}

/* The patch that @mod carries, or NULL. */
static struct pp_patch *patch_of(const struct module *mod)
{
	struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list)
		if (patch->mod == mod)
			return patch;
	return NULL;
}

/* --- parents -------------------------------------------------------------------- */

/* Of a function that nobody runs, yet or any more. */
static void switch_target(const struct pp_func *func, unsigned long target)
{
	const unsigned long from = func->site->target;
	struct pp_when when = { .before = pp_now(), .cpu = raw_smp_processor_id() };

	pp_site_leads_to(func->site, target);
	when.begin = when.before;
	when.end = when.after = pp_now();
	pp_record_route(func, from, target, &when, POKEPATCH_HISTORY_STORE);
}

/* An enabled patch meets, or loses, a parent: a transition of its own. */
static void record_parent(const struct pp_patch *patch, const struct pp_object *obj,
			  struct pp_record_transition *record, unsigned int kind)
{
	*record = (struct pp_record_transition){
		.nr = pp_record_transition_number(),
		.kind = kind,
		.patch = patch->name,
		.module = obj->name,
	};
	pp_record_enter(record->nr, patch->name);
	pp_record_transition(record, POKEPATCH_HISTORY_BEFORE);
}

static void record_parent_done(struct pp_record_transition *record, int error)
{
	record->error = error;
	pp_record_transition(record, POKEPATCH_HISTORY_AFTER);
	pp_record_leave();
}

static void make_detached(struct pp_patch *patch, unsigned int index)
{
	struct pp_object *obj = &patch->objects[index];
	unsigned int i;

	pp_callbacks_going(obj);
	for (i = 0; i < patch->nr_funcs; i++) {
		struct pp_func *func = &patch->funcs[i];

		if (func->obj != index || list_empty(&func->on))
			continue;
		/* Nobody runs this function, so it needs no stop. */
		list_del_init(&func->on);
		if (func->site)
			switch_target(func, pp_site_top(func->site));
	}
	/* vmlinux is detached from disabled patches only, and then nothing is hooked. */
	pp_sites_unhook(patch->funcs, patch->nr_funcs, index, index != 0);
	pp_sites_put(patch->funcs, patch->nr_funcs, index);
	for (i = 0; i < patch->nr_funcs; i++) {
		if (patch->funcs[i].obj != index)
			continue;
		WRITE_ONCE(patch->funcs[i].old_addr, 0);
		/* A parent that comes again comes elsewhere. */
		pp_veneers_drop(patch->funcs[i].desc->new_addr);
	}
	pp_callbacks_gone(obj);
	obj->mod = NULL;
	obj->attached = false;
}

/* The same if it is attached; and if the patch is enabled, the history tells of it. */
static void detach(struct pp_patch *patch, unsigned int index)
{
	struct pp_object *obj = &patch->objects[index];
	struct pp_record_transition record;

	if (!obj->attached)
		return;
	if (!patch->enabled) {
		make_detached(patch, index);
		return;
	}
	record_parent(patch, obj, &record, POKEPATCH_HISTORY_PARENT_GOES);
	make_detached(patch, index);
	record_parent_done(&record, 0);
}

/* Switch the functions of a module of which nothing has run yet. */
static int switch_on(struct pp_patch *patch, unsigned int index)
{
	struct pp_text text = {};
	unsigned int i;
	int ret = pp_sites_hook(patch->funcs, patch->nr_funcs, index);

	if (ret)
		return ret;
	text.poke = kvmalloc_array(patch->nr_funcs, PP_POKES_MAX * sizeof(*text.poke), GFP_KERNEL);
	if (!text.poke)
		return -ENOMEM;
	for (i = 0; i < patch->nr_funcs && !ret; i++)
		if (patch->funcs[i].obj == index && patch->funcs[i].site)
			ret = pp_site_pokes(&text, patch->funcs[i].site, &patch->funcs[i],
					    patch->funcs[i].desc->new_addr);
	/* Live patches too: nothing of the module runs, so there is nothing that could mind. */
	ret = ret ?: pp_text_write_unused(&text, patch);
	for (i = 0; i < patch->nr_funcs && !ret; i++) {
		struct pp_func *func = &patch->funcs[i];

		if (func->obj != index)
			continue;
		list_add(&func->on, pp_func_active(func));
		if (func->site)
			switch_target(func, func->desc->new_addr);
	}
	kvfree(text.poke);
	return ret;
}

/*
 * Object @index of @patch is there, @mod or vmlinux: resolve its symbols, make the
 * relocations, find the sites.  If the patch is enabled, then the object is a
 * module whose init has not run, and its functions are switched here.
 * Return: 0 or an error (logged, but for -ENOMEM); then it is not attached.
 */
static int make_attached(struct pp_patch *patch, unsigned int index, struct module *mod)
{
	struct pp_object *obj = &patch->objects[index];
	unsigned int i;
	int ret;

	ret = mod ? pp_module_check_build_id(patch, obj->desc, mod) : pp_vmlinux_check_build_id(patch);
	ret = ret ?: mod ? pp_module_resolve(patch, index, mod) : pp_vmlinux_resolve(patch);
	ret = ret ?: pp_debug_skip_load_verify ? 0 : pp_verify_code(patch, index);
	ret = ret ?: pp_relocs_apply(patch, index);
	if (ret)
		return ret;

	obj->mod = mod;
	obj->attached = true;
	for (i = 0; i < patch->nr_funcs && !ret; i++) {
		struct pp_func *func = &patch->funcs[i];

		if (func->obj != index)
			continue;
		WRITE_ONCE(func->old_addr, patch->addr[func->desc->symbol]);
		func->old_cold = func->desc->cold == POKEPATCH_NONE ?
					 0 : patch->addr[func->desc->cold];
		if (!pp_func_carried(func))
			ret = pp_site_get(func);
	}
	if (!ret && patch->enabled)
		ret = pp_callbacks_coming(obj) ?: switch_on(patch, index);
	if (ret)
		make_detached(patch, index);
	else if (patch->enabled)
		pp_callbacks_came(obj);
	return ret;
}

/* The same; if the patch is enabled, the history tells of it. */
static int attach(struct pp_patch *patch, unsigned int index, struct module *mod)
{
	struct pp_record_transition record;
	int ret;

	if (!patch->enabled)
		return make_attached(patch, index, mod);
	record_parent(patch, &patch->objects[index], &record, POKEPATCH_HISTORY_PARENT_COMES);
	ret = make_attached(patch, index, mod);
	record_parent_done(&record, ret);
	return ret;
}

static int find_object(const struct pp_patch *patch, const struct module *mod)
{
	unsigned int i;

	for (i = 1; i < patch->nr_objects; i++)
		if (!strcmp(patch->objects[i].name, mod->name))
			return i;
	return -1;
}

static void parent_going(const struct module *mod)
{
	struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list) {
		int index = find_object(patch, mod);

		if (index > 0 && patch->objects[index].mod == mod)
			detach(patch, index);
	}
}

/*
 * A module comes that may be a parent.  The enabled patches are in the order in
 * which they were enabled, so that the newest one is on top in the end.
 */
static int parent_coming(struct module *mod)
{
	struct pp_patch *patch;
	int ret = 0;

	list_for_each_entry(patch, &pp_patches, list) {
		int index = find_object(patch, mod);

		if (index <= 0)
			continue;
		ret = attach(patch, index, mod);
		if (ret) {
			pr_err("module %s is refused: patch %s cannot be applied to it (%d); unload the patch or replace it by one for this module\n",
			       mod->name, patch->name, ret);
			break;
		}
	}
	if (ret)
		parent_going(mod);
	return ret;
}

/*
 * Attach the parents that are there.  One that is not will be seen COMING; one
 * that is GOING counts as gone: its notifier has nothing to do.
 */
static int attach_present(struct pp_patch *patch)
{
	unsigned int i;
	int ret = attach(patch, 0, NULL);

	for (i = 1; i < patch->nr_objects && !ret; i++) {
		const char *name = patch->objects[i].name;
		enum module_state state = MODULE_STATE_GOING;
		struct module *mod;

		/*
		 * find_module() wants preemption off.  A module that is LIVE cannot be
		 * freed while we hold pp_mutex: its GOING notifier waits for it.
		 */
		preempt_disable();
		mod = pp_kernel.find_module(name);
		if (mod)
			state = READ_ONCE(mod->state);
		preempt_enable();

		if (state == MODULE_STATE_COMING && !coming_find(mod)) {
			pr_err("%s is refused: module %s is just being loaded; try again\n",
			       patch->name, name);
			ret = -EBUSY;
		} else if (state != MODULE_STATE_GOING && patch_of(mod)) {
			pr_err("%s is refused: its parent %s is itself a patch; build the patch of both anew\n",
			       patch->name, name);
			ret = -EINVAL;
		} else if (state == MODULE_STATE_LIVE || state == MODULE_STATE_COMING) {
			ret = attach(patch, i, mod);
		}
	}
	return ret;
}

static void detach_all(struct pp_patch *patch)
{
	unsigned int i;

	for (i = 0; i < patch->nr_objects; i++)
		detach(patch, i);
}

/* --- patch modules ----------------------------------------------------------------- */

/* The image of a module that is COMING, or NULL: then it is no patch module. */
static const struct pokepatch_image *find_image(struct module *mod)
{
	const struct pokepatch_image *image = NULL;
	const struct mod_kallsyms *kallsyms;
	unsigned int i;

	preempt_disable();
	kallsyms = rcu_dereference_sched(mod->kallsyms);
	for (i = 1; i < kallsyms->num_symtab && !image; i++) {
		const Elf_Sym *sym = &kallsyms->symtab[i];

		if (sym->st_shndx != SHN_UNDEF && ELF_ST_BIND(sym->st_info) == STB_GLOBAL &&
		    !strcmp(kallsyms->strtab + sym->st_name, POKEPATCH_IMAGE_SYMBOL))
			image = (const void *)sym->st_value;
	}
	preempt_enable();
	return image;
}

static int patch_coming(struct module *mod, const struct pokepatch_image *image)
{
	struct pp_patch *patch = pp_patch_create(mod, image), *other;
	int ret;

	if (IS_ERR(patch))
		return PTR_ERR(patch);
	list_for_each_entry(other, &pp_patches, list) {
		if (!strcmp(other->name, patch->name)) {
			pr_err("module %s is refused: a patch called %s is loaded; unload it first\n",
			       mod->name, patch->name);
			ret = -EEXIST;
			goto err;
		}
	}
	if (!strcmp(patch->name, "version")) {
		pr_err("module %s is refused: a patch cannot be called version\n", mod->name);
		ret = -EINVAL;
		goto err;
	}
	ret = attach_present(patch) ?: pp_markers_add(patch);
	if (ret)
		goto err;
	list_add_tail(&patch->list, &pp_patches);
	pp_record_module_born(patch);
	return 0;
err:
	detach_all(patch);
	pp_patch_free(patch);
	return ret;
}

static void patch_going(struct pp_patch *patch)
{
	pp_record_module_dies(patch);
	list_del(&patch->list);
	detach_all(patch);
	pp_markers_del(patch);
	pp_patch_free(patch);
	/* ftrace waits for all tasks here, once, and not at each disable. */
	if (list_empty(&pp_patches))
		pp_ftrace_stop();
}

/* --- the interface to the glue -------------------------------------------------------- */

static struct pp_patch *patch_with(const void *image)
{
	struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list)
		if (patch->image == image)
			return patch;
	return NULL;
}

int pokepatch_register(const void *image)
{
	struct pp_patch *patch;
	int ret = -EINVAL;

	mutex_lock(&pp_mutex);
	patch = patch_with(image);
	if (patch && !patch->registered && patch->mod->state == MODULE_STATE_COMING) {
		patch->registered = true;
		ret = 0;
	}
	mutex_unlock(&pp_mutex);
	if (ret) {
		pr_err("an image is refused: it is not the %s of a module that is being loaded, or is registered already\n",
		       POKEPATCH_IMAGE_SYMBOL);
		return ret;
	}
	/* The patch stays: it goes with the module, whose init we are in. */
	ret = pp_sysfs_add(patch);
	if (ret) {
		mutex_lock(&pp_mutex);
		patch->registered = false;
		mutex_unlock(&pp_mutex);
	} else {
		pr_info("%s: loaded, %u function%s\n", patch->name, patch->nr_funcs,
			pp_plural(patch->nr_funcs));
	}
	return ret;
}
EXPORT_SYMBOL_GPL(pokepatch_register);

/*
 * An enabled patch holds its module, but `rmmod -f` removes it all the same: its memory is
 * freed when we return.  So stay here until nobody is in it.  Nobody can switch it on
 * again, with its module going.
 */
static void switch_off_by_force(struct pp_patch *patch)
{
	unsigned int pause = PP_FORCED_PAUSE_MS;
	bool holds, told = false;

	down(&patch->op);
	if (patch->enabled)
		pr_crit("%s: its module is being removed by force; this waits until it is switched off\n",
			patch->name);
	/* For want of memory, say: it says why each time. */
	while (patch->enabled && pp_transition_forced(patch)) {
		msleep(pause);
		pause = min(2 * pause, (unsigned int)LONGEST_FORCED_PAUSE_MS);
	}
	if (patch->pinned)
		pr_crit("%s: its module is being removed by force, though timers, lists and the like may refer to its code or data\n",
			patch->name);
	/* That is looked for in the background. */
	while ((holds = pp_direct_holds(patch)) || pp_draining(patch)) {
		if (holds && !told)
			pr_crit("%s: its module is being removed by force, but calls of functions go by its code; this waits until they do not\n",
				patch->name);
		told |= holds;
		msleep(PP_FORCED_PAUSE_MS);
	}
	up(&patch->op);
}

/*
 * Take a patch out of sysfs whose module goes: in its exit, or if that has not, since its
 * init failed after it had registered; then it was never enabled.
 * Without pp_mutex: waits for writers of enabled, who take it.
 * Return: it was there.
 */
static bool unregister(struct pp_patch *patch)
{
	bool registered;

	mutex_lock(&pp_mutex);
	registered = patch->registered;
	patch->registered = false;
	mutex_unlock(&pp_mutex);
	if (!registered)
		return false;
	switch_off_by_force(patch);
	pp_sysfs_remove(patch);
	WARN_ON(patch->enabled);
	pr_info("%s: unloaded\n", patch->name);
	return true;
}

void pokepatch_unregister(const void *image)
{
	struct pp_patch *patch;

	mutex_lock(&pp_mutex);
	patch = patch_with(image);
	if (patch && patch->mod->state != MODULE_STATE_GOING)
		patch = NULL;
	mutex_unlock(&pp_mutex);
	/* It stays there: only the module, which we are in the exit of, takes it away. */
	if (!patch || !unregister(patch))
		pr_err("an image stays: it is not the %s of a module that is being unloaded\n",
		       POKEPATCH_IMAGE_SYMBOL);
}
EXPORT_SYMBOL_GPL(pokepatch_unregister);

/* --- the notifier ------------------------------------------------------------------------ */

static int module_coming(struct module *mod)
{
	const struct pokepatch_image *image = find_image(mod);
	int ret;

	if (image)
		return patch_coming(mod, image);
	ret = coming_add(mod);
	if (ret)
		return ret;
	ret = parent_coming(mod);
	if (ret)
		coming_del(mod);
	else
		pp_record_other_module(mod, false);
	return ret;
}

static void module_going(struct module *mod)
{
	struct pp_patch *patch = patch_of(mod);

	pp_trace_entry_module_going(mod);
	if (patch) {
		patch_going(patch);
	} else {
		parent_going(mod);
		pp_sites_module_going(mod);
		pp_record_other_module(mod, true);
	}
	coming_del(mod);
}

/*
 * What a patch module needs done without pp_mutex, when its init has succeeded, and when
 * it goes.  The patch is there as long: only our own GOING frees it.
 */
static void patch_turns(struct module *mod, unsigned long state)
{
	struct pp_patch *patch;

	mutex_lock(&pp_mutex);
	patch = patch_of(mod);
	mutex_unlock(&pp_mutex);
	if (patch && state == MODULE_STATE_LIVE)
		pp_sysfs_ready(patch);
	else if (patch && state == MODULE_STATE_GOING)
		unregister(patch);
}

static int notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct module *mod = data;
	int ret = 0;

	patch_turns(mod, action);
	mutex_lock(&pp_mutex);
	switch (action) {
	case MODULE_STATE_COMING:
		ret = module_coming(mod);
		break;
	case MODULE_STATE_LIVE:
		coming_del(mod);
		break;
	case MODULE_STATE_GOING:
		module_going(mod);
		break;
	}
	mutex_unlock(&pp_mutex);
	return notifier_from_errno(ret);
}

static struct notifier_block notifier = {
	.notifier_call = notify,
	.priority = INT_MAX,
};

int pp_modules_init(void)
{
	return register_module_notifier(&notifier);
}

/* No patch is left: each uses the core's symbols, and so holds the core. */
void pp_modules_exit(void)
{
	struct coming *entry, *next;

	unregister_module_notifier(&notifier);
	list_for_each_entry_safe(entry, next, &coming, node)
		kfree(entry);
}
