// SPDX-License-Identifier: GPL-2.0-or-later
/* Effects of fixes in file systems and block devices. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/landlock.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "effects.h"

#define FOLDER "/tmp/effects"

/* A file system in memory, which this process and its children alone see. */
static int mount_memory(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 && errno != EINVAL)
		return errno;
	if (mkdir(FOLDER, 0777) != 0 && errno != EEXIST)
		return errno;
	return mount("effects", FOLDER, "tmpfs", 0, "mode=1777") == 0 ? 0 : errno;
}

/* This process may make no regular files any more. */
static bool forbid_files(void)
{
	const struct landlock_ruleset_attr rules = { .handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_REG };
	int fd = syscall(__NR_landlock_create_ruleset, &rules, sizeof(rules), 0);

	if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(__NR_landlock_restrict_self, fd, 0) != 0) {
		broken("no sandbox");
		return false;
	}
	close(fd);
	return true;
}

static enum verdict whiteout(void)
{
	int error = 0;

	if (unshare(CLONE_NEWNS) != 0 || (errno = mount_memory()))
		return broken("no file system in memory");
	/* What is renamed is no regular file itself: the sandbox lets that pass. */
	if (mkfifo(FOLDER "/old", 0600) != 0)
		return broken("no pipe");
	if (!forbid_files())
		return BROKEN;
	if (renameat2(AT_FDCWD, FOLDER "/old", AT_FDCWD, FOLDER "/new", RENAME_WHITEOUT) != 0)
		error = errno;
	return judge(error, EACCES, 0);
}

static enum verdict nameless_file(void)
{
	struct helper helper;
	char path[64];
	int fd, error = 0;

	if (!helper_start(&helper, CLONE_NEWUSER | CLONE_NEWNS, 1000, mount_memory, NULL))
		return BROKEN;
	snprintf(path, sizeof(path), "/proc/%d/root" FOLDER, helper.pid);
	/* The file system's namespace has one user, and that is not this process's. */
	fd = open(path, O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		error = errno;
	else
		close(fd);
	helper_finish(&helper);
	return judge(error, EOVERFLOW, 0);
}

static bool copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	char buffer[65536];
	ssize_t size = -1;

	if (in >= 0 && out >= 0)
		while ((size = read(in, buffer, sizeof(buffer))) > 0)
			if (write(out, buffer, size) != size)
				break;
	close(in);
	close(out);
	if (size != 0)
		broken("%s cannot be copied", from);
	return size == 0;
}

static enum verdict interpreter(void)
{
	const char *folder = "/proc/sys/fs/binfmt_misc", *entry = "/proc/sys/fs/binfmt_misc/effect";
	int fd, error = 0;

	if (unshare(CLONE_NEWNS) != 0 || (errno = mount_memory()) ||
	    mount("binfmt_misc", folder, "binfmt_misc", 0, NULL) != 0)
		return broken("binfmt_misc is not there");
	if (!copy_file("/proc/self/exe", FOLDER "/interpreter"))
		return BROKEN;
	errno = write_file("/proc/sys/fs/binfmt_misc/register", ":effect:E::effect::" FOLDER "/interpreter:F");
	if (!errno)
		errno = write_file(entry, "-1");
	if (errno)
		return broken("no entry");
	fd = open(FOLDER "/interpreter", O_WRONLY);
	if (fd < 0)
		error = errno;
	else
		close(fd);
	return judge(error, 0, ETXTBSY);
}

int loop_attach(const char *path, char device[32])
{
	int control = open("/dev/loop-control", O_RDWR), file = open(path, O_RDWR), fd, number = -1;

	if (control >= 0)
		number = ioctl(control, LOOP_CTL_GET_FREE);
	snprintf(device, 32, "/dev/loop%d", number);
	fd = number < 0 ? -1 : open(device, O_RDWR);
	if (fd < 0 || file < 0 || ioctl(fd, LOOP_SET_FD, file) != 0) {
		broken("no loop device");
		fd = -1;
	}
	close(control);
	close(file);
	return fd;
}

static enum verdict block_size(void)
{
	char device[32];
	int fd, owner, error = 0;

	if (unshare(CLONE_NEWNS) != 0 || (errno = mount_memory()))
		return broken("no file system in memory");
	fd = open(FOLDER "/disk", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 1 << 20) != 0)
		return broken("no file");
	close(fd);
	fd = loop_attach(FOLDER "/disk", device);
	if (fd < 0)
		return BROKEN;
	owner = open(device, O_RDWR | O_EXCL);
	if (owner < 0)
		return broken("%s cannot be had alone", device);
	if (ioctl(fd, LOOP_SET_BLOCK_SIZE, 1024UL) != 0)
		error = errno;
	close(owner);
	ioctl(fd, LOOP_CLR_FD);
	close(fd);
	return judge(error, EBUSY, 0);
}

static enum verdict data_start(void)
{
	/* The kernel takes a structure without its last, unused bytes. */
	struct dm_ioctl request = {
		.version = { DM_VERSION_MAJOR, 0, 0 },
		.data_size = offsetof(struct dm_ioctl, data),
		.data_start = offsetof(struct dm_ioctl, data),
	};
	int fd = open("/dev/mapper/control", O_RDWR);
	bool fixed;

	if (fd < 0 || ioctl(fd, DM_LIST_DEVICES, &request) != 0)
		return broken("the device mapper's devices cannot be listed");
	close(fd);
	fixed = request.data_start <= offsetof(struct dm_ioctl, data);
	printf("%s: of %zu bytes, the data begins at %u\n", fixed ? "fixed" : "affected",
	       offsetof(struct dm_ioctl, data), request.data_start);
	return fixed ? FIXED : AFFECTED;
}

const struct effect file_effects[] = {
	{ "landlock-whiteout", whiteout },
	{ "tmpfile-unmapped-owner", nameless_file },
	{ "binfmt-misc-write-access", interpreter },
	{ "loop-block-size", block_size },
	{ "dm-ioctl-data-start", data_start },
	{ 0 }
};
