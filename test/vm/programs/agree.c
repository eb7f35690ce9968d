// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * agree - ask the functions that the agree-*.patch files change for their versions, in a loop on
 * each CPU, until SIGTERM.  Then print
 *	calls=N one=N two=N mixed=N
 * A call is mixed if its three versions differ.  After every 100 calls the program prints an
 * empty line at once, so that a test can wait for a number of calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_bool stop;
static atomic_ulong calls, mixed, version[3];

static void *reader(void *cpu)
{
	unsigned int seed = (unsigned int)(size_t)cpu;
	unsigned char v[3];
	cpu_set_t set;
	int fd;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	fd = open("/dev/null", O_RDONLY);
	while (!stop) {
		/* Pause between calls, so that at times no thread is in the functions. */
		struct timespec pause = { .tv_nsec = rand_r(&seed) % 60000000 };

		if (read(fd, v, sizeof(v)) != sizeof(v)) {
			fprintf(stderr, "agree: /dev/null: %s\n", strerror(errno));
			exit(1);
		}
		if (++calls % 100 == 0) {
			putchar('\n');
			fflush(stdout);
		}
		if (v[0] != v[1] || v[0] != v[2] || v[0] < 1 || v[0] > 2)
			mixed++;
		else
			version[v[0]]++;
		nanosleep(&pause, NULL);
	}
	close(fd);
	return NULL;
}

int main(void)
{
	long i, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[cpus];
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < cpus; i++) {
		if (pthread_create(&threads[i], NULL, reader, (void *)i))
			return 1;
	}
	sigwait(&set, &sig);
	stop = true;
	for (i = 0; i < cpus; i++)
		pthread_join(threads[i], NULL);
	printf("calls=%lu one=%lu two=%lu mixed=%lu\n", calls, version[1], version[2], mixed);
	return 0;
}
