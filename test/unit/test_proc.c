// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of running programs and workers: output, statuses, order, failures, groups, signals. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "errors.h"
#include "common/proc.h"
#include "common/worker.h"

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_collects_and_tells_status(void **state)
{
	struct proc_result result;

	(void)state;
	assert_no_error(
		proc_run(ARGV("sh", "-c", "echo out; echo err >&2; exit 7"), NULL, &result));
	assert_int_equal(result.status, 7);
	assert_string_equal(result.out.text, "out\nerr\n");
	assert_null(result.err.text);
	proc_result_deinit(&result);
}

static void test_keeps_streams_apart(void **state)
{
	struct proc_options options = {.keep_stderr_apart = true};
	struct proc_result result;

	(void)state;
	assert_no_error(proc_run(ARGV("sh", "-c", "echo out; echo err >&2"), &options, &result));
	assert_string_equal(result.out.text, "out\n");
	assert_string_equal(result.err.text, "err\n");
	proc_result_deinit(&result);
}

/* Both streams get more than a pipe holds; reading one to its end first would hang. */
static void test_much_output_does_not_deadlock(void **state)
{
	static const char script[] = "dd if=/dev/zero bs=1000 count=1000 >&2 2>/dev/null;"
				     "dd if=/dev/zero bs=1000 count=2000 2>/dev/null;"
				     "dd if=/dev/zero bs=1000 count=1000 >&2 2>/dev/null";
	struct proc_options options = {.keep_stderr_apart = true};
	struct proc_result result;

	(void)state;
	assert_no_error(proc_run(ARGV("sh", "-c", script), &options, &result));
	assert_int_equal(result.status, 0);
	assert_int_equal(result.out.length, 2000000);
	assert_int_equal(result.err.length, 2000000);
	proc_result_deinit(&result);
}

static void test_folder_env_input_output(void **state)
{
	static const char *const env[] = {"POKEPATCH_TEST=a b", "HOME=/there", NULL};
	_free_ char *dir = NULL;
	_free_ char *in = NULL;
	_free_ char *out = NULL;
	_free_ char *text = NULL;
	_free_ char *expected = NULL;
	struct proc_options options = {.env = env};

	(void)state;
	assert_no_error(temp_dir(&dir));
	in = xasprintf("%s/in", dir);
	out = xasprintf("%s/out", dir);
	assert_no_error(file_write(in, "given\n", 6));
	options.dir = dir;
	options.input = in;
	options.output = out;
	assert_no_error(proc_check(
		ARGV("sh", "-c", "cat; echo $POKEPATCH_TEST; echo $HOME; pwd -P; echo err >&2"),
		&options, NULL));
	assert_no_error(file_read(out, &text, NULL));
	expected = xasprintf("given\na b\n/there\n%s\nerr\n", dir);
	assert_string_equal(text, expected);
	assert_no_error(remove_tree(dir));
}

/* "env -i" is done without that program, with the same outcome. */
static void test_clean_environment(void **state)
{
	struct proc_result result;

	(void)state;
	setenv("OURS", "1", 1);
	assert_no_error(proc_run(ARGV("env", "-i", "THEIRS=a b", "PATH=/usr/bin:/bin", "sh", "-c",
				      "echo $OURS-$THEIRS-$PATH; tr '\\0' ' ' </proc/$$/cmdline"),
				 NULL, &result));
	assert_int_equal(result.status, 0);
	assert_true(has_prefix(result.out.text, "-a b-/usr/bin:/bin\nsh -c "));
	proc_result_deinit(&result);
	/* PATH is the one that the program gets. */
	assert_no_error(proc_run(ARGV("env", "-i", "PATH=/nowhere", "sh", "-c", "echo no"), NULL,
				 &result));
	assert_int_equal(result.status, 127);
	assert_non_null(strstr(result.out.text, "No such file"));
	proc_result_deinit(&result);
	assert_no_error(proc_run(ARGV("env", "-i", "/bin/sh", "-c", "echo yes"), NULL, &result));
	assert_string_equal(result.out.text, "yes\n");
	proc_result_deinit(&result);
	unsetenv("OURS");
}

static void count_calls(void *data)
{
	struct proc_result result;

	/* Other programs may run in between. */
	assert_no_error(proc_run(ARGV("echo", "inner"), NULL, &result));
	assert_string_equal(result.out.text, "inner\n");
	proc_result_deinit(&result);
	++*(int *)data;
}

static void test_something_meanwhile(void **state)
{
	const struct proc_command commands[] = {{.argv = ARGV("sh", "-c", "sleep 0.1; echo 0")},
						{.argv = ARGV("echo", "1")},
						{.argv = ARGV("echo", "2")}};
	struct proc_result results[3];

	(void)state;
	for (unsigned int jobs = 1; jobs < 5; jobs++) {
		int calls = 0;

		assert_no_error(
			proc_run_all_while(commands, 3, jobs, count_calls, &calls, results));
		assert_int_equal(calls, 1);
		for (size_t i = 0; i < 3; i++) {
			const char text[] = {(char)('0' + i), '\n', '\0'};

			assert_string_equal(results[i].out.text, text);
			proc_result_deinit(&results[i]);
		}
	}
}

/* A map that has grown, or got its room at once, has what was put into it. */
static void test_maps(void **state)
{
	char names[1000][8];

	(void)state;
	for (int reserve = 0; reserve < 2; reserve++) {
		struct map map = {0};

		if (reserve)
			map_reserve(&map, ARRAY_SIZE(names));
		assert_false(map_has(&map, "0"));
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			snprintf(names[i], sizeof(names[i]), "%zu", i);
			*map_slot(&map, names[i]) = names[i];
			map_slot(&map, names[i / 2]); /* there already */
			assert_int_equal(map.count, i + 1);
		}
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			assert_ptr_equal(map_get(&map, names[i]), names[i]);
		assert_false(map_has(&map, "1000"));
		map_deinit(&map);
	}
}

static void test_standard_input_is_empty(void **state)
{
	struct buffer out;

	(void)state;
	assert_no_error(proc_check(ARGV("cat"), NULL, &out));
	assert_null(out.text);
	buffer_deinit(&out);
}

static void test_start_failures(void **state)
{
	struct proc_options no_dir = {.dir = "/nonexistent"};
	struct proc_options no_input = {.input = "/nonexistent/in"};
	struct proc_options no_output = {.output = "/nonexistent/out"};
	struct proc_result result;

	(void)state;
	assert_error(proc_run(ARGV("pokepatch-no-such-program"), NULL, &result), STATUS_FAILED,
		     "cannot run 'pokepatch-no-such-program': No such file or directory");
	assert_error(proc_run(ARGV("true"), &no_dir, &result), STATUS_FAILED,
		     "cannot enter '/nonexistent'");
	assert_error(proc_run(ARGV("true"), &no_input, &result), STATUS_FAILED,
		     "cannot read '/nonexistent/in'");
	assert_error(proc_run(ARGV("true"), &no_output, &result), STATUS_FAILED,
		     "cannot write '/nonexistent/out'");
}

static void test_check_quotes_output(void **state)
{
	(void)state;
	assert_error(proc_check(ARGV("sh", "-c", "echo it broke; exit 3"), NULL, NULL), STATUS_FAILED,
		     "'sh -c 'echo it broke; exit 3'' failed with status 3:\nit broke");
	assert_error(proc_check(ARGV("sh", "-c", "kill -9 $$"), NULL, NULL), STATUS_FAILED,
		     "was killed (Killed)");
}

static void test_many_keep_their_order(void **state)
{
	enum { COUNT = 40 };
	struct proc_command commands[COUNT] = {0};
	struct proc_result results[COUNT];
	char *scripts[COUNT];
	const char *argv[COUNT][4];

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		scripts[i] = xasprintf("sleep 0.0%d; echo %d; exit %d", i % 7, i, i);
		memcpy(argv[i], ARGV("sh", "-c", scripts[i]), sizeof(argv[i]));
		commands[i].argv = argv[i];
	}
	assert_no_error(proc_run_all(commands, COUNT, 8, results));
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(results[i].status, i);
		assert_int_equal(atoi(results[i].out.text), i);
		proc_result_deinit(&results[i]);
		free(scripts[i]);
	}
}

static void test_runs_no_more_than_jobs(void **state)
{
	/* Each counts how many have their folder at the same time, itself included. */
	static const char script[] = "mkdir running.$$; ls -d running.* | wc -l; sleep 0.05;"
				     "rmdir running.$$";
	const char *const argv[] = {"sh", "-c", script, NULL};
	_free_ char *dir = NULL;
	struct proc_command commands[9] = {0};
	struct proc_result results[9];
	int most = 0;

	(void)state;
	assert_no_error(temp_dir(&dir));
	for (size_t i = 0; i < 9; i++) {
		commands[i].argv = argv;
		commands[i].options.dir = dir;
	}
	assert_no_error(proc_run_all(commands, 9, 3, results));
	for (size_t i = 0; i < 9; i++) {
		int now = atoi(results[i].out.text);

		most = now > most ? now : most;
		proc_result_deinit(&results[i]);
	}
	assert_in_range(most, 2, 3);
	assert_no_error(remove_tree(dir));
}

static void test_one_that_cannot_start_ends_the_others(void **state)
{
	struct proc_command commands[2] = {
		{.argv = ARGV("sleep", "60")},
		{.argv = ARGV("pokepatch-no-such-program")},
	};
	struct proc_result results[2];
	double start = now_seconds();

	(void)state;
	assert_error(proc_run_all(commands, 2, 2, results), STATUS_FAILED,
		     "pokepatch-no-such-program");
	assert_true(now_seconds() - start < 10);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_nothing_to_run(void **state)
{
	struct proc_result none;

	(void)state;
	assert_no_error(proc_run_all(NULL, 0, 0, &none));
}

static bool is_running(pid_t pid)
{
	_free_ char *path = xasprintf("/proc/%d/stat", pid);
	_free_ char *text = NULL;
	struct error *error = file_read(path, &text, NULL);
	bool zombie;

	if (error) {
		error_destroy(error);
		return false;
	}
	zombie = strstr(text, ") Z ") != NULL;
	return !zombie;
}

static void assert_ends(pid_t pid)
{
	double limit = now_seconds() + 5;

	while (is_running(pid) && now_seconds() < limit)
		usleep(10000);
	assert_false(is_running(pid));
}

/* The background process holds the pipe open: waiting for its end would take a minute. */
static void test_what_a_child_leaves_is_ended(void **state)
{
	double start = now_seconds();
	struct buffer out;

	(void)state;
	assert_no_error(proc_check(ARGV("sh", "-c", "sleep 60 & echo $!"), NULL, &out));
	assert_true(now_seconds() - start < 10);
	assert_ends(atoi(out.text));
	buffer_deinit(&out);
}

static void count_tick(void *data)
{
	++*(int *)data;
}

static void test_ticks(void **state)
{
	int ticks = 0;
	struct proc_options options = {.tick = count_tick, .tick_data = &ticks};

	(void)state;
	assert_no_error(proc_check(ARGV("sleep", "1"), &options, NULL));
	assert_in_range(ticks, 2, 20);
}

/* Fork, so that the flag, which never goes back, stays out of the other tests. */
static void in_child(void (*body)(void *), void *data)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		body(data);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define CHILD_CHECK(condition)                                                                     \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void interrupted_body(void *file)
{
	/* Ignores SIGTERM, as does its child: only the second, harder signal ends them. */
	_free_ char *script =
		xasprintf("trap '' TERM; sleep 60 & echo $$ $! >%s; kill -INT %d; wait",
			  (const char *)file, getpid());
	struct proc_result result;
	struct error *error;
	double start = now_seconds();
	_free_ char *text = NULL;
	int parent = 0, child = 0;

	signal(SIGINT, SIG_DFL); /* a shell ignores it for programs in the background */
	proc_catch_signals();
	error = proc_run(ARGV("sh", "-c", script), NULL, &result);
	CHILD_CHECK(error && strcmp(error->text, "interrupted") == 0);
	error_destroy(error);
	CHILD_CHECK(now_seconds() - start < 10);
	CHILD_CHECK(proc_interrupted());
	/* From now on nothing starts. */
	error = proc_run(ARGV("true"), NULL, &result);
	CHILD_CHECK(error && strcmp(error->text, "interrupted") == 0);
	error_destroy(error);
	error = file_read(file, &text, NULL);
	CHILD_CHECK(!error);
	CHILD_CHECK(sscanf(text, "%d %d", &parent, &child) == 2);
	CHILD_CHECK(!is_running(parent));
	for (int i = 0; i < 500 && is_running(child); i++)
		usleep(10000);
	CHILD_CHECK(!is_running(child));
}

static void test_signal_ends_children(void **state)
{
	_free_ char *dir = NULL;
	_free_ char *file = NULL;

	(void)state;
	assert_no_error(temp_dir(&dir));
	file = xasprintf("%s/pids", dir);
	in_child(interrupted_body, file);
	assert_no_error(remove_tree(dir));
}

/* Die without a chance to clean up, while a child runs: the child must end too. */
static void killed_body(void *file)
{
	_free_ char *script = xasprintf("echo $$ >%s.new; mv %s.new %s; exec sleep 60",
					(const char *)file, (const char *)file, (const char *)file);
	pid_t pid = fork();

	if (pid == 0) {
		struct proc_result result;

		error_destroy(proc_run(ARGV("sh", "-c", script), NULL, &result));
		_exit(1);
	}
	for (int i = 0; i < 500 && !file_exists(file); i++)
		usleep(10000);
	CHILD_CHECK(file_exists(file));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_children_do_not_outlive_us(void **state)
{
	_free_ char *dir = NULL;
	_free_ char *file = NULL;
	_free_ char *text = NULL;

	(void)state;
	assert_no_error(temp_dir(&dir));
	file = xasprintf("%s/pid", dir);
	in_child(killed_body, file);
	assert_no_error(file_read(file, &text, NULL));
	assert_ends(atoi(text));
	assert_no_error(remove_tree(dir));
}

/* ---- workers (common/worker.h) ---------------------------------------------------- */

#define INDEXES 40

/* The index and the process, after a time that turns the order around. */
static struct error *tell(void *data, size_t index, struct buffer *ret)
{
	(void)data;
	usleep((INDEXES - index) % 7 * 1000);
	buffer_printf(ret, "%zu %d", index, getpid());
	return NULL;
}

static void test_results_are_in_order(void **state)
{
	(void)state;
	for (unsigned int jobs = 1; jobs <= 8; jobs += 7) {
		struct buffer results[INDEXES] = {0};
		bool others = false;

		assert_no_error(workers_run_all(tell, NULL, INDEXES, jobs, results));
		for (size_t i = 0; i < INDEXES; i++) {
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
		struct buffer results[INDEXES] = {0};
		size_t first = 9;

		assert_error(workers_run_all(fail_at, &first, INDEXES, jobs, results),
			     STATUS_REFUSED, "number 9 fails");
		for (size_t i = 0; i < INDEXES; i++)
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
	struct buffer results[INDEXES] = {0};

	(void)state;
	assert_error(workers_run_all(die, NULL, INDEXES, 2, results), STATUS_FAILED, "was killed");
	for (size_t i = 0; i < INDEXES; i++)
		buffer_deinit(&results[i]);
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
	signal(SIGINT, SIG_DFL); /* a shell has its background jobs ignore it */
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
		cmocka_unit_test(test_collects_and_tells_status),
		cmocka_unit_test(test_keeps_streams_apart),
		cmocka_unit_test(test_much_output_does_not_deadlock),
		cmocka_unit_test(test_folder_env_input_output),
		cmocka_unit_test(test_clean_environment),
		cmocka_unit_test(test_something_meanwhile),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_standard_input_is_empty),
		cmocka_unit_test(test_start_failures),
		cmocka_unit_test(test_check_quotes_output),
		cmocka_unit_test(test_many_keep_their_order),
		cmocka_unit_test(test_runs_no_more_than_jobs),
		cmocka_unit_test(test_one_that_cannot_start_ends_the_others),
		cmocka_unit_test(test_nothing_to_run),
		cmocka_unit_test(test_what_a_child_leaves_is_ended),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_signal_ends_children),
		cmocka_unit_test(test_children_do_not_outlive_us),
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
