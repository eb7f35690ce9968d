// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory, strings, growing arrays, a hash and files; see util.h. */
#include "common/util.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void cleanup_free(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}

void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static void *check_memory(void *p)
{
	static const char message[] = "pokepatch: out of memory\n";

	if (!p) {
		if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
			_exit(STATUS_FAILED);
		_exit(STATUS_FAILED);
	}
	return p;
}

void *xmalloc(size_t size)
{
	return check_memory(malloc(size ?: 1));
}

/* From this size on memory is worth huge pages: each small one costs a fault when it is touched. */
#define HUGE_PAGE (2u << 20)
#define PAGE	  4096u

void *xcalloc(size_t count, size_t size)
{
	char *p = check_memory(calloc(count ?: 1, size ?: 1));

	if (count && size && count >= HUGE_PAGE / size) {
		char *start = p + (-(uintptr_t)p & (PAGE - 1));

		madvise(start, (count * size - (size_t)(start - p)) & ~(size_t)(PAGE - 1),
			MADV_HUGEPAGE); /* a hint: it may fail */
	}
	return p;
}

void *xreallocarray(void *p, size_t count, size_t size)
{
	return check_memory(reallocarray(p, count ?: 1, size ?: 1));
}

char *xstrdup(const char *s)
{
	return check_memory(strdup(s));
}

char *underscored(const char *name)
{
	char *copy = xstrdup(name);

	for (char *p = copy; *p; p++)
		if (*p == '-')
			*p = '_';
	return copy;
}

char *xstrndup(const char *s, size_t n)
{
	return check_memory(strndup(s, n));
}

char *xvasprintf(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	return check_memory(text);
}

char *xasprintf(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *text = xvasprintf(format, arguments);
	va_end(arguments);
	return text;
}

char *one_line(char *text)
{
	struct buffer buffer = {0};
	bool plain = true;

	for (const char *p = text; *p; p++)
		plain &= !iscntrl((unsigned char)*p);
	if (plain)
		return text;
	for (const char *p = text; *p; p++)
		if (iscntrl((unsigned char)*p))
			buffer_printf(&buffer, "\\x%02x", (unsigned char)*p);
		else
			buffer_add(&buffer, p, 1);
	free(text);
	return buffer.text;
}

void vec_room(void **list, size_t *room, size_t wanted, size_t size)
{
	if (wanted <= *room)
		return;
	*room = wanted;
	*list = xreallocarray(*list, wanted, size);
}

void *vec_grow(void **list, size_t *count, size_t *room, size_t size)
{
	if (*count == *room) {
		/* Begin with one: most lists of a large object (a section's atoms) need no more. */
		vec_room(list, room, *room ? *room * 2 : 1, size);
	}
	void *element = (char *)*list + (*count)++ * size;
	memset(element, 0, size);
	return element;
}

static void buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t needed = buffer->length + more + 1;

	if (needed <= buffer->room)
		return;
	while (buffer->room < needed)
		buffer->room = buffer->room ? buffer->room * 2 : 64;
	buffer->text = xreallocarray(buffer->text, buffer->room, 1);
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t length)
{
	buffer_reserve(buffer, length);
	if (length)
		memcpy(buffer->text + buffer->length, bytes, length);
	buffer->length += length;
	buffer->text[buffer->length] = '\0';
}

void buffer_add_string(struct buffer *buffer, const char *s)
{
	buffer_add(buffer, s, strlen(s));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	check_memory(length < 0 ? NULL : text);
	buffer_add(buffer, text, length);
	free(text);
}

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->text);
	*buffer = (struct buffer){0};
}

struct map_slot {
	const char *key;
	void *value;
};

/*
 * Where a hash leads.  Places are small, and slots are filled one after the other, because a map of
 * all symbols of vmlinux costs most of its time for touching memory.
 */
struct map_place {
	uint32_t slot; /* its number + 1; 0: the place is free */
	uint32_t hash;
};

static uint32_t hash_string(const char *s)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3;
	return (uint32_t)(hash ^ hash >> 32);
}

/* The place of a key, or the free one where it belongs. */
static struct map_place *map_find(const struct map *map, const char *key, uint32_t hash)
{
	size_t mask = map->room - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct map_place *place = &map->places[i];

		if (!place->slot ||
		    (place->hash == hash && !strcmp(map->slots[place->slot - 1].key, key)))
			return place;
	}
}

void *map_get(const struct map *map, const char *key)
{
	if (!map->room)
		return NULL;
	const struct map_place *place = map_find(map, key, hash_string(key));
	return place->slot ? map->slots[place->slot - 1].value : NULL;
}

bool map_has(const struct map *map, const char *key)
{
	return map->room && map_find(map, key, hash_string(key))->slot;
}

/* At most half of the places are taken. */
static void map_resize(struct map *map, size_t room)
{
	struct map_place *places = xcalloc(room, sizeof(*places));
	size_t mask = room - 1;

	if (room / 2 > UINT32_MAX - 1)
		check_memory(NULL);
	for (size_t i = 0; i < map->room; i++) {
		size_t to = map->places[i].hash & mask;

		if (!map->places[i].slot)
			continue;
		while (places[to].slot)
			to = (to + 1) & mask;
		places[to] = map->places[i];
	}
	free(map->places);
	map->places = places;
	map->slots = xreallocarray(map->slots, room / 2, sizeof(*map->slots));
	map->room = room;
}

void map_reserve(struct map *map, size_t count)
{
	size_t room = map->room ? map->room : 16;

	while (room / 2 < count)
		room *= 2;
	if (room > map->room)
		map_resize(map, room);
}

void **map_slot(struct map *map, const char *key)
{
	map_reserve(map, map->count + 1);

	uint32_t hash = hash_string(key);
	struct map_place *place = map_find(map, key, hash);
	if (!place->slot) {
		map->slots[map->count] = (struct map_slot){.key = key};
		*place = (struct map_place){.slot = (uint32_t)++map->count, .hash = hash};
	}
	return &map->slots[place->slot - 1].value;
}

void map_deinit(struct map *map)
{
	free(map->slots);
	free(map->places);
	*map = (struct map){0};
}

bool string_set_add(struct string_set *set, const char *string)
{
	char *copy;

	if (map_has(&set->map, string))
		return false;
	copy = *vec_push(&set->strings) = xstrdup(string);
	map_slot(&set->map, copy);
	return true;
}

bool string_set_has(const struct string_set *set, const char *string)
{
	return map_has(&set->map, string);
}

void string_set_deinit(struct string_set *set)
{
	map_deinit(&set->map);
	for (size_t i = 0; i < set->strings.count; i++)
		free(set->strings.list[i]);
	vec_deinit(&set->strings);
}

bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

int order_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool has_suffix(const char *s, const char *suffix)
{
	size_t length = strlen(s), suffix_length = strlen(suffix);

	return length >= suffix_length && !strcmp(s + length - suffix_length, suffix);
}

struct error *file_read(const char *path, char **ret_text, size_t *ret_length)
{
	int fd _close_ = open(path, O_RDONLY | O_CLOEXEC);
	struct buffer buffer = {0};
	struct stat status;

	if (fd < 0)
		return error_errno("cannot open %s", path);
	if (fstat(fd, &status))
		return error_errno("cannot read %s", path);
	buffer_reserve(&buffer, status.st_size > 0 ? status.st_size + 1 : 4096);
	for (;;) {
		buffer_reserve(&buffer, 4096);
		ssize_t got =
			read(fd, buffer.text + buffer.length, buffer.room - buffer.length - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			struct error *error = error_errno("cannot read %s", path);

			buffer_deinit(&buffer);
			return error;
		}
		if (!got)
			break;
		buffer.length += got;
	}
	buffer.text[buffer.length] = '\0';
	*ret_text = buffer.text;
	if (ret_length)
		*ret_length = buffer.length;
	return NULL;
}

static struct error *write_all(int fd, const char *bytes, size_t length, const char *path)
{
	while (length) {
		ssize_t done = write(fd, bytes, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return error_errno("cannot write %s", path);
		bytes += done;
		length -= done;
	}
	return NULL;
}

static struct error *file_write_mode(const char *path, const void *bytes, size_t length,
				     mode_t mode, bool sync)
{
	char *temporary _free_ = xasprintf("%s.XXXXXX", path);
	int fd _close_ = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return error_errno("cannot write %s", path);

	struct error *error = write_all(fd, bytes, length, path);
	if (!error && (fchmod(fd, mode) || (sync && fsync(fd)) || rename(temporary, path)))
		error = error_errno("cannot write %s", path);
	if (error)
		unlink(temporary);
	return error;
}

struct error *file_write_scratch(const char *path, const void *bytes, size_t length)
{
	int fd _close_ = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd < 0 ? error_errno("cannot write %s", path) : write_all(fd, bytes, length, path);
}

static mode_t new_file_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

struct error *file_write(const char *path, const void *bytes, size_t length)
{
	return file_write_mode(path, bytes, length, new_file_mode(), true);
}

struct error *file_write_unsynced(const char *path, const void *bytes, size_t length)
{
	return file_write_mode(path, bytes, length, new_file_mode(), false);
}

struct error *file_write_named(const char *path, const void *bytes, size_t length)
{
	struct stat st;

	if (lstat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return file_write(path, bytes, length);
	return file_write_scratch(path, bytes, length);
}

static struct error *copy(const char *from, const char *to, bool sync)
{
	char *text _free_ = NULL;
	size_t length;
	struct stat status;

	TRY(file_read(from, &text, &length));
	if (stat(from, &status))
		return error_errno("cannot read %s", from);
	return file_write_mode(to, text, length, status.st_mode & 07777, sync);
}

struct error *file_copy(const char *from, const char *to)
{
	return copy(from, to, true);
}

struct error *file_copy_mode(const char *from, const char *to, mode_t mode)
{
	char *text _free_ = NULL;
	size_t length;

	TRY(file_read(from, &text, &length));
	return file_write_mode(to, text, length, mode, true);
}

struct error *file_copy_scratch(const char *from, const char *to)
{
	return copy(from, to, false);
}

bool file_exists(const char *path)
{
	return !access(path, F_OK);
}

struct error *make_dirs(const char *path)
{
	char *part _free_ = xstrdup(path);

	for (char *slash = part + 1; *slash; slash++) {
		if (*slash != '/')
			continue;
		*slash = '\0';
		if (mkdir(part, 0777) && errno != EEXIST)
			return error_errno("cannot make folder %s", part);
		*slash = '/';
	}
	if (mkdir(part, 0777) && errno != EEXIST)
		return error_errno("cannot make folder %s", part);
	return NULL;
}

struct error *remove_tree(const char *path)
{
	char *roots[] = {(char *)path, NULL};
	struct error *error = NULL;
	FTSENT *entry;

	if (!file_exists(path))
		return NULL;
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!tree)
		return error_errno("cannot remove %s", path);
	while (!error && (entry = fts_read(tree))) {
		switch (entry->fts_info) {
		case FTS_D: /* removed at FTS_DP, when it is empty */
			break;
		case FTS_DP:
			if (rmdir(entry->fts_accpath))
				error = error_errno("cannot remove %s", entry->fts_path);
			break;
		default:
			if (unlink(entry->fts_accpath))
				error = error_errno("cannot remove %s", entry->fts_path);
		}
	}
	fts_close(tree);
	return error;
}

struct error *temp_dir(char **ret_path)
{
	char *path = xasprintf("%s/pokepatch-XXXXXX", getenv("TMPDIR") ?: "/tmp");

	if (!mkdtemp(path)) {
		struct error *error = error_errno("cannot make a work folder %s", path);

		free(path);
		return error;
	}
	*ret_path = path;
	return NULL;
}

double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
