// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls as much of the kernel as a program can without hardware, so that patched functions are
 * run.  Every part stands alone and what it cannot do it leaves: the kernel counts what was run.
 * The first argument is a folder to work in, the second the only part to run.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fuse.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/kd.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/vhost.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

static const char *folder = "/tmp";

static int open_in(const char *name, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, flags, 0644);
}

/* ---- keys -------------------------------------------------------------------------------- */

static void keys(void)
{
	struct keyctl_pkey_params params = { .key_id = KEY_SPEC_SESSION_KEYRING,
					     .in_len = 16,
					     .out_len = 16 };
	char in[16] = "", out[16];

	syscall(SYS_keyctl, KEYCTL_PKEY_ENCRYPT, &params, "", in, out);
}

/* ---- a FUSE server, of one folder ---------------------------------------------------------- */

static void fuse_serve(int fd)
{
	static char request[1 << 17];
	struct fuse_in_header *in = (void *)request;
	struct {
		struct fuse_out_header header;
		union {
			struct fuse_init_out init;
			struct fuse_attr_out attr;
			struct fuse_open_out open;
		};
	} out;

	while (read(fd, request, sizeof(request)) >= (ssize_t)sizeof(*in)) {
		struct fuse_attr_out attr = { .attr = { .ino = 1, .mode = S_IFDIR | 0755, .nlink = 2 } };
		size_t length = 0;

		memset(&out, 0, sizeof(out));
		out.header.unique = in->unique;
		switch (in->opcode) {
		case FUSE_INIT:
			out.init = (struct fuse_init_out){ .major = FUSE_KERNEL_VERSION,
							   .minor = FUSE_KERNEL_MINOR_VERSION,
							   .max_write = 65536 };
			length = sizeof(out.init);
			break;
		case FUSE_GETATTR:
		case FUSE_SETATTR:
			out.attr = attr;
			length = sizeof(out.attr);
			break;
		case FUSE_OPENDIR:
			length = sizeof(out.open);
			break;
		case FUSE_RELEASEDIR:
		case FUSE_READDIR: /* the end */
			break;
		case FUSE_FORGET:
			continue;
		default:
			out.header.error = -ENOSYS;
		}
		out.header.len = sizeof(out.header) + length;
		write(fd, &out, out.header.len);
	}
}

static void fuse(void)
{
	int fd = open("/dev/fuse", O_RDWR);
	char options[100];
	pid_t server;

	if (fd < 0)
		return;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	mkdir("/tmp/fuse", 0755);
	if (mount("workload", "/tmp/fuse", "fuse", 0, options))
		return;
	server = fork();
	if (server == 0) {
		fuse_serve(fd);
		_exit(0);
	}
	close(fd);
	chmod("/tmp/fuse", 0700);
	fd = open("/tmp/fuse", O_RDONLY | O_DIRECTORY);
	close(fd);
	umount2("/tmp/fuse", MNT_DETACH);
	usleep(100000);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	rmdir("/tmp/fuse");
}

/* ---- tasks, timers, futexes, signals ----------------------------------------------------- */

static void *short_thread(void *data)
{
	return data;
}

static void threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 8; i++) {
		if (pthread_create(&thread, NULL, short_thread, NULL) == 0)
			pthread_join(thread, NULL);
		if (fork() == 0)
			_exit(0);
		wait(NULL);
	}
}

static int futex(int *word, int op, int value, void *timeout, int *word2, int value3)
{
	return syscall(SYS_futex, word, op, value, timeout, word2, value3);
}

static int pi_word, requeue_from;

static void *pi_waiter(void *data)
{
	struct timespec soon;
	(void)data;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 200000000;
	if (soon.tv_nsec >= 1000000000) {
		soon.tv_sec++;
		soon.tv_nsec -= 1000000000;
	}
	futex(&pi_word, FUTEX_LOCK_PI, 0, &soon, NULL, 0); /* times out: remove_waiter() */
	return NULL;
}

static void *requeue_waiter(void *data)
{
	struct timespec soon;
	(void)data;

	clock_gettime(CLOCK_MONOTONIC, &soon);
	soon.tv_sec++;
	if (!futex(&requeue_from, FUTEX_WAIT_REQUEUE_PI, 0, &soon, &pi_word, 0))
		futex(&pi_word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
	return NULL;
}

static void futexes(void)
{
	pthread_t thread;

	futex(&pi_word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
	pthread_create(&thread, NULL, pi_waiter, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, requeue_waiter, NULL);
	usleep(200000);
	futex(&requeue_from, FUTEX_CMP_REQUEUE_PI, 1, (void *)1, &pi_word, 0);
	futex(&pi_word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
	pthread_join(thread, NULL);
	/* A robust mutex whose owner dies. */
	if (fork() == 0) {
		static pthread_mutex_t mutex;
		pthread_mutexattr_t attributes;

		pthread_mutexattr_init(&attributes);
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(&mutex, &attributes);
		pthread_mutex_lock(&mutex);
		_exit(0);
	}
	wait(NULL);
}

static void timers(void)
{
	struct itimerspec when = { .it_value.tv_nsec = 5000000, .it_interval.tv_nsec = 5000000 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct timespec nap = { .tv_nsec = 1000000 };
	timer_t timer;

	signal(SIGUSR1, SIG_IGN);
	if (!timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer)) {
		timer_settime(timer, 0, &when, NULL);
		for (volatile long i = 0; i < 20000000; i++)
			;
		timer_delete(timer);
	}
	if (fork() == 0) { /* sleeps on the parent's clock, which does not run */
		clockid_t clock;

		alarm(1);
		clock_getcpuclockid(getppid(), &clock);
		clock_nanosleep(clock, 0, &nap, NULL);
		_exit(0);
	}
	wait(NULL);
	signal(SIGUSR1, SIG_DFL);
}

/* settimeofday() as a 32-bit program calls it; with microseconds that are none. */
static void compat_time(void)
{
	struct {
		int seconds, microseconds;
	} *time = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;

	if (time == MAP_FAILED)
		return;
	time->seconds = 1;
	time->microseconds = 2000000;
	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(79L), "b"(time), "c"(0L)
		     : "memory", "r8", "r9", "r10", "r11");
	munmap(time, 4096);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void memory(void)
{
	size_t huge = 2 << 20;
	char *area = mmap(NULL, 4 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	char *start = (char *)(((uintptr_t)area + huge - 1) & ~(huge - 1)), copy[64];
	struct iovec to = { copy, sizeof(copy) }, from = { area, sizeof(copy) };
	volatile char sum;

	madvise(start, 2 * huge, MADV_HUGEPAGE);
	sum = start[0]; /* the huge zero page */
	start[huge] = 1;
	munmap(start + huge, 4096); /* splits it */
	madvise(start + huge + 8192, 1 << 20, MADV_PAGEOUT);
	process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	munmap(area, 4 * huge);
	area = mmap(NULL, huge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB,
		    -1, 0);
	if (area != MAP_FAILED) {
		area[0] = 1;
		if (fork() == 0)
			_exit(area[0]);
		wait(NULL);
		munmap(area, huge);
	}
	area = mmap(NULL, huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		    -1, 0);
	if (area != MAP_FAILED) {
		area[0] = 1;
		if (fork() == 0)
			_exit(area[0]);
		wait(NULL);
		munmap(area, huge);
	}
	(void)sum;
}

/* ---- files ------------------------------------------------------------------------------------ */

static void ring_once(int ring, struct io_uring_params *p, struct io_uring_sqe *sqes, char *sq,
		      struct io_uring_sqe sqe)
{
	unsigned int *tail = (void *)(sq + p->sq_off.tail);
	unsigned int *array = (void *)(sq + p->sq_off.array);
	unsigned int index = *tail & *(unsigned int *)(sq + p->sq_off.ring_mask);

	sqes[index] = sqe;
	array[index] = index;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static void ring(void)
{
	struct io_uring_params p = { 0 };
	int ring = syscall(SYS_io_uring_setup, 8, &p), file = open("/proc/self/exe", O_RDONLY);
	static char data[4096];
	struct iovec vector = { data, sizeof(data) };
	struct io_uring_sqe *sqes;
	char *sq;

	if (ring < 0)
		return;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, p.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
	for (int i = 0; i < 4; i++) {
		struct io_uring_sqe sqe = { .opcode = i & 1 ? IORING_OP_READV : IORING_OP_READ,
					    .fd = file,
					    .flags = i & 2 ? IOSQE_ASYNC : 0,
					    .addr = i & 1 ? (uintptr_t)&vector : (uintptr_t)data,
					    .len = i & 1 ? 1 : sizeof(data) };
		ring_once(ring, &p, sqes, sq, sqe);
	}
	close(file);
	file = open_in("ring", O_RDWR | O_CREAT);
	for (int i = 0; i < 2; i++) {
		struct io_uring_sqe sqe = { .opcode = IORING_OP_WRITE,
					    .fd = file,
					    .flags = i ? IOSQE_ASYNC : 0,
					    .addr = (uintptr_t)data,
					    .len = sizeof(data) };
		ring_once(ring, &p, sqes, sq, sqe);
	}
	munmap(sqes, p.sq_entries * sizeof(*sqes));
	munmap(sq, p.sq_off.array + p.sq_entries * 4);
	close(file);
	close(ring);
}

static void mounts(void)
{
	int context = syscall(SYS_fsopen, "tmpfs", 0), mount;

	syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	mount = syscall(SYS_fsmount, context, 0, 0);
	close(mount);
	close(context);
}

static void devices(void)
{
	int fd = open("/dev/tty1", O_RDWR | O_NOCTTY), queue = 0;
	struct vhost_vring_state state = { .index = 0, .num = 256 };
	long meta;

	if (fd >= 0) {
		ioctl(fd, KDGKBMETA, &meta);
		ioctl(fd, KDSKBMETA, meta);
		close(fd);
	}
	fd = open("/dev/vhost-net", O_RDWR);
	if (fd >= 0) {
		ioctl(fd, VHOST_SET_OWNER);
		ioctl(fd, VHOST_SET_VRING_NUM, &state);
		close(fd);
	}
	(void)queue;
}

static void audit_send(int fd, int type, const void *data, size_t length)
{
	struct {
		struct nlmsghdr header;
		char data[sizeof(struct audit_rule_data) + 64];
	} message = { .header = { .nlmsg_len = NLMSG_LENGTH(length),
				  .nlmsg_type = type,
				  .nlmsg_flags = NLM_F_REQUEST } };

	memcpy(message.data, data, length);
	send(fd, &message, message.header.nlmsg_len, 0);
}

/* Audit the making of a folder. */
static void audit(void)
{
	struct audit_status on = { .mask = AUDIT_STATUS_ENABLED, .enabled = 1 };
	struct audit_rule_data rule = { .flags = AUDIT_FILTER_EXIT, .action = AUDIT_ALWAYS };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT);

	rule.mask[AUDIT_WORD(SYS_mkdir)] = AUDIT_BIT(SYS_mkdir);
	audit_send(fd, AUDIT_SET, &on, sizeof(on));
	audit_send(fd, AUDIT_ADD_RULE, &rule, sizeof(rule));
	usleep(100000);
	if (fork() == 0)
		_exit(mkdir("/tmp/audited", 0755));
	wait(NULL);
	rmdir("/tmp/audited");
	audit_send(fd, AUDIT_DEL_RULE, &rule, sizeof(rule));
	on.enabled = 0;
	audit_send(fd, AUDIT_SET, &on, sizeof(on));
	close(fd);
}

static void perf(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK };
	int leader = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), member;

	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.inherit = 0;
	member = syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);
	ioctl(leader, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
	usleep(1000);
	close(leader);
	close(member);
}

static const struct part {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "tcp", tcp },		{ "udp", udp },		    { "sockets", other_sockets },
	{ "crypto", crypto },	{ "bpf", bpf_programs },    { "threads", threads },
	{ "futexes", futexes }, { "timers", timers },	    { "compat-time", compat_time },
	{ "memory", memory },	{ "ring", ring },	    { "mounts", mounts },
	{ "devices", devices }, { "perf", perf },	    { "audit", audit },
	{ "sctp", sctp },	{ "tipc", tipc },	    { "ipsec-key", ipsec_key },
	{ "keys", keys },	{ "fuse", fuse },
};

int main(int argc, char **argv)
{
	if (argc > 1)
		folder = argv[1];
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (argc > 2 && strcmp(parts[i].name, argv[2]))
			continue;
		pid_t child = fork();
		int status = 0;

		if (child == 0) {
			alarm(20); /* each part ends, whatever it waits for */
			parts[i].run();
			_exit(0);
		}
		waitpid(child, &status, 0);
		if (status)
			printf("workload %s: status %x\n", parts[i].name, status);
	}
	return 0;
}
