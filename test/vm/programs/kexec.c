// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kexec [--crash] KERNEL INITRAMFS WORD... - boot another kernel, after an orderly shutdown of this
 * one, or when this one crashes.  It gets this kernel's command line, followed by the words.
 * kexec --dumped TEXT - in the kernel that was booted after a crash: print all that begins with TEXT in
 * the crashed one's memory (/proc/vmcore), up to what cannot be printed, a line each.  An emulated
 * processor takes a minute for that with strings(1).
 */
#include <ctype.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RB_KEXEC
#define RB_KEXEC 0x45584543
#endif

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int print_dumped(const char *text)
{
	/* What begins in the first half lies within both, with up to LONGEST characters. */
	enum { HALF = 1 << 20, LONGEST = 1024 };
	static char block[2 * HALF];
	const size_t size = strlen(text);
	size_t length = 0;
	ssize_t n;
	const int dump = open("/proc/vmcore", O_RDONLY);

	if (dump < 0)
		return fail("/proc/vmcore");
	do {
		n = read(dump, block + length, sizeof(block) - length);
		if (n < 0)
			return fail("/proc/vmcore");
		length += n;
		if (n && length < sizeof(block))
			continue;
		const char *end = block + length, *limit = n ? block + HALF : end;
		for (const char *at = block; (at = memmem(at, end - at, text, size)) && at < limit;
		     at++) {
			const char *last = at;

			while (last < end && last - at < LONGEST && isprint((unsigned char)*last))
				last++;
			printf("%.*s\n", (int)(last - at), at);
		}
		length -= limit - block;
		memmove(block, limit, length);
	} while (n);
	close(dump);
	return 0;
}

int main(int argc, char **argv)
{
	char line[4096] = "";
	int kernel, initramfs, proc, i;
	unsigned long flags = 0;
	ssize_t length;

	if (argc == 3 && !strcmp(argv[1], "--dumped"))
		return print_dumped(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "--crash")) {
		flags = KEXEC_FILE_ON_CRASH;
		argv++, argc--;
	}
	if (argc < 3)
		return 1;
	kernel = open(argv[1], O_RDONLY);
	initramfs = open(argv[2], O_RDONLY);
	proc = open("/proc/cmdline", O_RDONLY);
	if (kernel < 0 || initramfs < 0 || proc < 0)
		return fail("kexec: open");
	length = read(proc, line, sizeof(line) / 2);
	if (length < 0)
		return fail("kexec: /proc/cmdline");
	line[strcspn(line, "\n")] = 0;
	for (i = 3; i < argc && strlen(line) + strlen(argv[i]) + 2 < sizeof(line); i++) {
		strcat(line, " ");
		strcat(line, argv[i]);
	}
	if (syscall(SYS_kexec_file_load, kernel, initramfs, strlen(line) + 1, line, flags))
		return fail("kexec: kexec_file_load");
	if (flags)
		return 0;
	sync();
	reboot(RB_KEXEC);
	return fail("kexec: reboot");
}
