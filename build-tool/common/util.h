/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every host program needs: memory, strings, growing arrays, a hash, files.
 *
 * An allocation that fails ends the process with a message.  The host programs leave nothing behind
 * that a later run does not repair, so they have nothing to save.  Everything else that can fail
 * returns a struct error.
 */
#ifndef POKEPATCH_UTIL_H
#define POKEPATCH_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/error.h"

/* What a terminal's line is begun with that replaces another (ECMA-48: erase in line). */
#define ERASE_LINE "\r\033[K"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* A variable with one of these attributes is cleaned up at the end of its scope. */
void cleanup_free(void *pointer_to_pointer);
void cleanup_close(int *fd); /* closes if >= 0 */
void cleanup_fclose(FILE **file);
#define _free_ __attribute__((cleanup(cleanup_free)))
#define _close_ __attribute__((cleanup(cleanup_close)))
#define _fclose_ __attribute__((cleanup(cleanup_fclose)))
#define take_pointer(p) /* the pointer, which _free_ no longer frees */                            \
	({                                                                                         \
		__typeof__(p) _taken = (p);                                                        \
		(p) = NULL;                                                                        \
		_taken;                                                                            \
	})

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *xreallocarray(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *xvasprintf(const char *format, va_list arguments)
	__attribute__((format(printf, 1, 0), returns_nonnull));
/* underscored - an allocated copy with '_' for each '-', as the kernel names modules. */
char *underscored(const char *name) __attribute__((malloc, returns_nonnull));
/*
 * one_line - return an allocated text with its control characters written as "\\x0a", so that a
 * name from a file cannot make one message look like two.  Takes over @text.
 */
char *one_line(char *text) __attribute__((returns_nonnull));

/*
 * Growing arrays.  vec_push(&v) returns a pointer to a new zeroed element at the end.  The pointer
 * is valid until the next push.
 */
#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *list;                                                                        \
		size_t count, room;                                                                \
	}
void *vec_grow(void **list, size_t *count, size_t *room, size_t size);
#define vec_push(v)                                                                                \
	((__typeof__((v)->list))vec_grow((void **)&(v)->list, &(v)->count, &(v)->room,             \
					 sizeof(*(v)->list)))
/* vec_reserve - make room for at least so many elements in all. */
void vec_room(void **list, size_t *room, size_t wanted, size_t size);
#define vec_reserve(v, wanted)                                                                     \
	vec_room((void **)&(v)->list, &(v)->room, wanted, sizeof(*(v)->list))
#define vec_deinit(v)                                                                              \
	do {                                                                                       \
		free((v)->list);                                                                   \
		(v)->list = NULL;                                                                  \
		(v)->count = (v)->room = 0;                                                        \
	} while (0)

/* A growing string.  The text ends with a NUL once anything was added, and is NULL before. */
struct buffer {
	char *text;
	size_t length, room;
};
void buffer_add(struct buffer *buffer, const void *bytes, size_t length);
void buffer_add_string(struct buffer *buffer, const char *s);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void buffer_deinit(struct buffer *buffer);

/*
 * A hash from strings to pointers, with open addressing; grows by doubling.  Keys are borrowed and
 * must live as long as the map.  A value may be NULL.
 */
struct map {
	struct map_slot *slots; /* count of them, in the order in which they were added */
	struct map_place *places; /* room of them, a power of two; or NULL */
	size_t count, room;
};
void *map_get(const struct map *map, const char *key);
bool map_has(const struct map *map, const char *key);
/* map_slot - where the value of a key is kept; a new key gets a NULL value. */
void **map_slot(struct map *map, const char *key);
/* map_reserve - make room for so many keys in all, which saves growing step by step. */
void map_reserve(struct map *map, size_t count);
void map_deinit(struct map *map); /* does not free the values */

/* A set of strings that it owns. */
struct string_set {
	struct map map; /* keys are in strings */
	VEC(char *) strings;
};
/* string_set_add - add a copy.  Return: false if the set has it already. */
bool string_set_add(struct string_set *set, const char *string);
bool string_set_has(const struct string_set *set, const char *string);
void string_set_deinit(struct string_set *set);

bool has_prefix(const char *s, const char *prefix);
bool has_suffix(const char *s, const char *suffix);
/* order_strings - for qsort() of a list of char *. */
int order_strings(const void *a, const void *b);

/* Files.  The caller owns the results. */
struct error *file_read(const char *path, char **ret_text, size_t *ret_length); /* adds a NUL */
/* file_write - write atomically: to a temporary file beside it, which is synced and renamed. */
struct error *file_write(const char *path, const void *bytes, size_t length);
/* file_write_unsynced - the same, not synced: for what can be made again, and has a checksum. */
struct error *file_write_unsynced(const char *path, const void *bytes, size_t length);
/*
 * file_write_named - write to where the user said: a file as file_write() does.  A device, a pipe
 * or a link that is there stays, and is written to.
 */
struct error *file_write_named(const char *path, const void *bytes, size_t length);
/* file_write_scratch - write a file of a work folder, which is removed at the end: not synced. */
struct error *file_write_scratch(const char *path, const void *bytes, size_t length);
struct error *file_copy(const char *from, const char *to); /* as file_write(); keeps the mode */
struct error *file_copy_scratch(const char *from, const char *to); /* the same, not synced */
/* file_copy_mode - as file_copy(), but with @mode, whatever the source's mode and the umask are. */
struct error *file_copy_mode(const char *from, const char *to, mode_t mode);
bool file_exists(const char *path);
struct error *make_dirs(const char *path);     /* like mkdir -p */
struct error *remove_tree(const char *path);   /* like rm -rf; @path need not exist */
struct error *temp_dir(char **ret_path);       /* under $TMPDIR, name starts with pokepatch- */

/* sha256_hex - the SHA-256 of bytes as 64 hexadecimal digits and a NUL. */
void sha256_hex(const void *bytes, size_t length, char ret[65]);

/* Seconds on the monotonic clock. */
double now_seconds(void);

#endif /* POKEPATCH_UTIL_H */
