// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * torture SECONDS SEED - loads, enables, disables and unloads the patches pokepatch-torture-1
 * to -8 at random, in all modes, while tracers and probes come and go on the same functions,
 * processors go off and on, and modules come and go.  It tells the module pp_torture what is
 * current before and after each switch; that compares.
 *
 * Which functions patch k changes is in changes[], as in test/vm/torture.bats.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define PATCHES 8
#define FUNCTIONS 4
#define TRACING "/sys/kernel/tracing/"

static const char *const functions[FUNCTIONS] = {"int_pow", "int_sqrt", "gcd", "lcm"};
static const unsigned int changes[PATCHES + 1] = {0, 0x3, 0x6, 0xc, 0x9, 0xf, 0x5, 0xa, 0x7};
static const char *const modes[] = {"auto", "auto", "entry", "direct", "ftrace"};
/* Built with --transition live. */
static const bool live[PATCHES + 1] = {[6] = true, [8] = true};

static char extra[256];
static bool loaded[PATCHES + 1];
static int enabled[PATCHES], nr_enabled; /* the newest last */
static uint64_t sequence;
static uint16_t current;
static unsigned long long addresses[FUNCTIONS];

enum count { LOADS, UNLOADS, ENABLES, DISABLES, BUSY, TRACERS, PROBES, HOTPLUGS, MODULES, COUNTS };
static unsigned long counts[COUNTS];
static const char *const count_names[COUNTS] = {
	"loads", "unloads", "enables", "disables", "busy",
	"tracers", "probes", "hotplugs", "modules",
};

static void fail(const char *format, ...)
{
	int number = errno;
	va_list arguments;

	va_start(arguments, format);
	printf("FAILED: ");
	vprintf(format, arguments);
	printf(": %s\n", strerror(number));
	va_end(arguments);
	exit(1);
}

/* 0 or an errno. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), number = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		number = errno;
	close(fd);
	return number;
}

static int putf(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int putf(const char *text, const char *format, ...)
{
	char path[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return put(path, text);
}

static unsigned int chance(unsigned int n)
{
	return (unsigned int)random() % n;
}

/* ---- what is current ----------------------------------------------------------- */

static uint16_t vector(void)
{
	uint16_t result = 0;

	for (int i = 0; i < nr_enabled; i++)
		for (int f = 0; f < FUNCTIONS; f++)
			if (changes[enabled[i]] & 1 << f)
				result = (result & ~(0xf << 4 * f)) | enabled[i] << 4 * f;
	return result;
}

static void tell(uint16_t before, uint16_t after, bool one_by_one)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)((uint64_t)one_by_one << 63 | ++sequence << 32 |
				      (uint64_t)after << 16 | before));
	if (put("/sys/module/pp_torture/parameters/state", text))
		fail("telling the state");
}

/* ---- patches --------------------------------------------------------------------- */

static int load_module(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		fail("%s", path);
	int number = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	close(fd);
	return number;
}

static void load(int k)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/pokepatch-torture-%d.ko", extra, k);
	if ((errno = load_module(path)))
		fail("loading patch %d", k);
	if ((errno = putf("1000", "/sys/kernel/pokepatch/torture_%d/timeout_ms", k)))
		fail("timeout_ms of patch %d", k);
	loaded[k] = true;
	counts[LOADS]++;
}

static void unload(int k)
{
	char name[64];

	snprintf(name, sizeof(name), "pokepatch_torture_%d", k);
	for (int tries = 0; syscall(SYS_delete_module, name, O_NONBLOCK); tries++) {
		/* Tasks may be in it after a live switch. */
		if (!live[k] || (errno != EAGAIN && errno != EBUSY) || tries == 2000)
			fail("unloading patch %d", k);
		usleep(10000);
	}
	loaded[k] = false;
	counts[UNLOADS]++;
}

static void switch_patch(int k, bool on, const char *mode)
{
	int old[PATCHES], nr_old = nr_enabled;

	memcpy(old, enabled, sizeof(old));
	for (int f = 0; on && f < FUNCTIONS; f++)
		if (changes[k] & 1 << f &&
		    (errno = putf(mode, "/sys/kernel/pokepatch/torture_%d/vmlinux/%s,1/mode", k,
				  functions[f])))
			fail("mode %s of patch %d", mode, k);
	if (on) {
		enabled[nr_enabled++] = k;
	} else {
		int to = 0;

		for (int i = 0; i < nr_enabled; i++)
			if (enabled[i] != k)
				enabled[to++] = enabled[i];
		nr_enabled = to;
	}
	tell(current, vector(), live[k]);
	int number = putf(on ? "1" : "0", "/sys/kernel/pokepatch/torture_%d/enabled", k);
	if (number && number != EBUSY) {
		errno = number;
		fail("switching patch %d to %d in mode %s", k, on, mode);
	}
	if (number) {
		memcpy(enabled, old, sizeof(old));
		nr_enabled = nr_old;
		counts[BUSY]++;
	} else {
		counts[on ? ENABLES : DISABLES]++;
	}
	current = vector();
	tell(current, current, false);
}

static bool is_enabled(int k)
{
	for (int i = 0; i < nr_enabled; i++)
		if (enabled[i] == k)
			return true;
	return false;
}

/* However often tasks are in the way. */
static void surely_switch(int k, bool on, const char *mode)
{
	for (int tries = 0; is_enabled(k) != on; tries++) {
		if (tries == 1000)
			fail("patch %d is still %s", k, on ? "off" : "on");
		switch_patch(k, on, mode);
	}
}

static void act_on_patch(void)
{
	int k = 1 + chance(PATCHES);

	if (!loaded[k])
		load(k);
	else if (is_enabled(k))
		switch_patch(k, false, "");
	else if (chance(3))
		switch_patch(k, true, modes[chance(sizeof(modes) / sizeof(*modes))]);
	else
		unload(k);
}

/* ---- neighbours -------------------------------------------------------------------- */

static void trace(unsigned int which)
{
	static const char *const tracers[] = {"nop", "function", "function_graph"};

	if ((errno = put(TRACING "current_tracer", tracers[which])))
		fail("current_tracer");
	counts[TRACERS]++;
}

/* A probe comes, at the entry or for the return; or goes. */
static void probe(int f, bool at_return)
{
	static bool there[FUNCTIONS];
	char text[128];

	if (there[f]) {
		putf("0", TRACING "events/torture/probe%d/enable", f);
		snprintf(text, sizeof(text), "-:torture/probe%d", f);
	} else {
		/* By address: the patches have functions of the same names. */
		snprintf(text, sizeof(text), "%c:torture/probe%d 0x%llx", at_return ? 'r' : 'p', f,
			 addresses[f]);
	}
	int fd = open(TRACING "kprobe_events", O_WRONLY | O_APPEND);
	bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;
	close(fd);
	/* A return probe can be refused where something else is at the entry. */
	if (!done && there[f])
		fail("removing the probe of %s", functions[f]);
	if (!done)
		return;
	there[f] = !there[f];
	if (there[f])
		putf("1", TRACING "events/torture/probe%d/enable", f);
	counts[PROBES]++;
}

static void act_on_processor(void)
{
	static bool off[4];
	int cpu = 1 + chance(3), number;

	if (access("/sys/devices/system/cpu/cpu3/online", F_OK))
		return;
	number = putf(off[cpu] ? "1" : "0", "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (number && number != EBUSY) {
		errno = number;
		fail("processor %d", cpu);
	}
	if (!number)
		off[cpu] = !off[cpu];
	counts[HOTPLUGS]++;
}

static void act_on_module(void)
{
	if (system("modprobe dummy && ip link set dummy0 up && rmmod dummy"))
		fail("dummy");
	counts[MODULES]++;
}

/*
 * What allocates at the first time and keeps it; and a patch in a mode that cannot be, so
 * that the log says so at least once.
 */
static void each_once(void)
{
	for (int f = 0; f < FUNCTIONS; f++) {
		for (int at_return = 0; at_return < 2; at_return++) {
			probe(f, at_return);
			probe(f, at_return);
		}
	}
	for (unsigned int which = 3; which--;)
		trace(which);
	act_on_module();
	load(1);
	load(5);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		surely_switch(1, true, modes[i]);
		switch_patch(5, true, strcmp(modes[i], "ftrace") ? "ftrace" : "entry");
		if (is_enabled(5))
			fail("patch 5 is in another mode than patch 1");
		surely_switch(1, false, "");
	}
	/* The stub of the first is handed over to the second. */
	surely_switch(1, true, "direct");
	surely_switch(5, true, "auto");
	surely_switch(1, false, "");
	surely_switch(5, false, "");
	unload(1);
	unload(5);
}

/* ---- all together ---------------------------------------------------------------------- */

static void find_functions(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[512], name[256];
	unsigned long long address;

	while (file && fgets(line, sizeof(line), file)) {
		if (strchr(line, '[') || sscanf(line, "%llx %*c %255s", &address, name) != 2)
			continue;
		for (int f = 0; f < FUNCTIONS; f++)
			if (!strcmp(name, functions[f]))
				addresses[f] = address;
	}
	if (!file || !addresses[0] || !addresses[1] || !addresses[2] || !addresses[3])
		fail("finding the functions");
	fclose(file);
}

int main(int argc, char **argv)
{
	struct utsname names;

	if (argc != 3 || uname(&names))
		return 2;
	setlinebuf(stdout);
	srandom(atoi(argv[2]));
	snprintf(extra, sizeof(extra), "/lib/modules/%s/extra", names.release);
	find_functions();
	/* The tracers trace these alone: a guest in TCG cannot trace everything and live. */
	for (int f = 0; f < FUNCTIONS; f++) {
		int fd = open(TRACING "set_ftrace_filter", O_WRONLY | (f ? O_APPEND : O_TRUNC));

		if (fd < 0 || write(fd, functions[f], strlen(functions[f])) < 0 || close(fd))
			fail("set_ftrace_filter");
	}
	tell(0, 0, false);
	each_once();
	time_t end = time(NULL) + atoi(argv[1]);
	while (time(NULL) < end) {
		switch (chance(40)) {
		case 0:
		case 1:
			trace(chance(3));
			break;
		case 2:
		case 3:
			probe(chance(FUNCTIONS), chance(2));
			break;
		case 4:
			act_on_processor();
			break;
		case 5:
			act_on_module();
			break;
		default:
			act_on_patch();
		}
	}
	put(TRACING "current_tracer", "nop");
	put(TRACING "events/torture/enable", "0");
	put(TRACING "kprobe_events", "\n");
	put(TRACING "set_ftrace_filter", "\n");
	for (int cpu = 1; cpu < 4; cpu++)
		putf("1", "/sys/devices/system/cpu/cpu%d/online", cpu);
	while (nr_enabled)
		surely_switch(enabled[chance(nr_enabled)], false, "");
	for (int k = 1; k <= PATCHES; k++)
		if (loaded[k])
			unload(k);
	for (int i = 0; i < COUNTS; i++)
		printf("%s %lu\n", count_names[i], counts[i]);
	return 0;
}
