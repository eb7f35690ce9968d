// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exiter - start a thread called pp-exiting, which ends at once, then wait under the name pp-joined
 * (core-checks.bats).  A thread reaps itself, so it leaves the task list while it still runs.
 *
 * exiter time N - print the mean time in ns that it takes to make a process and to reap it, of N.
 * exiter many N FILE - have N processes exit that have FILE open and reap themselves, and wait.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *end(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "pp-exiting");
	return NULL;
}

static int one_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, end, NULL)) {
		perror("exiter");
		return 1;
	}
	// The thread takes its last steps in the kernel after this.
	pthread_join(thread, NULL);
	prctl(PR_SET_NAME, "pp-joined");
	pause();
	return 0;
}

static int leave(void *unused)
{
	(void)unused;
	_exit(0);
}

/* Make a process that exits at once.  It shares our memory, and we wait until it no longer does. */
static pid_t make(int also)
{
	static char stack[65536];
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_FS | SIGCHLD | also;
	const pid_t pid = clone(leave, stack + sizeof(stack), flags, NULL);

	if (pid < 0) {
		perror("exiter: clone");
		exit(1);
	}
	return pid;
}

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int time_exits(int n)
{
	long long begin = 0;

	/* The first ones fill caches, those of an emulator too. */
	for (int i = -n / 2; i < n; i++) {
		if (!i)
			begin = now();
		waitpid(make(CLONE_FILES), NULL, 0);
	}
	printf("%lld\n", (now() - begin) / n);
	return 0;
}

static int many_exits(int n, const char *file)
{
	signal(SIGCHLD, SIG_IGN);
	if (open(file, O_RDONLY) < 0) {
		perror(file);
		return 1;
	}
	for (int i = 0; i < n; i++)
		make(0);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	const int n = argc > 2 ? atoi(argv[2]) : 0;

	if (argc == 1)
		return one_thread();
	if (n > 0 && argc == 3 && !strcmp(argv[1], "time"))
		return time_exits(n);
	if (n > 0 && argc == 4 && !strcmp(argv[1], "many"))
		return many_exits(n, argv[3]);
	fprintf(stderr, "usage: exiter [time N | many N FILE]\n");
	return 1;
}
