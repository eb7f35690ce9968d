// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of the argument of --return, of values and types (pokepatch-build/return_value.c), of
 * error numbers, and of what struct arch knows for --return (arch_returns.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/machines.h"
#include "errors.h"
#include "object/object.h"
#include "pokepatch-build/return_value.h"

static void places_are_parts_of_the_argument(void **state)
{
	static const struct {
		const char *text, *module, *file, *function;
	} cases[] = {
		{"f=1", NULL, NULL, "f"},
		{"f", NULL, NULL, "f"},
		{"f.isra.0=1", NULL, NULL, "f.isra.0"},
		{"nf-tables:f=1", "nf_tables", NULL, "f"},
		{"a.c:f=1", NULL, "a.c", "f"},
		{"net/ipv4/tcp.c:f=-EPERM", NULL, "net/ipv4/tcp.c", "f"},
		{"m:x/a.c:f=ERR_PTR(-EPERM)", "m", "x/a.c", "f"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct return_request request;

		assert_no_error(return_request_parse(cases[i].text, &request));
		assert_string_equal(request.module ?: "-", cases[i].module ?: "-");
		assert_string_equal(request.file ?: "-", cases[i].file ?: "-");
		assert_string_equal(request.function, cases[i].function);
		return_request_deinit(&request);
	}
}

static void what_is_no_argument(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"", "no function is named"},
		{"=1", "no function is named"},
		{"m:=1", "no function is named"},
		{"f=", "no value behind the ="},
		{"1f=1", "no function's name"},
		{"f g=1", "no function's name"},
		{":f=1", "nothing in front of a colon"},
		{"m:n:f=1", "two modules"},
		{"a.c:b.c:f=1", "two files"},
		{"a.c:m:f=1", "in front of the file"},
		{"f=1x", "none of these"},
		{"f=0x", "none of these"},
		{"f=--1", "none of these"},
		{"f=+1", "none of these"},
		{"f= 1", "none of these"},
		{"f=EPERM", "none of these"},
		{"f=-E", "none of these"},
		{"f=-Eperm", "none of these"},
		{"f=ERR_PTR(EPERM)", "none of these"},
		{"f=ERR_PTR(-EPERM", "none of these"},
		{"f=null", "none of these"},
		{"f=18446744073709551616", "more than 64 bits"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct return_request request;

		assert_error(return_request_parse(cases[i].text, &request), STATUS_FAILED,
			     cases[i].why);
		return_request_deinit(&request);
	}
}

static const struct return_type types[] = {
	[RETURN_VOID] = {RETURN_VOID, 0, "void"},
	[RETURN_SIGNED] = {RETURN_SIGNED, 4, "int"},
	[RETURN_UNSIGNED] = {RETURN_UNSIGNED, 1, "u8"},
	[RETURN_BOOL] = {RETURN_BOOL, 1, "bool"},
	[RETURN_POINTER] = {RETURN_POINTER, 8, "void *"},
	[RETURN_OTHER] = {RETURN_OTHER, 8, "struct pair"},
};
static const struct return_type long_type = {RETURN_SIGNED, 8, "long"};
static const struct return_type u64_type = {RETURN_UNSIGNED, 8, "u64"};
static const struct return_type wide_type = {RETURN_SIGNED, 16, "__int128"};

/* The value of a type that allows it; a type that does not fails the test. */
static uint64_t fit(const char *value, const struct return_type *type)
{
	char *text = xasprintf("f=%s", value);
	struct return_request request;
	uint64_t bits;

	assert_no_error(return_request_parse(text, &request));
	char *why = return_value_fit(&request.value, type, &arch_x86_64, &bits);
	if (why)
		fail_msg("%s: %s", text, why);
	return_request_deinit(&request);
	free(text);
	return bits;
}

static void unfit(const char *value, const struct return_type *type, const char *part)
{
	char *text = xasprintf("f=%s", value);
	struct return_request request;
	uint64_t bits;

	assert_no_error(return_request_parse(text, &request));
	char *why = return_value_fit(&request.value, type, &arch_x86_64, &bits);
	if (!why || !strstr(why, part) || !strstr(why, type->name))
		fail_msg("%s of %s: %s", text, type->name, why ?: "it fits");
	free(why);
	return_request_deinit(&request);
	free(text);
}

static void values_that_fit(void **state)
{
	(void)state;
	fit("void", &types[RETURN_VOID]);
	assert_int_equal(fit("-EPERM", &types[RETURN_SIGNED]), (uint64_t)-1);
	assert_int_equal(fit("-2147483648", &types[RETURN_SIGNED]), (uint64_t)INT32_MIN);
	assert_int_equal(fit("0x7fffffff", &types[RETURN_SIGNED]), INT32_MAX);
	assert_int_equal(fit("255", &types[RETURN_UNSIGNED]), 255);
	assert_int_equal(fit("-0", &types[RETURN_UNSIGNED]), 0);
	assert_int_equal(fit("true", &types[RETURN_BOOL]), 1);
	assert_int_equal(fit("0", &types[RETURN_BOOL]), 0);
	assert_int_equal(fit("NULL", &types[RETURN_POINTER]), 0);
	assert_int_equal(fit("ERR_PTR(-ENOTSUPP)", &types[RETURN_POINTER]), (uint64_t)-524);
	assert_int_equal(fit("-9223372036854775808", &long_type), (uint64_t)INT64_MIN);
	assert_int_equal(fit("0xffffffffffffffff", &u64_type), UINT64_MAX);
}

static void values_that_do_not_fit(void **state)
{
	(void)state;
	unfit("0", &types[RETURN_VOID], "give no value");
	unfit("void", &types[RETURN_SIGNED], "give a number");
	unfit("NULL", &types[RETURN_SIGNED], "give a number");
	unfit("2147483648", &types[RETURN_SIGNED], "does not hold 2147483648");
	unfit("-2147483649", &types[RETURN_SIGNED], "does not hold -2147483649");
	unfit("256", &types[RETURN_UNSIGNED], "does not hold 256");
	unfit("-EPERM", &types[RETURN_UNSIGNED], "does not hold -1");
	unfit("2", &types[RETURN_BOOL], "true or false");
	unfit("-EPERM", &types[RETURN_BOOL], "true or false");
	unfit("-EPERM", &types[RETURN_POINTER], "ERR_PTR(-ENAME)");
	unfit("0", &types[RETURN_POINTER], "NULL");
	unfit("0", &types[RETURN_OTHER], "integers, pointers and bool");
	unfit("0", &wide_type, "integers, pointers and bool");
	unfit("9223372036854775808", &long_type, "does not hold");
	unfit("-1", &u64_type, "does not hold -1");
}

static void errors_have_the_numbers_of_the_machine(void **state)
{
	(void)state;
	assert_int_equal(arch_error_number(&arch_x86_64, "ENOSYS"), 38);
	assert_int_equal(arch_error_number(&arch_x86_64, "E2BIG"), 7);
	assert_int_equal(arch_error_number(&arch_arm64, "EXFULL"), 54);
	assert_int_equal(arch_error_number(&arch_mips64el, "ENOSYS"), 89);
	assert_int_equal(arch_error_number(&arch_mips64el, "EPERM"), 1);
	assert_int_equal(arch_error_number(&arch_x86_64, "ENOSUCHTHING"), 0);
}

/* Numbers for which a machine has different ways to load them. */
static const uint64_t numbers[] = {0,	       1,	   0x7fff,	 0x8000,      0xffff,
				   0x10000,    0x7fffffff, 0x80000000,	 0xffff0000,  0xffffffff,
				   0x100000000, 0x123456789abcdef0, (uint64_t)-1, (uint64_t)-4095,
				   (uint64_t)INT32_MIN, (uint64_t)INT64_MIN};

static uint32_t little(const uint8_t *code)
{
	return code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
}

/* What the register has after x86-64's instruction. */
static uint64_t run_x86_64(const uint8_t *code, size_t length)
{
	if (length == 5 && code[0] == 0xb8)
		return little(code + 1);
	if (length == 7 && !memcmp(code, "\x48\xc7\xc0", 3))
		return (uint64_t)(int64_t)(int32_t)little(code + 3);
	assert_int_equal(length, 10);
	assert_memory_equal(code, "\x48\xb8", 2);
	return little(code + 2) | (uint64_t)little(code + 6) << 32;
}

static uint64_t run_arm64(const uint8_t *code, size_t length)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length; i += 4) {
		const uint32_t insn = little(code + i);
		const unsigned int shift = 16 * (insn >> 21 & 3);
		const uint64_t field = (uint64_t)(insn >> 5 & 0xffff) << shift;

		assert_int_equal(insn & 31, 0);
		assert_int_equal(insn >> 23 & 0x3f, 0x25);
		switch (insn >> 29 & 3) {
		case 0: /* movn */
			value = ~field;
			break;
		case 2: /* movz */
			value = field;
			break;
		case 3: /* movk */
			value = (value & ~(0xffffull << shift)) | field;
			break;
		default:
			fail_msg("%08x", insn);
		}
		if (!(insn >> 31))
			value &= UINT32_MAX;
	}
	return value;
}

static uint64_t run_mips64el(const uint8_t *code, size_t length)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length; i += 4) {
		const uint32_t insn = little(code + i);

		if (insn >> 16 == 0x3c02)
			value = (uint64_t)(int64_t)(int32_t)(insn << 16);
		else if (insn >> 16 == 0x3442)
			value |= insn & 0xffff;
		else if (insn == 0x00021438)
			value <<= 16;
		else
			fail_msg("%08x", insn);
	}
	return value;
}

static void each_machine_loads_each_number(void **state)
{
	static const struct {
		const struct arch *arch;
		uint64_t (*run)(const uint8_t *code, size_t length);
		bool extends; /* 32 bits in a register are sign-extended */
	} machines[] = {
		{&arch_x86_64, run_x86_64, false},
		{&arch_arm64, run_arm64, false},
		{&arch_mips64el, run_mips64el, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		for (size_t j = 0; j < ARRAY_SIZE(numbers); j++) {
			const struct arch *arch = machines[i].arch;
			uint8_t code[RETURN_LOAD_MAX];
			size_t length = arch->returns.load(arch, numbers[j], 8, code);

			assert_in_range(length, 1, RETURN_LOAD_MAX);
			if (machines[i].run(code, length) != numbers[j])
				fail_msg("%s, %#lx", arch->name, numbers[j]);
			length = arch->returns.load(arch, numbers[j], 4, code);
			const uint64_t found = machines[i].run(code, length);
			if ((uint32_t)found != (uint32_t)numbers[j] ||
			    (machines[i].extends && found != (uint64_t)(int64_t)(int32_t)found))
				fail_msg("%s, 32 bits, %#lx", arch->name, numbers[j]);
		}
}

static void entries_end_where_their_nops_do(void **state)
{
	static const uint8_t nops[] = {0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5};
	static const uint8_t zeroes[24];
	uint8_t guarded[12] = {0x5f, 0x24, 0x03, 0xd5}; /* bti c */

	(void)state;
	memcpy(guarded + 4, nops, sizeof(nops));
	assert_int_equal(arch_x86_64.returns.entry_end(NULL, 20, 0), 5);
	assert_int_equal(arch_x86_64.returns.entry_end(NULL, 20, 4), 9);
	assert_int_equal(arch_x86_64.returns.entry_end(NULL, 4, 0), 0);
	assert_int_equal(arch_arm64.returns.entry_end(nops, 8, 0), 8);
	assert_int_equal(arch_arm64.returns.entry_end(nops, 8, -8), 8);
	assert_int_equal(arch_arm64.returns.entry_end(guarded, 12, 4), 12);
	assert_int_equal(arch_arm64.returns.entry_end(guarded, 12, -8), 12);
	assert_int_equal(arch_arm64.returns.entry_end(guarded, 12, 0), 0);
	assert_int_equal(arch_mips64el.returns.entry_end(zeroes, 24, 0), 16);
	assert_int_equal(arch_mips64el.returns.entry_end(zeroes, 8, 0), 8);
	assert_int_equal(arch_mips64el.returns.entry_end(nops, 8, 0), 0);
}

/* The fields of x86-64's code that KASLR changes, each with its type, as found() is told. */
struct field {
	uint64_t offset, value;
	uint32_t type;
};
struct fields {
	struct field list[8];
	size_t count;
};

static void note_field(void *context, uint64_t offset, uint32_t type, uint64_t value)
{
	struct fields *fields = context;

	assert_true(fields->count < ARRAY_SIZE(fields->list));
	fields->list[fields->count++] = (struct field){offset, value, type};
}

static void fields_that_move_with_the_kernel(void **state)
{
	static const unsigned char code[] =
		"\x48\xc7\xc7\x00\x10\x00\x82"	      /*  0 mov $0xffffffff82001000, %rdi */
		"\x66\x89\x84\x09\xc0\xa3\xa3\x82"    /*  7 mov %ax, ...(%rcx,%rcx): 16 bits */
		"\x65\x66\x8b\x15\x00\x10\x00\x7f"    /* 15 mov %gs:0x1018(%rip), %dx */
		"\x48\x8b\x05\x00\x10\x00\x00"	      /* 23 mov 0x1000(%rip), %rax: stays */
		"\xe8\x00\x10\x00\x00"		      /* 30 call: stays */
		"\x48\xb8\x00\x00\x00\x83\xff\xff\xff\xff" /* 35 movabs $_end, %rax */
		"\xb8\x00\x10\x00\x00"		      /* 45 mov $0x1000, %eax: a number */
		"\x48\x8b\x42\x82";			      /* 50 mov -0x7e(%rdx), %rax */
	static const struct field wanted[] = {
		{3, 0xffffffff82001000, R_X86_64_32S},
		{11, 0xffffffff82a3a3c0, R_X86_64_32S},
		{19, 0x1013, R_X86_64_PC32},
		{37, 0xffffffff83000000, R_X86_64_64},
	};
	const struct image_range image = {0xffffffff81000000, 0xffffffff83000000};
	GElf_Ehdr header = {.e_machine = EM_X86_64};
	struct fields fields = {0};
	struct object object;

	(void)state;
	object_init(&object, &arch_x86_64, &header);
	struct section *text = object_add_section(&object, ".text", SHT_PROGBITS,
						  SHF_ALLOC | SHF_EXECINSTR, 16, 0);
	section_append(text, code, sizeof(code) - 1, 1);
	arch_x86_64.returns.moving_fields(&object, text, 0, sizeof(code) - 1, 0xffffffff81000000,
					  image, note_field, &fields);
	assert_int_equal(fields.count, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < fields.count; i++) {
		assert_int_equal(fields.list[i].offset, wanted[i].offset);
		assert_int_equal(fields.list[i].value, wanted[i].value);
		assert_int_equal(fields.list[i].type, wanted[i].type);
	}
	object_deinit(&object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_parts_of_the_argument),
		cmocka_unit_test(what_is_no_argument),
		cmocka_unit_test(values_that_fit),
		cmocka_unit_test(values_that_do_not_fit),
		cmocka_unit_test(errors_have_the_numbers_of_the_machine),
		cmocka_unit_test(each_machine_loads_each_number),
		cmocka_unit_test(entries_end_where_their_nops_do),
		cmocka_unit_test(fields_that_move_with_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
