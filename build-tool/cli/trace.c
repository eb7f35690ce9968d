// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch trace: a patch with markers, for as long as somebody looks.
 *
 * The markers are shown from an instance of tracefs that is made for this run, so that nobody
 * else's trace is disturbed, or read away.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "load.h"
#include "proc.h"
#include "sysfs.h"

#define EVENT "events/pokepatch/marker"
/* How often the signal's flag is looked at; a signal wakes poll(2), too. */
#define LOOK_MS 250

struct tracing {
	char *folder; /* the instance; NULL: there is none yet */
	int pipe;     /* its trace_pipe, or -1 */
	bool gone;    /* nobody reads our output any more */
};

/* ---- tracefs ---------------------------------------------------------------- */

/* Where tracefs is mounted, by itself or within debugfs. */
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

/* Not file_write(), which makes a new file: these are the kernel's. */
static struct error *put(const struct tracing *tracing, const char *name, const char *text)
{
	_free_ char *path = xasprintf("%s/%s", tracing->folder, name);
	_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return error_errno("cannot write to %s", path);
	return NULL;
}

static struct error *begin(struct tracing *tracing, const char *patch)
{
	_free_ char *filter = xasprintf("patch == \"%s\"", patch);
	_free_ char *instances = NULL;
	_free_ char *folder = NULL;
	_free_ char *path = NULL;

	_failed_(find_tracefs(&instances));
	folder = xasprintf("%s/pokepatch-%s-%d", instances, patch, (int)getpid());
	if (mkdir(folder, 0700))
		return error_errno("cannot make %s", folder);
	tracing->folder = take_pointer(folder);
	path = xasprintf("%s/trace_pipe", tracing->folder);
	tracing->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (tracing->pipe < 0)
		return error_errno("cannot open %s", path);
	/* poll(2) is to wake us for the first marker, not for half a buffer of them. */
	error_destroy(put(tracing, "buffer_percent", "0"));
	_failed_(put(tracing, EVENT "/filter", filter));
	return put(tracing, EVENT "/enable", "1");
}

/* ---- showing ------------------------------------------------------------------ */

static struct error *show(struct tracing *tracing, const char *text, size_t length)
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

/* What there is now. */
static struct error *show_all(struct tracing *tracing)
{
	char text[16384];
	ssize_t length;

	while (!tracing->gone && (length = read(tracing->pipe, text, sizeof(text))) > 0)
		_failed_(show(tracing, text, (size_t)length));
	return NULL;
}

static struct error *follow(struct tracing *tracing)
{
	struct pollfd files[] = {
		{.fd = tracing->pipe, .events = POLLIN},
		{.fd = STDOUT_FILENO}, /* asks for errors: the other end was closed */
	};

	while (!tracing->gone && !proc_interrupted()) {
		if (poll(files, ARRAY_SIZE(files), LOOK_MS) < 0 && errno != EINTR)
			return error_errno("cannot wait for markers");
		tracing->gone = files[1].revents & (POLLERR | POLLHUP | POLLNVAL);
		_failed_(show_all(tracing));
	}
	return NULL;
}

/* ---- the end -------------------------------------------------------------------- */

static struct error *first(struct error *error, struct error *second)
{
	if (!error)
		return second;
	error_destroy(second);
	return error;
}

static struct error *end(struct tracing *tracing, struct error *error)
{
	if (tracing->folder) {
		error_destroy(put(tracing, EVENT "/enable", "0"));
		if (tracing->pipe >= 0)
			error = first(error, show_all(tracing));
		cleanup_close(&tracing->pipe);
		if (rmdir(tracing->folder))
			error = first(error, error_errno("cannot remove %s", tracing->folder));
	}
	free(tracing->folder);
	return error;
}

/* The lines of the core's list of markers: "NAME FILE:LINE PROBES MISSED FORMAT". */
static struct error *count_markers(const char *patch, size_t *ret, long *ret_missed)
{
	_free_ char *path = sysfs_path("kernel/pokepatch/%s/markers", patch);
	_free_ char *text = NULL;
	size_t length;

	*ret = 0;
	*ret_missed = 0;
	_failed_(file_read(path, &text, &length));
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

static struct error *check_markers(const char *patch, long *ret_missed)
{
	size_t count;

	_failed_(count_markers(patch, &count, ret_missed));
	if (count)
		return NULL;
	return error_new(STATUS_NOTHING,
			 "patch '%s' has no markers; 'pokepatch-build --instrument' makes one that "
			 "has",
			 patch);
}

static void tell_missed(const char *patch, long before)
{
	size_t count;
	long missed;
	struct error *error = count_markers(patch, &count, &missed);

	if (!error && missed > before)
		fprintf(stderr, "pokepatch: %ld markers were left out, since they were met while "
				"another was being recorded, or in an idle processor\n",
			missed - before);
	error_destroy(error);
}

static struct error *trace(struct brought *patch)
{
	struct tracing tracing = {.pipe = -1};
	struct error *error;
	long missed;

	_failed_(check_markers(patch->name, &missed));
	error = begin(&tracing, patch->name);
	/* Only now, so that not a marker is lost. */
	if (!error && !sysfs_patch_enabled(patch->name)) {
		error = sysfs_switch(patch->name, true);
		patch->enabled = !error;
	}
	if (!error) {
		fprintf(stderr, "pokepatch: '%s' is on; Ctrl-C ends it\n", patch->name);
		error = follow(&tracing);
	}
	/* From here on nothing is left half done; another signal ends that, too. */
	proc_go_on();
	error = end(&tracing, error);
	tell_missed(patch->name, missed);
	return error;
}

struct error *cli_trace(struct cli_call *call)
{
	struct brought patch;
	struct error *error;

	_failed_(need_root("trace"));
	/* A reader that goes is no reason to leave a patch behind: write() tells. */
	signal(SIGPIPE, SIG_IGN);
	_failed_(patch_bring(call->arguments[0], cli_value(call, "core"), &patch));
	error = trace(&patch);
	error = first(error, patch_take_away(&patch));
	brought_deinit(&patch);
	return error;
}
