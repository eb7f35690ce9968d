// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Part of torture: files, messages, chance, and loading modules.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

void fail(const char *format, ...)
{
	int number = errno;
	va_list arguments;

	va_start(arguments, format);
	printf("FAILED: ");
	vprintf(format, arguments);
	printf(": %s\n", strerror(number));
	va_end(arguments);
	exit(1);
}

/* Write @text to the file.  Return: 0 or an errno. */
int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), number = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		number = errno;
	close(fd);
	return number;
}

/* Read the first word of a file; it is empty if the file cannot be read. */
void get(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);

	text[length < 0 ? 0 : length] = '\0';
	text[strcspn(text, " \n")] = '\0';
	if (fd >= 0)
		close(fd);
}

int putf(const char *text, const char *format, ...)
{
	char path[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return put(path, text);
}

/* Write to the kernel log, which then shows what was going on when a result was wrong. */
void note(const char *format, ...)
{
	char text[256];
	va_list arguments;
	int length = sprintf(text, "<6>torture: ");

	va_start(arguments, format);
	vsnprintf(text + length, sizeof(text) - length, format, arguments);
	va_end(arguments);
	put("/dev/kmsg", text);
}

unsigned int chance(unsigned int n)
{
	return (unsigned int)random() % n;
}

/* Load NAME.ko, which the harness has put into the guest.  Return: 0 or an errno. */
int load_module(const char *name, const char *options)
{
	char path[512];
	int fd, number;

	snprintf(path, sizeof(path), "%s/%s.ko", extra, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		fail("%s", path);
	number = syscall(SYS_finit_module, fd, options, 0) ? errno : 0;
	close(fd);
	return number;
}
