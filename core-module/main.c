// SPDX-License-Identifier: GPL-2.0-only
/*
 * pokepatch.ko, the core: it reroutes functions of the running kernel, all functions of a patch
 * at the same instant, and back again.  DESIGN.md explains how.  This file loads and unloads it.
 */
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/stringify.h>

#include <pokepatch_format.h>

#include "core_print.h"
#include "crash.h"
#include "exiting.h"
#include "ftrace.h"
#include "guard.h"
#include "history.h"
#include "history_device.h"
#include "kernel_symbols.h"
#include "live.h"
#include "main.h"
#include "module.h"
#include "others.h"
#include "park.h"
#include "policy.h"
#include "shadow.h"
#include "site.h"
#include "sysfs.h"
#include "trace_entry_file.h"
#include "watch.h"

static int __init pp_init(void)
{
	int ret = pp_kernel_symbols_init();

	if (ret)
		return ret;
	pp_sites_init();
	pp_live_init();
	ret = pp_history_init();
	if (ret)
		return ret;
	ret = pp_history_device_init();
	if (ret)
		goto err_history;
	ret = pp_exiting_init();
	if (ret)
		goto err_device;
	ret = pp_sysfs_init();
	if (ret)
		goto err_exiting;
	ret = pp_policy_init();
	if (ret)
		goto err_sysfs;
	pp_others_init();
	pp_guard_init();
	ret = pp_modules_init();
	if (ret)
		goto err_others;
	ret = pp_trace_entry_file_init();
	if (ret)
		goto err_modules;
	ret = pp_crash_init();
	if (ret)
		goto err_trace_entry;
#ifdef POKEPATCH_DEBUG
	pr_notice("this is the debug build, whose checks can be switched off: for test machines only\n");
#endif
	return 0;

err_trace_entry:
	pp_trace_entry_file_exit();
err_modules:
	pp_modules_exit();
err_others:
	pp_guard_exit();
	pp_others_exit();
	pp_policy_exit();
err_sysfs:
	pp_sysfs_exit();
err_exiting:
	pp_exiting_exit();
err_device:
	pp_history_device_exit();
err_history:
	pp_history_exit();
	return ret;
}

/*
 * A claimed site that the core cannot release yet holds a reference to the core, which
 * `rmmod -f` ignores.  If the core went away then, ftrace would miscount the users of the site
 * when they leave, and shut itself down.  So wait until they have left.
 */
static void __exit pp_wait_for_sites(void)
{
	bool told = false, more = true;

	while (more) {
		mutex_lock(&pp_mutex);
		more = pp_sites_linger_retry();
		mutex_unlock(&pp_mutex);
		if (more && !told)
			pr_crit("the core is being removed by force; this waits until no tracer uses the functions that could not be released to ftrace\n");
		told = more;
		if (more)
			msleep(PP_FORCED_PAUSE_MS);
	}
}

static void __exit pp_exit(void)
{
	pp_crash_exit();
	pp_trace_entry_file_exit();
	pp_wait_for_sites();
	pp_modules_exit();
	pp_watch_exit();
	/* Releasing the last site may have registered the ops with ftrace once more. */
	mutex_lock(&pp_mutex);
	pp_ftrace_stop();
	mutex_unlock(&pp_mutex);
	pp_park_exit();
	pp_policy_exit();
	pp_sysfs_exit();
	pp_exiting_exit();
	pp_shadow_exit();
	pp_guard_exit();
	pp_others_exit();
	pp_history_device_exit();
	pp_history_exit();
}

module_init(pp_init);
module_exit(pp_exit);

MODULE_DESCRIPTION("Live patches for the running kernel");
MODULE_AUTHOR("The pokepatch authors");
MODULE_VERSION(PP_VERSION);
MODULE_LICENSE("GPL");
MODULE_INFO(pokepatch_format, __stringify(POKEPATCH_FORMAT)); /* for `pokepatch install` */
