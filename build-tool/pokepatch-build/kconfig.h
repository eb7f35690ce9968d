/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a change to a Kconfig file can change the configuration of a kernel that is built
 * already.
 *
 * The configuration fits the old text.  If everything that the file says about each symbol has the
 * same value in the new text, while all symbols have the values of the configuration, then the
 * configuration fits the new text too.  Where this is not certain, the change is refused.
 */
#ifndef POKEPATCH_KCONFIG_H
#define POKEPATCH_KCONFIG_H

#include "common/util.h"

/* What a configuration sets. */
struct kconfig_values {
	char *text;           /* the names and values point into it */
	struct map by_symbol; /* "NET" -> "y", "64", "a string" */
};
/*
 * kconfig_values_read - read include/config/auto.conf, or another file with lines
 * CONFIG_NAME=VALUE. The caller frees *ret with kconfig_values_deinit(), also after an error.
 */
struct error *kconfig_values_read(const char *path, struct kconfig_values *ret);
void kconfig_values_deinit(struct kconfig_values *values);

/*
 * kconfig_judge - compare two texts of one Kconfig file; "" stands for a file that is missing.
 * @tree: the kernel's source.  The file may begin to read a file that is not there, because the
 * diff adds that one, and it is judged by itself.
 *
 * Returns NULL if no symbol can change its value.  Otherwise the reason, a line that begins with
 * the symbol, which the caller frees.
 */
char *kconfig_judge(const struct kconfig_values *values, const char *tree, const char *old_text,
		    const char *new_text);

#endif /* POKEPATCH_KCONFIG_H */
