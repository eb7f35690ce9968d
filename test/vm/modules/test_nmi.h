/* SPDX-License-Identifier: GPL-2.0-only */
/* NMIs for test modules, where there is a driver that sends them for modules; else there are none. */
#ifndef TEST_NMI_H
#define TEST_NMI_H

#if __has_include(<asm/apic.h>)

#include <asm/apic.h>
#include <asm/nmi.h>

#define TEST_HAS_NMI

/* @handler is of type nmi_handler_t.  Return: 0 or an error. */
#define test_nmi_register(handler, name) register_nmi_handler(NMI_LOCAL, handler, 0, name)
#define test_nmi_unregister(name) unregister_nmi_handler(NMI_LOCAL, name)

/* Send one to CPU @cpu.  Also for handlers: what they interrupted may be sending one. */
static inline void test_nmi_send(unsigned int cpu)
{
	const bool has_icr2 = !x2apic_enabled();
	u32 icr2 = 0;

	/* It may have written ICR2 and not ICR yet. */
	if (has_icr2)
		icr2 = apic->read(APIC_ICR2);
	apic->send_IPI(cpu, NMI_VECTOR);
	if (has_icr2) {
		apic->safe_wait_icr_idle();
		apic->write(APIC_ICR2, icr2);
	}
}

#else

enum { NMI_DONE, NMI_HANDLED };

#define test_nmi_register(handler, name) ((void)(handler), 0)
#define test_nmi_unregister(name) ((void)(name))

static inline void test_nmi_send(unsigned int cpu)
{
}

#endif

#endif /* TEST_NMI_H */
