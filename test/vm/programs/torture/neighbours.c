// SPDX-License-Identifier: GPL-2.0-or-later
/* Part of torture: tracers, probes, BPF programs and others that come and go beside the patches. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torture.h"

static bool module_there; /* dummy.ko */
static pid_t bpf;	  /* the process that holds a BPF program, or 0 */
static int bpf_function;
static const char bpf_file[] = "/tmp/torture-bpf";
static pid_t reader; /* the process that reads the text history, or 0 */

void trace(unsigned int which)
{
	static const char *const tracers[] = {"nop", "function", "function_graph"};

	note("tracer %s", tracers[which]);
	if ((errno = put(TRACING "current_tracer", tracers[which])))
		fail("current_tracer");
	counts[TRACERS]++;
}

static enum { NO_PROBE, AT_ENTRY, AT_RETURN } probes[FUNCTIONS];

/*
 * Add a probe of @f, at the entry or for the return, or remove it.  Without an ftrace that probes
 * and patches share, a probe at the entry would keep all patches away, so it goes behind the entry.
 * (On MIPS, once a probe of a branch with a NOP in its delay slot was hit, kprobes skip the
 * instruction of any probe, because the flag SKIP_DELAYSLOT stays.  lcm() has such a branch right
 * behind its entry.)
 */
void probe(int f, bool at_return)
{
	const unsigned int behind = can("ftrace") ? 0 : 20;
	char text[128];

	if (probes[f]) {
		putf("0", TRACING "events/torture/probe%d/enable", f);
		snprintf(text, sizeof(text), "-:torture/probe%d", f);
	} else {
		at_return &= !livepatch_moves();
		/* Use the address, because the patches have functions of the same names. */
		snprintf(text, sizeof(text), "%c:torture/probe%d 0x%llx", at_return ? 'r' : 'p', f,
			 addresses[f] + behind);
	}
	note("probe %s of %s", text, functions[f]);
	int fd = open(TRACING "kprobe_events", O_WRONLY | O_APPEND);
	bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;
	close(fd);
	/* The kernel may refuse a return probe where another user is at the entry. */
	if (!done && probes[f])
		fail("removing the probe of %s", functions[f]);
	if (!done)
		return;
	probes[f] = probes[f] ? NO_PROBE : at_return ? AT_RETURN : AT_ENTRY;
	if (probes[f])
		putf("1", TRACING "events/torture/probe%d/enable", f);
	counts[PROBES]++;
}

void no_return_probes(void)
{
	bool any = false;

	for (int f = 0; f < FUNCTIONS; f++) {
		if (probes[f] != AT_RETURN)
			continue;
		probe(f, false);
		any = true;
	}
	/* Tasks in one of the functions still have a return address that is replaced. */
	if (any)
		usleep(100000);
}

void act_on_processor(void)
{
	static bool off[4];
	int cpu = 1 + chance(3), number;

	if (!can("hotplug") || access("/sys/devices/system/cpu/cpu3/online", F_OK))
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
 * Load the module dummy, or unload it.  The enabled patches must switch its function before its
 * init makes a device, as the device's MTU shows.
 */
void act_on_module(void)
{
	char text[64];
	const int newest = newest_of_module();

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
 * Attach a BPF program at the entry, or remove it.  It is not attached at the exit: while ftrace
 * asks such a program to share the function with a user that redirects calls, the program is in
 * ftrace's list already.  If the function has a tracer too, the program then calls the old function
 * for a moment.  This is a limit of the kernel (bpf_trampoline_update(), -EAGAIN), and livepatches
 * have it too.
 */
void act_on_bpf(void)
{
	if (bpf) {
		note("BPF program goes");
		kill(bpf, SIGKILL);
		waitpid(bpf, NULL, 0);
		bpf = 0;
		redirected(bpf_function, false);
		/* The kernel may have refused it where another user is at the entry. */
		if (!unlink(bpf_file))
			counts[BPFS]++;
		return;
	}
	bpf_function = chance(FUNCTIONS);
	note("BPF program of %s comes", functions[bpf_function]);
	redirected(bpf_function, true);
	bpf = fork();
	if (bpf < 0)
		fail("fork");
	if (!bpf) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 2);
		execlp("bpf-attach", "bpf-attach", "fentry", functions[bpf_function], bpf_file,
		       NULL);
		_exit(127);
	}
}

/*
 * Start a reader of the text history, or end it, with SIGTERM or with SIGKILL (@kill_it).  The
 * reader checks the records, and exits with a message if they are wrong.
 */
void act_on_reader(bool kill_it)
{
	int status;

	if (reader) {
		if (kill(reader, kill_it ? SIGKILL : SIGTERM) ||
		    waitpid(reader, &status, 0) != reader)
			fail("the reader of the history");
		/* SIGTERM may come before the reader has installed its handler. */
		if (WIFSIGNALED(status) ? WTERMSIG(status) != (kill_it ? SIGKILL : SIGTERM) :
					  kill_it || status)
			fail("the reader of the history ended with %#x", status);
		reader = 0;
		counts[READERS]++;
		return;
	}
	reader = fork();
	if (reader < 0)
		fail("fork");
	if (!reader) {
		char seed[16];
		int file = open("/tmp/torture-reader", O_WRONLY | O_CREAT | O_APPEND, 0600);

		dup2(file, 1);
		snprintf(seed, sizeof(seed), "%ld", random());
		execlp("texthist", "texthist", "follow", seed, NULL);
		_exit(127);
	}
}

void bpf_once(void)
{
	act_on_bpf();
	for (int tries = 0; access(bpf_file, F_OK); tries++) {
		if (tries == 600)
			fail("no BPF program is attached");
		usleep(100000);
	}
	act_on_bpf();
}

void all_neighbours_leave(void)
{
	if (can("ftrace"))
		put(TRACING "current_tracer", "nop");
	put(TRACING "events/torture/enable", "0");
	put(TRACING "kprobe_events", "\n"); /* removes all */
	memset(probes, 0, sizeof(probes));
	if (can("ftrace"))
		put(TRACING "set_ftrace_filter", "\n");
	if (bpf)
		act_on_bpf();
	for (int cpu = 1; cpu < 4 && can("hotplug"); cpu++)
		putf("1", "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (module_there)
		act_on_module();
	if (reader)
		act_on_reader(false);
}
