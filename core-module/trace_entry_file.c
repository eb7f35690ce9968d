// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file trace_entry in sysfs, of kernels without ftrace: it names the functions that are traced
 * over their entries (trace_entry.c).  Each line that is written to it is one command, and reading
 * it gives a line for each function.
 */
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "access.h"
#include "arch/pp_arch.h"
#include "compat.h"
#include "core_print.h"
#include "sysfs.h"
#include "trace_entry.h"
#include "trace_entry_file.h"

/* One command at a time.  Taken before pp_mutex. */
static DEFINE_MUTEX(trace_mutex);

static bool trace_entry_file_is_one_line(const char *text)
{
	while (isprint(*text) || *text == '\t')
		text++;
	return !*text;
}

static int trace_entry_file_usage(void)
{
	pr_err("trace_entry: write one line: \"NAME\", \"NAME regs\", \"!NAME\" or \"!*\"; NAME is a function, as MODULE:NAME one of a module\n");
	return -EINVAL;
}

/* "NAME", "NAME plain", "NAME regs", "!NAME", "!*" */
static int trace_entry_file_command(char *line)
{
	const bool off = *line == '!';
	char *name, *form;
	bool regs;

	if (!trace_entry_file_is_one_line(line))
		return trace_entry_file_usage();
	line += off;
	name = strsep(&line, " \t");
	form = line ? skip_spaces(line) : "plain";
	regs = !strcmp(form, "regs");
	if (!*name || (!regs && strcmp(form, "plain")) || (off && (line || regs)) ||
	    (!off && !strcmp(name, "*")))
		return trace_entry_file_usage();
	return off ? pp_trace_entry_switch_off(name) : pp_trace_entry_switch_on(name, regs);
}

static ssize_t trace_entry_file_write(struct file *file, struct kobject *kobj,
				      pp_bin_attribute *attr, char *buf, loff_t off,
				      size_t count)
{
	char *line, *text;
	int ret;

	if (!pp_may_trace_by(file))
		return -EPERM;
	if (count > KSYM_SYMBOL_LEN)
		return trace_entry_file_usage();
	text = kstrndup(buf, count, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	line = strim(text);
	ret = mutex_lock_killable(&trace_mutex);
	if (!ret) {
		ret = trace_entry_file_command(line);
		mutex_unlock(&trace_mutex);
	}
	kfree(text);
	return ret ?: count;
}

static ssize_t trace_entry_file_read(struct file *file, struct kobject *kobj,
				     pp_bin_attribute *attr, char *buf, loff_t off,
				     size_t count)
{
	ssize_t ret = -ENOMEM;
	size_t len;
	char *text = pp_trace_entry_list(&len);

	if (text)
		ret = memory_read_from_buffer(buf, count, &off, text, len);
	kvfree(text);
	return ret;
}

static struct bin_attribute attribute =
	__BIN_ATTR(trace_entry, 0644, trace_entry_file_read, trace_entry_file_write, 0);

int __init pp_trace_entry_file_init(void)
{
	return pp_arch.trace ? pp_sysfs_add_file(&attribute) : 0;
}

void pp_trace_entry_file_exit(void)
{
	if (!pp_arch.trace)
		return;
	pp_sysfs_remove_file(&attribute);
	pp_trace_entry_end();
}
