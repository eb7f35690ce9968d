// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * texthist - read the text history, and compare it with perf, tracefs and the functions that ran.
 *
 * texthist dump                 print all records, in words
 * texthist agree COMMAND...     run the command; the device, perf's records of text changes and the
 *                              tracepoints must report the same changes
 * texthist times                print until when the history is complete, and when each text change
 *                              was over, in ns
 * texthist hold                 open the device, and wait for a signal without reading
 * texthist wait                 open the device, read all, and wait for the next record, or the end
 * texthist tiny                 read with a buffer that is too small
 * texthist follow SEED          read, now fast and now slowly, until SIGTERM; the records must be
 *                              consistent, losses included
 * texthist predict COMMAND...   run the command and call read() of /dev/null meanwhile, with the
 *                              time before and after; the history must say which function ran
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../core-module/include/pokepatch_history.h"

#define TRACING "/sys/kernel/tracing/"
#define MAX 65536

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("texthist: ");
	vprintf(format, args);
	printf("\n");
	exit(1);
}

/* --- the device ------------------------------------------------------------------------ */

static char buffer[POKEPATCH_HISTORY_RECORD_MAX] __attribute__((aligned(8)));

static int open_device(int flags)
{
	int fd = open(POKEPATCH_HISTORY_DEVICE, O_RDONLY | flags);

	if (fd < 0)
		die("%s: %s", POKEPATCH_HISTORY_DEVICE, strerror(errno));
	return fd;
}

/* Call @see for each record.  All must be whole, and numbered without gaps. */
static void read_all(int fd, void (*see)(const struct pokepatch_history_record *record))
{
	static uint64_t next = 1;
	ssize_t size;

	while ((size = read(fd, buffer, sizeof(buffer))) > 0) {
		const struct pokepatch_history_record *record;
		const char *at;

		for (at = buffer; at < buffer + size; at += record->size) {
			record = (const void *)at;
			if (record->size < sizeof(*record) || record->size % 8 ||
			    record->size > (size_t)(buffer + size - at))
				die("a record of %u bytes, %zd were left", record->size,
				    buffer + size - at);
			if (record->type == POKEPATCH_HISTORY_INFO) {
				next = 1;
			} else {
				if (record->seq != next)
					die("record %llu, expected %llu",
					    (unsigned long long)record->seq,
					    (unsigned long long)next);
				next++;
			}
			if (record->type == POKEPATCH_HISTORY_LOST)
				next += ((const struct pokepatch_history_lost *)record)->count - 1;
			see(record);
		}
	}
	if (size < 0 && errno != EAGAIN)
		die("read: %s", strerror(errno));
}

static const char *string_of(const void *record, uint32_t offset)
{
	return offset ? (const char *)record + offset : "-";
}

static const char *const methods[] = { "?", "int3", "store", "stop_machine", "ftrace", "other" };
static const char *const modes[] = { "-", "ftrace", "direct", "entry" };

static const char *hex(const uint8_t *bytes, unsigned int len)
{
	static char text[4][2 * POKEPATCH_HISTORY_BYTES_MAX + 1];
	static unsigned int turn;
	char *to = text[turn++ % 4];
	unsigned int i;

	for (i = 0, to[0] = 0; i < len; i++)
		sprintf(to + 2 * i, "%02x", bytes[i]);
	return to;
}

static void print_text(const struct pokepatch_history_text *text)
{
	printf("text %s %s %s %s+%#x [%s] %s %s%s%s %s\n", text->phase ? "after" : "before",
	       methods[text->method], modes[text->mode], string_of(text, text->symbol),
	       text->symbol_offset, string_of(text, text->module),
	       hex(text->old_bytes, text->len), hex(text->new_bytes, text->len),
	       text->record.flags & POKEPATCH_HISTORY_EXACT ? " exact" : "",
	       text->record.flags & POKEPATCH_HISTORY_UNUSED ? " unused" : "",
	       string_of(text, text->patch));
}

static void print(const struct pokepatch_history_record *record)
{
	const struct pokepatch_history_info *info = (const void *)record;
	const struct pokepatch_history_lost *lost = (const void *)record;
	const struct pokepatch_history_route *route = (const void *)record;
	const struct pokepatch_history_transition *transition = (const void *)record;
	const struct pokepatch_history_code *code = (const void *)record;
	const struct pokepatch_history_symbol *symbol = (const void *)record;

	switch (record->type) {
	case POKEPATCH_HISTORY_INFO:
		printf("info version %u %s lost %llu stripped %llu bytes %llu of %llu snapshots %llu of %llu others %llu of %llu%s\n",
		       info->version, string_of(info, info->release),
		       (unsigned long long)info->lost, (unsigned long long)info->snapshots_lost,
		       (unsigned long long)info->bytes, (unsigned long long)info->bytes_max,
		       (unsigned long long)info->snapshot_bytes,
		       (unsigned long long)info->snapshot_bytes_max,
		       (unsigned long long)info->others_bytes,
		       (unsigned long long)info->others_bytes_max,
		       record->flags & POKEPATCH_HISTORY_OTHERS ? " heard" : "");
		break;
	case POKEPATCH_HISTORY_LOST:
		printf("lost %llu\n", (unsigned long long)lost->count);
		break;
	case POKEPATCH_HISTORY_TEXT:
		print_text((const void *)record);
		break;
	case POKEPATCH_HISTORY_ROUTE:
		printf("route %s %s %s%s%s %s\n", methods[route->method], modes[route->mode],
		       string_of(route, route->symbol), route->to ? " on" : " off",
		       record->flags & POKEPATCH_HISTORY_EXACT ? " exact" : "",
		       string_of(route, route->patch));
		break;
	case POKEPATCH_HISTORY_TRANSITION:
		printf("transition %llu kind %u %s %s%s error %d functions %u\n",
		       (unsigned long long)transition->transition, transition->kind,
		       transition->phase ? "ends" : "begins",
		       string_of(transition, transition->patch),
		       record->flags & POKEPATCH_HISTORY_LIVE ? " live" : "", transition->error,
		       transition->functions);
		break;
	case POKEPATCH_HISTORY_APPEAR:
	case POKEPATCH_HISTORY_SNAPSHOT:
		printf("%s %s %llx+%llu bytes %u%s\n",
		       record->type == POKEPATCH_HISTORY_APPEAR ? "appear" : "snapshot",
		       string_of(code, code->name), (unsigned long long)code->addr,
		       (unsigned long long)code->len, code->bytes_len,
		       record->flags & POKEPATCH_HISTORY_DROPPED ? " dropped" : "");
		break;
	case POKEPATCH_HISTORY_SYMBOL:
		printf("symbol %s %llx+%llu [%s]\n", string_of(symbol, symbol->name),
		       (unsigned long long)symbol->addr, (unsigned long long)symbol->len,
		       string_of(symbol, symbol->module));
		break;
	default:
		die("a record of type %u", record->type);
	}
}

/* --- the device, perf and tracefs agree ------------------------------------------------ */

struct poke {
	uint64_t addr, time;	/* perf's clock */
	uint64_t before;	/* the device: the time of the first record */
	uint8_t old_len, new_len;
	uint8_t old[POKEPATCH_HISTORY_BYTES_MAX], new[POKEPATCH_HISTORY_BYTES_MAX];
	bool met;
};

struct pokes {
	struct poke *poke;
	unsigned int nr;
};

static struct pokes device, perf, trace;
static unsigned int symbols_born, symbols_gone, stubs_born, stubs_gone;

static struct poke *add(struct pokes *pokes)
{
	if (!pokes->poke)
		pokes->poke = calloc(MAX, sizeof(*pokes->poke));
	if (pokes->nr == MAX)
		die("too many");
	return &pokes->poke[pokes->nr++];
}

/*
 * What was changed in a transition: when the first change began and the last one ended, and the
 * longest interval of one that was made in a stop.
 */
static struct span {
	uint64_t begins, first, last, longest;
} spans[MAX];

/* Intervals may be as long as the method needs, and no longer: see_transition() judges them. */
static void see_interval(uint64_t transition, unsigned int method, uint64_t begin, uint64_t end)
{
	struct span *span = &spans[transition % MAX];

	if (!transition)
		return;
	if (!span->first || begin < span->first)
		span->first = begin;
	if (end > span->last)
		span->last = end;
	if (method == POKEPATCH_HISTORY_STOP_MACHINE && end - begin > span->longest)
		span->longest = end - begin;
}

static void see_transition(const struct pokepatch_history_transition *transition)
{
	struct span *span = &spans[transition->transition % MAX];

	if (transition->phase == POKEPATCH_HISTORY_BEFORE) {
		*span = (struct span){ .begins = transition->record.mono_ns };
		return;
	}
	if (span->first && (span->first < span->begins || span->last > transition->record.mono_ns))
		die("transition %llu has changes at other times",
		    (unsigned long long)transition->transition);
	if (span->longest > transition->stop_ns)
		die("transition %llu stopped the machine for %llu ns, and has a change in a stop of %llu ns",
		    (unsigned long long)transition->transition,
		    (unsigned long long)transition->stop_ns, (unsigned long long)span->longest);
}

/* Records of text come in pairs, in the order of their numbers.  The second must match. */
static void see(const struct pokepatch_history_record *record)
{
	const struct pokepatch_history_text *text = (const void *)record;
	const struct pokepatch_history_code *code = (const void *)record;
	const struct pokepatch_history_route *route = (const void *)record;
	static struct pokepatch_history_text before[MAX];
	struct poke *poke;

	if (record->type == POKEPATCH_HISTORY_LOST)
		die("records are lost");
	if (record->type == POKEPATCH_HISTORY_APPEAR && code->kind == POKEPATCH_HISTORY_STUB)
		stubs_born++;
	if (record->type == POKEPATCH_HISTORY_SNAPSHOT && code->kind == POKEPATCH_HISTORY_STUB)
		stubs_gone++;
	if (record->type == POKEPATCH_HISTORY_TRANSITION)
		see_transition((const void *)record);
	if (record->type == POKEPATCH_HISTORY_ROUTE)
		see_interval(route->transition, route->method, route->begin_ns, route->end_ns);
	if (record->type != POKEPATCH_HISTORY_TEXT || text->method == POKEPATCH_HISTORY_OTHER)
		return;
	if (text->phase == POKEPATCH_HISTORY_BEFORE) {
		if (text->change != record->seq)
			die("a change %llu that begins with record %llu",
			    (unsigned long long)text->change, (unsigned long long)record->seq);
		before[text->change % MAX] = *text;
		return;
	}
	poke = add(&device);
	poke->before = before[text->change % MAX].record.perf_ns;
	poke->time = record->perf_ns;
	poke->addr = text->addr;
	poke->old_len = poke->new_len = text->len;
	memcpy(poke->old, text->old_bytes, sizeof(poke->old));
	memcpy(poke->new, text->new_bytes, sizeof(poke->new));
	if (before[text->change % MAX].addr != text->addr ||
	    memcmp(before[text->change % MAX].new_bytes, text->new_bytes, text->len))
		die("record %llu is not that after %llu", (unsigned long long)record->seq,
		    (unsigned long long)text->change);
	if (poke->before > text->begin_perf || text->begin_perf > text->end_perf ||
	    text->end_perf > poke->time ||
	    before[text->change % MAX].record.mono_ns > text->begin_ns ||
	    text->begin_ns > text->end_ns || text->end_ns > record->mono_ns)
		die("the times of %#llx are not in order", (unsigned long long)text->addr);
	see_interval(text->transition, text->method, text->begin_ns, text->end_ns);
	print_text(text);
}

#define PAGES 256

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

static struct ring rings[64];
static int nr_cpus;

static void open_perf(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.ksymbol = 1,
		.text_poke = 1,
	};
	long page = sysconf(_SC_PAGESIZE);
	int cpu;

	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		rings[cpu].fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
		if (rings[cpu].fd < 0)
			die("perf_event_open: %s", strerror(errno));
		rings[cpu].page = mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED,
				       rings[cpu].fd, 0);
		if (rings[cpu].page == MAP_FAILED)
			die("mmap of perf's ring: %s", strerror(errno));
	}
}

static void see_perf(const char *record, size_t size, uint32_t type)
{
	const char *body = record + sizeof(struct perf_event_header);
	struct poke *poke;
	uint16_t old_len, new_len, flags;

	if (type == PERF_RECORD_LOST)
		die("perf lost records");
	if (type == PERF_RECORD_KSYMBOL) {
		memcpy(&flags, body + 14, sizeof(flags));
		if (strncmp(body + 16, "pokepatch_stub_", 15))
			return;
		if (flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
			symbols_gone++;
		else
			symbols_born++;
	}
	if (type != PERF_RECORD_TEXT_POKE)
		return;
	memcpy(&old_len, body + 8, sizeof(old_len));
	memcpy(&new_len, body + 10, sizeof(new_len));
	/* Leave out trampolines and the like, which are long. */
	if (old_len > POKEPATCH_HISTORY_BYTES_MAX || new_len > POKEPATCH_HISTORY_BYTES_MAX)
		return;
	poke = add(&perf);
	memcpy(&poke->addr, body, sizeof(poke->addr));
	poke->old_len = old_len;
	poke->new_len = new_len;
	memcpy(poke->old, body + 12, old_len);
	memcpy(poke->new, body + 12 + old_len, new_len);
	memcpy(&poke->time, record + size - 16, sizeof(poke->time));
}

static void read_perf(void)
{
	const size_t bytes = PAGES * sysconf(_SC_PAGESIZE);
	static char copy[65536];
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		const char *data = (char *)rings[cpu].page + sysconf(_SC_PAGESIZE);
		uint64_t head = __atomic_load_n(&rings[cpu].page->data_head, __ATOMIC_ACQUIRE);
		uint64_t tail = rings[cpu].page->data_tail;

		while (tail < head) {
			struct perf_event_header header;
			size_t i;

			for (i = 0; i < sizeof(header); i++)
				((char *)&header)[i] = data[(tail + i) % bytes];
			for (i = 0; i < header.size; i++)
				copy[i] = data[(tail + i) % bytes];
			see_perf(copy, header.size, header.type);
			tail += header.size;
		}
		rings[cpu].page->data_tail = tail;
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("%s: %s", path, strerror(errno));
	close(fd);
}

static unsigned int unhex(const char *text, uint8_t *bytes)
{
	unsigned int len = 0, byte;

	while (len < POKEPATCH_HISTORY_BYTES_MAX && sscanf(text + 2 * len, "%2x", &byte) == 1)
		bytes[len++] = byte;
	return len;
}

static void read_trace(void)
{
	FILE *file = fopen(TRACING "trace", "r");
	char line[1024], old[64], new[64];
	unsigned long long addr, perf_ns;
	const char *at;

	while (file && fgets(line, sizeof(line), file)) {
		struct poke *poke;

		if (!strstr(line, ": text_poke: ") || !strstr(line, " after "))
			continue;
		at = strstr(line, "addr=");
		if (!at || sscanf(at, "addr=%llx", &addr) != 1)
			die("tracefs: %s", line);
		at = strstr(line, "old=");
		if (!at || sscanf(at, "old=%63s new=%63s", old, new) != 2)
			die("tracefs: %s", line);
		at = strstr(line, "perf_ns=");
		if (!at || sscanf(at, "perf_ns=%llu", &perf_ns) != 1)
			die("tracefs: %s", line);
		poke = add(&trace);
		poke->addr = addr;
		poke->time = perf_ns;
		poke->old_len = unhex(old, poke->old);
		poke->new_len = unhex(new, poke->new);
	}
	if (file)
		fclose(file);
}

static bool same(const struct poke *a, const struct poke *b)
{
	return a->addr == b->addr && a->old_len == b->old_len && a->new_len == b->new_len &&
	       !memcmp(a->old, b->old, a->old_len) && !memcmp(a->new, b->new, a->new_len);
}

/*
 * How far perf's clock of one CPU may be behind that of another, in ns.  A kernel that does not
 * trust the TSC derives this clock from ticks, and a guest gets its ticks late.
 */
#define SKEW 20000000ULL

/*
 * Each poke of the device must have its counterpart in @others, at the same place and in the same
 * order, and each of @others at such a place one of the device.  Return: the number of @others at
 * places that the device does not have.
 */
static unsigned int compare(struct pokes *others, const char *who)
{
	unsigned int i, k, strangers = 0;

	for (i = 0; i < device.nr; i++) {
		for (k = 0; k < others->nr; k++)
			if (!others->poke[k].met && others->poke[k].addr == device.poke[i].addr)
				break;
		if (k == others->nr)
			die("%s does not know of the change of %#llx from %s to %s", who,
			    (unsigned long long)device.poke[i].addr,
			    hex(device.poke[i].old, device.poke[i].old_len),
			    hex(device.poke[i].new, device.poke[i].new_len));
		if (!same(&device.poke[i], &others->poke[k]))
			die("%s says that %#llx changed from %s to %s, the device says %s to %s",
			    who, (unsigned long long)device.poke[i].addr,
			    hex(others->poke[k].old, others->poke[k].old_len),
			    hex(others->poke[k].new, others->poke[k].new_len),
			    hex(device.poke[i].old, device.poke[i].old_len),
			    hex(device.poke[i].new, device.poke[i].new_len));
		if (others->poke[k].time + SKEW < device.poke[i].before)
			die("%s has %#llx change before it did", who,
			    (unsigned long long)device.poke[i].addr);
		others->poke[k].met = true;
	}
	for (k = 0; k < others->nr; k++) {
		if (others->poke[k].met)
			continue;
		for (i = 0; i < device.nr; i++)
			if (others->poke[k].addr == device.poke[i].addr)
				die("%s has one change of %#llx more", who,
				    (unsigned long long)others->poke[k].addr);
		strangers++;
	}
	return strangers;
}

static int compare_times(const void *a, const void *b)
{
	const struct poke *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static void skip(const struct pokepatch_history_record *record)
{
}

static int run(char **command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("%s: %s", command[0], strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int agree(char **command)
{
	int fd = open_device(O_NONBLOCK);
	unsigned int strangers;

	write_file(TRACING "trace", "");
	write_file(TRACING "buffer_size_kb", "4096");
	write_file(TRACING "events/pokepatch/text_poke/enable", "1");
	open_perf();
	read_all(fd, skip);
	if (run(command))
		die("%s failed", command[0]);
	read_all(fd, see);
	read_perf();
	write_file(TRACING "events/pokepatch/text_poke/enable", "0");
	read_trace();
	if (!device.nr)
		die("nothing was changed");
	if (perf.nr)
		qsort(perf.poke, perf.nr, sizeof(*perf.poke), compare_times);
	strangers = compare(&perf, "perf");
	if (compare(&trace, "tracefs"))
		die("tracefs knows of more");
	if (stubs_born != symbols_born || stubs_gone != symbols_gone)
		die("%u stubs came, %u went; perf has %u and %u", stubs_born, stubs_gone,
		    symbols_born, symbols_gone);
	printf("agree: %u changes\n", device.nr);
	fprintf(stderr, "perf has %u changes of others\n", strangers);
	return 0;
}

/* --- which function ran ---------------------------------------------------------------- */

struct call {
	uint64_t before, after;
	int answer;
};

#define CALLS (1 << 20)

static struct call calls[CALLS];
static volatile bool stop_calling;
static unsigned int nr_calls;
static struct pokepatch_history_route routes[MAX];
static unsigned int nr_routes;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static void *call(void *unused)
{
	int fd = open("/dev/null", O_RDONLY);
	char byte[16];

	while (!stop_calling && nr_calls < CALLS) {
		struct call *this = &calls[nr_calls];

		this->before = now();
		this->answer = read(fd, byte, sizeof(byte)) > 0;
		this->after = now();
		nr_calls++;
	}
	return NULL;
}

static void see_route(const struct pokepatch_history_record *record)
{
	const struct pokepatch_history_route *route = (const void *)record;

	if (record->type == POKEPATCH_HISTORY_LOST)
		die("records are lost");
	if (record->type == POKEPATCH_HISTORY_ROUTE &&
	    !strcmp(string_of(route, route->symbol), "read_null")) {
		if (nr_routes == MAX)
			die("too many");
		routes[nr_routes++] = *route;
	}
}

/*
 * A call's result must be that of the last change before it.  Calls that overlap a change may have
 * either result.
 */
static int predict(char **command)
{
	int fd = open_device(O_NONBLOCK), status;
	unsigned int i, k = 0, open = 0, wrong = 0, methods_seen = 0, exact = 0;
	int answer = 0;
	pthread_t thread;

	read_all(fd, skip);
	if (pthread_create(&thread, NULL, call, NULL))
		die("no thread");
	status = run(command);
	stop_calling = true;
	pthread_join(thread, NULL);
	if (status)
		die("%s failed", command[0]);
	read_all(fd, see_route);
	if (!nr_routes || nr_calls < 100)
		die("%u changes, %u calls", nr_routes, nr_calls);
	for (i = 0; i < nr_routes; i++) {
		methods_seen |= 1 << routes[i].method;
		exact += !!(routes[i].record.flags & POKEPATCH_HISTORY_EXACT);
	}
	for (i = 0; i < nr_calls; i++) {
		while (k < nr_routes && routes[k].end_ns < calls[i].before)
			answer = routes[k++].to != 0;
		if (k < nr_routes && routes[k].begin_ns <= calls[i].after)
			open++;
		else if (calls[i].answer != answer)
			wrong++;
	}
	printf("predict: %u changes%s, methods %#x, %u wrong\n", nr_routes,
	       exact == nr_routes ? ", all exact" : "", methods_seen, wrong);
	fprintf(stderr, "%u calls, %u of them ambiguous\n", nr_calls, open);
	return wrong != 0;
}

/* --- readers --------------------------------------------------------------------------- */

static int wait_for_record(void)
{
	int fd = open_device(0);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	ssize_t size;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	read_all(fd, skip);
	fcntl(fd, F_SETFL, 0);
	if (poll(&poll_fd, 1, 0) != 0)
		die("poll sees something where read() does not");
	printf("ready\n");
	fflush(stdout);
	size = read(fd, buffer, sizeof(buffer));
	printf("read: %s\n", size > 0 ? "a record" : size ? strerror(errno) : "the end");
	return 0;
}

static int hold(void)
{
	open_device(0);
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}

static unsigned long followed, followed_lost;
static volatile sig_atomic_t enough;

static void stop_following(int signal)
{
	enough = 1;
}

/* Each AFTER record must match its BEFORE record, unless that one got lost. */
static void follow_record(const struct pokepatch_history_record *record)
{
	static struct pokepatch_history_text before[4096];
	const struct pokepatch_history_text *text = (const void *)record;
	const struct pokepatch_history_text *first;
	static uint64_t opened, begin, lost_until;

	followed++;
	if (record->type == POKEPATCH_HISTORY_INFO) {
		opened = ((const struct pokepatch_history_info *)record)->next_seq;
		return;
	}
	if (!begin)
		begin = record->seq;
	if (record->type == POKEPATCH_HISTORY_LOST) {
		const struct pokepatch_history_lost *lost = (const void *)record;

		/* Records dropped before this reader opened the device are not its losses. */
		lost_until = record->seq + lost->count;
		if (lost_until > opened)
			followed_lost += lost_until - (record->seq > opened ? record->seq : opened);
	}
	if (record->type != POKEPATCH_HISTORY_TEXT)
		return;
	first = &before[text->change % 4096];
	if (text->phase == POKEPATCH_HISTORY_BEFORE) {
		if (text->change != record->seq)
			die("change %llu begins with record %llu",
			    (unsigned long long)text->change, (unsigned long long)record->seq);
		before[text->change % 4096] = *text;
	} else if (text->change >= begin && text->change >= lost_until &&
		   (first->change != text->change || first->addr != text->addr ||
		    first->len != text->len || first->transition != text->transition ||
		    memcmp(first->old_bytes, text->old_bytes, text->len) ||
		    memcmp(first->new_bytes, text->new_bytes, text->len))) {
		die("record %llu is not that after %llu", (unsigned long long)record->seq,
		    (unsigned long long)text->change);
	}
}

static int follow(unsigned int seed)
{
	struct sigaction action = { .sa_handler = stop_following }; /* without SA_RESTART */
	int fd = open_device(O_NONBLOCK);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	srandom(seed);
	sigaction(SIGTERM, &action, NULL);
	while (!enough) {
		poll(&poll_fd, 1, 1000);
		read_all(fd, follow_record);
		if (random() % 2)
			usleep(random() % 500000);
	}
	printf("followed %lu lost %lu\n", followed, followed_lost);
	return 0;
}

static int tiny(void)
{
	int fd = open_device(O_NONBLOCK);
	char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (read(fd, buffer, 8) != -1 || errno != EINVAL)
		die("a buffer of 8 bytes will do?");
	if (read(fd, nowhere, sizeof(buffer)) != -1 || errno != EFAULT)
		die("a buffer that is not there will do?");
	/* The failed reads must not have lost any record. */
	read_all(fd, print);
	return 0;
}

static void print_time(const struct pokepatch_history_record *record)
{
	const struct pokepatch_history_text *text = (const void *)record;

	if (record->type == POKEPATCH_HISTORY_INFO)
		printf("whole %llu\n", (unsigned long long)record->mono_ns);
	else if (record->type == POKEPATCH_HISTORY_TEXT && text->phase)
		printf("text %s %llu\n", string_of(text, text->symbol),
		       (unsigned long long)text->end_ns);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "dump")) {
		read_all(open_device(O_NONBLOCK), print);
		return 0;
	}
	if (!strcmp(argv[1], "times")) {
		read_all(open_device(O_NONBLOCK), print_time);
		return 0;
	}
	if (!strcmp(argv[1], "agree") && argc > 2)
		return agree(argv + 2);
	if (!strcmp(argv[1], "predict") && argc > 2)
		return predict(argv + 2);
	if (!strcmp(argv[1], "hold"))
		return hold();
	if (!strcmp(argv[1], "wait"))
		return wait_for_record();
	if (!strcmp(argv[1], "follow") && argc > 2)
		return follow(atoi(argv[2]));
	if (!strcmp(argv[1], "tiny"))
		return tiny();
	return 2;
}
