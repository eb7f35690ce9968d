// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfcount SYSTEM/EVENT COMMAND... - run the command and print how often perf counted the
 * tracepoint on all CPUs meanwhile.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CPUS 64

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned long long id_of(const char *event)
{
	unsigned long long id;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", event);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &id) != 1)
		die(path);
	fclose(file);
	return id;
}

static int open_on(unsigned int cpu, unsigned long long id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(int argc, char **argv)
{
	const long nr = sysconf(_SC_NPROCESSORS_ONLN);
	int fds[MAX_CPUS], status, i;
	uint64_t sum = 0, count;
	pid_t pid;

	if (argc < 3 || nr > MAX_CPUS)
		return 1;
	for (i = 0; i < nr; i++) {
		fds[i] = open_on(i, id_of(argv[1]));
		if (fds[i] < 0)
			die("perf_event_open");
	}
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	for (i = 0; i < nr; i++) {
		if (read(fds[i], &count, sizeof(count)) != sizeof(count))
			die("read");
		sum += count;
	}
	printf("%llu\n", (unsigned long long)sum);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
