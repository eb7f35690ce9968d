// SPDX-License-Identifier: GPL-2.0-only
/*
 * pokepatch.ko: changes functions of the running kernel, all functions of a patch
 * at once, and back again.  DESIGN.md tells how.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "core.h"

#ifdef POKEPATCH_DEBUG
/*
 * Each switches off one check, so that a test can show that it fails without it.
 * With one of them on, the machine may crash at any transition.
 */
bool pp_debug_skip_tasks;
bool pp_debug_skip_idle;
bool pp_debug_skip_exiting;
bool pp_debug_walk_all;
unsigned int pp_debug_refuse_stops;
unsigned int pp_debug_stop_us;
module_param_named(debug_walk_all, pp_debug_walk_all, bool, 0600);
MODULE_PARM_DESC(debug_walk_all, "in the stop, walk also stacks of tasks that have not run");
module_param_named(debug_refuse_stops, pp_debug_refuse_stops, uint, 0600);
MODULE_PARM_DESC(debug_refuse_stops, "in so many stops find somebody in the way");
module_param_named(debug_stop_us, pp_debug_stop_us, uint, 0600);
MODULE_PARM_DESC(debug_stop_us, "how long each stop lasts at least, microseconds");
module_param_named(debug_skip_tasks, pp_debug_skip_tasks, bool, 0600);
MODULE_PARM_DESC(debug_skip_tasks, "do not look at the stacks of tasks");
module_param_named(debug_skip_idle, pp_debug_skip_idle, bool, 0600);
MODULE_PARM_DESC(debug_skip_idle, "do not look at the stacks of idle tasks");
module_param_named(debug_skip_exiting, pp_debug_skip_exiting, bool, 0600);
MODULE_PARM_DESC(debug_skip_exiting, "do not look at the stacks of exiting tasks");
#endif

static int __init pokepatch_init(void)
{
	int ret = pp_resolve_init();

	if (ret)
		return ret;
	pp_sites_init();
	ret = pp_exiting_init();
	if (ret)
		return ret;
	ret = pp_sysfs_init();
	if (ret)
		goto err_exiting;
	ret = pp_modules_init();
	if (ret)
		goto err_sysfs;
	return 0;

err_sysfs:
	pp_sysfs_exit();
err_exiting:
	pp_exiting_exit();
	return ret;
}

static void __exit pokepatch_exit(void)
{
	pp_modules_exit();
	pp_watch_exit();
	/* A site that was given back last may have needed ftrace once more. */
	mutex_lock(&pp_mutex);
	pp_ftrace_stop();
	mutex_unlock(&pp_mutex);
	pp_park_exit();
	pp_sysfs_exit();
	pp_exiting_exit();
	pp_shadow_exit();
}

module_init(pokepatch_init);
module_exit(pokepatch_exit);

MODULE_DESCRIPTION("Live patches for the running kernel");
MODULE_AUTHOR("The pokepatch authors");
MODULE_VERSION(PP_VERSION);
MODULE_LICENSE("GPL");
