// SPDX-License-Identifier: GPL-2.0-only
/*
 * pathcalls FILE - call read_null() until SIGTERM, and read CLOCK_MONOTONIC before and after each
 * call.  Then write a line for some calls, "BEFORE AFTER TAKEN": TAKEN is old or new, as the result
 * shows (history-null.patch).  These are the calls around each one whose result differs from that
 * of the call before it, and one in 2000 of the others.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AROUND 8
#define RARELY 2000
#define MAX (1 << 20)

struct call {
	struct timespec before, after;
	bool new;
};

static struct call kept[MAX];
static unsigned int nr_kept;
static volatile sig_atomic_t over;

static void end(int signal)
{
	over = 1;
}

static void keep(const struct call *call)
{
	if (nr_kept < MAX)
		kept[nr_kept++] = *call;
}

/* The last calls that were not kept, and the number of the next ones to keep. */
static struct call last[AROUND];
static unsigned int nr_last, to_keep;

static void take(const struct call *call, bool other)
{
	static unsigned int count;
	unsigned int i;

	if (other) {
		for (i = 0; i < nr_last; i++)
			keep(&last[i]);
		nr_last = 0;
		to_keep = AROUND;
	}
	if (to_keep) {
		to_keep--;
		keep(call);
		return;
	}
	if (nr_last == AROUND) {
		if (++count % RARELY == 0)
			keep(&last[0]);
		memmove(last, last + 1, (AROUND - 1) * sizeof(*last));
		nr_last--;
	}
	last[nr_last++] = *call;
}

int main(int argc, char **argv)
{
	int fd = open("/dev/null", O_RDONLY);
	bool was = false;
	char bytes[16];
	unsigned int i;
	FILE *file;

	if (fd < 0 || argc != 2)
		return 1;
	signal(SIGTERM, end);
	while (!over) {
		struct call call;

		clock_gettime(CLOCK_MONOTONIC, &call.before);
		call.new = read(fd, bytes, sizeof(bytes)) > 0;
		clock_gettime(CLOCK_MONOTONIC, &call.after);
		take(&call, call.new != was);
		was = call.new;
	}
	file = fopen(argv[1], "w");
	if (!file)
		return 1;
	for (i = 0; i < nr_kept; i++)
		fprintf(file, "%ld.%09ld %ld.%09ld %s\n", (long)kept[i].before.tv_sec,
			kept[i].before.tv_nsec, (long)kept[i].after.tv_sec, kept[i].after.tv_nsec,
			kept[i].new ? "new" : "old");
	return fclose(file) || nr_kept == MAX;
}
