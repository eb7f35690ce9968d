// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exiter - start a thread called pp-exiting, which ends at once, then wait under the name pp-joined
 * (core-checks.bats).  A thread reaps itself, so it leaves the task list while it still runs.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *end(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "pp-exiting");
	return NULL;
}

int main(void)
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
