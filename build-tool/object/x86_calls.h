/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions only inline assembly calls, so that the compiler knows nothing of the call but
 * which registers change: from arch/x86/include/asm and arch/x86/kvm of Linux 6.1 and 6.12.
 * It is all that the differ and the proof have in common about this.
 */
#ifndef POKEPATCH_X86_CALLS_H
#define POKEPATCH_X86_CALLS_H

#include "common/util.h"

/* x86_assembly_calls - may it be such a function? */
static inline bool x86_assembly_calls(const char *name)
{
	static const char *const beginnings[] = {
		"BUG_func",	   "__SCT__",	     "__get_user_",    "__kernel_vsyscall",
		"__put_user_",	   "__raw_callee_",  "__sw_hweight",   "__x86_",
		"clear_bhb_loop",  "clear_page_",    "clear_user_",    "cmpxchg8b_emu",
		"copy_user_",	   "entry_",	     "hypercall_page", "irq_enter_rcu",
		"irq_exit_rcu",	   "preempt_schedule", "rep_",	       "srso_",
		"this_cpu_cmpxchg", "vmread_error",
	};

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (has_prefix(name, beginnings[i]))
			return true;
	return false;
}

#endif /* POKEPATCH_X86_CALLS_H */
