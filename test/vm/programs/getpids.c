// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * getpids CHILDREN - start CHILDREN processes, which ask for their PID all the time.  For each line
 * on standard input, print "old=N new=N": the number of processes that got their real PID in
 * their next hundred calls, and the number of those that got another one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 100

struct child {
	unsigned long got[2]; /* how often: the real PID, another number */
};

static void child(volatile struct child *self, pid_t pid)
{
	for (;;)
		self->got[syscall(SYS_getpid) != pid]++;
}

/* Wait until each child has made @calls more calls. */
static void await(const volatile struct child *children, int nr, unsigned long calls)
{
	for (int i = 0; i < nr; i++) {
		unsigned long before = children[i].got[0] + children[i].got[1];

		while (children[i].got[0] + children[i].got[1] < before + calls)
			usleep(1000);
	}
}

static void tell(const volatile struct child *children, int nr)
{
	unsigned long before[nr][2];
	int old = 0, new = 0;

	/* A child may count a call only now that it made before this began. */
	await(children, nr, 2);
	for (int i = 0; i < nr; i++)
		for (int k = 0; k < 2; k++)
			before[i][k] = children[i].got[k];
	await(children, nr, MANY);
	for (int i = 0; i < nr; i++) {
		old += children[i].got[0] != before[i][0];
		new += children[i].got[1] != before[i][1];
	}
	printf("old=%d new=%d\n", old, new);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int nr = argc == 2 ? atoi(argv[1]) : 0;
	struct child *children;
	pid_t pids[1000];
	char line[16];

	if (nr < 1 || nr > 1000) {
		fprintf(stderr, "usage: getpids CHILDREN\n");
		return 1;
	}
	children = mmap(NULL, nr * sizeof(*children), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (children == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (int i = 0; i < nr; i++) {
		pids[i] = fork();
		if (pids[i] < 0) {
			perror("fork");
			return 1;
		}
		/* From /proc, because the system call may give another number already. */
		if (!pids[i]) {
			char name[16];
			ssize_t length = readlink("/proc/self", name, sizeof(name) - 1);

			if (length < 0)
				return 1;
			name[length] = 0;
			child(&children[i], atoi(name));
		}
	}
	while (fgets(line, sizeof(line), stdin))
		tell(children, nr);
	for (int i = 0; i < nr; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}
