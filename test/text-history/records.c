// SPDX-License-Identifier: GPL-2.0-or-later
/* Histories made by hand; see records.h. */
#include <byteswap.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

static void put8(struct synthetic *s, uint8_t value)
{
	buffer_add(&s->bytes, &value, sizeof(value));
}

static void put16(struct synthetic *s, uint16_t value)
{
	value = s->swap ? bswap_16(value) : value;
	buffer_add(&s->bytes, &value, sizeof(value));
}

static void put32(struct synthetic *s, uint32_t value)
{
	value = s->swap ? bswap_32(value) : value;
	buffer_add(&s->bytes, &value, sizeof(value));
}

static void put64(struct synthetic *s, uint64_t value)
{
	value = s->swap ? bswap_64(value) : value;
	buffer_add(&s->bytes, &value, sizeof(value));
}

static void put_bytes(struct synthetic *s, const void *bytes, size_t size, size_t room)
{
	static const uint8_t zeros[64];

	buffer_add(&s->bytes, bytes ? bytes : zeros, size);
	if (room > size)
		buffer_add(&s->bytes, zeros, room - size);
}

/* Texts behind a structure; their places are told before they are put there. */
struct strings {
	struct buffer text;
	size_t fixed; /* size of the structure */
};

static uint32_t string_at(struct strings *strings, const char *text)
{
	uint32_t at = strings->fixed + strings->text.length;

	if (!text)
		return 0;
	buffer_add(&strings->text, text, strlen(text) + 1);
	return at;
}

static size_t rounded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static void begin(struct synthetic *s, unsigned int type, unsigned int flags, uint64_t time,
		  size_t size)
{
	put32(s, rounded(size));
	put16(s, type);
	put16(s, flags);
	put64(s, type == POKEPATCH_HISTORY_INFO ? 0 : ++s->seq);
	put64(s, time);
	put64(s, time + SYNTHETIC_PERF);
	put32(s, 1); /* the CPU */
	put32(s, 0);
}

static void finish(struct synthetic *s, struct strings *strings)
{
	if (strings && strings->text.length) {
		buffer_add(&s->bytes, strings->text.text, strings->text.length);
		buffer_deinit(&strings->text);
	}
	while (s->bytes.length % 8)
		put8(s, 0);
}

void synthetic_info(struct synthetic *s, unsigned int flags)
{
	static const uint8_t build_id[POKEPATCH_HISTORY_BUILD_ID_MAX] = {0xab, 0xcd};
	struct strings strings = {.fixed = sizeof(struct pokepatch_history_info)};
	uint32_t release = string_at(&strings, "6.1.0-test");

	begin(s, POKEPATCH_HISTORY_INFO, flags, SYNTHETIC_BEGAN,
	      strings.fixed + strings.text.length);
	put64(s, POKEPATCH_HISTORY_MAGIC);
	put32(s, POKEPATCH_HISTORY_VERSION);
	put32(s, EM_X86_64);
	put64(s, SYNTHETIC_STEXT);
	put64(s, SYNTHETIC_STEXT);
	put64(s, SYNTHETIC_ETEXT);
	put64(s, 0);
	put64(s, SYNTHETIC_BEGAN);
	put64(s, SYNTHETIC_BEGAN); /* others_ns */
	for (int i = 0; i < 9; i++)
		put64(s, 0);
	put32(s, release);
	put32(s, sizeof(build_id));
	put_bytes(s, build_id, sizeof(build_id), 0);
	put32(s, 0);
	put64(s, 0); /* others_bytes */
	put64(s, 0);
	put64(s, SYNTHETIC_BEGAN + SYNTHETIC_PERF + s->drift);
	put64(s, SYNTHETIC_BEGAN + SYNTHETIC_PERF + s->drift);
	finish(s, &strings);
}

static void put_text_record(struct synthetic *s, const struct synthetic_text *text,
			    unsigned int phase, uint64_t change)
{
	struct strings strings = {.fixed = sizeof(struct pokepatch_history_text)};
	uint32_t symbol = string_at(&strings, text->symbol);
	uint32_t patch = string_at(&strings, text->patch);

	begin(s, POKEPATCH_HISTORY_TEXT, text->flags,
	      phase == POKEPATCH_HISTORY_BEFORE ? text->before : text->after,
	      strings.fixed + strings.text.length);
	put64(s, change);
	put64(s, 0);
	put64(s, text->address);
	put64(s, text->begin);
	put64(s, text->end);
	put64(s, text->begin + SYNTHETIC_PERF);
	put64(s, text->end + SYNTHETIC_PERF);
	put64(s, text->address & ~15ull);
	put8(s, phase);
	put8(s, text->method);
	put8(s, text->size);
	put8(s, POKEPATCH_HISTORY_STORE);
	put32(s, symbol);
	put32(s, text->address & 15);
	put32(s, 0);
	put32(s, patch);
	put32(s, 0);
	put_bytes(s, text->old, text->size, POKEPATCH_HISTORY_BYTES_MAX);
	put_bytes(s, text->new, text->size, POKEPATCH_HISTORY_BYTES_MAX);
	finish(s, &strings);
}

void synthetic_text(struct synthetic *s, const struct synthetic_text *text)
{
	uint64_t change = s->seq + 1;

	if (!text->only_after)
		put_text_record(s, text, POKEPATCH_HISTORY_BEFORE, change);
	else
		s->seq++;
	if (!text->only_before)
		put_text_record(s, text, POKEPATCH_HISTORY_AFTER, change);
	else
		s->seq++;
}

void synthetic_route(struct synthetic *s, const struct synthetic_route *route)
{
	struct strings strings = {.fixed = sizeof(struct pokepatch_history_route)};
	uint32_t symbol = string_at(&strings, route->symbol);
	uint32_t patch = string_at(&strings, route->patch);

	begin(s, POKEPATCH_HISTORY_ROUTE, route->flags, route->end,
	      strings.fixed + strings.text.length);
	put64(s, 0);
	put64(s, route->function);
	put64(s, route->size);
	put64(s, route->site);
	put64(s, route->from);
	put64(s, route->to);
	put64(s, 0);
	put64(s, 0);
	put64(s, route->begin);
	put64(s, route->end);
	put64(s, route->begin + SYNTHETIC_PERF);
	put64(s, route->end + SYNTHETIC_PERF);
	put8(s, POKEPATCH_HISTORY_INT3);
	put8(s, 3);
	put16(s, 0);
	put32(s, symbol);
	put32(s, 0);
	put32(s, patch);
	finish(s, &strings);
}

void synthetic_code(struct synthetic *s, const struct synthetic_code *code)
{
	struct strings strings = {.fixed = sizeof(struct pokepatch_history_code)};
	size_t bytes_size = code->bytes ? code->size : 0;
	uint32_t name, bytes;

	name = string_at(&strings, code->name);
	while (strings.text.length % 8)
		buffer_add(&strings.text, "", 1);
	bytes = strings.fixed + strings.text.length;
	begin(s, code->type, code->flags,
	      code->type == POKEPATCH_HISTORY_APPEAR ? code->born : code->died,
	      bytes + bytes_size);
	put64(s, code->address);
	put64(s, code->size);
	put64(s, code->born);
	put64(s, code->died);
	put64(s, code->born ? code->born + SYNTHETIC_PERF : 0);
	put64(s, code->died ? code->died + SYNTHETIC_PERF : 0);
	put32(s, code->kind);
	put32(s, name);
	put32(s, 0);
	put32(s, bytes_size ? bytes : 0);
	put32(s, bytes_size);
	put32(s, 0);
	if (strings.text.length)
		buffer_add(&s->bytes, strings.text.text, strings.text.length);
	buffer_deinit(&strings.text);
	if (bytes_size)
		buffer_add(&s->bytes, code->bytes, bytes_size);
	finish(s, NULL);
}

void synthetic_symbol(struct synthetic *s, uint64_t address, uint64_t size, uint64_t born,
		      uint64_t died, const char *name, const char *module)
{
	struct strings strings = {.fixed = sizeof(struct pokepatch_history_symbol)};
	uint32_t name_at = string_at(&strings, name), module_at = string_at(&strings, module);

	begin(s, POKEPATCH_HISTORY_SYMBOL, 0, died, strings.fixed + strings.text.length);
	put64(s, address);
	put64(s, size);
	put64(s, born);
	put64(s, died);
	put32(s, POKEPATCH_HISTORY_MODULE_TEXT);
	put32(s, name_at);
	put32(s, module_at);
	put32(s, 0);
	put64(s, born + SYNTHETIC_PERF);
	put64(s, died + SYNTHETIC_PERF);
	finish(s, &strings);
}

void synthetic_transition(struct synthetic *s, uint64_t number, unsigned int phase, uint64_t time,
			  const char *patch)
{
	struct strings strings = {.fixed = sizeof(struct pokepatch_history_transition)};
	uint32_t patch_at = string_at(&strings, patch);

	begin(s, POKEPATCH_HISTORY_TRANSITION, 0, time, strings.fixed + strings.text.length);
	put64(s, number);
	put64(s, 0);
	put32(s, 0);
	put32(s, 1);
	put8(s, phase);
	put8(s, POKEPATCH_HISTORY_ENABLE);
	put16(s, 0);
	put32(s, patch_at);
	put32(s, 0);
	put32(s, 0);
	finish(s, &strings);
}

void synthetic_lost(struct synthetic *s, uint64_t count)
{
	begin(s, POKEPATCH_HISTORY_LOST, 0, 0, sizeof(struct pokepatch_history_lost));
	put64(s, count);
	s->seq += count - 1;
}

static void put_chunk(struct synthetic *s, uint32_t type, uint64_t size)
{
	put32(s, type);
	put32(s, 0);
	put64(s, size);
}

struct buffer synthetic_file(const struct synthetic *s, uint64_t address, const char *text,
			     size_t size, uint64_t end)
{
	struct synthetic file = {.swap = s->swap};

	buffer_add(&file.bytes, "pkphist\x1a", 8);
	put32(&file, 0x01020304);
	put32(&file, 1);
	put64(&file, 0); /* who trusts the file looks at neither size nor sum */
	put_bytes(&file, NULL, 0, 40);
	put_chunk(&file, 1, s->bytes.length);
	buffer_add(&file.bytes, s->bytes.text, s->bytes.length);
	if (size) {
		put_chunk(&file, 2, 40 + size);
		put64(&file, address);
		put64(&file, end);
		put64(&file, end + SYNTHETIC_PERF);
		put64(&file, s->seq);
		put32(&file, size);
		put32(&file, 0);
		buffer_add(&file.bytes, text, size);
		finish(&file, NULL);
	}
	put_chunk(&file, 5, 16);
	put64(&file, end);
	put64(&file, end + SYNTHETIC_PERF);
	return file.bytes;
}

void synthetic_story(struct synthetic *s)
{
	const uint64_t site = SYNTHETIC_STEXT + 0x1000;
	static const char nop[] = "\x0f\x1f\x44\x00\x00", jump[] = "\xe9\xfb\xef\x0f\x3f";
	static const char body[] = "\x55\x48\x89\xe5\x31\xc0\x5d\xc3";
	struct synthetic_text change = {
		.address = site, .old = nop, .new = jump, .size = 5,
		.before = 2000, .begin = 2100, .end = 2110, .after = 2200,
		.method = POKEPATCH_HISTORY_INT3, .flags = POKEPATCH_HISTORY_EXACT,
		.symbol = "victim", .patch = "fix",
	};
	struct synthetic_route route = {
		.function = site, .size = 64, .site = site, .to = SYNTHETIC_MODULE,
		.begin = 2100, .end = 2110, .flags = POKEPATCH_HISTORY_EXACT,
		.symbol = "victim", .patch = "fix",
	};

	synthetic_info(s, POKEPATCH_HISTORY_OTHERS | POKEPATCH_HISTORY_MODULES);
	synthetic_code(s, &(struct synthetic_code){.type = POKEPATCH_HISTORY_APPEAR,
						   .kind = POKEPATCH_HISTORY_MODULE_TEXT,
						   .address = SYNTHETIC_MODULE,
						   .size = 8,
						   .born = 1500,
						   .name = "pokepatch_fix"});
	synthetic_transition(s, 1, POKEPATCH_HISTORY_BEFORE, 1900, "fix");
	synthetic_text(s, &change);
	synthetic_route(s, &route);
	synthetic_transition(s, 1, POKEPATCH_HISTORY_AFTER, 2300, "fix");
	change = (struct synthetic_text){
		.address = site, .old = jump, .new = nop, .size = 5,
		.before = 3000, .begin = 3100, .end = 3150, .after = 3200,
		.method = POKEPATCH_HISTORY_STORE, .symbol = "victim", .patch = "fix",
	};
	route.from = route.to;
	route.to = 0;
	route.begin = 3100;
	route.end = 3150;
	route.flags = 0;
	synthetic_text(s, &change);
	synthetic_route(s, &route);
	synthetic_code(s, &(struct synthetic_code){.type = POKEPATCH_HISTORY_SNAPSHOT,
						   .kind = POKEPATCH_HISTORY_MODULE_TEXT,
						   .address = SYNTHETIC_MODULE,
						   .size = 8,
						   .bytes = body,
						   .born = 1500,
						   .died = 4000,
						   .name = "pokepatch_fix"});
	synthetic_symbol(s, SYNTHETIC_MODULE, 8, 1500, 4000, "victim", "pokepatch_fix");
}
