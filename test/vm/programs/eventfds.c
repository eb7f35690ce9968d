// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * eventfds THREADS WRITES - make an eventfd, to which THREADS threads write WRITES times each, all
 * beginning at once.  Print the eventfd's lines of /proc/self/fdinfo and "pid: PID".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int fd;
static long writes;
static pthread_barrier_t barrier;

static void *write_often(void *unused)
{
	const uint64_t one = 1;

	pthread_barrier_wait(&barrier);
	for (long i = 0; i < writes; i++)
		if (write(fd, &one, sizeof(one)) != sizeof(one))
			perror("eventfds: write");
	return unused;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *thread = calloc(threads, sizeof(*thread));
	char line[256];
	FILE *info;

	writes = argc > 2 ? atol(argv[2]) : 1;
	fd = eventfd(0, 0);
	pthread_barrier_init(&barrier, NULL, threads);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, write_often, NULL))
			return 1;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", fd);
	info = fopen(line, "r");
	if (fd < 0 || !info) {
		perror("eventfds");
		return 1;
	}
	while (fgets(line, sizeof(line), info))
		fputs(line, stdout);
	printf("pid: %d\n", getpid());
	return 0;
}
