// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Part of torture: loads and switches the patches, and keeps account of which are loaded and
 * enabled and of what the functions must return.
 *
 * changes[k] has a bit for each function that patch k changes, as in test/vm/torture.bats.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

#define OF_MODULE (1 << FUNCTIONS) /* dummy_setup() of dummy.ko */
static const unsigned int changes[PATCHES + 1] = {
	0, 0x3, 0x6, 0xc, 0x9, 0xf | OF_MODULE, 0x5 | OF_MODULE, 0xa | OF_MODULE, 0x7,
};
const char *const modes[] = {"auto", "auto", "entry", "ftrace", "direct"};
size_t nr_modes = sizeof(modes) / sizeof(*modes);

/* Is patch @k built with --transition live, where the machine has live transitions? */
static bool is_live(int k)
{
	return (k == 6 || k == 8) && can("live");
}

static bool loaded[PATCHES + 1];
static int enabled[PATCHES]; /* in order, the newest last */
int nr_enabled;
static uint64_t sequence;

/* ---- what is current ----------------------------------------------------------- */

/* The newest patch that is enabled on the function, or 0; the kernel's livepatch does not count. */
int patch_of(int f)
{
	int newest = 0;

	for (int i = 0; i < nr_enabled; i++)
		if (changes[enabled[i]] & 1 << f)
			newest = enabled[i];
	return newest;
}

int newest_of_module(void)
{
	return patch_of(FUNCTIONS);
}

/* The state that pp_torture gets: before the switch that is being made, or after it. */
uint16_t vector(bool after)
{
	uint16_t result = 0;

	if (klp.works && (klp.state == KLP_THERE || klp.state == (after ? KLP_COMES : KLP_GOES)))
		result = LIVEPATCH << 4 * klp.function;
	for (int f = 0; f < FUNCTIONS; f++)
		if (patch_of(f))
			result = (result & ~(0xf << 4 * f)) | patch_of(f) << 4 * f;
	return result;
}

static void tell(uint16_t before, uint16_t after, bool one_by_one)
{
	char text[32];

	one_by_one |= livepatch_moves();
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)((uint64_t)one_by_one << 63 | ++sequence << 32 |
				      (uint64_t)after << 16 | before));
	if (put(PARAMETERS "state", text))
		fail("telling the state");
}

/* Tell pp_torture the state while no patch is being switched; the livepatch may be. */
void tell_current(void)
{
	tell(vector(false), vector(true), false);
}

/* ---- patches --------------------------------------------------------------------- */

void load(int k)
{
	char name[64];

	snprintf(name, sizeof(name), "pokepatch-torture-%d", k);
	if ((errno = load_module(name, "")))
		fail("loading patch %d", k);
	if ((errno = putf("1000", "/sys/kernel/pokepatch/torture_%d/timeout_ms", k)))
		fail("timeout_ms of patch %d", k);
	loaded[k] = true;
	counts[LOADS]++;
}

/* No task is in the functions of a patch whose module has no users, so their counts are final. */
static void add_calls(int k)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "/sys/module/pokepatch_torture_%d/refcnt", k);
	for (int tries = 0; get(path, text, sizeof(text)), strcmp(text, "0"); tries++) {
		/* After a live switch tasks may still be in the module. */
		if (!is_live(k) || tries == 2000)
			fail("patch %d has %s users", k, text);
		usleep(10000);
	}
	for (int f = 0; f < FUNCTIONS; f++) {
		if (!(changes[k] & 1 << f))
			continue;
		snprintf(path, sizeof(path), "pokepatch-torture-%d", k);
		snprintf(text, sizeof(text), "torture_%s.0", functions[f]);
		calls[k][f] += peek(path, text);
	}
}

void unload(int k)
{
	char name[64];

	add_calls(k);
	snprintf(name, sizeof(name), "pokepatch_torture_%d", k);
	for (int tries = 0; syscall(SYS_delete_module, name, O_NONBLOCK); tries++) {
		if (!is_live(k) || (errno != EAGAIN && errno != EBUSY) || tries == 2000)
			fail("unloading patch %d", k);
		usleep(10000);
	}
	loaded[k] = false;
	counts[UNLOADS]++;
}

bool is_enabled(int k)
{
	for (int i = 0; i < nr_enabled; i++)
		if (enabled[i] == k)
			return true;
	return false;
}

static void get_mode(int k, int f, char *text, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/pokepatch/torture_%d/vmlinux/%s,1/mode", k,
		 functions[f]);
	get(path, text, size);
}

bool is_in_entry_mode(int k, int f)
{
	char text[64];

	get_mode(k, f, text, sizeof(text));
	return !strncmp(text, "entry", 5);
}

/*
 * Count the mode of patch @k by its first function.  If a mode was asked for, all functions have
 * it; otherwise the core chose.
 */
static void count_mode(int k)
{
	char text[64];

	for (int f = 0; f < FUNCTIONS; f++) {
		if (!(changes[k] & 1 << f))
			continue;
		get_mode(k, f, text, sizeof(text));
		if (!strncmp(text, "entry", 5))
			counts[ENTRY]++;
		else if (!strncmp(text, "direct", 6))
			counts[DIRECT]++;
		else if (!strncmp(text, "ftrace", 6))
			counts[FTRACE]++;
		else
			fail("patch %d has %s in mode %s", k, functions[f], text);
		return;
	}
}

/* Does patch @k change the function that the kernel's livepatch has? */
static bool meets_livepatch(int k)
{
	return klp.state != KLP_AWAY && klp.works && changes[k] & 1 << klp.function;
}

/* The account already has the state after the switch.  Tell both states until it is made. */
static void tell_switch(uint16_t before, bool one_by_one, bool unsure)
{
	/* Three results are possible: the current one, the livepatch's, the patch's.  Allow any. */
	if (unsure)
		before |= ANYTHING << 4 * klp.function;
	tell(before, vector(true), one_by_one);
}

/* Switch patch @k.  With it, the patches whose bits are set in @replaced are switched off. */
void switch_patch(int k, bool on, const char *mode, unsigned int replaced)
{
	int old[PATCHES], nr_old = nr_enabled, to = 0;
	const bool meets = on && meets_livepatch(k);
	const uint16_t before = vector(false);
	bool one_by_one = is_live(k);

	memcpy(old, enabled, sizeof(old));
	for (int f = 0; on && f < FUNCTIONS; f++)
		if (changes[k] & 1 << f &&
		    (errno = putf(mode, "/sys/kernel/pokepatch/torture_%d/vmlinux/%s,1/mode", k,
				  functions[f])))
			fail("mode %s of patch %d", mode, k);
	for (int i = 0; i < nr_old; i++) {
		if (replaced & 1 << old[i])
			one_by_one &= is_live(old[i]);
		else if (old[i] != k)
			enabled[to++] = old[i];
	}
	if (on)
		enabled[to++] = k;
	nr_enabled = to;
	tell_switch(before, one_by_one, meets && klp.state != KLP_THERE);
	int number = putf(on ? "1" : "0", "/sys/kernel/pokepatch/torture_%d/enabled", k);
	if (number && number != EBUSY) {
		errno = number;
		fail("switching patch %d to %d in mode %s", k, on, mode);
	}
	if (meets && !number) {
		if (klp.state != KLP_GOES)
			fail("patch %d is enabled where the kernel's livepatch is", k);
		klp.works = false;
	}
	if (number) {
		memcpy(enabled, old, sizeof(old));
		nr_enabled = nr_old;
		counts[meets ? KLP_REFUSES : BUSY]++;
	} else {
		counts[replaced ? REPLACES : on ? ENABLES : DISABLES]++;
	}
	tell_current();
	if (on && !number)
		count_mode(k);
}

/* Enable patch @k so that it replaces all other patches, or some of those that are loaded. */
void replace(int k, const char *mode)
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
	/* If the switch failed, the next one shall replace nothing. */
	if (!is_enabled(k) && (errno = putf("\n", "/sys/kernel/pokepatch/torture_%d/replace", k)))
		fail("patch %d is to replace nothing", k);
}

/* Switch patch @k, however often tasks are busy in it. */
void surely_switch(int k, bool on, const char *mode)
{
	for (int tries = 0; is_enabled(k) != on; tries++) {
		if (tries == 1000)
			fail("patch %d is still %s", k, on ? "off" : "on");
		switch_patch(k, on, mode, 0);
	}
}

static const char *any_mode(void)
{
	return modes[chance(nr_modes)];
}

void act_on_patch(void)
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

void all_patches_leave(void)
{
	while (nr_enabled)
		surely_switch(enabled[chance(nr_enabled)], false, "");
	for (int k = 1; k <= PATCHES; k++)
		if (loaded[k])
			unload(k);
}
