// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * torture SECONDS SEED - loads, enables, disables, replaces and unloads the patches
 * pokepatch-torture-1 to -8 at random, in all modes, while tracers, probes and BPF programs come
 * and go on the same functions, processors go off and on, and a module that is patched as well
 * comes and goes.  It tells the module pp_torture what is current before and after each switch;
 * that compares.
 *
 * Which functions patch k changes is in changes[], as in test/vm/torture.bats.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATCHES 8
#define FUNCTIONS 4
#define TRACING "/sys/kernel/tracing/"
#define PARAMETERS "/sys/module/pp_torture/parameters/"

static const char *const functions[FUNCTIONS] = {"int_pow", "int_sqrt", "gcd", "lcm"};
#define OF_MODULE (1 << FUNCTIONS) /* dummy_setup() of dummy.ko */
static const unsigned int changes[PATCHES + 1] = {
	0, 0x3, 0x6, 0xc, 0x9, 0xf | OF_MODULE, 0x5 | OF_MODULE, 0xa | OF_MODULE, 0x7,
};
static const char *const modes[] = {"auto", "auto", "entry", "direct", "ftrace"};
/* Built with --transition live. */
static const bool live[PATCHES + 1] = {[6] = true, [8] = true};

static char extra[256];
static bool loaded[PATCHES + 1];
static int enabled[PATCHES], nr_enabled; /* the newest last */
static uint64_t sequence;
static uint16_t current;
static unsigned long long addresses[FUNCTIONS];
static bool module_there; /* dummy.ko */
static pid_t bpf;	  /* who holds a BPF program, if not 0 */
static const char bpf_file[] = "/tmp/torture-bpf";

enum count {
	LOADS, UNLOADS, ENABLES, DISABLES, REPLACES, BUSY, ENTRY, DIRECT, FTRACE,
	TRACERS, PROBES, BPFS, HOTPLUGS, MODULES, COUNTS,
};
static unsigned long counts[COUNTS];
static const char *const count_names[COUNTS] = {
	"loads", "unloads", "enables", "disables", "replaces", "busy",
	"enables-in-entry", "enables-in-direct", "enables-in-ftrace",
	"tracers", "probes", "bpf-programs", "hotplugs", "modules",
};
/* What the new functions of the patches have counted. */
static unsigned long calls[PATCHES + 1][FUNCTIONS];

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

/* The first word of a file; empty if it cannot be read. */
static void get(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);

	text[length < 0 ? 0 : length] = '\0';
	text[strcspn(text, " \n")] = '\0';
	if (fd >= 0)
		close(fd);
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

/* Into the kernel log, to see what was going on when a result was wrong. */
static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	char text[256];
	va_list arguments;
	int length = sprintf(text, "<6>torture: ");

	va_start(arguments, format);
	vsnprintf(text + length, sizeof(text) - length, format, arguments);
	va_end(arguments);
	put("/dev/kmsg", text);
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
	if (put(PARAMETERS "state", text))
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

/* Nobody is in the functions of a patch that has no users left: their counts are final. */
static void add_calls(int k)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "/sys/module/pokepatch_torture_%d/refcnt", k);
	for (int tries = 0; get(path, text, sizeof(text)), strcmp(text, "0"); tries++) {
		/* Tasks may be in it after a live switch. */
		if (!live[k] || tries == 2000)
			fail("patch %d has %s users", k, text);
		usleep(10000);
	}
	for (int f = 0; f < FUNCTIONS; f++) {
		if (!(changes[k] & 1 << f))
			continue;
		snprintf(text, sizeof(text), "pokepatch_torture_%d:torture_%s.0", k, functions[f]);
		if ((errno = put(PARAMETERS "peek", text)))
			fail("%s", text);
		get(PARAMETERS "peek", text, sizeof(text));
		calls[k][f] += strtoul(text, NULL, 10);
	}
}

static void unload(int k)
{
	char name[64];

	add_calls(k);
	snprintf(name, sizeof(name), "pokepatch_torture_%d", k);
	for (int tries = 0; syscall(SYS_delete_module, name, O_NONBLOCK); tries++) {
		if (!live[k] || (errno != EAGAIN && errno != EBUSY) || tries == 2000)
			fail("unloading patch %d", k);
		usleep(10000);
	}
	loaded[k] = false;
	counts[UNLOADS]++;
}

static bool is_enabled(int k)
{
	for (int i = 0; i < nr_enabled; i++)
		if (enabled[i] == k)
			return true;
	return false;
}

/* Which mode it has come to; all its functions have the same, or it was left to the core. */
static void count_mode(int k)
{
	char path[128], text[64];

	for (int f = 0; f < FUNCTIONS; f++) {
		if (!(changes[k] & 1 << f))
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/pokepatch/torture_%d/vmlinux/%s,1/mode", k,
			 functions[f]);
		get(path, text, sizeof(text));
		if (!strncmp(text, "entry", 5))
			counts[ENTRY]++;
		else if (!strncmp(text, "direct", 6))
			counts[DIRECT]++;
		else if (!strncmp(text, "ftrace", 6))
			counts[FTRACE]++;
		else
			fail("%s: %s", path, text);
		return;
	}
}

/* The patches of the set @replaced (bits) are switched off together with @k's being switched on. */
static void switch_patch(int k, bool on, const char *mode, unsigned int replaced)
{
	int old[PATCHES], nr_old = nr_enabled, to = 0;
	bool one_by_one = live[k];

	memcpy(old, enabled, sizeof(old));
	for (int f = 0; on && f < FUNCTIONS; f++)
		if (changes[k] & 1 << f &&
		    (errno = putf(mode, "/sys/kernel/pokepatch/torture_%d/vmlinux/%s,1/mode", k,
				  functions[f])))
			fail("mode %s of patch %d", mode, k);
	for (int i = 0; i < nr_old; i++) {
		if (replaced & 1 << old[i])
			one_by_one &= live[old[i]];
		else if (old[i] != k)
			enabled[to++] = old[i];
	}
	if (on)
		enabled[to++] = k;
	nr_enabled = to;
	tell(current, vector(), one_by_one);
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
		counts[replaced ? REPLACES : on ? ENABLES : DISABLES]++;
	}
	current = vector();
	tell(current, current, false);
	if (on && !number)
		count_mode(k);
}

/* It takes the place of all others, or of some that are loaded. */
static void replace(int k, const char *mode)
{
	unsigned int replaced = 0;
	char names[256] = "";

	for (int other = 1; other <= PATCHES; other++) {
		if (other == k || !loaded[other] || chance(2))
			continue;
		replaced |= 1 << other;
		sprintf(names + strlen(names), "torture_%d ", other);
	}
	if (!replaced || !chance(3)) {
		replaced = ~0U;
		strcpy(names, "*");
	}
	if ((errno = putf(names, "/sys/kernel/pokepatch/torture_%d/replace", k)))
		fail("patch %d is to replace %s", k, names);
	switch_patch(k, true, mode, replaced);
	/* If it has not, it need not do it the next time. */
	if (!is_enabled(k) && (errno = putf("\n", "/sys/kernel/pokepatch/torture_%d/replace", k)))
		fail("patch %d is to replace nothing", k);
}

/* However often tasks are in the way. */
static void surely_switch(int k, bool on, const char *mode)
{
	for (int tries = 0; is_enabled(k) != on; tries++) {
		if (tries == 1000)
			fail("patch %d is still %s", k, on ? "off" : "on");
		switch_patch(k, on, mode, 0);
	}
}

static const char *any_mode(void)
{
	return modes[chance(sizeof(modes) / sizeof(*modes))];
}

static void act_on_patch(void)
{
	int k = 1 + chance(PATCHES);

	if (!loaded[k])
		load(k);
	else if (is_enabled(k))
		switch_patch(k, false, "", 0);
	else if (!chance(3))
		unload(k);
	else if (!chance(4))
		replace(k, any_mode());
	else
		switch_patch(k, true, any_mode(), 0);
}

/* ---- neighbours -------------------------------------------------------------------- */

static void trace(unsigned int which)
{
	static const char *const tracers[] = {"nop", "function", "function_graph"};

	note("tracer %s", tracers[which]);
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
	note("probe %s of %s", text, functions[f]);
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
	note("processor %d %s", cpu, off[cpu] ? "comes" : "goes");
	number = putf(off[cpu] ? "1" : "0", "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (number && number != EBUSY) {
		errno = number;
		fail("processor %d", cpu);
	}
	if (!number)
		off[cpu] = !off[cpu];
	counts[HOTPLUGS]++;
}

/*
 * It comes, and is patched by those that are enabled before its init makes a device; or goes,
 * after it has been switched to and fro.
 */
static void act_on_module(void)
{
	char text[64];
	int newest = 0;

	for (int i = 0; i < nr_enabled; i++)
		if (changes[enabled[i]] & OF_MODULE)
			newest = enabled[i];
	if (module_there) {
		if (syscall(SYS_delete_module, "dummy", O_NONBLOCK))
			fail("unloading dummy");
	} else {
		if (system("modprobe dummy"))
			fail("loading dummy");
		get("/sys/class/net/dummy0/mtu", text, sizeof(text));
		if (atoi(text) != 1500 + newest)
			fail("dummy0 has the MTU %s, with patch %d", text, newest);
	}
	module_there = !module_there;
	counts[MODULES]++;
}

/*
 * A BPF program is attached at the entry, or goes.  Not at the exit: while ftrace asks that one to
 * share the function with somebody who redirects it, it is in ftrace's list already, and in a
 * function that has a tracer as well it calls the old one for a moment.  That is the kernel's
 * (bpf_trampoline_update(), -EAGAIN), and the same for its own live patches.
 */
static void act_on_bpf(void)
{
	if (bpf) {
		note("BPF program goes");
		kill(bpf, SIGKILL);
		waitpid(bpf, NULL, 0);
		bpf = 0;
		/* Where something else is at the entry it can have been refused. */
		if (!unlink(bpf_file))
			counts[BPFS]++;
		return;
	}
	const char *function = functions[chance(FUNCTIONS)];
	note("BPF program of %s comes", function);
	bpf = fork();
	if (bpf < 0)
		fail("fork");
	if (!bpf) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 2);
		execlp("bpf-attach", "bpf-attach", "fentry", function, bpf_file, NULL);
		_exit(127);
	}
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
	act_on_module();
	act_on_bpf();
	for (int tries = 0; access(bpf_file, F_OK); tries++) {
		if (tries == 600)
			fail("no BPF program is attached");
		usleep(100000);
	}
	act_on_bpf();
	load(1);
	load(5);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		surely_switch(1, true, modes[i]);
		switch_patch(5, true, strcmp(modes[i], "ftrace") ? "ftrace" : "entry", 0);
		if (is_enabled(5))
			fail("patch 5 is in another mode than patch 1");
		surely_switch(1, false, "");
	}
	/* The stub of the first is handed over to the second. */
	surely_switch(1, true, "direct");
	surely_switch(5, true, "auto");
	surely_switch(1, false, "");
	surely_switch(5, false, "");
	for (int tries = 0; !counts[REPLACES]; tries++) {
		if (tries == 1000)
			fail("patch 5 replaces nothing");
		surely_switch(1, true, "auto");
		replace(5, "auto");
		surely_switch(5, false, "");
		surely_switch(1, false, "");
	}
	unload(1);
	unload(5);
	act_on_processor();
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
	/* pp_torture leaves no processor idle. */
	if (setpriority(PRIO_PROCESS, 0, -10))
		fail("setpriority");
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
		case 6:
			act_on_bpf();
			break;
		default:
			act_on_patch();
		}
	}
	put(TRACING "current_tracer", "nop");
	put(TRACING "events/torture/enable", "0");
	put(TRACING "kprobe_events", "\n");
	put(TRACING "set_ftrace_filter", "\n");
	if (bpf)
		act_on_bpf();
	for (int cpu = 1; cpu < 4; cpu++)
		putf("1", "/sys/devices/system/cpu/cpu%d/online", cpu);
	while (nr_enabled)
		surely_switch(enabled[chance(nr_enabled)], false, "");
	for (int k = 1; k <= PATCHES; k++)
		if (loaded[k])
			unload(k);
	if (module_there)
		act_on_module();
	for (int i = 0; i < COUNTS; i++)
		printf("%s %lu\n", count_names[i], counts[i]);
	/* As pp_torture counts what they have returned. */
	for (int k = 1; k <= PATCHES; k++)
		for (int f = 0; f < FUNCTIONS; f++)
			if (calls[k][f])
				printf("called-%d-%s %lu\n", k, functions[f], calls[k][f]);
	return 0;
}
