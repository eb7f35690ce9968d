// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules that come and go: patch modules, and their parents.
 *
 * The core's module notifier runs before all others.  So at a patch module's COMING the core writes
 * its relocations before jump labels, static calls and tracepoints walk and sort its tables.  And
 * at a parent's GOING the core releases its sites while everything about the parent still works.
 */
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/elf.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <pokepatch.h>
#include <pokepatch_format.h>
#include <pokepatch_history.h>

#include "access.h"
#include "callbacks.h"
#include "core_print.h"
#include "debug.h"
#include "direct.h"
#include "drain.h"
#include "entry.h"
#include "ftrace.h"
#include "image.h"
#include "kernel_symbols.h"
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
#include "watch.h"

DEFINE_MUTEX(pp_mutex);
LIST_HEAD(pp_patches);

#define LONGEST_FORCED_PAUSE_MS 10000

/*
 * Modules whose COMING this notifier has seen, and that are neither live nor gone.  A module in
 * state COMING that is not in this list may still fail before the notifiers run, and then the
 * loader does not report that it goes.  Under pp_mutex.
 */
struct coming {
	struct list_head node;
	struct module *mod;
};

static LIST_HEAD(coming);

/*
 * A load that is refused, for audit, which must wait until pp_mutex is free.  The patch may be gone
 * by then, so its name is copied.
 */
struct refusal {
	char patch[MODULE_NAME_LEN];
	bool of_parent;		/* is the module a parent of that patch, or the patch itself? */
};

static struct coming *module_coming_find(const struct module *mod)
{
	struct coming *entry;

	list_for_each_entry(entry, &coming, node)
		if (entry->mod == mod)
			return entry;
	return NULL;
}

static int module_coming_add(struct module *mod)
{
	struct coming *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	entry->mod = mod;
	list_add(&entry->node, &coming);
	return 0;
}

static void module_coming_del(const struct module *mod)
{
	struct coming *entry = module_coming_find(mod);

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

/* The patch in module @mod, or NULL.  Under pp_mutex. */
static struct pp_patch *module_patch(const struct module *mod)
{
	struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list)
		if (patch->mod == mod)
			return patch;
	return NULL;
}

/* --- parents -------------------------------------------------------------------- */

/* Switch a function that no task runs: its module is COMING or GOING. */
static void module_switch_target(const struct pp_func *func, unsigned long target)
{
	const unsigned long from = func->site->target;
	struct pp_when when = { .before = pp_now(), .cpu = raw_smp_processor_id() };

	pp_site_set_target(func->site, target);
	when.begin = when.before;
	when.end = when.after = pp_now();
	pp_record_route(func, from, target, &when, POKEPATCH_HISTORY_STORE);
}

/*
 * A parent of an enabled patch comes or goes.  For the text history that is a transition of its
 * own: record its beginning here, and its end in module_record_end().
 */
static void module_record_begin(const struct pp_patch *patch, const struct pp_object *obj,
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

static void module_record_end(struct pp_record_transition *record, int error)
{
	record->error = error;
	pp_record_transition(record, POKEPATCH_HISTORY_AFTER);
	pp_record_leave();
}

static void module_release_parent(struct pp_patch *patch, unsigned int index)
{
	struct pp_object *obj = &patch->objects[index];
	unsigned int i;

	pp_object_pre_unpatch(obj);
	for (i = 0; i < patch->nr_funcs; i++) {
		struct pp_func *func = &patch->funcs[i];

		if (func->obj != index || list_empty(&func->on))
			continue;
		/* No task runs this function, so switching it needs no stop. */
		list_del_init(&func->on);
		if (func->site)
			module_switch_target(func, pp_site_top(func->site));
	}
	/* vmlinux is detached only from disabled patches, whose sites are not hooked. */
	pp_sites_unhook(patch->funcs, patch->nr_funcs, index, index != 0);
	pp_sites_put(patch->funcs, patch->nr_funcs, index);
	for (i = 0; i < patch->nr_funcs; i++) {
		if (patch->funcs[i].obj != index)
			continue;
		WRITE_ONCE(patch->funcs[i].old_addr, 0);
		/* If the parent comes again, it will be at another address. */
		pp_veneers_free(patch->funcs[i].desc->new_addr);
	}
	pp_object_post_unpatch(obj);
	obj->mod = NULL;
	obj->attached = false;
}

/* Release parent @index of @patch if it is attached, and record it if the patch is enabled. */
static void module_detach(struct pp_patch *patch, unsigned int index)
{
	struct pp_object *obj = &patch->objects[index];
	struct pp_record_transition record;

	if (!obj->attached)
		return;
	if (!patch->enabled) {
		module_release_parent(patch, index);
		return;
	}
	module_record_begin(patch, obj, &record, POKEPATCH_HISTORY_PARENT_GOES);
	module_release_parent(patch, index);
	module_record_end(&record, 0);
}

/* Switch the functions of a parent whose init has not run. */
static int module_switch_on(struct pp_patch *patch, unsigned int index)
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
			ret = pp_site_add_pokes(&text, patch->funcs[i].site, &patch->funcs[i],
						patch->funcs[i].desc->new_addr);
	/* No CPU executes the module's text, so this write suits live patches too. */
	ret = ret ?: pp_text_write_unused(&text, patch);
	for (i = 0; i < patch->nr_funcs && !ret; i++) {
		struct pp_func *func = &patch->funcs[i];

		if (func->obj != index)
			continue;
		list_add(&func->on, pp_func_active(func));
		if (func->site)
			module_switch_target(func, func->desc->new_addr);
	}
	kvfree(text.poke);
	return ret;
}

/*
 * Parent @index of @patch is present: @mod, or vmlinux if that is NULL.  Resolve its symbols,
 * compare its code, write the relocations, and find the sites.  If the patch is enabled, the parent
 * is a module whose init has not run: switch its functions too.
 * Return: 0, or an error (logged, except -ENOMEM); then the parent is not attached.
 */
static int module_take_parent(struct pp_patch *patch, unsigned int index, struct module *mod)
{
	struct pp_object *obj = &patch->objects[index];
	unsigned int i;
	int ret;

	ret = mod ? pp_module_check_build_id(patch, obj->desc, mod) :
		    pp_vmlinux_check_build_id(patch);
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
		ret = pp_object_pre_patch(obj) ?: module_switch_on(patch, index);
	if (ret) {
		module_release_parent(patch, index);
	} else if (patch->enabled) {
		pp_object_post_patch(obj);
		/* The watch may have ended, if no other function was hooked. */
		pp_watch_later();
	}
	return ret;
}

/* Take parent @index of @patch, and record it if the patch is enabled. */
static int module_attach(struct pp_patch *patch, unsigned int index, struct module *mod)
{
	struct pp_record_transition record;
	int ret;

	if (!patch->enabled)
		return module_take_parent(patch, index, mod);
	module_record_begin(patch, &patch->objects[index], &record, POKEPATCH_HISTORY_PARENT_COMES);
	ret = module_take_parent(patch, index, mod);
	module_record_end(&record, ret);
	return ret;
}

static int module_find_object(const struct pp_patch *patch, const struct module *mod)
{
	unsigned int i;

	for (i = 1; i < patch->nr_objects; i++)
		if (!strcmp(patch->objects[i].name, mod->name))
			return i;
	return -1;
}

static void module_parent_going(const struct module *mod)
{
	struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list) {
		int index = module_find_object(patch, mod);

		if (index > 0 && patch->objects[index].mod == mod)
			module_detach(patch, index);
	}
}

/*
 * Module @mod comes, and may be a parent of some patches.  pp_patches has the enabled patches in
 * the order in which they were enabled, so that the newest one ends up on top.
 */
static int module_parent_coming(struct module *mod, struct refusal *refusal)
{
	struct pp_patch *patch;
	int ret = 0;

	list_for_each_entry(patch, &pp_patches, list) {
		int index = module_find_object(patch, mod);

		if (index <= 0)
			continue;
		ret = module_attach(patch, index, mod);
		if (ret) {
			pr_err_ratelimited("module %s is refused: patch %s cannot be applied to it (%d); unload the patch or replace it by one for this module\n",
					   mod->name, patch->name, ret);
			strscpy(refusal->patch, patch->name, sizeof(refusal->patch));
			refusal->of_parent = true;
			break;
		}
	}
	if (ret) {
		module_parent_going(mod);
		/* The notifier chain does not tell who refused a module that it goes. */
		pp_sites_module_going(mod);
	}
	return ret;
}

/*
 * Attach the parents of @patch that are loaded.  The notifier will see the others COMING.  A parent
 * that is GOING counts as gone: at its GOING the notifier finds it detached.
 */
static __nocfi int module_attach_present(struct pp_patch *patch)
{
	unsigned int i;
	int ret = module_attach(patch, 0, NULL);

	for (i = 1; i < patch->nr_objects && !ret; i++) {
		const char *name = patch->objects[i].name;
		enum module_state state = MODULE_STATE_GOING;
		struct module *mod;

		/*
		 * find_module() needs preemption off.  A LIVE module cannot be freed while we
		 * hold pp_mutex: its GOING notifier waits for the mutex.
		 */
		preempt_disable();
		mod = pp_kernel.find_module(name);
		if (mod)
			state = READ_ONCE(mod->state);
		preempt_enable();

		if (state == MODULE_STATE_COMING && !module_coming_find(mod)) {
			pr_err("%s is refused: module %s is being loaded; try again\n",
			       patch->name, name);
			ret = -EBUSY;
		} else if (state != MODULE_STATE_GOING && module_patch(mod)) {
			pr_err("%s is refused: its parent %s is itself a patch; build one patch from both diffs\n",
			       patch->name, name);
			ret = -EINVAL;
		} else if (state == MODULE_STATE_LIVE || state == MODULE_STATE_COMING) {
			ret = module_attach(patch, i, mod);
		}
	}
	return ret;
}

static void module_detach_all(struct pp_patch *patch)
{
	unsigned int i;

	for (i = 0; i < patch->nr_objects; i++)
		module_detach(patch, i);
}

/* --- patch modules ----------------------------------------------------------------- */

/* The image of module @mod, which is COMING; or NULL if it is no patch module. */
static const struct pokepatch_image *module_find_image(struct module *mod)
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

/* A name that audit may quote: image.c has the same rule for names of patches. */
static void module_copy_name(char *to, const char *name, size_t size)
{
	strscpy(to, name, size);
	for (; *to; to++)
		if (!isascii(*to) || !isgraph(*to) || *to == '"')
			*to = '?';
}

static int module_patch_coming(struct module *mod, const struct pokepatch_image *image,
			       struct refusal *refusal)
{
	struct pp_patch *patch = pp_patch_create(mod, image), *other;
	int ret;

	if (IS_ERR(patch)) {
		/* The patch's name may be what is wrong with the image. */
		module_copy_name(refusal->patch, mod->name, sizeof(refusal->patch));
		return PTR_ERR(patch);
	}
	list_for_each_entry(other, &pp_patches, list) {
		if (!strcmp(other->name, patch->name)) {
			pr_err("module %s is refused: a patch called %s is loaded; unload it first\n",
			       mod->name, patch->name);
			ret = -EEXIST;
			goto err;
		}
	}
	ret = module_attach_present(patch) ?: pp_markers_add(patch);
	if (ret)
		goto err;
	list_add_tail_rcu(&patch->list, &pp_patches);
	pp_record_module_born(patch);
	return 0;
err:
	strscpy(refusal->patch, patch->name, sizeof(refusal->patch));
	module_detach_all(patch);
	pp_patch_free(patch);
	return ret;
}

static void module_patch_going(struct pp_patch *patch)
{
	pp_record_module_dies(patch);
	list_del_rcu(&patch->list);
	module_detach_all(patch);
	pp_markers_del(patch);
	synchronize_rcu(); /* crash.c */
	pp_patch_free(patch);
	/* Unregistering waits for all tasks: do it once, here, and not at each disable. */
	if (list_empty(&pp_patches))
		pp_ftrace_stop();
}

/* --- the interface to the glue -------------------------------------------------------- */

static struct pp_patch *module_patch_with_image(const void *image)
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
	patch = module_patch_with_image(image);
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
	/* The patch cannot go away: it goes with its module, whose init is our caller. */
	ret = pp_sysfs_add(patch);
	if (ret) {
		mutex_lock(&pp_mutex);
		patch->registered = false;
		mutex_unlock(&pp_mutex);
	} else {
		/* As the kernel does for its own live patches: 'K' in an oops. */
		add_taint(TAINT_LIVEPATCH, LOCKDEP_STILL_OK);
		pr_info("%s: loaded, %u function%s\n", patch->name, patch->nr_funcs,
			pp_plural(patch->nr_funcs));
	}
	pp_audit(patch->name, "load", ret);
	return ret;
}
EXPORT_SYMBOL_GPL(pokepatch_register);

/*
 * An enabled patch holds its module, but `rmmod -f` ignores that, and the module's memory is freed
 * when this returns.  So stay here until no task is in the module.  While the module is GOING the
 * patch cannot be switched on again.
 */
static void module_switch_off_by_force(struct pp_patch *patch)
{
	unsigned int pause = PP_FORCED_PAUSE_MS;
	bool holds, told = false, was_enabled;

	down(&patch->op);
	was_enabled = patch->enabled;
	if (was_enabled)
		pr_crit("%s: its module is being removed by force; this waits until the patch is switched off\n",
			patch->name);
	/* An attempt can fail, for want of memory for example.  It logs why. */
	while (patch->enabled && pp_transition_forced(patch)) {
		msleep(pause);
		pause = min(2 * pause, (unsigned int)LONGEST_FORCED_PAUSE_MS);
	}
	if (patch->pinned)
		pr_crit("%s: its module is being removed by force, though timers, lists and the like may refer to its code or data\n",
			patch->name);
	/* Work items look for the tasks and give the stubs back.  Wait for them. */
	while ((holds = pp_direct_holds(patch)) || pp_drain_active(patch)) {
		if (holds && !told)
			pr_crit("%s: its module is being removed by force, but calls of functions go through its code; this waits until they do not\n",
				patch->name);
		told |= holds;
		msleep(PP_FORCED_PAUSE_MS);
	}
	up(&patch->op);
	if (was_enabled)
		pp_audit(patch->name, "force-disable", 0);
}

/*
 * Remove @patch, whose module is GOING, from sysfs.  The module's exit calls this.  If its init
 * failed after it had registered the patch, there is no exit, and the notifier calls this; then the
 * patch was never enabled.  The caller does not hold pp_mutex: this waits for writers of `enabled`,
 * which take it.
 * Return: the patch was registered.
 */
static bool module_unregister(struct pp_patch *patch)
{
	bool registered;

	mutex_lock(&pp_mutex);
	registered = patch->registered;
	patch->registered = false;
	mutex_unlock(&pp_mutex);
	if (!registered)
		return false;
	module_switch_off_by_force(patch);
	pp_sysfs_remove(patch);
	WARN_ON(patch->enabled);
	pr_info("%s: unloaded\n", patch->name);
	pp_audit(patch->name, "unload", 0);
	return true;
}

void pokepatch_unregister(const void *image)
{
	struct pp_patch *patch;

	mutex_lock(&pp_mutex);
	patch = module_patch_with_image(image);
	if (patch && patch->mod->state != MODULE_STATE_GOING)
		patch = NULL;
	mutex_unlock(&pp_mutex);
	/* The patch cannot go away: it goes with its module, whose exit is our caller. */
	if (!patch || !module_unregister(patch))
		pr_err("an image stays: it is not the %s of a module that is being unloaded\n",
		       POKEPATCH_IMAGE_SYMBOL);
}
EXPORT_SYMBOL_GPL(pokepatch_unregister);

/* --- the notifier ------------------------------------------------------------------------ */

static int module_coming(struct module *mod, struct refusal *refusal)
{
	const struct pokepatch_image *image = module_find_image(mod);
	int ret;

	if (image)
		return module_patch_coming(mod, image, refusal);
	ret = module_coming_add(mod);
	if (ret)
		return ret;
	ret = module_parent_coming(mod, refusal);
	if (ret)
		module_coming_del(mod);
	else
		pp_record_other_module(mod, false);
	return ret;
}

static void module_going(struct module *mod)
{
	struct pp_patch *patch = module_patch(mod);

	pp_trace_entry_module_going(mod);
	if (patch) {
		module_patch_going(patch);
	} else {
		module_parent_going(mod);
		pp_sites_module_going(mod);
		pp_record_other_module(mod, true);
	}
	module_coming_del(mod);
}

/*
 * Do for a patch module what must be done without pp_mutex, when its init has succeeded and when it
 * goes.  The patch cannot go away meanwhile: only module_going() frees it, later in this notifier.
 */
static void module_patch_unlocked(struct module *mod, unsigned long state)
{
	struct pp_patch *patch;

	mutex_lock(&pp_mutex);
	patch = module_patch(mod);
	mutex_unlock(&pp_mutex);
	if (patch && state == MODULE_STATE_LIVE)
		pp_sysfs_ready(patch);
	else if (patch && state == MODULE_STATE_GOING)
		module_unregister(patch);
}

static void module_audit_refusal(const struct module *mod, const struct refusal *refusal, int ret)
{
	if (*refusal->patch)
		pp_audit_refused(refusal->patch, refusal->of_parent ? mod->name : NULL, ret);
}

static int module_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct module *mod = data;
	struct refusal refusal = {};
	int ret = 0;

	module_patch_unlocked(mod, action);
	mutex_lock(&pp_mutex);
	switch (action) {
	case MODULE_STATE_COMING:
		ret = module_coming(mod, &refusal);
		break;
	case MODULE_STATE_LIVE:
		module_coming_del(mod);
		break;
	case MODULE_STATE_GOING:
		module_going(mod);
		break;
	}
	mutex_unlock(&pp_mutex);
	if (ret)
		module_audit_refusal(mod, &refusal, ret);
	return notifier_from_errno(ret);
}

static struct notifier_block module_notifier = {
	.notifier_call = module_notify,
	.priority = INT_MAX,
};

int pp_modules_init(void)
{
	return register_module_notifier(&module_notifier);
}

/* No patch is loaded: each uses the core's symbols, and so holds the core. */
void pp_modules_exit(void)
{
	struct coming *entry, *next;

	unregister_module_notifier(&module_notifier);
	list_for_each_entry_safe(entry, next, &coming, node)
		kfree(entry);
}
