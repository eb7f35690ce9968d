/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the author of a patch: what a changed source file can tell pokepatch-build.
 * pokepatch-build finds it: #include <pokepatch_patch.h>.  See pokepatch_patch(7).
 *
 * The macros stand outside functions.  They leave text in a section that the
 * differ reads and no module gets.
 */
#ifndef POKEPATCH_PATCH_H
#define POKEPATCH_PATCH_H

#define POKEPATCH_NOTE_(text)                                                             \
	asm(".pushsection .pokepatch.notes, \"\", %progbits\n"                            \
	    ".asciz \"" text "\"\n"                                                       \
	    ".popsection")

/*
 * POKEPATCH_ALLOW("code:subject") - go on in spite of that refusal, as with the
 * option --allow of pokepatch-build: the change that is refused is not made, and
 * all else is.  Only some codes can be allowed.
 */
#define POKEPATCH_ALLOW(what) POKEPATCH_NOTE_("allow " what)

/* POKEPATCH_IGNORE_FUNCTION(name) - take this function for unchanged: the old one stays. */
#define POKEPATCH_IGNORE_FUNCTION(name) POKEPATCH_NOTE_("ignore-function " #name)

/*
 * POKEPATCH_IGNORE_SECTION("name") - take what is in this section for unchanged, or,
 * where pokepatch does not know the section, for not there.  Not for code.
 */
#define POKEPATCH_IGNORE_SECTION(name) POKEPATCH_NOTE_("ignore-section " name)

#endif /* POKEPATCH_PATCH_H */
