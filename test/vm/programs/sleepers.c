// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sleepers N - start N threads that sleep until the program is killed, and print "ready" when the
 * last of them has begun.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t begun;

static void *sleeper(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&begun);
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	pthread_attr_t attr;
	pthread_t thread;

	if (n < 1 || pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN) ||
	    pthread_barrier_init(&begun, NULL, n + 1)) {
		fprintf(stderr, "usage: sleepers N\n");
		return 1;
	}
	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread, &attr, sleeper, NULL)) {
			perror("sleepers: pthread_create");
			return 1;
		}
	}
	pthread_barrier_wait(&begun);
	puts("ready");
	fflush(stdout);
	sleeper(NULL);
	return 0;
}
