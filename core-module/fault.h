/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults on request, in the debug build: see fault.c.
 *
 * Kbuild has the compiler include this file before all others.  Its macros wrap every allocation
 * and every registration that the core makes, so that a test can make each fail, without a change
 * to the core's sources.  Text writes and the claim of a site ask PP_FAULT() themselves.
 *
 * A macro does not expand within itself, so in its own definition its name is the function.
 */
#ifndef POKEPATCH_FAULT_H
#define POKEPATCH_FAULT_H

#include <linux/ftrace.h>
#include <linux/kdebug.h>
#include <linux/kobject.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/task_work.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

/* Must the call of @what in function @where fail now?  Any context. */
bool pp_fault(const char *what, const char *where);
#define PP_FAULT(what) pp_fault(what, __func__)

/*
 * Count the pieces of memory that the core holds.  Kbuild excludes the files whose memory other
 * code frees (shadow variables), or whose number a test does not control (exiting tasks).
 */
#ifdef PP_FAULT_UNCOUNTED
#define pp_fault_made(memory) (memory)
#define pp_fault_freed(memory) do { } while (0)
#else
void *pp_fault_made(void *memory);
void pp_fault_freed(const void *memory);
#endif

#define PP_ALLOC(what, ...) pp_fault_made(PP_FAULT(what) ? NULL : __VA_ARGS__)

/*
 * An allocator may itself be a macro, which cannot be used in a macro of its name.  So the core's
 * macros call it through these functions.
 */
#define PP_REAL(name, parameters, ...)					\
	static __always_inline void *pp_real_##name parameters { return name(__VA_ARGS__); }

PP_REAL(kmalloc, (size_t size, gfp_t flags), size, flags)
PP_REAL(kzalloc, (size_t size, gfp_t flags), size, flags)
PP_REAL(kcalloc, (size_t nr, size_t size, gfp_t flags), nr, size, flags)
PP_REAL(kmalloc_array, (size_t nr, size_t size, gfp_t flags), nr, size, flags)
PP_REAL(kvmalloc, (size_t size, gfp_t flags), size, flags)
PP_REAL(kvzalloc, (size_t size, gfp_t flags), size, flags)
PP_REAL(kvcalloc, (size_t nr, size_t size, gfp_t flags), nr, size, flags)
PP_REAL(kvmalloc_array, (size_t nr, size_t size, gfp_t flags), nr, size, flags)
PP_REAL(kmemdup, (const void *memory, size_t size, gfp_t flags), memory, size, flags)

#undef kmalloc
#undef kzalloc
#undef kcalloc
#undef kmalloc_array
#undef kvmalloc
#undef kvzalloc
#undef kvcalloc
#undef kvmalloc_array
#undef kmemdup

#define kmalloc(...)		PP_ALLOC("kmalloc", pp_real_kmalloc(__VA_ARGS__))
#define kzalloc(...)		PP_ALLOC("kzalloc", pp_real_kzalloc(__VA_ARGS__))
#define kcalloc(...)		PP_ALLOC("kcalloc", pp_real_kcalloc(__VA_ARGS__))
#define kmalloc_array(...)	PP_ALLOC("kmalloc_array", pp_real_kmalloc_array(__VA_ARGS__))
#define kvmalloc(...)		PP_ALLOC("kvmalloc", pp_real_kvmalloc(__VA_ARGS__))
#define kvzalloc(...)		PP_ALLOC("kvzalloc", pp_real_kvzalloc(__VA_ARGS__))
#define kvcalloc(...)		PP_ALLOC("kvcalloc", pp_real_kvcalloc(__VA_ARGS__))
#define kvmalloc_array(...)	PP_ALLOC("kvmalloc_array", pp_real_kvmalloc_array(__VA_ARGS__))
#define kmemdup(...)		PP_ALLOC("kmemdup", pp_real_kmemdup(__VA_ARGS__))
#define kstrdup(...)		PP_ALLOC("kstrdup", kstrdup(__VA_ARGS__))
#define kstrndup(...)		PP_ALLOC("kstrndup", kstrndup(__VA_ARGS__))
#define kasprintf(...)		PP_ALLOC("kasprintf", kasprintf(__VA_ARGS__))
#define vmap(...)		PP_ALLOC("vmap", vmap(__VA_ARGS__))

#define kfree(memory)	do { pp_fault_freed(memory); kfree(memory); } while (0)
#define kvfree(memory)	do { pp_fault_freed(memory); kvfree(memory); } while (0)
#define vunmap(memory)	do { pp_fault_freed(memory); vunmap(memory); } while (0)

#define PP_FAIL(what, error, ...) (PP_FAULT(what) ? (error) : __VA_ARGS__)

#define register_kprobe(...)						\
	PP_FAIL("register_kprobe", -ENOMEM, register_kprobe(__VA_ARGS__))
#define tracepoint_probe_register(...)					\
	PP_FAIL("tracepoint_probe_register", -ENOMEM, tracepoint_probe_register(__VA_ARGS__))
#define register_die_notifier(...)					\
	PP_FAIL("register_die_notifier", -ENOMEM, register_die_notifier(__VA_ARGS__))
#define misc_register(...)						\
	PP_FAIL("misc_register", -ENOMEM, misc_register(__VA_ARGS__))
#define register_module_notifier(...)					\
	PP_FAIL("register_module_notifier", -ENOMEM, register_module_notifier(__VA_ARGS__))
#define try_module_get(...)						\
	PP_FAIL("try_module_get", false, try_module_get(__VA_ARGS__))
#define task_work_add(...)						\
	PP_FAIL("task_work_add", -ESRCH, task_work_add(__VA_ARGS__))

#ifdef CONFIG_DYNAMIC_FTRACE
#define register_ftrace_function(...)					\
	PP_FAIL("register_ftrace_function", -ENOMEM, register_ftrace_function(__VA_ARGS__))
#define ftrace_set_filter_ips(...)					\
	PP_FAIL("ftrace_set_filter_ips", -ENOMEM, ftrace_set_filter_ips(__VA_ARGS__))
#define ftrace_set_filter_ip(...)					\
	PP_FAIL("ftrace_set_filter_ip", -ENOMEM, ftrace_set_filter_ip(__VA_ARGS__))
#endif

/* alloc_workqueue() is itself a macro, and so cannot be used in a macro of its name. */
static inline struct workqueue_struct *pp_real_alloc_workqueue(const char *name, unsigned int flags,
							       int max_active)
{
	return alloc_workqueue("%s", flags, max_active, name);
}
#undef alloc_workqueue
#define alloc_workqueue(...)						\
	PP_FAIL("alloc_workqueue", NULL, pp_real_alloc_workqueue(__VA_ARGS__))

/* Fail as the real one does: the kobject is initialised, and the caller must put it. */
#define kobject_init_and_add(kobj, type, ...)				\
	PP_FAIL("kobject_init_and_add", (kobject_init(kobj, type), -ENOMEM), \
		kobject_init_and_add(kobj, type, __VA_ARGS__))
#define kobject_create_and_add(...)					\
	PP_FAIL("kobject_create_and_add", NULL, kobject_create_and_add(__VA_ARGS__))
#define sysfs_create_file(...)						\
	PP_FAIL("sysfs_create_file", -ENOMEM, sysfs_create_file(__VA_ARGS__))
#define sysfs_create_bin_file(...)					\
	PP_FAIL("sysfs_create_bin_file", -ENOMEM, sysfs_create_bin_file(__VA_ARGS__))

#endif /* POKEPATCH_FAULT_H */
