/* SPDX-License-Identifier: GPL-2.0-or-later */
/* targets: the kernel's memory, and the symbols of its code. */
#ifndef TARGET_KERNEL_H
#define TARGET_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Print the message, and end with status 2. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Memory that holds zeroes. */
void *make(size_t size);

void open_kcore(void);
void read_kernel(uint64_t at, void *to, size_t size);

struct symbol {
	uint64_t at;
	char type;  /* as in /proc/kallsyms */
	char *name; /* with the module: "name [module]" */
};

/* Of vmlinux. */
extern uint64_t stext, etext;

void read_symbols(void);
/* The symbol of code at or before an address, or NULL. */
const struct symbol *symbol_before(uint64_t at);
/* "function [module]+0x10"; valid until the next call. */
const char *name_of(uint64_t at);

#endif /* TARGET_KERNEL_H */
