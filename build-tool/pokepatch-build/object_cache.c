// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Objects kept for the next build; see object_cache.h.  A file is
 *
 *	pokepatch object 1
 *	SHA256 SIZE-OF-OBJECT SIZE-OF-MESSAGES
 *
 * and then the object and the messages.  The checksum is of all that follows it.
 */
#include "pokepatch-build/object_cache.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

#include "common/cache.h"

static const char magic[] = "pokepatch object 1\n";

/* ---- keys ------------------------------------------------------------------- */

char *tool_find(const char *name)
{
	_free_ char *folders = xstrdup(getenv("PATH") ?: "");
	char *rest = folders, *folder;

	if (strchr(name, '/'))
		return realpath(name, NULL);
	while ((folder = strsep(&rest, ":"))) {
		_free_ char *path = xasprintf("%s/%s", *folder ? folder : ".", name);

		if (!access(path, X_OK))
			return realpath(path, NULL);
	}
	return NULL;
}

void tool_describe(struct buffer *text, const char *folder, const char *name)
{
	_free_ char *full = folder && *name != '/' && strchr(name, '/')
				    ? xasprintf("%s/%s", folder, name)
				    : xstrdup(name);
	_free_ char *path = tool_find(full);
	struct stat status = {0};

	if (path && stat(path, &status))
		status = (struct stat){0};
	buffer_printf(text, "program %s %s %lld %lld.%09ld\n", name, path ?: "-",
		      (long long)status.st_size, (long long)status.st_mtim.tv_sec,
		      status.st_mtim.tv_nsec);
}

/* The compiler's own words in a command that begins with "env -i NAME=VALUE". */
static char *const *compiler_words(const struct args *command)
{
	char *const *word = command->list;

	while (*word && (!strcmp(*word, "env") || !strcmp(*word, "-i") || strchr(*word, '=')))
		word++;
	return word;
}

/* Add a word.  Each build has a work folder of its own, so leave its name out. */
static void add_word(const struct build *build, struct buffer *text, const char *word)
{
	const char *found;

	while ((found = strstr(word, build->work))) {
		buffer_add(text, word, (size_t)(found - word));
		buffer_add_string(text, "WORK");
		word = found + strlen(build->work);
	}
	buffer_printf(text, "%s\n", word);
}

void object_cache_key(const struct build *build, const struct args *command, const char *source,
		      char ret[65])
{
	_free_ char *assembler = xasprintf("%sas", build->cross ?: "");
	char *const *words = compiler_words(command);
	struct buffer text = {0};

	buffer_printf(&text, "format %d\ncompiler %s\n", OBJECT_CACHE_FORMAT,
		      build->compiler_version ?: "");
	tool_describe(&text, build->core.dir, *words ?: "");
	tool_describe(&text, NULL, assembler);
	if (build->core.ld)
		tool_describe(&text, NULL, build->core.ld[0]);
	if (build->cc1)
		tool_describe(&text, NULL, build->cc1);
	for (char *const *word = words; *word; word++) {
		add_word(build, &text, *word);
		if (has_prefix(*word, "-B")) { /* where the assembler is (entries.c) */
			_free_ char *own = xasprintf("%s/as", *word + strlen("-B"));

			tool_describe(&text, build->tree, own);
		}
	}
	buffer_printf(&text, "source %s", source);
	sha256_hex(text.text, text.length, ret);
	buffer_deinit(&text);
}

/* ---- files ------------------------------------------------------------------ */

/* Split a file's text.  False: it is damaged. */
static bool split(const char *text, size_t length, const char **ret_object, size_t *ret_size,
		  const char **ret_messages, size_t *ret_messages_size)
{
	const char *sum = text + strlen(magic), *sizes = sum + 64, *end;
	char found[65];

	if (length < strlen(magic) + 64 || memcmp(text, magic, strlen(magic)))
		return false;
	sha256_hex(sizes, length - (size_t)(sizes - text), found);
	if (memcmp(found, sum, 64) || sscanf(sizes, " %zu %zu", ret_size, ret_messages_size) != 2)
		return false;
	end = strchr(sizes, '\n');
	if (!end || length - (size_t)(end + 1 - text) != *ret_size + *ret_messages_size)
		return false;
	*ret_object = end + 1;
	*ret_messages = end + 1 + *ret_size;
	return true;
}

char *object_cache_folder(const struct build *build)
{
	return xasprintf("%s/.pokepatch/objects", build->tree);
}

struct error *object_cache_load(const char *folder, const char *key, const char *object,
				struct buffer *messages, bool *ret)
{
	_free_ char *path = xasprintf("%s/%s", folder, key);
	_free_ char *text = NULL;
	const char *bytes, *said;
	size_t length = 0, size, said_size;

	*ret = false;
	if (!file_exists(path))
		return NULL;
	error_destroy(file_read(path, &text, &length)); /* not readable: as if it was not there */
	if (!text || !split(text, length, &bytes, &size, &said, &said_size))
		return NULL;
	if (object)
		TRY(file_write_scratch(object, bytes, size));
	if (messages && said_size)
		buffer_add(messages, said, said_size);
	utimensat(AT_FDCWD, path, NULL, 0); /* it was used: see object_cache_trim() */
	*ret = true;
	return NULL;
}

/*
 * object_cache_trim() reads a folder only when builds have stored enough in it since the last time:
 * each build would otherwise take time for all objects of earlier ones.  This file in the folder
 * has a byte for each 64 KiB that they stored.  Builds append to it without a lock; if it is
 * missing, object_cache_trim() reads the folder.
 */
static const char growth_name[] = "growth";
enum { GROWTH_UNIT = 64 << 10, GROWTH_LIMIT = OBJECT_CACHE_LIMIT / 16 / GROWTH_UNIT };

static void add_growth(const char *folder, size_t size)
{
	_free_ char *path = xasprintf("%s/%s", folder, growth_name);
	const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	const size_t count = size / GROWTH_UNIT + 1;
	_free_ char *units = xcalloc(count, 1);

	if (fd < 0)
		return;
	/* If that fails, the size is not known. */
	if (write(fd, units, count) != (ssize_t)count)
		unlink(path);
	close(fd);
}

static bool has_grown(const char *folder)
{
	_free_ char *path = xasprintf("%s/%s", folder, growth_name);
	struct stat status;

	return stat(path, &status) || status.st_size >= GROWTH_LIMIT;
}

/* Begin to count again. */
static void forget_growth(const char *folder)
{
	_free_ char *path = xasprintf("%s/%s", folder, growth_name);

	error_destroy(file_write_unsynced(path, "", 0));
}

void object_cache_trim(const struct build *build, const char *folder)
{
	VEC(struct used_file) files = {0};
	DIR *dir = has_grown(folder) ? opendir(folder) : NULL;
	struct dirent *entry;
	uint64_t total = 0, left = 0;

	while (dir && (entry = readdir(dir))) {
		_free_ char *path = xasprintf("%s/%s", folder, entry->d_name);
		struct stat status;

		if (!strcmp(entry->d_name, growth_name) || stat(path, &status) ||
		    !S_ISREG(status.st_mode))
			continue;
		*vec_push(&files) = (struct used_file){take_pointer(path), (uint64_t)status.st_size,
						       status.st_mtim};
	}
	if (!dir)
		return;
	closedir(dir);
	if (files.count)
		qsort(files.list, files.count, sizeof(*files.list), compare_used_files);
	for (size_t i = 0; i < files.count; i++) {
		total += files.list[i].size;
		if (total <= OBJECT_CACHE_LIMIT)
			left = total;
		else if (files.list[i].used.tv_sec < build->begun)
			unlink(files.list[i].path);
		else
			left = total;
		free(files.list[i].path);
	}
	vec_deinit(&files);
	/* Else this build uses more than the limit, and the next one has to look. */
	if (left <= OBJECT_CACHE_LIMIT)
		forget_growth(folder);
}

static struct error *store(const char *folder, const char *key, const char *object,
			   const struct buffer *messages)
{
	_free_ char *path = xasprintf("%s/%s", folder, key);
	_free_ char *bytes = NULL;
	struct buffer rest = {0}, text = {0};
	struct error *error;
	size_t size = 0;
	char sum[65];

	TRY(make_dirs(folder));
	if (object)
		TRY(file_read(object, &bytes, &size));
	buffer_printf(&rest, " %zu %zu\n", size, messages ? messages->length : 0);
	buffer_add(&rest, bytes ?: "", size);
	if (messages && messages->length)
		buffer_add(&rest, messages->text, messages->length);
	sha256_hex(rest.text, rest.length, sum);
	buffer_printf(&text, "%s%s", magic, sum);
	buffer_add(&text, rest.text, rest.length);
	error = file_write_unsynced(path, text.text, text.length);
	if (!error)
		add_growth(folder, text.length);
	buffer_deinit(&rest);
	buffer_deinit(&text);
	return error;
}

void object_cache_store(const char *folder, const char *key, const char *object,
			const struct buffer *messages)
{
	error_destroy(store(folder, key, object, messages));
}
