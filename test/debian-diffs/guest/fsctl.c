// SPDX-License-Identifier: GPL-2.0-or-later
/* fsctl clone FROM TO | encrypt FOLDER | shutdown FOLDER: what busybox has no command for. */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t) /* fs/ext4/ext4.h */

int main(int argc, char **argv)
{
	struct fscrypt_policy_v1 policy = { .version = FSCRYPT_POLICY_V1,
					    .contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
					    .filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS };
	uint32_t logflush = 1;
	int fd = argc > 2 ? open(argv[2], O_RDONLY) : -1;

	if (argc > 3 && !strcmp(argv[1], "clone"))
		return ioctl(open(argv[3], O_RDWR | O_CREAT, 0644), FICLONE, fd) ? 1 : 0;
	if (argc > 2 && !strcmp(argv[1], "encrypt"))
		return ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY, &policy) ? 1 : 0;
	if (argc > 2 && !strcmp(argv[1], "shutdown"))
		return ioctl(fd, EXT4_IOC_SHUTDOWN, &logflush) ? 1 : 0;
	return 2;
}
