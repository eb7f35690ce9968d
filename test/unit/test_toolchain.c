// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of finding the compiler, the other tools and the flags that built a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "folder.h"
#include "pokepatch-build/toolchain.h"

/* A build folder of an x86-64 kernel, and the kernel's tree, which are one here. */
static void begin(struct build *ret)
{
	*ret = (struct build){.machine = arch_find_debian("amd64")};
	ret->files.kbuild = xstrdup(folder);
	ret->files.cache = xasprintf("%s/cache", folder);
	ret->work = xstrdup(folder);
	ret->tree = xstrdup(folder);
	ret->options.jobs = 1;
}

static void end(struct build *build)
{
	args_deinit(&build->make_variables);
	strings_free(build->make_env);
	free(build->files.kbuild);
	free(build->files.cache);
	free(build->work);
	free(build->tree);
	free(build->cc);
	free(build->user_flags);
}

static void put(const char *name, const char *text)
{
	_free_ char *path = xasprintf("%s/%s", folder, name);
	_free_ char *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	assert_no_error(make_dirs(dir));
	assert_no_error(file_write(path, text, strlen(text)));
}

/* Find the tools, and compare the compiler, and make's variables with a blank behind each. */
static void finds(const char *cc, const char *variables)
{
	struct buffer text = {};
	struct build build;

	begin(&build);
	assert_no_error(toolchain_find(&build));
	assert_string_equal(build.cc, cc);
	buffer_add(&text, "", 0);
	for (size_t i = 0; i < build.make_variables.count; i++)
		buffer_printf(&text, "%s ", build.make_variables.list[i]);
	assert_string_equal(text.text ?: "", variables);
	buffer_deinit(&text);
	end(&build);
}

#define GCC "CONFIG_X=y\nCONFIG_CC_VERSION_TEXT=\"gcc-11 (Debian 11.3.0-12) 11.3.0\"\n"
#define CLANG "CONFIG_X=y\nCONFIG_CC_VERSION_TEXT=\"Debian clang version 19.1.7 (3~deb12u1)\"\n"
#define RECORD(variable, value)                                                                    \
	"\nifneq \"$(" variable ")\" \"" value "\"\ninclude/config/auto.conf: FORCE\nendif\n"

static void test_configuration(void **state)
{
	(void)state;
	put(".config", "CONFIG_X=y\n");
	finds("gcc", "");
	put(".config", GCC);
	finds("gcc-11", "CC=gcc-11 ");
	put(".config", CLANG);
	finds("clang-19", "CC=clang-19 ");
	put(".config", CLANG "CONFIG_LD_IS_LLD=y\n");
	finds("clang-19", "CC=clang-19 LD=ld.lld-19 ");
	put(".kernelvariables", "override CC = gcc-12\n");
	finds("gcc-12", "");
	finds("gcc-12", ""); /* by the kept answer */
	put(".kernelvariables", "override CC = gcc-14\n#\n");
	finds("gcc-14", "");
	put("cache/answer-headers", "damaged");
	finds("gcc-14", "");
}

static void test_record(void **state)
{
	(void)state;
	put(".config", GCC);
	put("include/config/auto.conf.cmd", RECORD("CC", "gcc") RECORD("LD", "ld"));
	finds("gcc", "");
	put("include/config/auto.conf.cmd", RECORD("CC", "/opt/gcc 11/bin/cc"));
	finds("/opt/gcc 11/bin/cc", "CC=/opt/gcc 11/bin/cc ");
	put("include/config/auto.conf.cmd", RECORD("CC", "/usr/bin/ccache gcc-11") RECORD("NM", ""));
	finds("gcc-11", "CC=gcc-11 ");
	put(".config", CLANG);
	put("include/config/auto.conf.cmd",
	    RECORD("CC", "clang-19") RECORD("LD", "ld.lld-19") RECORD("NM", "llvm-nm-19"));
	finds("clang-19", "CC=clang-19 LD=ld.lld-19 NM=llvm-nm-19 ");
	put(".config", CLANG "CONFIG_AS_IS_GNU=y\n");
	put("include/config/auto.conf.cmd", RECORD("CC", "clang-19") RECORD("LD", "ld"));
	finds("clang-19", "CC=clang-19 LLVM_IAS=0 ");
}

/* What the command of the empty unit was when the kernel was built, and the flags found in it. */
static void finds_flags(const char *command, const char *expected)
{
	struct build build;
	_free_ char *text = xasprintf("savedcmd_scripts/mod/empty.o := %s -c -o scripts/mod/empty.o "
				      "scripts/mod/empty.c\n",
				      command);

	put("scripts/mod/.empty.o.cmd", text);
	begin(&build);
	struct args environment = {};
	args_addf(&environment, "PATH=%s", getenv("PATH"));
	build.make_env = environment.list;
	assert_no_error(toolchain_find_flags(&build));
	if (expected)
		assert_string_equal(build.user_flags ?: "none", expected);
	else
		assert_null(build.user_flags);
	end(&build);
}

static void test_flags(void **state)
{
	(void)state;
	put("scripts/Makefile.build",
	    "scripts/mod/empty.o:\n"
	    "\techo CC; gcc -include ./a.h -O2 -g -DX -c -o scripts/mod/empty.o scripts/mod/empty.c\n");
	finds_flags("gcc -include ./a.h -O2 -g -DX", NULL);
	finds_flags("gcc -include ./a.h -O2 -g -O3 -march=x86-64 -DX", "-O3 -march=x86-64");
	/* Once more what is there already, and an option of two words. */
	finds_flags("gcc -include ./a.h -O2 -g -O2 -include b.h -DX", "-O2 -include b.h");
	finds_flags("gcc -include ./a.h -O2 -g '-DY=\"a b\"' -DX", "'-DY=\"a b\"'");
	/* Another path of the same compiler, and a program that runs it, are no flags. */
	finds_flags("ccache /usr/bin/gcc -include ./a.h -O2 -g -DX", NULL);
	/* make O= in a folder of the source. */
	put("include/config/auto.conf.cmd", RECORD("srctree", ".."));
	finds_flags("gcc -include ../a.h -I../include -O2 -g -Os -DX", "-Os");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_configuration, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flags, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
