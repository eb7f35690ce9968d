// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch trace: switch a patch with markers on, show its markers, and undo it all at the end.
 *
 * The markers come through an instance of tracefs that is made for this run, so that other traces
 * are neither disturbed nor read empty.  Those of pokepatch's core come through its tracepoint.
 * Those of a module for the kernel's livepatch core write to the instance that its parameter
 * "markers" names (patches/module/livepatch_markers.h).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pokepatch/cli.h"
#include "pokepatch/load.h"
#include "common/proc.h"
#include "pokepatch/patch_sysfs.h"

#define EVENT "events/pokepatch/marker"
/* How often the signal's flag is checked; a signal also wakes poll(2). */
#define LOOK_MS 250

struct tracing {
	char *folder; /* the instance; NULL: not made yet */
	int pipe;     /* its trace_pipe, or -1 */
	bool on;      /* markers come to the instance */
	bool gone;    /* the reader of our output has closed it */
};

/* ---- tracefs ---------------------------------------------------------------- */

/* The folder of instances in tracefs, which is mounted by itself or within debugfs. */
static struct error *find_tracefs(char **ret)
{
	static const char *const places[] = {"kernel/tracing", "kernel/debug/tracing"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_free_ char *instances = sysfs_path("%s/instances", places[i]);

		if (!file_exists(instances))
			continue;
		*ret = take_pointer(instances);
		return NULL;
	}
	return error_new(STATUS_FAILED, "tracefs is not mounted; try 'mount -t tracefs tracefs "
					"/sys/kernel/tracing'");
}

/* Write to a file of the instance.  file_write() would make a new file. */
static struct error *tracing_write(const struct tracing *tracing, const char *name,
				   const char *text)
{
	_free_ char *path = xasprintf("%s/%s", tracing->folder, name);
	_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return error_errno("cannot write to %s", path);
	return NULL;
}

/* The path of the instance of the process @pid. */
static char *instance_path(const char *instances, const char *patch, pid_t pid)
{
	return xasprintf("%s/pokepatch-%s-%d", instances, patch, (int)pid);
}

/* The list of the patch's markers; of one for livepatch, it takes the name of an instance. */
static char *markers_path(const struct temporary_patch *patch)
{
	return patch->livepatch ? sysfs_path("module/%s/parameters/markers", patch->livepatch)
				: sysfs_path("kernel/pokepatch/%s/markers", patch->name);
}

/*
 * Is an option off in this text of trace_options?  It has a line for each, which begins with "no"
 * if it is.  A name may be the beginning of another one, as of trace_printk_dest (Linux 6.12).
 */
static bool is_off(const char *options, const char *name)
{
	_free_ char *off = xasprintf("no%s\n", name);

	for (const char *line = options; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (has_prefix(line, off))
			return true;
	}
	return false;
}

/* Have the markers of a patch for livepatch write to an instance, the last part of the path. */
static struct error *enter_instance(const struct temporary_patch *patch, const char *folder)
{
	_free_ char *path = markers_path(patch);
	_free_ char *options = xasprintf("%s/trace_options", folder);
	_free_ char *text = NULL;

	TRY(file_read(options, &text, NULL));
	if (is_off(text, "trace_printk"))
		return error_new(STATUS_FAILED,
				 "the markers of '%s' cannot be shown: the tracing option "
				 "trace_printk is off; write 1 to options/trace_printk in tracefs",
				 patch->name);
	return error_prefix(sysfs_write(path, strrchr(folder, '/') + 1),
			    "the markers of '%s' cannot be shown; if another trace shows them, end it "
			    "first",
			    patch->name);
}

/* Have them no longer write to that instance, if they do. */
static void leave_instance(const struct temporary_patch *patch, const char *folder)
{
	_free_ char *path = markers_path(patch);
	_free_ char *name = xasprintf("-%s", strrchr(folder, '/') + 1);

	if (patch->livepatch)
		error_destroy(sysfs_write(path, name));
}

/* Remove the instances of processes that were killed together with their keepers. */
static void remove_left_over(const struct temporary_patch *patch, const char *instances)
{
	DIR *dir = opendir(instances);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *dash = strrchr(entry->d_name, '-');
		char *end;
		long pid;

		if (strncmp(entry->d_name, "pokepatch-", 10) != 0 || !dash)
			continue;
		pid = strtol(dash + 1, &end, 10);
		if (pid <= 0 || *end || !kill((pid_t)pid, 0) || errno != ESRCH)
			continue;
		_free_ char *folder = xasprintf("%s/%s", instances, entry->d_name);
		leave_instance(patch, folder);
		rmdir(folder);
	}
	if (dir)
		closedir(dir);
}

static struct error *markers_on(const struct tracing *tracing, const struct temporary_patch *patch)
{
	_free_ char *filter = xasprintf("patch == \"%s\"", patch->name);

	if (patch->livepatch)
		return enter_instance(patch, tracing->folder);
	TRY(tracing_write(tracing, EVENT "/filter", filter));
	return tracing_write(tracing, EVENT "/enable", "1");
}

static void markers_off(const struct tracing *tracing, const struct temporary_patch *patch)
{
	if (!tracing->on)
		return;
	if (patch->livepatch)
		leave_instance(patch, tracing->folder);
	else
		error_destroy(tracing_write(tracing, EVENT "/enable", "0"));
}

static struct error *tracing_begin(struct tracing *tracing, const struct temporary_patch *patch)
{
	_free_ char *instances = NULL;
	_free_ char *folder = NULL;
	_free_ char *path = NULL;

	TRY(find_tracefs(&instances));
	remove_left_over(patch, instances);
	folder = instance_path(instances, patch->name, getpid());
	if (mkdir(folder, 0700))
		return error_errno("cannot make %s", folder);
	tracing->folder = take_pointer(folder);
	path = xasprintf("%s/trace_pipe", tracing->folder);
	tracing->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (tracing->pipe < 0)
		return error_errno("cannot open %s", path);
	/* poll(2) must wake us for the first marker, and not only for half a buffer of them. */
	error_destroy(tracing_write(tracing, "buffer_percent", "0"));
	TRY(markers_on(tracing, patch));
	tracing->on = true;
	return NULL;
}

/* ---- showing ------------------------------------------------------------------ */

static struct error *tracing_print(struct tracing *tracing, const char *text, size_t length)
{
	while (length && !tracing->gone) {
		ssize_t written = write(STDOUT_FILENO, text, length);

		if (written < 0 && errno == EPIPE)
			tracing->gone = true;
		else if (written < 0 && errno == EINTR && !proc_interrupted())
			continue;
		else if (written < 0)
			return errno == EINTR ? NULL
					      : error_errno("cannot write to standard output");
		text += written;
		length -= (size_t)written;
	}
	return NULL;
}

/* Print the markers that are there now. */
static struct error *tracing_print_all(struct tracing *tracing)
{
	char text[16384];
	ssize_t length;

	while (!tracing->gone && (length = read(tracing->pipe, text, sizeof(text))) > 0)
		TRY(tracing_print(tracing, text, (size_t)length));
	return NULL;
}

static struct error *tracing_follow(struct tracing *tracing)
{
	struct pollfd files[] = {
		{.fd = tracing->pipe, .events = POLLIN},
		{.fd = STDOUT_FILENO}, /* for POLLERR and the like: the reader closed it */
	};

	while (!tracing->gone && !proc_interrupted()) {
		if (poll(files, ARRAY_SIZE(files), LOOK_MS) < 0 && errno != EINTR)
			return error_errno("cannot wait for markers");
		tracing->gone = files[1].revents & (POLLERR | POLLHUP | POLLNVAL);
		TRY(tracing_print_all(tracing));
	}
	return NULL;
}

/* ---- the end -------------------------------------------------------------------- */

/* Of two errors, each of which may be NULL, keep the first. */
static struct error *first_error(struct error *error, struct error *second)
{
	if (!error)
		return second;
	error_destroy(second);
	return error;
}

static struct error *tracing_end(struct tracing *tracing, const struct temporary_patch *patch,
				 struct error *error)
{
	if (tracing->folder) {
		markers_off(tracing, patch);
		if (tracing->pipe >= 0)
			error = first_error(error, tracing_print_all(tracing));
		cleanup_close(&tracing->pipe);
		if (rmdir(tracing->folder))
			error = first_error(error,
					    error_errno("cannot remove %s", tracing->folder));
	}
	free(tracing->folder);
	return error;
}

/* Lines of the core's list of markers are "NAME FILE:LINE PROBES MISSED FORMAT". */
static struct error *count_markers(const struct temporary_patch *patch, size_t *ret,
				   long *ret_missed)
{
	_free_ char *path = markers_path(patch);
	_free_ char *text = NULL;
	size_t length;

	*ret = 0;
	*ret_missed = 0;
	if (patch->livepatch && !file_exists(path))
		return NULL;
	TRY(file_read(path, &text, &length));
	for (char *line = text, *next; *line; line = next) {
		long missed;

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		*ret += 1;
		if (sscanf(line, "%*s %*s %*u %ld", &missed) == 1)
			*ret_missed += missed;
	}
	return NULL;
}

static struct error *check_markers(const struct temporary_patch *patch, long *ret_missed)
{
	size_t count;

	TRY(count_markers(patch, &count, ret_missed));
	if (count)
		return NULL;
	return error_new(STATUS_NOTHING,
			 "patch '%s' has no markers; 'pokepatch-build --instrument' builds a patch "
			 "with markers",
			 patch->name);
}

static void tell_missed(const struct temporary_patch *patch, long before)
{
	size_t count;
	long missed;
	struct error *error = count_markers(patch, &count, &missed);

	if (!error && missed > before)
		fprintf(stderr,
			"pokepatch: %ld markers are missing: they were reached while another "
			"one was being recorded, or on an idle processor%s\n",
			missed - before,
			patch->livepatch ? ", or while the option trace_printk was off" : "");
	error_destroy(error);
}

/* Livepatch switches a patch on when it is loaded. */
static bool is_on(const struct temporary_patch *patch)
{
	return patch->livepatch || sysfs_patch_enabled(patch->name);
}

static struct error *trace(struct temporary_patch *patch)
{
	struct tracing tracing = {.pipe = -1};
	struct error *error;
	long missed;

	TRY(check_markers(patch, &missed));
	error = tracing_begin(&tracing, patch);
	/* Switch the patch on only now, so that no marker is lost. */
	if (!error && !is_on(patch)) {
		error = sysfs_switch(patch->name, true);
		patch->enabled = !error || sysfs_patch_pending(patch->name);
	}
	/* A switch that goes on after the signal is undone at the end. */
	if (error && proc_interrupted()) {
		error_destroy(error);
		error = proc_check_interrupted();
	}
	if (!error) {
		fprintf(stderr, "pokepatch: '%s' is on; Ctrl-C ends it\n", patch->name);
		error = tracing_follow(&tracing);
	}
	/* The clean-up must be completed, although a signal has come.  Another signal ends it. */
	proc_clear_interrupted();
	error = tracing_end(&tracing, patch, error);
	tell_missed(patch, missed);
	return error;
}

/* ---- the keeper ----------------------------------------------------------------- */

/*
 * A process that is killed (SIGKILL, out of memory) cannot clean up, and the patch would stay
 * switched on.  So a second process, the keeper, does it then.  It has a session of its own, where
 * no signal of a terminal reaches it.  It waits at a pipe whose other end the kernel closes when
 * the first process dies, after any write to sysfs that was under way.
 */
struct keeper {
	pid_t pid;
	int pipe; /* our end, to which nothing is ever written */
};

/*
 * The kernel closes the files of a process that dies one after the other: the pipe may be closed
 * while a file of the instance still is open.  Nor is there an instance if none was made yet.
 */
static void remove_instance(const char *folder)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

	for (int i = 0; i < 200 && rmdir(folder) && errno == EBUSY; i++)
		nanosleep(&pause, NULL);
}

static void keep(struct temporary_patch *patch, pid_t tracer, int pipe)
{
	_free_ char *instances = NULL;
	struct error *error;
	char byte;

	setsid();
	/* Another name, so that `killall pokepatch` does not kill the keeper. */
	prctl(PR_SET_NAME, "pptrace-keeper");
	for (int number = SIGHUP; number <= SIGTERM; number++)
		signal(number, SIG_IGN); /* fails for SIGKILL, as it must */
	/* The reader of the tracer's output must not wait for the keeper to close it. */
	if (freopen("/dev/null", "r", stdin))
		byte = 0;
	if (freopen("/dev/null", "w", stdout))
		byte = 0;
	while (read(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	error = find_tracefs(&instances);
	if (!error) {
		_free_ char *folder = instance_path(instances, patch->name, tracer);

		leave_instance(patch, folder);
		remove_instance(folder);
	}
	error = first_error(error, temporary_patch_unload(patch));
	fprintf(stderr, "pokepatch: trace was killed; '%s' is %s\n", patch->name,
		error ? "left as it is" : "as it was before");
	if (error)
		fprintf(stderr, "pokepatch: %s\n", error->text);
	_exit(error ? STATUS_FAILED : STATUS_DONE);
}

static struct error *keeper_start(struct keeper *keeper, const struct temporary_patch *patch)
{
	/* The keeper switches the patch off unless it is on already. */
	struct temporary_patch theirs = *patch;
	const pid_t tracer = getpid();
	int ends[2];

	theirs.enabled = !is_on(patch);
	if (pipe2(ends, O_CLOEXEC))
		return error_errno("cannot make a pipe");
	keeper->pid = fork();
	if (keeper->pid == 0) {
		close(ends[1]);
		keep(&theirs, tracer, ends[0]);
	}
	close(ends[0]);
	keeper->pipe = ends[1];
	if (keeper->pid > 0)
		return NULL;
	cleanup_close(&keeper->pipe);
	return error_errno("cannot fork");
}

/* End the keeper: we have cleaned up ourselves. */
static void keeper_stop(struct keeper *keeper)
{
	kill(keeper->pid, SIGKILL);
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	cleanup_close(&keeper->pipe);
}

struct error *cli_trace(struct cli_call *call)
{
	struct temporary_patch patch;
	struct keeper keeper;
	struct error *error;

	TRY(require_root("trace"));
	/* If the reader of our output goes, write() fails, and we clean up. */
	signal(SIGPIPE, SIG_IGN);
	TRY(temporary_patch_load(call->arguments[0], cli_value(call, "core"), &patch));
	error = keeper_start(&keeper, &patch);
	if (!error) {
		error = trace(&patch);
		error = first_error(error, temporary_patch_unload(&patch));
		keeper_stop(&keeper);
	} else {
		error = first_error(error, temporary_patch_unload(&patch));
	}
	temporary_patch_deinit(&patch);
	return error;
}
