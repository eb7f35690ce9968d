// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay [--alone] SEED OPERATIONS PATCH... - in a guest: switch the patches (folders in
 * /sys/kernel/pokepatch) at random, with others writing text all the time; look at all
 * places that records are about after each operation; and then see whether the exported history
 * tells what was there.  Prints a line for each way of asking; judging is left to the test.
 *
 * --alone: for where the core does not hear what others write.  Nobody else does, so that what
 * the library assumes for want of hearing must be right.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "history/export.h"
#include "history/live_text.h"
#include "replay.h"

#define TRACING "/sys/kernel/tracing/"
#define EXPORTED "/tmp/replayed"
#define DAMAGES 5

static void check(struct error *error)
{
	if (!error)
		return;
	printf("replay: %s\n", error->text);
	exit(1);
}

/* Return: whether it could be written; others may be in the way. */
static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* ---- others ---------------------------------------------------------------------------- */

/* Static branches and calls. */
static void flip_event(void)
{
	put(TRACING "events/sched/sched_switch/enable", "1");
	put(TRACING "events/sched/sched_switch/enable", "0");
}

static void flip_probes(void)
{
	put(TRACING "events/kprobes/enable", "1");
	usleep(random() % 20000);
	put(TRACING "events/kprobes/enable", "0");
}

static void flip_tracer(void)
{
	put(TRACING "current_tracer", "function");
	usleep(random() % 20000);
	put(TRACING "current_tracer", "nop");
}

/* Breakpoints and jumps, in the middle of functions, and one that ftrace writes. */
static void set_probes(void)
{
	static const char *const functions[] = {"vfs_write", "vfs_read"};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		bool set = false;

		for (int offset = 9; !set && offset < 40; offset++) {
			_free_ char *line = xasprintf("p:replay%zu %s+%d", i, functions[i], offset);
			int fd = open(TRACING "kprobe_events", O_WRONLY | O_APPEND);

			set = write(fd, line, strlen(line)) > 0;
			close(fd);
		}
	}
}

static pid_t start(void (*flip)(void), int seed)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	srandom(seed);
	for (;;) {
		flip();
		usleep(random() % 10000);
	}
}

/* ---- looks ----------------------------------------------------------------------------- */

static struct kcore kcore;
static struct looks looks;

static void see_boot(const struct history *history)
{
	looks.text = history->info.stext;
	looks.text_size = history->info.etext - history->info.stext;
	looks.boot = xmalloc(looks.text_size);
	check(kcore_read(&kcore, looks.text, looks.boot, looks.text_size));
	looks.start = now();
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/*
 * The list stays as it is, since looks name places by number; it is short.  Where a probe's byte was
 * written first and a jump later, there are two places: a change must have its bytes in one.
 */
static void add_place(uint64_t address, uint32_t size)
{
	static VEC(struct place) known; /* by address and size */
	const struct place key = {.address = address, .size = size};

	if (known.count && bsearch(&key, known.list, known.count, sizeof(key), compare_places))
		return;
	*vec_push(&known) = key;
	qsort(known.list, known.count, sizeof(key), compare_places);
	*vec_push(&looks.places) = (struct place){address, size};
}

static void add_places(int fd)
{
	struct history news = {0};
	bool more = true, gone;

	while (more)
		check(live_read(fd, &news, 0, &more, &gone));
	for (size_t i = 0; i < news.records.count; i++) {
		const struct history_record *record = &news.records.list[i];

		if (record->type == POKEPATCH_HISTORY_TEXT)
			add_place(record->address, record->size);
	}
	history_deinit(&news);
}

static void look(int fd)
{
	add_places(fd);
	for (size_t i = 0; i < looks.places.count; i++) {
		const struct place *place = &looks.places.list[i];
		struct look this = {.before = now(), .place = i};
		struct error *error =
			kcore_read(&kcore, place->address, this.bytes, place->size);

		this.after = now();
		if (error)
			error_destroy(error); /* its module has gone */
		else
			*vec_push(&looks.list) = this;
	}
}

/* ---- operations ------------------------------------------------------------------------ */

static size_t done;

/* The last one there is where others are heard alone. */
static const char *const modes[] = {"entry", "ftrace", "direct"};

static void set_mode(const char *patch, const char *mode)
{
	_free_ char *folder = xasprintf("/sys/kernel/pokepatch/%s/vmlinux", patch);
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		_free_ char *path = xasprintf("%s/%s/mode", folder, entry->d_name);

		/* Where a tracer may be, entries cannot be had. */
		if (entry->d_name[0] != '.')
			put(path, replay_alone || strcmp(mode, "entry") ||
						  strncmp(entry->d_name, "write_", 6)
					  ? mode
					  : "direct");
	}
	if (dir)
		closedir(dir);
}

static bool enable(const char *patch, bool on)
{
	_free_ char *path = xasprintf("/sys/kernel/pokepatch/%s/enabled", patch);

	return put(path, on ? "1" : "0");
}

/* Patches of one function are in one mode. */
static void set_modes(char **patches, int count)
{
	const char *mode = modes[random() % (ARRAY_SIZE(modes) - replay_alone)];

	for (int i = 0; i < count; i++)
		enable(patches[i], false);
	for (int i = 0; i < count; i++)
		set_mode(patches[i], mode);
}

static void operate(char **patches, int count)
{
	switch (random() % 8) {
	case 0:
		set_modes(patches, count);
		break;
	case 1:
		done += !replay_alone &&
			put("/proc/sys/kernel/sched_schedstats", random() % 2 ? "1" : "0");
		break;
	default:
		done += enable(patches[random() % count], random() % 2);
	}
}

/* ---- the outcome ----------------------------------------------------------------------- */

static void tell(const char *what, const struct verdict *verdict)
{
	printf("%s: %zu equal, %zu wrong, %zu gaps, %zu unknown, %zu assumed, %zu under way\n", what,
	       verdict->equal, verdict->wrong, verdict->gaps, verdict->unknown, verdict->assumed,
	       verdict->middle);
}

/* A record that is missing or says something else must show; and the library not be wrong. */
static void damage(const struct history *whole, size_t changes, bool alter)
{
	size_t noticed = 0, tried = 0;
	struct verdict library = {0};

	/* Of the last changes at their places there may be none to damage. */
	for (size_t i = 0; i < 10 * DAMAGES && tried < DAMAGES; i++) {
		struct verdict forwards, backwards;
		struct history history;

		check(history_read(EXPORTED, &history));
		if (replay_damage(&history, &looks, random() % changes, alter)) {
			tried++;
			forwards = replay_forwards(&looks, &history);
			backwards = replay_backwards(&looks, &history);
			noticed += (forwards.wrong || forwards.gaps) &&
				   (backwards.wrong || backwards.gaps);
			if (!alter) {
				struct verdict one = replay_library(&looks, &history, whole);

				library.equal += one.equal;
				library.unknown += one.unknown;
				library.wrong += one.wrong;
			}
		}
		history_deinit(&history);
	}
	printf("%s: %zu of %zu noticed\n", alter ? "altered" : "dropped", noticed, tried);
	if (!alter)
		tell("library without them", &library);
}

static size_t count_changes(const struct history *history, unsigned int *ret_methods)
{
	size_t count = 0;

	*ret_methods = 0;
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		if (record->type != POKEPATCH_HISTORY_TEXT ||
		    record->phase != POKEPATCH_HISTORY_AFTER ||
		    record->time.ns[HISTORY_MONOTONIC] < looks.start)
			continue;
		*ret_methods |= 1u << record->method;
		count += record->address - looks.text < looks.text_size &&
			 memcmp(record->old, record->new, record->size);
	}
	return count;
}

static void judge(void)
{
	struct verdict verdict;
	struct history history;
	unsigned int methods;
	size_t changes;

	if (system("pokepatch history --export " EXPORTED))
		exit(1);
	check(history_read(EXPORTED, &history));
	changes = count_changes(&history, &methods);
	printf("%zu operations, %zu records, %zu changes by methods %#x, %zu looks at %zu places\n",
	       done, history.records.count, changes, methods, looks.list.count,
	       looks.places.count);
	verdict = replay_forwards(&looks, &history);
	tell("forwards", &verdict);
	verdict = replay_backwards(&looks, &history);
	tell("backwards", &verdict);
	verdict = replay_library(&looks, &history, &history);
	tell("library", &verdict);
	replay_shows = false;
	if (changes && (history.info.others || replay_alone) && !verdict.unknown) {
		damage(&history, changes, false);
		damage(&history, changes, true);
	}
	history_deinit(&history);
}

int main(int argc, char **argv)
{
	static void (*const flips[])(void) = {flip_event, flip_probes, flip_tracer};
	size_t nr_others = ARRAY_SIZE(flips);
	pid_t others[ARRAY_SIZE(flips)];
	struct history history = {0};
	bool more, gone;
	int fd;

	if (argc > 1 && strcmp(argv[1], "--alone") == 0) {
		replay_alone = true;
		nr_others = 0;
		argv++;
		argc--;
	}
	if (argc < 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	srandom(atoi(argv[1]));
	if (!replay_alone)
		set_probes();
	check(kcore_open(NULL, &kcore));
	check(live_open(&fd));
	check(live_read(fd, &history, 0, &more, &gone));
	set_modes(argv + 3, argc - 3);
	see_boot(&history);
	for (size_t i = 0; i < nr_others; i++)
		others[i] = start(flips[i], atoi(argv[1]) + i);
	for (int i = 0; i < atoi(argv[2]); i++) {
		operate(argv + 3, argc - 3);
		look(fd);
	}
	for (size_t i = 0; i < nr_others; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
	look(fd);
	judge();
	history_deinit(&history);
	return 0;
}
