// SPDX-License-Identifier: GPL-2.0-or-later
/* Who comes and goes beside the patches, on the same functions. */
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
static pid_t bpf;	  /* who holds a BPF program, if not 0 */
static int bpf_function;
static const char bpf_file[] = "/tmp/torture-bpf";
static pid_t reader; /* of the text history, if not 0 */

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
 * A probe comes, at the entry or for the return; or goes.  Without an ftrace that probes and patches
 * share, one at the entry would keep all patches away: it is behind that.  (MIPS' kprobes skip the
 * instruction of any probe after one of a branch with a NOP in its delay slot was hit, by a flag
 * that stays, SKIP_DELAYSLOT; there, lcm() has such a branch right behind its entry.)
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
		/* By address: the patches have functions of the same names. */
		snprintf(text, sizeof(text), "%c:torture/probe%d 0x%llx", at_return ? 'r' : 'p', f,
			 addresses[f] + behind);
	}
	note("probe %s of %s", text, functions[f]);
	int fd = open(TRACING "kprobe_events", O_WRONLY | O_APPEND);
	bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;
	close(fd);
	/* A return probe can be refused where something else is at the entry. */
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
	/* Who is in one of the functions has a return address that is replaced still. */
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
 * It comes, and is patched by those that are enabled before its init makes a device; or goes,
 * after it has been switched to and fro.
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
 * A BPF program is attached at the entry, or goes.  Not at the exit: while ftrace asks that one to
 * share the function with somebody who redirects it, it is in ftrace's list already, and in a
 * function that has a tracer as well it calls the old one for a moment.  That is the kernel's
 * (bpf_trampoline_update(), -EAGAIN), and the same for its own live patches.
 */
void act_on_bpf(void)
{
	if (bpf) {
		note("BPF program goes");
		kill(bpf, SIGKILL);
		waitpid(bpf, NULL, 0);
		bpf = 0;
		redirected(bpf_function, false);
		/* Where something else is at the entry it can have been refused. */
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
 * It goes when it is told, or is killed wherever it is.  It checks what it reads, and ends by
 * itself, with a word, if that is wrong.
 */
void act_on_reader(bool kill_it)
{
	int status;

	if (reader) {
		if (kill(reader, kill_it ? SIGKILL : SIGTERM) ||
		    waitpid(reader, &status, 0) != reader)
			fail("the reader of the history");
		/* It may not have got as far as to wait for the signal. */
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
	put(TRACING "kprobe_events", "\n");
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
