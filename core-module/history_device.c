// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device that delivers the text history (pokepatch_history.h): each open file is a reader of
 * its own.
 *
 * A read copies records to the reader's buffer first, since history.c holds history_lock while it
 * does so, and then to user memory without a lock that a switch could wait for.  Only when the
 * bytes have arrived there does the reader's position move.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include <pokepatch_history.h>

#include "access.h"
#include "core_print.h"
#include "history.h"
#include "history_device.h"
#include "module.h"
#include "others.h"

/* An open file. */
struct history_file {
	struct mutex lock;	/* one read at a time; protects everything below */
	struct pp_history_reader reader;
	u8 *buffer;		/* POKEPATCH_HISTORY_RECORD_MAX bytes */
};

static bool closing;		/* the core is being removed by force */

static ssize_t history_device_read_some(struct history_file *this, char __user *to, size_t room)
{
	struct pp_history_complete complete = {};
	struct pp_history_position position;
	size_t size;

	/* The first record says up to when all changes have records, ours and other writers'. */
	if (!this->reader.position.informed) {
		complete.until = pp_others_record_all();
		complete.others_since = pp_others_since();
	}
	size = pp_history_fill(&this->reader, this->buffer, room, &complete, &position);
	if (!size || copy_to_user(to, this->buffer, size)) {
		pp_history_position_put(&position);
		return size ? -EFAULT : -EINVAL;
	}
	pp_history_advance(&this->reader, &position);
	return size;
}

static ssize_t history_device_read(struct file *file, char __user *to, size_t room, loff_t *offset)
{
	struct history_file *this = file->private_data;
	ssize_t ret = mutex_lock_interruptible(&this->lock);

	if (ret)
		return ret;
	if (!pp_history_has_more(&this->reader) && file->f_flags & O_NONBLOCK)
		ret = -EAGAIN;
	else
		ret = wait_event_interruptible(pp_history_more,
					       pp_history_has_more(&this->reader) ||
						       READ_ONCE(closing));
	if (!ret && pp_history_has_more(&this->reader))
		ret = history_device_read_some(this, to, room);
	mutex_unlock(&this->lock);
	return ret;
}

static __poll_t history_device_poll(struct file *file, struct poll_table_struct *table)
{
	const struct history_file *this = file->private_data;

	poll_wait(file, &pp_history_more, table);
	return (pp_history_has_more(&this->reader) ? EPOLLIN | EPOLLRDNORM : 0) |
	       (READ_ONCE(closing) ? EPOLLHUP : 0);
}

static void history_device_free(struct history_file *this)
{
	if (!this)
		return;
	kvfree(this->buffer);
	kfree(this);
}

/*
 * The lockdown is asked here, and not for each read.  The kernel does the same for what else shows
 * its text: perf events (which deliver text pokes), files of tracefs and debugfs, and /proc/kcore.
 * A process that had one of them open before a lockdown reads on, and so gets the text in any case.
 */
static int history_device_open(struct inode *inode, struct file *file)
{
	struct history_file *this;
	int ret = pp_may_read_text();

	if (ret)
		return ret;
	this = kzalloc(sizeof(*this), GFP_KERNEL);
	if (this)
		this->buffer = kvmalloc(POKEPATCH_HISTORY_RECORD_MAX, GFP_KERNEL);
	if (!this || !this->buffer) {
		history_device_free(this);
		return -ENOMEM;
	}
	mutex_init(&this->lock);
	file->private_data = this;
	pp_history_reader_init(&this->reader);
	return stream_open(inode, file);
}

static int history_device_release(struct inode *inode, struct file *file)
{
	struct history_file *this = file->private_data;

	pp_history_reader_deinit(&this->reader);
	history_device_free(this);
	return 0;
}

/* An open file holds the core, through .owner. */
static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = history_device_open,
	.release = history_device_release,
	.read = history_device_read,
	.poll = history_device_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = POKEPATCH_HISTORY_NAME,
	.fops = &operations,
	.mode = 0400,
};

int pp_history_device_init(void)
{
	int ret = misc_register(&device);

	if (ret)
		pr_err("cannot make %s (%d)\n", POKEPATCH_HISTORY_DEVICE, ret);
	return ret;
}

void pp_history_device_exit(void)
{
	bool told = false;

	misc_deregister(&device);
	/*
	 * `rmmod -f` removes the core although a file is open.  A task that sleeps in a file
	 * operation would return to code that is gone.
	 */
	WRITE_ONCE(closing, true);
	wake_up_all(&pp_history_more);
	for (; pp_history_has_readers(); msleep(PP_FORCED_PAUSE_MS)) {
		if (!told)
			pr_crit("the core is being removed by force; this waits until no task has %s open\n",
				POKEPATCH_HISTORY_DEVICE);
		told = true;
	}
	/* The last one may have been preempted behind pp_history_reader_deinit(). */
	if (told)
		synchronize_rcu_tasks();
}
