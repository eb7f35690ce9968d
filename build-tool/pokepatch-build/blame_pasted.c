// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that macros put together (##): a compiler's error quotes __SCK__kvm_x86_foo, and the line
 * that a commit removed was KVM_X86_OP(foo).
 */
#include "pokepatch-build/blame_lines.h"

#include <ctype.h>
#include <string.h>

/* A shorter word is a part of too many names. */
#define SHORTEST 4

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is the word a part of the name at one of its ends, with an underscore at its other end? */
static bool is_part(const char *word, size_t length, const char *name)
{
	const size_t whole = strlen(name);

	if (length < SHORTEST || length >= whole)
		return false;
	if (!memcmp(name + whole - length, word, length))
		return name[whole - length - 1] == '_' || word[0] == '_';
	return !memcmp(name, word, length) && (name[length] == '_' || word[length - 1] == '_');
}

/* The length of the longest word of a removed line that is such a part of the name; or 0. */
static size_t longest_part(const struct removal *removal, const char *name)
{
	const char *p = removal->text, *end = p + removal->length;
	size_t longest = 0;

	while (p < end) {
		const char *start = p;

		while (p < end && is_word(*p))
			p++;
		if ((size_t)(p - start) > longest && is_part(start, (size_t)(p - start), name))
			longest = (size_t)(p - start);
		p += p < end;
	}
	return longest;
}

void blame_pasted_word(const struct build *build, const struct unit *unit, const char *name,
		       struct culprits *ret)
{
	const size_t before = ret->list.count;
	size_t longest = 0;

	for (size_t i = 0; i < unit->nr_changed_files; i++) {
		const struct file_blame *file =
			map_get(&build->blame->by_path, unit->changed_files[i]);

		for (size_t j = 0; file && j < file->removals.count; j++) {
			const size_t length = longest_part(&file->removals.list[j], name);

			if (!length || length < longest)
				continue;
			if (length > longest)
				ret->list.count = before;
			longest = length;
			culprits_add(ret, file->removals.list[j].patch);
		}
	}
}
