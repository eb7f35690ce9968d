// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: text that is mapped writable for one CPU alone, and only while that CPU writes it.
 *
 * A second mapping in the kernel's half of the address space would be writable for all CPUs.  The
 * kernel's writer of text has an address space of its own instead, which is loaded by the CPU that
 * writes (poking_init(), text_poke()).  In the one table of that address space there are 512
 * entries, of which it uses two.  The core uses others.  All who use the table hold
 * text_mutex, so no CPU but the writing one has this address space loaded.
 *
 * text_poke() itself would change the address space for each piece that it writes, with the
 * machine stopped.  The core changes it once for up to X86_WINDOW_MAX instructions.  It does so by
 * CR3, under the PCID that the CPU has: what the kernel notes of the loaded address space is not
 * for modules, and the functions that do it may be those that are being switched.  Either write
 * to CR3 flushes what the TLB holds of that PCID, but for global entries (SDM volume 3,
 * "Operations that Invalidate TLBs and Paging-Structure Caches"), and no entry here is global.
 * So none outlives the window.
 *
 * This CPU has its interrupts off, and runs a kernel thread (stop.c).  What can come meanwhile is
 * an NMI or a machine check.  The kernel's half is the same in all address spaces.  The user's
 * half is not, but an NMI that interrupts a kernel thread does not look there
 * (nmi_uaccess_okay()).  Watchpoints are off, since one may be on an address at which text is
 * mapped here.
 */
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/pgtable.h>

#include <asm/cpufeature.h>
#include <asm/debugreg.h>
#include <asm/processor-flags.h>

#include "x86.h"
#include "x86_window.h"

/* Two neighbouring entries serve one instruction.  The kernel's two may lie in two such pairs. */
#define PAIRS (PTRS_PER_PTE / 2)
static_assert(X86_WINDOW_MAX == PAIRS - 2);

/* Linear-address-space separation (SDM volume 3, "Control Registers").  Older headers lack it. */
#define CR4_LASS BIT(27)

static struct {
	pte_t *table;		/* NULL: there is no window */
	unsigned long base;	/* the address of its first entry */
	unsigned long cr3;	/* without a PCID */
	unsigned int first;	/* the pair behind the kernel's */
} window __ro_after_init;

/* The table of @mm that has the entry of @addr, or NULL. */
static pte_t *x86_window_table(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (pgd_none(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	if (pud_none(*pud) || pud_leaf(*pud))
		return NULL;
	pmd = pmd_offset(pud, addr);
	if (pmd_none(*pmd) || pmd_leaf(*pmd))
		return NULL;
	return pte_offset_kernel(pmd, addr & PMD_MASK);
}

static __always_inline pte_t *x86_window_entry(unsigned int nr)
{
	return window.table + (window.first + nr) % PAIRS * 2;
}

static bool x86_window_is_free(void)
{
	unsigned int i;

	for (i = 0; i < X86_WINDOW_MAX; i++)
		if (!pte_none(x86_window_entry(i)[0]) || !pte_none(x86_window_entry(i)[1]))
			return false;
	return true;
}

void x86_window_init(void)
{
	struct mm_struct *mm = x86.poking_mm ? *x86.poking_mm : NULL;

	/*
	 * A hypervisor that checks page tables wants to be told of these writes otherwise.  With
	 * LASS the kernel may not touch addresses of the user's half, whatever is mapped there.
	 */
	if (!mm || !x86.poking_addr || boot_cpu_has(X86_FEATURE_XENPV) || __read_cr4() & CR4_LASS)
		return;
	window.table = x86_window_table(mm, *x86.poking_addr);
	if (!window.table)
		return;
	window.base = *x86.poking_addr & PMD_MASK;
	window.cr3 = __sme_pa(mm->pgd);
	window.first = (pte_index(*x86.poking_addr) + 1) / 2 + 1;
	if (!x86_window_is_free())
		window.table = NULL;
}

notrace bool x86_window_known(void)
{
	return window.table;
}
NOKPROBE_SYMBOL(x86_window_known);

void *x86_window_at(unsigned int nr, unsigned long at)
{
	const unsigned long index = x86_window_entry(nr) - window.table;

	return (void *)(window.base + index * PAGE_SIZE + offset_in_page(at));
}

pte_t x86_window_pte(struct page *page)
{
	return mk_pte(page, __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL));
}

notrace void x86_window_open(struct x86_window_was *was, const pte_t (*pages)[2], unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		native_set_pte(&x86_window_entry(i)[0], pages[i][0]);
		native_set_pte(&x86_window_entry(i)[1], pages[i][1]);
	}
	was->watchpoints = local_db_save();
	was->cr3 = __native_read_cr3();
	native_write_cr3(window.cr3 | (was->cr3 & X86_CR3_PCID_MASK));
}
NOKPROBE_SYMBOL(x86_window_open);

notrace void x86_window_close(const struct x86_window_was *was, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		native_set_pte(&x86_window_entry(i)[0], __pte(0));
		native_set_pte(&x86_window_entry(i)[1], __pte(0));
	}
	native_write_cr3(was->cr3);
	local_db_restore(was->watchpoints);
}
NOKPROBE_SYMBOL(x86_window_close);
