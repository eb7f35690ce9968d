/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Short answers of programs that every build would ask, kept in the kernel's folder in the cache:
 * answer-NAME has a checksum of question and answer, and then the answer.
 */
#ifndef POKEPATCH_ANSWERS_H
#define POKEPATCH_ANSWERS_H

#include "pokepatch-build/build.h"

/*
 * answer_find - the kept answer to a question; NULL: there is none, or it is damaged, or it is the
 * answer to another question.  The caller frees it.
 * @name: of the file; each question has one
 * @question: all that the answer depends on
 */
char *answer_find(const struct build *build, const char *name, const char *question);
/* answer_keep - keep an answer; if that is not possible, the next build asks again. */
void answer_keep(const struct build *build, const char *name, const char *question,
		 const char *answer);

#endif /* POKEPATCH_ANSWERS_H */
