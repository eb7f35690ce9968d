/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the catalogue's effects share: verdicts, netlink messages, small helpers. */
#ifndef EFFECTS_H
#define EFFECTS_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a test saw; also the exit status. */
enum verdict {
	FIXED = 0,
	AFFECTED = 1,
	BROKEN = 2,		/* neither: the test itself could not be made */
};

struct effect {
	const char *name;	/* of the entry */
	enum verdict (*run)(void);
};

/* Each file's tests, up to one without a name. */
extern const struct effect queue_effects[], link_effects[], socket_effects[], file_effects[],
	exfat_effects[], system_effects[], filter_effects[];

/* broken - say what could not be done, with errno's text if it is set. */
enum verdict broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* judge - what the error number @got of the thing under test means: @fixed or @affected; 0 is
 * success.  Says what it was. */
enum verdict judge(int got, int fixed, int affected);

/* A network namespace for this process alone, with the loopback device up.  False: said why. */
bool new_network(void);

/* write_file - write @text into a file, in one write; 0 or an error number. */
int write_file(const char *path, const char *text);

/* map_users - give the user namespace of @pid one user and one group: 0 is @outside there. */
bool map_users(int pid, unsigned int outside);

/* A child that has run @setup, in namespaces of its own (clone flags), and waits for its end. */
struct helper {
	int pid;
	int pipe;		/* to let it go on */
	int answer;		/* from it: one int */
};

/* helper_start - have a child unshare @flags, wait until it has users (of which 0 is @outside) if it
 * has a user namespace, then run @first, and @then when helper_finish() says so. */
bool helper_start(struct helper *helper, int flags, unsigned int outside, int (*first)(void),
		  int (*then)(void));
/* helper_finish - let it run @then, and end; returns what that returned. */
int helper_finish(struct helper *helper);

/* A netlink message under construction. */
struct message {
	union {
		struct nlmsghdr header;
		char bytes[4096];
	};
};

/* message_begin - with its fixed part. */
void message_begin(struct message *m, int type, int flags, const void *fixed, size_t size);
void message_put(struct message *m, int type, const void *data, size_t size);
void message_put32(struct message *m, int type, uint32_t value);
void message_put8(struct message *m, int type, uint8_t value);
void message_put_text(struct message *m, int type, const char *text);
/* message_nest - an attribute that holds those that follow, up to message_end(). */
size_t message_nest(struct message *m, int type);
void message_end(struct message *m, size_t nest);

/* message_send - returns the kernel's answer: 0 or an error number. */
int message_send(struct message *m, int protocol);

/* message_dump - call @each for each message of the answer until it returns true; false: none did. */
bool message_dump(struct message *m, int protocol,
		  bool (*each)(const struct nlmsghdr *header, void *argument), void *argument);

/* attribute - the first of a type in a row of them; NULL: there is none. */
const struct nlattr *attribute(const void *first, size_t size, int type);
/* attribute_in - in a message behind its fixed part of @size bytes. */
const struct nlattr *attribute_in(const struct nlmsghdr *header, size_t size, int type);
/* attribute_nested - in another one. */
const struct nlattr *attribute_nested(const struct nlattr *outer, int type);
const void *attribute_data(const struct nlattr *attribute);
uint32_t attribute32(const struct nlattr *attribute);

/* link_begin - a request that makes a device of a kind; @data: the kind's own attributes follow, up to
 * two message_end(): of *@data and of *@info. */
void link_begin(struct message *m, const char *name, const char *kind, size_t *info, size_t *data);
/* link_make - send it; returns the device's index, 0: said why not. */
int link_make(struct message *m, const char *name, size_t info, size_t data);
/* dummy_make - a dummy device with this MTU. */
int dummy_make(unsigned int mtu);
/* link_up - switch a device on. */
bool link_up(int index);

/* loop_attach - have a loop device read @path; its own path is written to @device.  The file
 * descriptor, or -1: said why. */
int loop_attach(const char *path, char device[32]);

#endif
