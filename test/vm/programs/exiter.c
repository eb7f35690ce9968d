// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exiter - for core-checks.bats: has a thread called pp-exiting that ends at once, and stays, as pp-joined.
 * A thread reaps itself: the task list loses it while it still runs.
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
	// Its last steps are made after this.
	pthread_join(thread, NULL);
	prctl(PR_SET_NAME, "pp-joined");
	pause();
	return 0;
}
