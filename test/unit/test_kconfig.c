// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of what a change to a Kconfig file does to a configuration
 * (pokepatch-build/kconfig.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "folder.h"
#include "pokepatch-build/kconfig_text.h"

/* ON is y, MOD is m, SIZE is 64, NAME is a string; what is not here is off. */
static const char configuration[] = "# made by hand\n"
				    "CONFIG_MODULES=y\n"
				    "CONFIG_ON=y\n"
				    "CONFIG_ON2=y\n"
				    "CONFIG_64BIT=y\n"
				    "CONFIG_MOD=m\n"
				    "CONFIG_SIZE=64\n"
				    "CONFIG_NAME=\"a \\\"b\\\"\"\n"
				    "CONFIG_CHOSEN=y\n";

static void values_read(struct kconfig_values *ret)
{
	assert_no_error(file_write(file, configuration, strlen(configuration)));
	assert_no_error(kconfig_values_read(file, ret));
}

struct change {
	const char *old, *new;
	const char *reason; /* what the reason begins with; NULL: nothing can change */
};

static void judge(const struct change *changes, size_t count)
{
	struct kconfig_values values;

	values_read(&values);
	for (size_t i = 0; i < count; i++) {
		const struct change *change = &changes[i];
		_free_ char *reason = kconfig_judge(&values, folder, change->old, change->new);

		if (!change->reason && reason)
			fail_msg("%zu: unexpected: %s", i, reason);
		if (change->reason && (!reason || strcmp(reason, change->reason)))
			fail_msg("%zu: %s, and not %s", i, reason ?: "nothing", change->reason);
	}
	kconfig_values_deinit(&values);
}
#define JUDGE(changes) judge(changes, ARRAY_SIZE(changes))

static void test_expressions(void **state)
{
	static const struct {
		const char *text;
		enum kconfig_value value;
	} cases[] = {
		{"ON", KCONFIG_Y},
		{"OFF", KCONFIG_N},
		{"MOD", KCONFIG_M},
		{"m", KCONFIG_M},
		{"64BIT", KCONFIG_Y},
		{"!OFF", KCONFIG_Y},
		{"!MOD", KCONFIG_M},
		{"ON && MOD", KCONFIG_M},
		{"OFF || MOD", KCONFIG_M},
		{"OFF && ON || ON", KCONFIG_Y},
		{"OFF && (ON || ON)", KCONFIG_N},
		{"!(OFF || MOD)&&ON", KCONFIG_M},
		{"MOD = m", KCONFIG_Y},
		{"MOD!=m", KCONFIG_N},
		{"OFF = n", KCONFIG_Y},
		{"SIZE = 64", KCONFIG_Y},
		{"SIZE >= 65", KCONFIG_N},
		{"SIZE < 0x41", KCONFIG_Y},
		{"SIZE > 9", KCONFIG_Y},
		{"NAME = 'a \"b\"'", KCONFIG_Y},
		{"OFF = \"\"", KCONFIG_UNKNOWN},
		{"$(cc-option,-m(x) y)", KCONFIG_UNKNOWN},
		{"$(cc-option,-mx) && OFF", KCONFIG_N},
		{"$(cc-option,-mx) || ON", KCONFIG_Y},
		{"\"$(ARCH)\" = \"x86\"", KCONFIG_UNKNOWN},
		{"ON &&", KCONFIG_UNKNOWN},
		{"ON OFF", KCONFIG_UNKNOWN},
		{"(OFF", KCONFIG_UNKNOWN},
	};
	struct kconfig_values values;

	(void)state;
	values_read(&values);
	assert_int_equal(kconfig_evaluate(&values, NULL), KCONFIG_Y);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (kconfig_evaluate(&values, cases[i].text) != cases[i].value)
			fail_msg("%s is not %d", cases[i].text, cases[i].value);
	kconfig_values_deinit(&values);
}

#define ON "config ON\n\tbool \"on\"\n"
#define HELP "\thelp\n\t  Help.\n\n\t  config OFF\n\t  default y\n"

static void test_texts_for_users(void **state)
{
	static const struct change changes[] = {
		{ON, ON, NULL},
		{ON, "# comment\n\nconfig  ON # more\n  bool 'off'\n" HELP, NULL},
		{ON "\tdepends on ON2 && 64BIT\n", ON "\tdepends on ON2 \\\n\t\t&& 64BIT\n", NULL},
		{ON, "menu \"if a menu\"\n\tvisible if ON2\n" ON "endmenu\ncomment \"c\"\n", NULL},
		/* The order does not matter. */
		{ON "config OFF\n\tbool\n", "config OFF\n\tbool\n" ON, NULL},
	};

	(void)state;
	JUDGE(changes);
}

static void test_symbols_that_are_set(void **state)
{
	static const struct change changes[] = {
		{ON, "", "CONFIG_ON=y would be removed"},
		{ON, ON "\tdepends on OFF\n", "CONFIG_ON=y would be removed"},
		{ON, ON "\tdepends on MOD\n", "CONFIG_ON=y: what it depends on changes"},
		{ON, "if MOD\n" ON "endif\n", "CONFIG_ON=y: what it depends on changes"},
		{ON, "menu \"m\"\n\tdepends on MOD\n" ON "endmenu\n",
		 "CONFIG_ON=y: what it depends on changes"},
		{ON, ON "\tdepends on $(cc-option,-mx)\n",
		 "CONFIG_ON=y: what it depends on changes"},
		{ON, "config ON\n\ttristate \"on\"\n", "CONFIG_ON=y: its type changes"},
		{ON, ON "\tdefault y\n", "CONFIG_ON=y: its default changes"},
		{ON, "config ON\n\tbool\n", "CONFIG_ON=y: when it can be chosen changes"},
		{ON, "config ON\n\tbool \"on\" if OFF\n",
		 "CONFIG_ON=y: when it can be chosen changes"},
		{"config ON\n\tdef_bool y\n", "config ON\n\tdef_bool OFF\n",
		 "CONFIG_ON=y: its default changes"},
		{"config SIZE\n\tint\n\trange 1 64\n", "config SIZE\n\tint\n\trange 1 63\n",
		 "CONFIG_SIZE=64: its range changes"},
		{"config SIZE\n\tint\n\tdefault 64\n", "config SIZE\n\tint\n\tdefault 32\n",
		 "CONFIG_SIZE=64: its default changes"},
		/* The new text has another value for nothing. */
		{ON, ON "\tdepends on ON2 || OFF\n\tdepends on !OFF\n", NULL},
		{ON, "if ON2\n" ON "endif\n", NULL},
		{ON, "config ON\n\tbool \"on\" if ON2\n\tdefault y if OFF\n", NULL},
		{"config SIZE\n\tint\n\tdefault 64\n",
		 "config SIZE\n\tint\n\tdefault 1 if OFF\n\tdefault SIZE\n", NULL},
	};

	(void)state;
	JUDGE(changes);
}

#define OFF "config OFF\n\tbool \"off\"\n"

static void test_symbols_that_are_off(void **state)
{
	static const struct change changes[] = {
		{"", OFF, NULL},
		{OFF, "", NULL},
		{OFF, OFF "\tdepends on ON\n", NULL},
		{OFF, OFF "\tselect OTHER\n", NULL},
		{OFF, OFF "\tdefault n\n", NULL},
		{OFF, OFF "\tdefault OTHER\n", NULL},
		{"", OFF "\tdepends on OTHER\n\tdefault y\n", NULL},
		{"", OFF "\tdefault y\n", "CONFIG_OFF is not set, and would be by its default"},
		{OFF, OFF "\tdefault ON if MOD\n",
		 "CONFIG_OFF is not set, and would be by its default"},
		{OFF, OFF "\tdefault n if OTHER\n\tdefault y\n",
		 "CONFIG_OFF is not set, and would be by its default"},
		{OFF, OFF "\tdefault n if ON\n\tdefault y\n", NULL},
		{OFF "\tdefault y\n\tdepends on OTHER\n", OFF "\tdefault y\n",
		 "CONFIG_OFF is not set, and would be by its default"},
		{"", "config NEW\n\tint \"new\"\n",
		 "CONFIG_NEW is not set, and would be by its default"},
		{"", "if OTHER\nconfig NEW\n\tint \"new\"\nendif\n", NULL},
	};

	(void)state;
	JUDGE(changes);
}

static void test_select(void **state)
{
	static const struct change changes[] = {
		{ON, ON "\tselect OFF\n", "CONFIG_OFF: CONFIG_ON would select it"},
		{ON, ON "\timply OFF if MOD\n", "CONFIG_OFF: CONFIG_ON would imply it"},
		{ON, ON "\tselect OFF if OTHER\n", NULL},
		{ON, ON "\tselect ON2\n", NULL},
		{ON, ON "\tselect MOD\n", "CONFIG_MOD: CONFIG_ON would select it"},
		{ON, ON "\tselect MOD if MOD\n", NULL},
		{ON, ON "\tselect OFF if $(cc-option,-mx)\n",
		 "CONFIG_OFF: CONFIG_ON would select it"},
		{ON "\tselect ON2\n", ON, "CONFIG_ON2: CONFIG_ON would no longer select it"},
		{ON "\tselect OFF if OTHER\n", ON, NULL},
		{"config MOD\n\ttristate\n", "config MOD\n\ttristate\n\tselect MOD2\n",
		 "CONFIG_MOD2: CONFIG_MOD would select it"},
		/* m selects no more than m. */
		{"config MOD\n\ttristate\n", "config MOD\n\ttristate\n\timply MOD\n", NULL},
	};

	(void)state;
	JUDGE(changes);
}

#define CHOICE(more) "choice\n\tprompt \"c\"\n" more "config CHOSEN\n\tbool \"a\"\n"
#define REJECTED "config REJECTED\n\tbool \"b\"\n"

static void test_choices(void **state)
{
	static const struct change changes[] = {
		{CHOICE("") REJECTED "endchoice\n",
		 CHOICE("\thelp\n\t  h\n") REJECTED "endchoice\n", NULL},
		{CHOICE("") REJECTED "endchoice\n", CHOICE("") "endchoice\n",
		 "CONFIG_CHOSEN=y: the choice that it belongs to changes"},
		{CHOICE("") REJECTED "endchoice\n",
		 CHOICE("\tdefault REJECTED\n") REJECTED "endchoice\n",
		 "CONFIG_CHOSEN=y: the choice that it belongs to changes"},
		{CHOICE("") "endchoice\n", CHOICE("") REJECTED "\tdepends on OFF\nendchoice\n",
		 NULL},
		{"", "choice\n" REJECTED "endchoice\n",
		 "CONFIG_REJECTED is not set, and the choice that it belongs to changes"},
		{"", "choice\n\tdepends on OFF\n" REJECTED "endchoice\n", NULL},
	};

	(void)state;
	JUDGE(changes);
}

static void test_structure(void **state)
{
	static const struct change changes[] = {
		{"", "source \"is/new\"\n", NULL},
		{"", "source \"object.o\"\n", "\"object.o\": whether this file is read changes"},
		{"source \"object.o\"\n", "if OFF\nsource \"object.o\"\nendif\n",
		 "\"object.o\": whether this file is read changes"},
		{"source \"object.o\"\n", "if ON\nsource \"object.o\"\nendif\n", NULL},
		{"", "source \"$(ARCH)/x\"\n", "\"$(ARCH)/x\": whether this file is read changes"},
		{"x := y\n", "x := z\n", "its macros change"},
		{"", "$(error-if,y,no)\n", "its macros change"},
		{ON, ON "endif\n", "line 3 is not understood"},
		{ON, "if ON\n" ON, "line 3 is not understood"},
		{ON, ON "\tdepend on X\n", "line 3 is not understood"},
		{ON "bad line\n", ON, "line 3 of the kernel's file is not understood"},
	};

	(void)state;
	JUDGE(changes);
}

/* A symbol can have several entries, and each counts. */
static void test_several_entries(void **state)
{
	static const struct change changes[] = {
		{ON "config ON\n\tdefault y if OFF\n", ON "config ON\n\tdefault y if ON2\n",
		 "CONFIG_ON=y: its default changes"},
		{ON "if OFF\n" ON "endif\n", ON, NULL},
		{ON "\tselect ON2\nconfig ON\n\tbool\n", ON "config ON\n\tbool\n\tselect ON2\n",
		 NULL},
	};

	(void)state;
	JUDGE(changes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_expressions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_texts_for_users, setup, teardown),
		cmocka_unit_test_setup_teardown(test_symbols_that_are_set, setup, teardown),
		cmocka_unit_test_setup_teardown(test_symbols_that_are_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_select, setup, teardown),
		cmocka_unit_test_setup_teardown(test_choices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_structure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_entries, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
