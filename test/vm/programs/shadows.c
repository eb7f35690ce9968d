// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shadows - make use of vm/patches/shadows.patch, where a number that is written to an eventfd says
 * what to do with its shadow variable.
 *
 * shadows TIMES    - write random numbers to a few eventfds, TIMES times in each of two threads for
 *                    each CPU
 * shadows NUMBER.. - write the numbers to a new eventfd, one after the other; at a word that is no
 *                    number, wait for a line on standard input
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FDS 16

static int fds[FDS];
static int times;

static void tell(int fd, uint64_t what)
{
	if (write(fd, &what, sizeof(what)) != sizeof(what)) {
		perror("shadows: write");
		exit(1);
	}
}

static void *work(void *seed_of)
{
	unsigned int seed = (uintptr_t)seed_of;

	for (int i = 0; i < times; i++)
		/* 5 detaches all variables: write it only once in 64 times. */
		tell(fds[rand_r(&seed) % FDS],
		     rand_r(&seed) % 64 ? (uint64_t[]){1, 1, 2, 3, 4, 6, 7, 3}[rand_r(&seed) % 8]
					: 5);
	return NULL;
}

static int everything(void)
{
	const long threads = 2 * sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t *thread = calloc(threads, sizeof(*thread));

	for (int i = 0; i < FDS; i++) {
		fds[i] = eventfd(0, 0);
		tell(fds[i], 8);
	}
	tell(fds[0], 10);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(i + 1)))
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	tell(fds[0], 5);
	tell(fds[0], 11);
	tell(fds[0], 9);
	return 0;
}

int main(int argc, char **argv)
{
	char line[16];
	int fd;

	if (argc == 2) {
		times = atoi(argv[1]);
		return everything();
	}
	fd = eventfd(0, 0);
	for (int i = 1; i < argc; i++) {
		if (atoi(argv[i]))
			tell(fd, atoi(argv[i]));
		else if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	return 0;
}
