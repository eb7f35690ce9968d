// SPDX-License-Identifier: GPL-2.0-or-later
/* The guard against crash loops; see crash_guard.h. */
#include "pokepatch/crash_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pokepatch/patch_file.h"
#include "pokepatch/patch_sysfs.h"

#define SETTLE_SECONDS 60

static const char *state_folder(void)
{
	return getenv("POKEPATCH_STATE") ?: "/var/lib/pokepatch";
}

static char *state_path(const char *name)
{
	return xasprintf("%s/%s", state_folder(), name);
}

/* A file's text, or NULL if there is none. */
static char *read_state(const char *name)
{
	_free_ char *path = state_path(name);
	char *text = NULL;
	struct error *error = file_read(path, &text, NULL);

	error_destroy(error);
	return error ? NULL : text;
}

static void remove_state(const char *name)
{
	_free_ char *path = state_path(name);

	unlink(path);
}

/* Others here are other loads, and processes that remove notes.  -1: there is no folder. */
static int lock_state(void)
{
	const int fd = open(state_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

/* What names a patch in both files: "BUILD-ID NAME". */
static char *identity(const struct patch_file *file)
{
	return xasprintf("%s %s\n", file->build_id ?: "-", file->name);
}

/* `pending` has three lines: the boot's id, the patch's identity, and which load it is. */
static struct error *make_note(const struct patch_file *file, char **ret)
{
	_free_ char *boot = NULL, *patch = identity(file);
	struct timespec now;

	TRY(file_read("/proc/sys/kernel/random/boot_id", &boot, NULL));
	clock_gettime(CLOCK_MONOTONIC, &now);
	*ret = xasprintf("%.*s\n%s%d %lld.%09ld\n", (int)strcspn(boot, "\n"), boot, patch,
			 (int)getpid(), (long long)now.tv_sec, now.tv_nsec);
	return NULL;
}

/* If another boot has left a note, its patch is the one with which the machine went down. */
static struct error *judge_pending(const char *note)
{
	_free_ char *pending = read_state("pending");
	_free_ char *path = state_path("crashed");
	const size_t boot = strcspn(note, "\n") + 1;
	const char *patch = pending ? strchr(pending, '\n') : NULL;

	if (!patch || !strncmp(pending, note, boot))
		return NULL;
	TRY(file_write(path, patch + 1, strcspn(patch + 1, "\n") + 1));
	remove_state("pending");
	return NULL;
}

static struct error *refuse_crashed(const struct patch_file *file)
{
	_free_ char *crashed = read_state("crashed"), *patch = identity(file);

	if (!crashed || strcmp(crashed, patch))
		return NULL;
	return error_new(STATUS_REFUSED,
			 "patch '%s': refused [crashed]: the machine went down less than a minute "
			 "after it had been switched on; load another level, or remove %s/crashed "
			 "to try again",
			 file->name, state_folder());
}

struct error *crash_guard_begin(const struct patch_file *file)
{
	_free_ char *note = NULL, *path = state_path("pending");
	struct error *error;
	int lock;

	TRY(make_note(file, &note));
	TRY(make_dirs(state_folder()));
	lock = lock_state();
	error = judge_pending(note);
	if (!error)
		error = refuse_crashed(file);
	if (!error)
		error = file_write(path, note, strlen(note));
	if (lock >= 0)
		close(lock);
	return error;
}

void crash_guard_failed(void)
{
	remove_state("pending");
}

static volatile sig_atomic_t asked_to_end;

static void note_signal(int number)
{
	(void)number;
	asked_to_end = 1;
}

/*
 * Remove the note when the patch has been on for a minute, is gone, or the machine is shut down,
 * unless a later load has replaced it.
 */
static void settle(const char *note, const char *name)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	unsigned int seconds = 0;
	bool ours = true;
	int lock;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &(struct sigaction){.sa_handler = note_signal}, NULL);
	while (ours && !asked_to_end && seconds < SETTLE_SECONDS && sysfs_patch_exists(name)) {
		_free_ char *now = read_state("pending");

		ours = now && !strcmp(now, note);
		seconds += sysfs_patch_enabled(name);
		sleep(1);
	}
	lock = lock_state();
	_free_ char *now = read_state("pending");
	if (now && !strcmp(now, note))
		remove_state("pending");
	if (lock >= 0)
		close(lock);
}

void crash_guard_succeeded(const char *name)
{
	_free_ char *note = read_state("pending");
	pid_t child = note ? fork() : -1;

	/* Without that process the note stays: the patch would not be loaded at the next boot. */
	if (note && child < 0)
		remove_state("pending");
	if (child > 0)
		waitpid(child, NULL, 0);
	if (child)
		return;
	/* A reader of our output, such as a pipe, must not wait for this one. */
	setsid();
	if (fork())
		_exit(0);
	if (chdir("/"))
		_exit(1);
	close_range(0, ~0U, 0);
	settle(note, name);
	_exit(0);
}

char *crash_guard_crashed(void)
{
	_free_ char *crashed = read_state("crashed");
	const char *name = crashed ? strchr(crashed, ' ') : NULL;

	return name ? xstrndup(name + 1, strcspn(name + 1, "\n")) : NULL;
}
