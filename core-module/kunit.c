// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of those parts of the core that need neither a patch nor code that runs.  They are
 * built with POKEPATCH_KUNIT=1, for a kernel with KUnit, and run when the core is loaded.  What an
 * architecture provides is tested by what must hold on every machine.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>

#include <pokepatch_format.h>

#include "arch/pp_arch.h"
#include "marker.h"
#include "module_memory.h"
#include "place.h"
#include "pp_time.h"
#include "site.h"

#define GUARD 0x5a

static void kunit_modes(struct kunit *test)
{
	unsigned int nr = 0;
	u32 i, mode;

	for (i = 0; i < 64; i++) {
		char line[32];

		if (!pp_mode_known(i))
			continue;
		nr++;
		snprintf(line, sizeof(line), "%s\n", pp_mode_name(i)); /* as echo writes it */
		KUNIT_EXPECT_EQ(test, pp_mode_parse(line, &mode), 0);
		KUNIT_EXPECT_EQ(test, mode, i);
	}
	KUNIT_EXPECT_GE(test, nr, 2u);
	KUNIT_EXPECT_FALSE(test, pp_mode_known(U32_MAX));
	mode = 77;
	KUNIT_EXPECT_EQ(test, pp_mode_parse("", &mode), -EINVAL);
	KUNIT_EXPECT_EQ(test, pp_mode_parse("entr", &mode), -EINVAL);
	KUNIT_EXPECT_EQ(test, pp_mode_parse("entry-", &mode), -EINVAL);
	KUNIT_EXPECT_EQ(test, mode, 77u);
	KUNIT_EXPECT_EQ(test, pp_mode_number(&pp_entry_mode), (u32)POKEPATCH_MODE_ENTRY);
	KUNIT_EXPECT_EQ(test, pp_mode_number(NULL), (u32)POKEPATCH_MODE_AUTO);
}

static void kunit_regions(struct kunit *test)
{
	const struct pp_region region = { 100, 200 };

	KUNIT_EXPECT_TRUE(test, pp_region_holds(region, 100, 100));
	KUNIT_EXPECT_TRUE(test, pp_region_holds(region, 199, 1));
	KUNIT_EXPECT_FALSE(test, pp_region_holds(region, 99, 1));
	KUNIT_EXPECT_FALSE(test, pp_region_holds(region, 199, 2));
	KUNIT_EXPECT_FALSE(test, pp_region_holds(region, 200, 1));
	KUNIT_EXPECT_FALSE(test, pp_region_holds(region, 101, 100));
	/* Sizes with which the end overflows. */
	KUNIT_EXPECT_FALSE(test, pp_region_holds(region, 150, ULONG_MAX));
	KUNIT_EXPECT_FALSE(test, pp_region_holds(region, 150, ULONG_MAX - 149));
	KUNIT_EXPECT_FALSE(test, pp_region_holds(region, ULONG_MAX, 2));
}

static void kunit_times(struct kunit *test)
{
	const struct pp_time early = { .mono = 5, .perf = 9 }, late = { .mono = 7, .perf = 8 };
	const struct pp_time time = pp_later(late, &early);

	KUNIT_EXPECT_EQ(test, time.mono, 7ull);
	KUNIT_EXPECT_EQ(test, time.perf, 9ull);
}

/* Every length and alignment of both sides, with bytes around that must stay. */
static void kunit_copies(struct kunit *test)
{
	u8 from[64], to[80];
	unsigned int len, at, i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = i + 1;
	for (len = 0; len <= 48; len++) {
		for (at = 0; at < 64; at++) {
			u8 *field = to + 8 + at % 8;
			const u8 *source = from + at / 8;

			memset(to, GUARD, sizeof(to));
			pp_copy_short(field, source, len);
			KUNIT_ASSERT_EQ(test, memcmp(field, source, len), 0);
			KUNIT_ASSERT_PTR_EQ(test, memchr_inv(to, GUARD, field - to), NULL);
			KUNIT_ASSERT_PTR_EQ(test, memchr_inv(field + len, GUARD,
							     to + sizeof(to) - field - len), NULL);
		}
	}
}

static void kunit_labels(struct kunit *test)
{
	const struct pp_label name = pp_label("function_of_some_length"), none = pp_label(NULL);
	char record[64];
	unsigned int at = 16;

	memset(record, GUARD, sizeof(record));
	KUNIT_EXPECT_EQ(test, pp_label_put(record, &at, &none), 0u);
	KUNIT_EXPECT_EQ(test, at, 16u);
	KUNIT_EXPECT_EQ(test, pp_label_put(record, &at, &name), 16u);
	KUNIT_EXPECT_EQ(test, at, 16u + name.len);
	KUNIT_EXPECT_STREQ(test, record + 16, name.text);
	KUNIT_EXPECT_EQ(test, (u8)record[at], GUARD);
}

/*
 * Of each type of relocation: checking and writing agree; a value that does not fit changes
 * nothing; nothing but the field is written; and what was written before does not matter.
 */
static void kunit_reloc(struct kunit *test, u32 type)
{
	const unsigned long place = (unsigned long)&kunit_reloc & ~63ul;
	const unsigned long values[] = { place, place + 0x1000, place - 0x1000, 0, ULONG_MAX,
					 place ^ (1ul << 40), place + 0x7ffffff8ul, 0x12345678ul };
	const unsigned int width = pp_arch.reloc.width(type);
	u8 field[24] __aligned(8), first[24];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		const int checked = pp_arch.reloc.apply(type, place, values[i], NULL);

		memset(field, 0, sizeof(field));
		memset(field + width, GUARD, sizeof(field) - width);
		memcpy(first, field, sizeof(field));
		KUNIT_ASSERT_EQ(test, pp_arch.reloc.apply(type, place, values[i], field), checked);
		KUNIT_ASSERT_PTR_EQ(test, memchr_inv(field + width, GUARD, sizeof(field) - width),
				    NULL);
		if (!width)
			KUNIT_ASSERT_EQ(test, checked, -ENOEXEC);
		if (checked) {
			KUNIT_ASSERT_EQ(test, memcmp(field, first, sizeof(field)), 0);
			continue;
		}
		memcpy(first, field, sizeof(field));
		pp_arch.reloc.apply(type, place, place + 0x40, field);
		KUNIT_ASSERT_EQ(test, pp_arch.reloc.apply(type, place, values[i], field), 0);
		KUNIT_ASSERT_EQ(test, memcmp(field, first, sizeof(field)), 0);
	}
}

static void kunit_relocs(struct kunit *test)
{
	unsigned int known = 0;
	u32 type;

	for (type = 0; type < 2048; type++) {
		known += pp_arch.reloc.width(type) != 0;
		kunit_reloc(test, type);
	}
	KUNIT_EXPECT_GE(test, known, 4u);
	KUNIT_EXPECT_EQ(test, pp_arch.reloc.width(U32_MAX), 0u);
}

/* The instruction of an entry: one for each target, the same each time, and never longer. */
static void kunit_entries(struct kunit *test)
{
	const unsigned long ip = (unsigned long)&kunit_entries & ~63ul;
	u8 nop[16], near[16], other[16], far[16];
	const unsigned int size = pp_arch.entry.size;
	int ret;

	KUNIT_ASSERT_LE(test, size, 8u);
	memset(nop, GUARD, sizeof(nop));
	memset(near, GUARD, sizeof(near));
	memset(other, GUARD, sizeof(other));
	memset(far, GUARD, sizeof(far));
	KUNIT_ASSERT_EQ(test, pp_arch.entry.insn(ip, 0, nop), 0);
	KUNIT_ASSERT_EQ(test, pp_arch.entry.insn(ip, ip + 0x4000, near), 0);
	KUNIT_ASSERT_EQ(test, pp_arch.entry.insn(ip + 0x40, ip + 0x40 + 0x4000, other), 0);
	KUNIT_EXPECT_NE(test, memcmp(nop, near, size), 0);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(nop + size, GUARD, sizeof(nop) - size), NULL);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(near + size, GUARD, sizeof(near) - size), NULL);
	ret = pp_arch.entry.insn(ip, ip ^ (1ul << 45), far);
	KUNIT_EXPECT_TRUE(test, ret == 0 || ret == -ERANGE);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(far + size, GUARD, sizeof(far) - size), NULL);
}

static void kunit_marker_types(struct kunit *test)
{
	static const struct {
		const char *format, *types;
	} cases[] = {
		{ "", "" },
		{ "no argument, 100 %%", "" },
		{ "%d %i %u %x %X %o", "iiuuuu" },
		{ "%ld %lu %lld %llx %zd %zu %jd %tu", "lwlwlwlw" },
		{ "%hd %hhu %c", "iuc" },
		{ "%s %-20s %p %pI4:%u %pS", "ssppup" },
		{ "%5.3d %#llx %+d % d %05u", "iwiiu" },
		{ "%*d %.*s %-*.*x", "iiisiiu" },
		{ "the end %", "" },
		{ "%d%d%d%d%d%d%d%d%d%d%d%d%s%s", "iiiiiiiiiiii" },
	};
	char types[POKEPATCH_MARK_ARGS + 1];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(types, 0, sizeof(types));
		KUNIT_EXPECT_EQ(test, pp_marker_types(cases[i].format, types),
				(unsigned int)strlen(cases[i].types));
		KUNIT_EXPECT_STREQ(test, (const char *)types, cases[i].types);
	}
}

static struct kunit_case kunit_cases[] = {
	KUNIT_CASE(kunit_modes),
	KUNIT_CASE(kunit_regions),
	KUNIT_CASE(kunit_times),
	KUNIT_CASE(kunit_copies),
	KUNIT_CASE(kunit_labels),
	KUNIT_CASE(kunit_relocs),
	KUNIT_CASE(kunit_entries),
	KUNIT_CASE(kunit_marker_types),
	{}
};

static struct kunit_suite kunit_suite = {
	.name = "pokepatch",
	.test_cases = kunit_cases,
};
kunit_test_suite(kunit_suite);
