/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running functions of ours at the same time, each in a process of its own.
 *
 * Processes, and not threads: libelf, libdw and json-c promise no thread safety for shared data,
 * and parents fill caches of their own while they are read (object/parent.h).  A forked process has
 * a copy of everything, so nothing needs a lock, and it gives back all memory when it ends.  The
 * price is that a result must be written as bytes.  Our programs have no threads, so no lock can be
 * held by another thread at the fork.
 *
 * A worker ends with us, however we end (PR_SET_PDEATHSIG), and it ends the programs that it
 * started.  It is a process group of its own, so Ctrl-C reaches only us, and we end it.
 */
#ifndef POKEPATCH_WORKER_H
#define POKEPATCH_WORKER_H

#include "common/util.h"

/*
 * What a worker runs.  It sees our memory as it was when the worker was started, and what it
 * changes there is lost.
 * @ret: empty; its bytes are the result.
 * Errors: handed to the caller, with status and text.
 */
typedef struct error *(*worker_run)(void *data, size_t index, struct buffer *ret);

/*
 * workers_run_all - run a function for each index below @count, in at most @jobs processes, which
 * take the indexes in order.  With one process to run, that is ours.
 * @results: one for each index, empty; the caller frees them, after errors, too.
 *
 * Results and error do not depend on @jobs: if several indexes fail, the lowest one's error is
 * returned.
 * Errors: the function's, a worker cannot be started or was killed, or a signal interrupted us.
 */
struct error *workers_run_all(worker_run run, void *data, size_t count, unsigned int jobs,
			      struct buffer *results);

/* A function that runs while we do something else. */
struct worker;

/* worker_start - start @run in a process; the caller calls one of the next two. */
struct error *worker_start(worker_run run, void *data, struct worker **ret);
/*
 * worker_finish - wait for its end, and free it.
 * @ret: empty; gets the result.
 * Errors: as for workers_run_all().
 */
struct error *worker_finish(struct worker *worker, struct buffer *ret);
/* worker_stop - end it as Ctrl-C would, wait, and free it; NULL is allowed. */
void worker_stop(struct worker *worker);

#endif /* POKEPATCH_WORKER_H */
