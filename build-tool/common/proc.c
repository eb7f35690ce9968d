// SPDX-License-Identifier: GPL-2.0-or-later
/* Running other programs; see proc.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"

#define TICK_MS 200
#define GRACE_SECONDS 2.0 /* from SIGTERM to SIGKILL, for programs that remove their files */

static bool verbose;

/*
 * Set by the signal handler.  The handler also makes the eventfd wake_fd readable, and no code ever
 * reads it.  So a poll() that starts after the signal, in any thread, returns at once, and no
 * signal can be missed.
 */
static volatile sig_atomic_t interrupted;
static int wake_fd = -1;

static const int caught_signals[] = {SIGINT, SIGTERM, SIGHUP};
static const int broken_pipe[] = {SIGPIPE};

static void on_signal(int sig)
{
	int saved_errno = errno;
	uint64_t one = 1;

	(void)sig;
	interrupted = 1;
	if (write(wake_fd, &one, sizeof(one)) < 0) {
		/* The eventfd's counter is full, so it is readable already. */
	}
	errno = saved_errno;
}

static void catch(const int *signals, size_t count)
{
	struct sigaction action = {.sa_handler = on_signal};

	if (wake_fd < 0)
		wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < count; i++) {
		struct sigaction old;

		/* nohup, systemd and `cmd &` (no job control) have some ignored: keep them so. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
	}
}

void proc_catch_signals(void)
{
	catch(caught_signals, ARRAY_SIZE(caught_signals));
}

void proc_catch_broken_pipes(void)
{
	catch(broken_pipe, ARRAY_SIZE(broken_pipe));
}

bool proc_interrupted(void)
{
	return interrupted;
}

void proc_clear_interrupted(void)
{
	interrupted = 0;
}

struct error *proc_check_interrupted(void)
{
	return interrupted ? error_new(STATUS_FAILED, "interrupted") : NULL;
}

int proc_wake_fd(void)
{
	return wake_fd;
}

void proc_after_fork(void)
{
	interrupted = 0;
	if (wake_fd < 0)
		return;
	/* The parent polls the one that we have inherited, and must not wake at our signals. */
	close(wake_fd);
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

unsigned int proc_jobs(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return CPU_COUNT(&set);
	return 1;
}

void proc_verbose(bool on)
{
	verbose = on;
}

void proc_result_deinit(struct proc_result *result)
{
	buffer_deinit(&result->out);
	buffer_deinit(&result->err);
}

/* The command with a shell's quotes, for messages. */
static void add_command(struct buffer *buffer, const char *const *argv)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_=+:,./@%^";

	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buffer_add_string(buffer, " ");
		if (argv[i][0] && argv[i][strspn(argv[i], plain)] == '\0') {
			buffer_add_string(buffer, argv[i]);
			continue;
		}
		buffer_add_string(buffer, "'");
		for (const char *c = argv[i]; *c; c++) {
			if (*c == '\'')
				buffer_add_string(buffer, "'\\''");
			else
				buffer_add(buffer, c, 1);
		}
		buffer_add_string(buffer, "'");
	}
}

static void show_command(const char *const *argv, const struct proc_options *options)
{
	struct buffer line = {0};

	buffer_add_string(&line, "+ ");
	if (options->dir)
		buffer_printf(&line, "cd %s && ", options->dir);
	for (size_t i = 0; options->env && options->env[i]; i++)
		buffer_printf(&line, "%s ", options->env[i]);
	add_command(&line, argv);
	if (options->input)
		buffer_printf(&line, " <%s", options->input);
	if (options->output)
		buffer_printf(&line, " >%s", options->output);
	fprintf(stderr, "%s\n", line.text);
	buffer_deinit(&line);
}

/* Our environment with the variables of env set.  The array is owned, its strings are borrowed. */
static char **merge_env(const char *const *env)
{
	size_t ours = 0, added = 0, n = 0;
	char **merged;

	while (environ[ours])
		ours++;
	while (env && env[added])
		added++;
	merged = xcalloc(ours + added + 1, sizeof(*merged));
	for (size_t i = 0; i < ours; i++) {
		bool replaced = false;

		for (size_t j = 0; j < added && !replaced; j++) {
			size_t name = strcspn(env[j], "=") + 1;

			replaced = strncmp(environ[i], env[j], name) == 0;
		}
		if (!replaced)
			merged[n++] = environ[i];
	}
	for (size_t j = 0; j < added; j++)
		merged[n++] = (char *)env[j];
	return merged;
}

/*
 * What the child becomes.  A command that begins with "env -i" is run without that program, which
 * would only cost time; then path, argv and env are what env(1) would have found and passed on.
 */
struct program {
	const char *const *argv;
	char **env;  /* owned, its strings are borrowed */
	char *path;  /* owned; NULL: argv[0] is searched in our PATH */
};

/* The file that execvp(3) would run with that PATH, which the caller frees; NULL: there is none. */
static char *search_path(const char *path, const char *name)
{
	_free_ char *folders = xstrdup(path ? path : "/bin:/usr/bin");
	char *rest = folders, *folder;

	while ((folder = strsep(&rest, ":"))) {
		char *file = xasprintf("%s/%s", *folder ? folder : ".", name);
		struct stat status;

		if (!stat(file, &status) && S_ISREG(status.st_mode) && !access(file, X_OK))
			return file;
		free(file);
	}
	return NULL;
}

/* False: the command is no such one, or env(1) is to say that the program is missing. */
static bool take_clean_environment(const char *const *argv, struct program *program)
{
	const char *path = NULL;
	size_t count = 0;

	if (!argv[0] || strcmp(argv[0], "env") || !argv[1] || strcmp(argv[1], "-i"))
		return false;
	argv += 2;
	while (argv[count] && strchr(argv[count], '=')) {
		if (has_prefix(argv[count], "PATH="))
			path = argv[count] + strlen("PATH=");
		count++;
	}
	if (!argv[count])
		return false;
	program->path = strchr(argv[count], '/') ? xstrdup(argv[count])
						 : search_path(path, argv[count]);
	/* A relative folder of PATH would be searched in the child's folder. */
	if (!program->path || (program->path[0] != '/' && !strchr(argv[count], '/')))
		return false;
	program->argv = argv + count;
	program->env = xcalloc(count + 1, sizeof(*program->env));
	for (size_t i = 0; i < count; i++)
		program->env[i] = (char *)argv[i];
	return true;
}

static void program_init(struct program *program, const char *const *argv,
			 const struct proc_options *options)
{
	*program = (struct program){.argv = argv};
	if (!options->env && take_clean_environment(argv, program))
		return;
	free(take_pointer(program->path));
	program->env = merge_env(options->env);
}

static void program_deinit(struct program *program)
{
	free(program->env);
	free(program->path);
}

/* One running child. */
struct child {
	size_t index; /* of its command and result */
	pid_t pid;    /* also the number of its process group */
	int pid_fd;   /* readable once it has ended */
	int out_fd;   /* -1: closed or not collected */
	int err_fd;
};

enum start_step { STEP_DIR, STEP_INPUT, STEP_OUTPUT, STEP_EXEC };

/* A child that could not become the program sends this through a pipe. */
struct start_failure {
	enum start_step step;
	int errnum;
};

static void __attribute__((noreturn)) start_failed(int fd, enum start_step step)
{
	struct start_failure failure = {.step = step, .errnum = errno};

	if (write(fd, &failure, sizeof(failure)) < 0) {
		/* The parent has died, and needs no answer. */
	}
	_exit(127);
}

/* Make fd the descriptor target without close-on-exec, even if it has that number already. */
static void place_fd(int fd, int target)
{
	if (fd == target)
		fcntl(fd, F_SETFD, 0);
	else
		dup2(fd, target);
}

/*
 * Runs in the child between vfork() and exec, in the parent's memory: it makes only
 * async-signal-safe calls, and writes to nothing but its own variables.  All signals are blocked
 * until the handlers are the default ones: ours would set the parent's flag.
 */
static void __attribute__((noreturn))
become_program(const struct program *program, const struct proc_options *options, const int out[2],
	       const int err[2], int failure_fd, pid_t parent)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t none;
	int fd;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127); /* the parent died before the prctl() */
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(caught_signals); i++)
		sigaction(caught_signals[i], &action, NULL);
	sigaction(SIGPIPE, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	/* Paths are relative to the parent's folder, so open the files before the chdir(). */
	fd = open(options->input ? options->input : "/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		start_failed(failure_fd, STEP_INPUT);
	place_fd(fd, STDIN_FILENO);
	if (options->output) {
		fd = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0)
			start_failed(failure_fd, STEP_OUTPUT);
		place_fd(fd, STDOUT_FILENO);
		if (!options->keep_stderr_apart && !options->inherit)
			dup2(STDOUT_FILENO, STDERR_FILENO);
	} else if (!options->inherit) {
		place_fd(out[1], STDOUT_FILENO);
		if (!options->keep_stderr_apart)
			dup2(STDOUT_FILENO, STDERR_FILENO);
	}
	if (options->keep_stderr_apart && !options->inherit)
		place_fd(err[1], STDERR_FILENO);
	if (options->dir && chdir(options->dir) < 0)
		start_failed(failure_fd, STEP_DIR);
	execvpe(program->path ? program->path : program->argv[0], (char *const *)program->argv,
		program->env);
	start_failed(failure_fd, STEP_EXEC);
}

static struct error *start_error(const struct start_failure *failure, const char *const *argv,
				 const struct proc_options *options)
{
	const char *hint = failure->errnum == ENOENT ? "; is the program installed?" : "";

	errno = failure->errnum;
	switch (failure->step) {
	case STEP_DIR:
		return error_errno("cannot enter '%s'", options->dir);
	case STEP_INPUT:
		return error_errno("cannot read '%s'",
				   options->input ? options->input : "/dev/null");
	case STEP_OUTPUT:
		return error_errno("cannot write '%s'", options->output);
	case STEP_EXEC:
		break;
	}
	return error_new(STATUS_FAILED, "cannot run '%s': %s%s", argv[0], strerror(failure->errnum),
			 hint);
}

/* A pipe whose reading end does not block.  Both ends close on exec and are not 0, 1 or 2. */
static struct error *make_pipe(int ret[2])
{
	int raw[2];

	if (pipe2(raw, O_CLOEXEC) < 0)
		return error_errno("cannot make a pipe");
	for (int i = 0; i < 2; i++) {
		ret[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
		close(raw[i]);
	}
	if (ret[0] < 0 || ret[1] < 0)
		return error_errno("cannot make a pipe");
	fcntl(ret[0], F_SETFL, O_NONBLOCK);
	return NULL;
}

static void close_fd(int *fd)
{
	cleanup_close(fd);
	*fd = -1;
}

static void close_pipe(int fds[2])
{
	close_fd(&fds[0]);
	close_fd(&fds[1]);
}

/*
 * Start the child.  Our memory may be large (the symbols of vmlinux), and fork() would copy its
 * page tables for each program.
 */
static pid_t start_child(const struct program *program, const struct proc_options *options,
			 const int out[2], const int err[2], int failure_fd)
{
	sigset_t all, before;
	pid_t pid, parent = getpid();

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = vfork();
	if (pid == 0)
		become_program(program, options, out, err, failure_fd, parent);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* Make the pipes and fork; *ret_failure is the step at which the child failed (errnum 0: none). */
static struct error *fork_program(const char *const *argv, const struct proc_options *options,
				  int out[2], int err[2], struct child *child,
				  struct start_failure *ret_failure)
{
	int failure_pipe[2] = {-1, -1};
	struct program program;
	struct error *error = NULL;
	ssize_t n;

	if (!options->inherit && !options->output)
		error = make_pipe(out);
	if (!error && !options->inherit && options->keep_stderr_apart)
		error = make_pipe(err);
	if (!error)
		error = make_pipe(failure_pipe);
	if (error)
		goto out;
	fcntl(failure_pipe[0], F_SETFL, 0);

	fflush(NULL); /* our output so far must come before the child's */
	program_init(&program, argv, options);
	child->pid = start_child(&program, options, out, err, failure_pipe[1]);
	program_deinit(&program);
	if (child->pid < 0) {
		error = error_errno("cannot start '%s'", argv[0]);
		goto out;
	}
	/*
	 * Parent and child both make the group, so it exists for the one that goes on first.
	 * EACCES here means that the child has already called exec.
	 */
	setpgid(child->pid, child->pid);
	close_fd(&failure_pipe[1]);
	do
		n = read(failure_pipe[0], ret_failure, sizeof(*ret_failure));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*ret_failure))
		ret_failure->errnum = 0;
out:
	close_pipe(failure_pipe);
	return error;
}

static struct error *child_start(const struct proc_command *command, size_t index,
				 struct child *child)
{
	const struct proc_options *options = &command->options;
	struct start_failure failure = {.errnum = 0};
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	struct error *error;

	*child = (struct child){.index = index, .pid_fd = -1, .out_fd = -1, .err_fd = -1};
	if (verbose)
		show_command(command->argv, options);
	error = fork_program(command->argv, options, out, err, child, &failure);
	if (!error && failure.errnum) {
		waitpid(child->pid, NULL, 0);
		error = start_error(&failure, command->argv, options);
	}
	if (!error) {
		child->pid_fd = syscall(SYS_pidfd_open, child->pid, 0);
		if (child->pid_fd < 0) {
			error = error_errno("cannot watch '%s' (this needs Linux 5.3 or newer)",
					    command->argv[0]);
			kill(-child->pid, SIGKILL);
			waitpid(child->pid, NULL, 0);
		}
	}
	close_fd(&out[1]);
	close_fd(&err[1]);
	if (error) {
		close_pipe(out);
		close_pipe(err);
		return error;
	}
	child->out_fd = out[0];
	child->err_fd = err[0];
	return NULL;
}

/*
 * Read what the pipe holds, and close *fd at its end.  The number of rounds is limited to a full
 * pipe, so a child that writes without end cannot keep us here.
 */
static void collect(int *fd, struct buffer *buffer)
{
	char chunk[65536];
	ssize_t n;

	for (int rounds = 0; *fd >= 0 && rounds < 16; rounds++) {
		n = read(*fd, chunk, sizeof(chunk));
		if (n > 0)
			buffer_add(buffer, chunk, n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EAGAIN)
			return;
		else
			close_fd(fd);
	}
}

/*
 * The child has ended: kill what it left in its group, and take the rest of its output and its
 * status.  Reap it last: until then no other process or group can get its number.
 */
static void child_finish(struct child *child, struct proc_result *result)
{
	siginfo_t info;
	int status;

	while (waitid(P_PID, child->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	kill(-child->pid, SIGKILL);
	collect(&child->out_fd, &result->out);
	collect(&child->err_fd, &result->err);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	close_fd(&child->out_fd);
	close_fd(&child->err_fd);
	close_fd(&child->pid_fd);
}

/* Send SIGTERM to every group, and SIGKILL to those that are still there after a while. */
static void end_children(struct child *children, size_t count, struct proc_result *results)
{
	double limit = now_seconds() + GRACE_SECONDS;

	for (size_t i = 0; i < count; i++)
		kill(-children[i].pid, SIGTERM);
	for (size_t i = 0; i < count; i++) {
		struct pollfd ended = {.fd = children[i].pid_fd, .events = POLLIN};

		while (!(ended.revents & POLLIN) && now_seconds() < limit) {
			/* Empty its pipes: it may block in a write() before it can end. */
			collect(&children[i].out_fd, &results[children[i].index].out);
			collect(&children[i].err_fd, &results[children[i].index].err);
			poll(&ended, 1, 20);
		}
		if (!(ended.revents & POLLIN))
			kill(-children[i].pid, SIGKILL);
		child_finish(&children[i], &results[children[i].index]);
	}
}

#define POLLS_PER_CHILD 3

/* Wait for output, the end of a child, a signal or a tick; collect output and ended children. */
static void wait_for_any(const struct proc_command *commands, struct child *children, size_t *count,
			 struct proc_result *results)
{
	_free_ struct pollfd *polls = xcalloc(*count * POLLS_PER_CHILD + 1, sizeof(*polls));
	int timeout = -1;
	size_t left = 0;

	for (size_t i = 0; i < *count; i++) {
		struct pollfd *p = &polls[i * POLLS_PER_CHILD];

		p[0] = (struct pollfd){.fd = children[i].pid_fd, .events = POLLIN};
		p[1] = (struct pollfd){.fd = children[i].out_fd, .events = POLLIN};
		p[2] = (struct pollfd){.fd = children[i].err_fd, .events = POLLIN};
		if (commands[children[i].index].options.tick)
			timeout = TICK_MS;
	}
	polls[*count * POLLS_PER_CHILD] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
	if (poll(polls, *count * POLLS_PER_CHILD + 1, timeout) < 0)
		return; /* EINTR: the caller checks the flag */

	for (size_t i = 0; i < *count; i++) {
		const struct proc_options *options = &commands[children[i].index].options;
		struct proc_result *result = &results[children[i].index];

		collect(&children[i].out_fd, &result->out);
		collect(&children[i].err_fd, &result->err);
		if (options->tick)
			options->tick(options->tick_data);
		if (!polls[i * POLLS_PER_CHILD].revents) {
			children[left++] = children[i];
			continue;
		}
		child_finish(&children[i], result);
		if (options->ended)
			options->ended(options->ended_data);
	}
	*count = left;
}

struct error *proc_run_all(const struct proc_command *commands, size_t count, unsigned int jobs,
			   struct proc_result *results)
{
	return proc_run_all_while(commands, count, jobs, NULL, NULL, results);
}

struct error *proc_run_all_while(const struct proc_command *commands, size_t count,
				 unsigned int jobs, void (*meanwhile)(void *data), void *data,
				 struct proc_result *results)
{
	size_t started = 0, running = 0;
	struct error *error = NULL;
	struct child *children;

	if (!jobs)
		jobs = proc_jobs();
	memset(results, 0, count * sizeof(*results));
	children = xcalloc(jobs, sizeof(*children));
	while (!error && (started < count || running)) {
		error = proc_check_interrupted();
		if (!error && started < count && running < jobs) {
			error = child_start(&commands[started], started, &children[running]);
			if (!error) {
				started++;
				running++;
			}
		} else if (!error && meanwhile) {
			meanwhile(data);
			meanwhile = NULL;
		} else if (!error) {
			wait_for_any(commands, children, &running, results);
		}
	}
	if (error) {
		end_children(children, running, results);
		for (size_t i = 0; i < count; i++)
			proc_result_deinit(&results[i]);
	}
	free(children);
	return error;
}

struct error *proc_run(const char *const *argv, const struct proc_options *options,
		       struct proc_result *ret)
{
	struct proc_command command = {.argv = argv};

	if (options)
		command.options = *options;
	return proc_run_all(&command, 1, 1, ret);
}

/* How a program failed, with its output if there is any. */
static struct error *status_error(const char *const *argv, const struct proc_result *result)
{
	const struct buffer *said = result->err.length ? &result->err : &result->out;
	size_t length = said->length;
	struct buffer command = {0};
	struct error *error;

	while (length && said->text[length - 1] == '\n')
		length--;
	add_command(&command, argv);
	if (result->status > 128 && result->status <= 128 + SIGRTMAX)
		error = error_new(STATUS_FAILED, "'%s' was killed (%s)%s%.*s", command.text,
				  strsignal(result->status - 128), length ? ":\n" : "", (int)length,
				  length ? said->text : "");
	else
		error = error_new(STATUS_FAILED, "'%s' failed with status %d%s%.*s", command.text,
				  result->status, length ? ":\n" : "", (int)length,
				  length ? said->text : "");
	buffer_deinit(&command);
	return error;
}

struct error *proc_check(const char *const *argv, const struct proc_options *options,
			 struct buffer *ret_out)
{
	struct error *error = NULL;
	struct proc_result result;

	TRY(proc_run(argv, options, &result));
	if (result.status)
		error = status_error(argv, &result);
	if (ret_out)
		*ret_out = error ? (struct buffer){0} : result.out;
	if (ret_out && !error)
		result.out = (struct buffer){0};
	proc_result_deinit(&result);
	return error;
}
