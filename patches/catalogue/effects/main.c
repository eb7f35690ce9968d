// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * effects NAME - show the effect of the catalogue's entry NAME in the running kernel: "fixed" and status
 * 0, "affected" and status 1; status 2 if the test itself could not be made.  effects --list: all names.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "effects.h"

static const struct effect *const all[] = {
	queue_effects, link_effects, socket_effects, file_effects, exfat_effects,
	system_effects, filter_effects,
};

enum verdict broken(const char *format, ...)
{
	int error = errno;
	va_list arguments;

	printf("broken: ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf(error ? ": %s\n" : "\n", strerror(error));
	return BROKEN;
}

enum verdict judge(int got, int fixed, int affected)
{
	if (got == fixed || got == affected) {
		printf("%s: %s\n", got == fixed ? "fixed" : "affected",
		       got ? strerror(got) : "it was done");
		return got == fixed ? FIXED : AFFECTED;
	}
	errno = got;
	return broken("an unexpected answer");
}

bool new_network(void)
{
	if (unshare(CLONE_NEWNET) != 0) {
		broken("no network namespace");
		return false;
	}
	return link_up(1);
}

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		error = errno;
	close(fd);
	return error;
}

bool map_users(int pid, unsigned int outside)
{
	char path[64], map[64];
	int error;

	snprintf(map, sizeof(map), "0 %u 1", outside);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	error = write_file(path, map);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	if (!error)
		error = write_file(path, map);
	errno = error;
	if (error)
		broken("%s", path);
	return !error;
}

static void child(const int in[2], int answer, int flags, int (*first)(void), int (*then)(void))
{
	char byte;
	int result = unshare(flags) == 0 ? 0 : errno;

	close(in[1]);
	if (write(answer, &result, sizeof(result)) != sizeof(result) || read(in[0], &byte, 1) != 1)
		_exit(1);
	/* It has users now; without that it could not be root in its namespace. */
	if (flags & CLONE_NEWUSER && (setgid(0) != 0 || setuid(0) != 0))
		result = errno;
	else if (first)
		result = first();
	if (write(answer, &result, sizeof(result)) != sizeof(result) || read(in[0], &byte, 1) != 1)
		_exit(1);
	result = then ? then() : 0;
	if (write(answer, &result, sizeof(result)) != sizeof(result))
		_exit(1);
	_exit(0);
}

static bool answered_zero(struct helper *helper)
{
	int result = -1;

	errno = 0;
	if (read(helper->answer, &result, sizeof(result)) != sizeof(result) || result != 0) {
		errno = result > 0 ? result : errno;
		broken("the child");
		return false;
	}
	return true;
}

bool helper_start(struct helper *helper, int flags, unsigned int outside, int (*first)(void),
		  int (*then)(void))
{
	int in[2], out[2];

	fflush(stdout);
	if (pipe(in) != 0 || pipe(out) != 0 || (helper->pid = fork()) < 0) {
		broken("no child");
		return false;
	}
	if (helper->pid == 0) {
		close(out[0]);
		child(in, out[1], flags, first, then);
	}
	close(in[0]);
	close(out[1]);
	helper->pipe = in[1];
	helper->answer = out[0];
	if (!answered_zero(helper))
		return false;
	if (flags & CLONE_NEWUSER && !map_users(helper->pid, outside))
		return false;
	return write(helper->pipe, "", 1) == 1 && answered_zero(helper);
}

int helper_finish(struct helper *helper)
{
	int result = -1;

	if (write(helper->pipe, "", 1) != 1 ||
	    read(helper->answer, &result, sizeof(result)) != sizeof(result))
		result = -1;
	waitpid(helper->pid, NULL, 0);
	return result;
}

static const struct effect *find(const char *name)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const struct effect *effect = all[i]; effect->name; effect++)
			if (strcmp(effect->name, name) == 0)
				return effect;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct effect *effect;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			for (effect = all[i]; effect->name; effect++)
				puts(effect->name);
		return 0;
	}
	if (argc != 2 || !(effect = find(argv[1]))) {
		fprintf(stderr, "usage: effects NAME | --list\n");
		return BROKEN;
	}
	return effect->run();
}
