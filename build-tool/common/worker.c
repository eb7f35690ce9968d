// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of ours in processes of their own; see worker.h. */
#include "common/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"

#define GRACE_SECONDS 3.0 /* from SIGTERM to SIGKILL; a worker itself gives its programs 2 s */

/* A worker writes one of these to its pipe for each index, and then its bytes. */
struct record {
	size_t index;
	enum exit_status status; /* STATUS_DONE: the bytes are the result, else an error's text */
	size_t length;
};

/* What all workers of one run take their indexes from, in memory that they share. */
struct queue {
	atomic_size_t next;
	size_t count;
};

struct worker {
	pid_t pid;
	int fd; /* the reading end of its pipe; -1: at its end */
	struct buffer written;
	struct queue *queue; /* of worker_start(); else NULL */
};

/* ---- in a worker ---------------------------------------------------------------------- */

static void write_all(int fd, const void *bytes, size_t length)
{
	for (const char *p = bytes; length;) {
		ssize_t n = write(fd, p, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			_exit(STATUS_FAILED); /* the parent has died, and needs no answer */
		p += n;
		length -= (size_t)n;
	}
}

static void write_record(int fd, size_t index, const struct error *error,
			 const struct buffer *result)
{
	struct record record = {.index = index,
				.status = error ? error->status : STATUS_DONE,
				.length = error ? strlen(error->text) : result->length};

	write_all(fd, &record, sizeof(record));
	write_all(fd, error ? error->text : result->text, record.length);
}

/*
 * Take indexes until there are no more, or one fails.  Indexes are taken in order, so all below one
 * that failed have been taken by some worker, which finishes it.
 */
static void __attribute__((noreturn))
work(worker_run run, void *data, struct queue *queue, int fd, pid_t parent)
{
	struct error *error = NULL;

	setpgid(0, 0);
	proc_after_fork();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(STATUS_FAILED); /* the parent died before the prctl() */
	while (!error) {
		size_t index = atomic_fetch_add(&queue->next, 1);
		struct buffer result = {0};

		if (index >= queue->count)
			break;
		error = proc_check_interrupted() ?: run(data, index, &result);
		write_record(fd, index, error, &result);
		buffer_deinit(&result);
	}
	/* No exit handlers: what they would flush or remove is the parent's. */
	_exit(error ? STATUS_FAILED : STATUS_DONE);
}

/* ---- in the parent -------------------------------------------------------------------- */

static struct queue *queue_create(size_t count)
{
	struct queue *queue = mmap(NULL, sizeof(*queue), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (queue == MAP_FAILED)
		return NULL;
	queue->count = count;
	atomic_init(&queue->next, 0);
	return queue;
}

static void queue_destroy(struct queue *queue)
{
	if (queue)
		munmap(queue, sizeof(*queue));
}

static struct error *start(worker_run run, void *data, struct queue *queue, struct worker *ret)
{
	pid_t parent = getpid();
	int fds[2];

	*ret = (struct worker){.fd = -1};
	if (pipe2(fds, O_CLOEXEC))
		return error_errno("cannot make a pipe");
	fflush(NULL); /* the worker must not print our output again */
	ret->pid = fork();
	if (!ret->pid) {
		close(fds[0]);
		work(run, data, queue, fds[1], parent);
	}
	close(fds[1]);
	if (ret->pid < 0) {
		struct error *error = error_errno("cannot start a process");

		close(fds[0]);
		return error;
	}
	setpgid(ret->pid, ret->pid); /* both make the group, so that it exists for either */
	ret->fd = fds[0];
	return NULL;
}

/* Read once from the pipe; close it at its end.  May block. */
static void collect(struct worker *worker)
{
	char chunk[65536];
	ssize_t n;

	do
		n = read(worker->fd, chunk, sizeof(chunk));
	while (n < 0 && errno == EINTR && !proc_interrupted());
	if (n > 0) {
		buffer_add(&worker->written, chunk, (size_t)n);
	} else if (n == 0 || errno != EINTR) {
		close(worker->fd);
		worker->fd = -1;
	}
}

/* Wait until each worker's pipe is at its end, or a signal comes. */
static struct error *collect_all(struct worker *workers, size_t count)
{
	_free_ struct pollfd *polls = xcalloc(count + 1, sizeof(*polls));

	for (;;) {
		size_t open = 0;

		TRY(proc_check_interrupted());
		for (size_t i = 0; i < count; i++) {
			polls[i] = (struct pollfd){.fd = workers[i].fd, .events = POLLIN};
			open += workers[i].fd >= 0;
		}
		if (!open)
			return NULL;
		polls[count] = (struct pollfd){.fd = proc_wake_fd(), .events = POLLIN};
		if (poll(polls, count + 1, -1) < 0)
			continue; /* EINTR */
		for (size_t i = 0; i < count; i++)
			if (polls[i].revents)
				collect(&workers[i]);
	}
}

/* End the workers, first by SIGTERM, so that they end the programs that they started. */
static void end_all(struct worker *workers, size_t count)
{
	double limit = now_seconds() + GRACE_SECONDS;

	for (size_t i = 0; i < count; i++)
		kill(-workers[i].pid, SIGTERM);
	for (size_t i = 0; i < count; i++) {
		while (workers[i].fd >= 0 && now_seconds() < limit) {
			struct pollfd poll_fd = {.fd = workers[i].fd, .events = POLLIN};

			if (poll(&poll_fd, 1, 20) > 0)
				collect(&workers[i]);
		}
		kill(-workers[i].pid, SIGKILL);
	}
}

/* Reap a worker whose pipe is at its end, and free what it has. */
static int reap(struct worker *worker)
{
	int status;

	cleanup_close(&worker->fd);
	while (waitpid(worker->pid, &status, 0) < 0)
		if (errno != EINTR)
			return STATUS_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Hand out what a worker has written; an error goes to errors[index]. */
static void take_records(const struct worker *worker, size_t count, struct buffer *results,
			 struct error **errors)
{
	const struct buffer *written = &worker->written;
	struct record record;

	for (size_t at = 0; written->length - at >= sizeof(record); at += record.length) {
		memcpy(&record, written->text + at, sizeof(record));
		at += sizeof(record);
		if (record.length > written->length - at || record.index >= count)
			return; /* it was killed while it wrote */
		if (record.status == STATUS_DONE)
			buffer_add(&results[record.index], written->text + at, record.length);
		else
			errors[record.index] = error_new(record.status, "%.*s", (int)record.length,
							 written->text + at);
	}
}

static struct error *first_error(struct error **errors, size_t count)
{
	struct error *first = NULL;

	for (size_t i = 0; i < count; i++) {
		if (first)
			error_destroy(errors[i]);
		else
			first = errors[i];
	}
	return first;
}

/* Reap the workers, and hand out their results; the error that comes first has a say. */
static struct error *finish_all(struct worker *workers, size_t nr_workers, size_t count,
				struct buffer *results, struct error *error)
{
	struct error **errors _free_ = xcalloc(count + 1, sizeof(struct error *));
	int killed = 0;

	for (size_t i = 0; i < nr_workers; i++) {
		int status = reap(&workers[i]);

		killed = status >= 128 ? status - 128 : killed;
		take_records(&workers[i], count, results, errors);
		buffer_deinit(&workers[i].written);
	}
	if (!error && killed) /* after the others: their lower indexes may be missing */
		error = error_new(STATUS_FAILED, "a process of this program was killed (%s)",
				  strsignal(killed));
	struct error *theirs = first_error(errors, count);
	if (error)
		error_destroy(theirs);
	return error ?: theirs;
}

static struct error *run_here(worker_run run, void *data, size_t count, struct buffer *results)
{
	for (size_t i = 0; i < count; i++) {
		TRY(proc_check_interrupted());
		TRY(run(data, i, &results[i]));
	}
	return NULL;
}

struct error *workers_run_all(worker_run run, void *data, size_t count, unsigned int jobs,
			      struct buffer *results)
{
	size_t wanted = jobs < count ? jobs : count, started = 0;
	struct error *error = NULL;

	if (wanted < 2)
		return run_here(run, data, count, results);
	struct queue *queue = queue_create(count);
	if (!queue)
		return error_errno("cannot share memory");
	struct worker *workers _free_ = xcalloc(wanted, sizeof(*workers));
	while (!error && started < wanted) {
		error = start(run, data, queue, &workers[started]);
		started += !error;
	}
	if (!error)
		error = collect_all(workers, started);
	if (error)
		end_all(workers, started);
	error = finish_all(workers, started, count, results, error);
	queue_destroy(queue);
	return error;
}

struct error *worker_start(worker_run run, void *data, struct worker **ret)
{
	struct queue *queue = queue_create(1);

	if (!queue)
		return error_errno("cannot share memory");
	struct worker *worker = xcalloc(1, sizeof(*worker));
	struct error *error = start(run, data, queue, worker);
	worker->queue = queue;
	if (error) {
		queue_destroy(queue);
		free(worker);
		return error;
	}
	*ret = worker;
	return NULL;
}

static struct error *finish(struct worker *worker, struct buffer *ret, struct error *error)
{
	if (error)
		end_all(worker, 1);
	error = finish_all(worker, 1, 1, ret, error);
	queue_destroy(worker->queue);
	free(worker);
	return error;
}

struct error *worker_finish(struct worker *worker, struct buffer *ret)
{
	return finish(worker, ret, collect_all(worker, 1));
}

void worker_stop(struct worker *worker)
{
	struct buffer unused = {0};

	if (worker)
		error_destroy(finish(worker, &unused,
				     error_new(STATUS_FAILED, "interrupted")));
	buffer_deinit(&unused);
}
