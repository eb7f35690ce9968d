// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Effects of fixes in exFAT: file systems that are not in order are not mounted.  They are made here, byte
 * by byte (Microsoft's exFAT file system specification, sections 3 to 7).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "effects.h"

#define IMAGE "/tmp/effects.exfat"
#define FOLDER "/tmp/effects.mounted"

enum {
	SECTOR = 512,
	CLUSTER = 8 * SECTOR,
	FAT_AT = 24,			/* in sectors, as is the next one */
	CLUSTERS_AT = 32,
	CLUSTERS = 256,
	/* What the first clusters hold; their numbers begin with 2. */
	BITMAP = 2, UPCASE, ROOT,
	SIZE = CLUSTERS_AT * SECTOR + CLUSTERS * CLUSTER,
};

static unsigned char image[SIZE];

static void put(size_t at, uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		image[at + i] = value >> 8 * i;
}

static size_t cluster_at(int number)
{
	return CLUSTERS_AT * SECTOR + (size_t)(number - 2) * CLUSTER;
}

static uint32_t add_to_sum(uint32_t sum, unsigned char byte)
{
	return (sum << 31 | sum >> 1) + byte;
}

static void put_boot_region(void)
{
	uint32_t sum = 0;

	memcpy(image + 3, "EXFAT   ", 8);
	put(72, SIZE / SECTOR, 8);
	put(80, FAT_AT, 4);
	put(84, CLUSTERS_AT - FAT_AT, 4);
	put(88, CLUSTERS_AT, 4);
	put(92, CLUSTERS, 4);
	put(96, ROOT, 4);
	put(104, 0x100, 2);		/* the format's version */
	image[108] = 9;			/* sectors and clusters, as powers of 2 */
	image[109] = 3;
	image[110] = 1;			/* FATs */
	put(510, 0xaa55, 2);
	for (int sector = 1; sector <= 8; sector++)
		put(sector * SECTOR + 508, 0xaa550000, 4);
	for (int i = 0; i < 11 * SECTOR; i++)
		/* Flags, and how full it is, are left out. */
		if (i != 106 && i != 107 && i != 112)
			sum = add_to_sum(sum, image[i]);
	for (int i = 0; i < SECTOR; i += 4)
		put(11 * SECTOR + i, sum, 4);
}

static void put_fat(int number, uint32_t next)
{
	put(FAT_AT * SECTOR + 4 * number, next, 4);
}

/* One with nothing in it. */
static void make_image(void)
{
	/* All characters are their own capitals: 0xffff says that so many follow. */
	static const unsigned char upcase[] = { 0xff, 0xff, 0xff, 0xff, 0, 0 };
	size_t root = cluster_at(ROOT);
	uint32_t sum = 0;

	memset(image, 0, sizeof(image));
	put_boot_region();
	put_fat(0, 0xfffffff8);
	put_fat(1, 0xffffffff);
	for (int number = BITMAP; number <= ROOT; number++)
		put_fat(number, 0xffffffff);
	image[cluster_at(BITMAP)] = 7;
	memcpy(image + cluster_at(UPCASE), upcase, sizeof(upcase));
	for (size_t i = 0; i < sizeof(upcase); i++)
		sum = add_to_sum(sum, upcase[i]);
	image[root] = 0x81;
	put(root + 20, BITMAP, 4);
	put(root + 24, CLUSTERS / 8, 8);
	image[root + 32] = 0x82;
	put(root + 32 + 4, sum, 4);
	put(root + 32 + 20, UPCASE, 4);
	put(root + 32 + 24, sizeof(upcase), 8);
}

/* Mount the image; 0 or an error number, -1: said what went wrong. */
static int mount_image(void)
{
	int fd = open(IMAGE, O_WRONLY | O_CREAT | O_TRUNC, 0600), error = 0;
	char device[32];

	if (fd < 0 || write(fd, image, sizeof(image)) != sizeof(image)) {
		broken("no image");
		return -1;
	}
	close(fd);
	mkdir(FOLDER, 0700);
	fd = loop_attach(IMAGE, device);
	if (fd < 0)
		return -1;
	if (mount(device, FOLDER, "exfat", MS_RDONLY, NULL) != 0)
		error = errno;
	else
		umount(FOLDER);
	ioctl(fd, LOOP_CLR_FD);
	close(fd);
	unlink(IMAGE);
	return error;
}

/* Is one in order mounted?  If not, it would not show anything that others are refused. */
static bool good_one_is_mounted(void)
{
	make_image();
	errno = mount_image();
	if (errno)
		broken("a file system in order is not mounted");
	return !errno;
}

static enum verdict free_bitmap(void)
{
	if (!good_one_is_mounted())
		return BROKEN;
	image[cluster_at(BITMAP)] = 6;
	return judge(mount_image(), EIO, 0);
}

static enum verdict looping_root(void)
{
	if (!good_one_is_mounted())
		return BROKEN;
	put_fat(ROOT, ROOT);
	return judge(mount_image(), EIO, 0);
}

const struct effect exfat_effects[] = {
	{ "exfat-bitmap", free_bitmap },
	{ "exfat-root-loop", looping_root },
	{ 0 }
};
