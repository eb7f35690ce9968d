// SPDX-License-Identifier: GPL-2.0-or-later
/* The guard against crash loops; see crash_guard.h. */
#include "pokepatch/crash_guard.h"

#include <dirent.h>
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
#define NOTE_PREFIX "pending-" /* and the patch's name */

static const char *state_folder(void)
{
	return getenv("POKEPATCH_STATE") ?: "/var/lib/pokepatch";
}

static char *state_path(const char *name)
{
	return xasprintf("%s/%s", state_folder(), name);
}

static char *note_path(const char *patch)
{
	return xasprintf("%s/" NOTE_PREFIX "%s", state_folder(), patch);
}

/* A file's text, or NULL if there is none. */
static char *read_text(const char *path)
{
	char *text = NULL;
	struct error *error = file_read(path, &text, NULL);

	error_destroy(error);
	return error ? NULL : text;
}

/* Concurrent loads and their settle() processes change the same files; the lock is the folder. */
static struct error *lock_state(int *ret)
{
	*ret = open(state_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret < 0 || flock(*ret, LOCK_EX))
		return error_errno("cannot lock '%s'", state_folder());
	return NULL;
}

/*
 * A crash may come at once, so a file must be on the disk, with its name: file_write() syncs the
 * file alone.
 */
static struct error *write_durably(int folder, const char *path, const char *text)
{
	TRY(file_write(path, text, strlen(text)));
	if (fsync(folder))
		return error_errno("cannot sync '%s'", state_folder());
	return NULL;
}

/* How both kinds of files name a patch: "BUILD-ID NAME". */
static char *identity(const struct patch_file *file)
{
	return xasprintf("%s %s\n", file->build_id ?: "-", file->name);
}

/* A note has three lines: the boot's id, the patch's identity, and which load it is. */
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

/* When a note was first written, of its boot's clock; the third line. */
static struct timespec note_time(const char *note)
{
	struct timespec time = {0};

	if (note)
		sscanf(note, "%*[^\n] %*[^\n] %*d %ld.%ld", &time.tv_sec, &time.tv_nsec);
	return time;
}

static bool is_older(const char *note, const char *other)
{
	const struct timespec left = note_time(note), right = note_time(other);

	return left.tv_sec != right.tv_sec ? left.tv_sec < right.tv_sec
					   : left.tv_nsec < right.tv_nsec;
}

static bool same_boot(const char *note, const char *other)
{
	return !strncmp(note, other, strcspn(other, "\n") + 1);
}

/* For visit_notes(). */
struct notes {
	const char *current; /* of our boot */
	char *newest;        /* of those that another boot has left, or NULL; owned */
};

static struct error *find_newest(int folder, const char *path, struct notes *notes)
{
	char *note = read_text(path);

	(void)folder;
	if (note && !same_boot(note, notes->current) &&
	    (!notes->newest || is_older(notes->newest, note))) {
		free(notes->newest);
		notes->newest = note;
	} else {
		free(note);
	}
	return NULL;
}

/*
 * If another boot has left this note, the machine went down with its patch: add it to `crashed`.  A
 * level that replaces one that has been on for less than a minute is the suspect, so the newest
 * note counts alone: the way back to the other level stays open.
 */
static struct error *judge_note(int folder, const char *path, struct notes *notes)
{
	_free_ char *note = read_text(path), *crashed = state_path("crashed");
	_free_ char *before = read_text(crashed), *text = NULL;
	const char *patch = note ? strchr(note, '\n') : NULL;

	if (!patch || same_boot(note, notes->current))
		return NULL;
	text = xasprintf("%s%.*s", before ?: "", (int)strcspn(patch + 1, "\n") + 1, patch + 1);
	if (!strcmp(note, notes->newest))
		TRY(write_durably(folder, crashed, text));
	unlink(path);
	return NULL;
}

/* The current note's patch is on: that which it has replaced is to blame for nothing any more. */
static struct error *drop_older(int folder, const char *path, struct notes *notes)
{
	_free_ char *note = read_text(path);

	(void)folder;
	if (note && is_older(note, notes->current))
		unlink(path);
	return NULL;
}

/* Call @visit for the note of each patch. */
static struct error *visit_notes(int folder, struct notes *notes,
				 struct error *(*visit)(int folder, const char *path,
							struct notes *notes))
{
	DIR *dir = opendir(state_folder());
	struct error *error = NULL;
	struct dirent *entry;

	if (!dir)
		return error_errno("cannot read '%s'", state_folder());
	while (!error && (entry = readdir(dir))) {
		_free_ char *path = state_path(entry->d_name);

		if (has_prefix(entry->d_name, NOTE_PREFIX))
			error = visit(folder, path, notes);
	}
	closedir(dir);
	return error;
}

static struct error *refuse_crashed(const struct patch_file *file)
{
	_free_ char *path = state_path("crashed"), *patch = identity(file);
	_free_ char *crashed = read_text(path);
	const size_t length = strlen(patch);

	for (const char *p = crashed; p && *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (!strncmp(p, patch, length))
			return error_new(STATUS_REFUSED,
					 "patch '%s': refused [crashed]: the machine went down less "
					 "than a minute after it had been switched on; load another "
					 "level, or remove %s to try again",
					 file->name, path);
	return NULL;
}

struct error *crash_guard_begin(const struct patch_file *file)
{
	_free_ char *note = NULL, *path = note_path(file->name);
	struct notes notes = {0};
	struct error *error;
	int lock;

	TRY(make_note(file, &note));
	TRY(make_dirs(state_folder()));
	notes.current = note;
	error = lock_state(&lock);
	if (!error)
		error = visit_notes(lock, &notes, find_newest);
	if (!error)
		error = visit_notes(lock, &notes, judge_note);
	free(notes.newest);
	if (!error)
		error = refuse_crashed(file);
	if (!error)
		error = write_durably(lock, path, note);
	if (lock >= 0)
		close(lock);
	return error;
}

void crash_guard_failed(const char *name)
{
	_free_ char *path = note_path(name);

	unlink(path);
}

static volatile sig_atomic_t asked_to_end;

static void note_signal(int number)
{
	(void)number;
	asked_to_end = 1;
}

/* Is the note still our load's, or gone?  A later load of the patch has a process of its own. */
static bool is_ours(const char *path, const char *note)
{
	_free_ char *now = read_text(path);

	return !now || !strcmp(now, note);
}

/*
 * Write the note while the patch is on, which then is the suspect alone, and remove it while tasks
 * are in the way.
 */
static void put_note(const char *path, const char *note, bool on)
{
	struct notes notes = {.current = note};
	struct error *error;
	int lock;

	error = lock_state(&lock);
	if (!error && is_ours(path, note)) {
		if (on)
			error = write_durably(lock, path, note);
		else
			unlink(path);
		if (!error && on)
			error = visit_notes(lock, &notes, drop_older);
	}
	error_destroy(error);
	if (lock >= 0)
		close(lock);
}

/*
 * Remove the note when the patch has been on for a minute, is gone, or the machine is shut down.
 * While the core waits to try again, perhaps for days, the patch is not to blame for a crash.
 */
static void settle(const char *path, const char *note, const char *name)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	unsigned int seconds = 0;
	int noted = -1; /* not known */

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &(struct sigaction){.sa_handler = note_signal}, NULL);
	while (!asked_to_end && seconds < SETTLE_SECONDS && sysfs_patch_exists(name) &&
	       is_ours(path, note)) {
		const bool on = sysfs_patch_enabled(name);

		if (on != noted)
			put_note(path, note, on);
		noted = on;
		seconds += on;
		sleep(1);
	}
	put_note(path, note, false);
}

void crash_guard_succeeded(const char *name)
{
	_free_ char *path = note_path(name), *note = read_text(path);
	pid_t child = note ? fork() : -1;

	/* Without that process the note would stay, and the next boot would not load the patch. */
	if (note && child < 0)
		unlink(path);
	if (child > 0)
		waitpid(child, NULL, 0);
	if (child)
		return;
	/* A reader of our output, such as a pipe, must not wait for this one. */
	setsid();
	child = fork();
	if (child < 0)
		unlink(path);
	if (child)
		_exit(0);
	if (chdir("/"))
		child = 0; /* then our folder cannot be unmounted meanwhile */
	close_range(0, ~0U, 0);
	settle(path, note, name);
	_exit(0);
}

bool crash_guard_is_crashed(const struct patch_file *file)
{
	struct error *error = refuse_crashed(file);

	error_destroy(error);
	return error != NULL;
}
