// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict on a unit as bytes: numbers of 64 bits, and texts after their lengths. */
#include "pokepatch-build/verdict.h"

#include <stdlib.h>
#include <string.h>

void unit_verdict_deinit(struct unit_verdict *verdict)
{
	for (size_t i = 0; i < verdict->functions.count; i++) {
		buffer_deinit(&verdict->functions.list[i].hot);
		buffer_deinit(&verdict->functions.list[i].cold);
	}
	vec_deinit(&verdict->functions);
	refusals_deinit(&verdict->refusals);
}

static void put_number(struct buffer *buffer, uint64_t number)
{
	buffer_add(buffer, &number, sizeof(number));
}

static void put_bytes(struct buffer *buffer, const void *bytes, size_t length)
{
	put_number(buffer, length);
	if (length)
		buffer_add(buffer, bytes, length);
}

void unit_verdict_write(const struct unit_verdict *verdict, struct buffer *ret)
{
	put_number(ret, verdict->functions.count);
	for (size_t i = 0; i < verdict->functions.count; i++) {
		const struct function_verdict *function = &verdict->functions.list[i];

		put_number(ret, function->index);
		put_number(ret, function->verified);
		put_bytes(ret, function->hot.text, function->hot.length);
		put_bytes(ret, function->cold.text, function->cold.length);
	}
	put_number(ret, verdict->refusals.count);
	for (size_t i = 0; i < verdict->refusals.count; i++) {
		const struct refusal *refusal = &verdict->refusals.list[i];

		put_bytes(ret, refusal->code, strlen(refusal->code));
		put_bytes(ret, refusal->location, strlen(refusal->location ?: ""));
		put_bytes(ret, refusal->subject, strlen(refusal->subject));
		put_bytes(ret, refusal->text, strlen(refusal->text));
	}
}

/* What is left to read; after an error, nothing. */
struct reader {
	const char *at, *end;
	bool failed;
};

static uint64_t get_number(struct reader *reader)
{
	uint64_t number = 0;

	if ((size_t)(reader->end - reader->at) < sizeof(number)) {
		reader->failed = true;
		return 0;
	}
	memcpy(&number, reader->at, sizeof(number));
	reader->at += sizeof(number);
	return number;
}

static const char *get_bytes(struct reader *reader, size_t *ret_length)
{
	uint64_t length = get_number(reader);
	const char *bytes = reader->at;

	if (length > (uint64_t)(reader->end - reader->at)) {
		reader->failed = true;
		length = 0;
	}
	reader->at += length;
	*ret_length = length;
	return bytes;
}

static char *get_text(struct reader *reader)
{
	size_t length;
	const char *bytes = get_bytes(reader, &length);

	return xstrndup(bytes, length);
}

/* The bytes of a part of a function of the parent: a worker had no text for it yet, nor have we. */
static void get_runs(struct reader *reader, struct comparison *comparison, uint32_t external)
{
	size_t length;
	const char *bytes = get_bytes(reader, &length);

	if (length && external < comparison->nr_texts)
		buffer_add(&comparison->texts[external], bytes, length);
}

static void get_function(struct reader *reader, struct comparison *comparison,
			 struct diff_result *result)
{
	uint64_t index = get_number(reader);
	uint64_t verified = get_number(reader);

	if (index >= result->functions.count)
		reader->failed = true;
	if (reader->failed)
		return;
	struct diff_function *function = &result->functions.list[index];
	function->verified = (enum diff_verified)verified;
	get_runs(reader, comparison, function->old);
	get_runs(reader, comparison, function->old_cold);
}

/* A refusal's code is one of the table's, because it is compared and kept as a pointer. */
static const char *find_code(const char *text)
{
	const struct refusal_code *row = refusal_codes;

	while (row->code && strcmp(row->code, text))
		row++;
	return row->code;
}

static void get_refusal(struct reader *reader, struct refusals *refusals)
{
	char *code _free_ = get_text(reader);
	char *location _free_ = get_text(reader);
	char *subject _free_ = get_text(reader);
	char *text _free_ = get_text(reader);
	const char *known = find_code(code);

	if (!known)
		reader->failed = true;
	if (!reader->failed)
		refusals_add(refusals, known, *location ? location : NULL, subject, "%s", text);
}

struct error *unit_verdict_apply(struct build *build, size_t index, const struct buffer *bytes)
{
	struct comparison *comparison = build->comparison;
	struct reader reader = {.at = bytes->text, .end = bytes->text + bytes->length};
	uint64_t count = get_number(&reader);

	for (uint64_t i = 0; i < count && !reader.failed; i++)
		get_function(&reader, comparison, &comparison->results[index]);
	count = get_number(&reader);
	for (uint64_t i = 0; i < count && !reader.failed; i++)
		get_refusal(&reader, &build->refusals);
	if (reader.failed)
		return error_new(STATUS_FAILED, "%s: the result of verifying it is not whole",
				 build->units[index].source);
	return NULL;
}
