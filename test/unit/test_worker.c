// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of workers: results in order, errors, workers that are killed, signals. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "errors.h"
#include "common/proc.h"
#include "common/worker.h"

#define COUNT 40

/* The index and the process, after a time that turns the order around. */
static struct error *tell(void *data, size_t index, struct buffer *ret)
{
	(void)data;
	usleep((COUNT - index) % 7 * 1000);
	buffer_printf(ret, "%zu %d", index, getpid());
	return NULL;
}

static void test_results_are_in_order(void **state)
{
	(void)state;
	for (unsigned int jobs = 1; jobs <= 8; jobs += 7) {
		struct buffer results[COUNT] = {0};
		bool others = false;

		assert_no_error(workers_run_all(tell, NULL, COUNT, jobs, results));
		for (size_t i = 0; i < COUNT; i++) {
			char *end;

			assert_int_equal(strtoul(results[i].text, &end, 10), i);
			others |= strtol(end, NULL, 10) != getpid();
			buffer_deinit(&results[i]);
		}
		assert_int_equal(others, jobs > 1);
	}
}

/* More than a pipe holds, from several at once. */
static struct error *write_much(void *data, size_t index, struct buffer *ret)
{
	(void)data;
	for (size_t i = 0; i < 100000; i++)
		buffer_printf(ret, "%zu\n", index);
	return NULL;
}

static void test_large_results(void **state)
{
	struct buffer results[5] = {0};

	(void)state;
	assert_no_error(workers_run_all(write_much, NULL, 5, 3, results));
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(results[i].length, 200000);
		assert_int_equal(results[i].text[0], '0' + (int)i);
		buffer_deinit(&results[i]);
	}
}

static struct error *fail_at(void *data, size_t index, struct buffer *ret)
{
	const size_t *first = data;

	(void)ret;
	if (index < *first)
		return NULL;
	if (index == *first) /* the later ones fail earlier */
		usleep(50000);
	return error_new(STATUS_REFUSED, "number %zu fails", index);
}

static void test_first_error_is_reported(void **state)
{
	(void)state;
	for (unsigned int jobs = 1; jobs <= 4; jobs++) {
		struct buffer results[COUNT] = {0};
		size_t first = 9;

		assert_error(workers_run_all(fail_at, &first, COUNT, jobs, results),
			     STATUS_REFUSED, "number 9 fails");
		for (size_t i = 0; i < COUNT; i++)
			buffer_deinit(&results[i]);
	}
}

static struct error *die(void *data, size_t index, struct buffer *ret)
{
	(void)data;
	(void)ret;
	if (index == 3)
		kill(getpid(), SIGKILL);
	return NULL;
}

static void test_killed_worker_is_an_error(void **state)
{
	struct buffer results[COUNT] = {0};

	(void)state;
	assert_error(workers_run_all(die, NULL, COUNT, 2, results), STATUS_FAILED, "was killed");
}

static struct error *run_sleep(void *data, size_t index, struct buffer *ret)
{
	const char *const argv[] = {"sleep", data, NULL};

	(void)index;
	buffer_add_string(ret, "slept");
	return proc_check(argv, NULL, NULL);
}

static void test_one_beside_us(void **state)
{
	struct worker *worker;
	struct buffer result = {0};

	(void)state;
	assert_no_error(worker_start(run_sleep, "0.01", &worker));
	assert_no_error(worker_finish(worker, &result));
	assert_string_equal(result.text, "slept");
	buffer_deinit(&result);
	worker_stop(NULL);
}

/* It ends its program, and itself, and a signal to it interrupts nothing of ours. */
static void test_stop(void **state)
{
	double start = now_seconds();
	struct worker *worker;

	(void)state;
	proc_catch_signals();
	assert_no_error(worker_start(run_sleep, "1000", &worker));
	usleep(50000);
	worker_stop(worker);
	assert_true(now_seconds() - start < 10);
	assert_false(proc_interrupted());
	assert_no_error(proc_check((const char *const[]){"true", NULL}, NULL, NULL));
}

/* Ctrl-C while we wait. */
static void test_interrupted(void **state)
{
	struct buffer results[2] = {0};
	double start = now_seconds();

	(void)state;
	proc_catch_signals();
	if (!fork()) {
		usleep(100000);
		kill(getppid(), SIGINT);
		_exit(0);
	}
	assert_error(workers_run_all(run_sleep, "1000", 2, 2, results), STATUS_FAILED,
		     "interrupted");
	assert_true(now_seconds() - start < 10);
	proc_clear_interrupted();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results_are_in_order),
		cmocka_unit_test(test_large_results),
		cmocka_unit_test(test_first_error_is_reported),
		cmocka_unit_test(test_killed_worker_is_an_error),
		cmocka_unit_test(test_one_beside_us),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
