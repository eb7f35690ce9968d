/* SPDX-License-Identifier: GPL-2.0-only */
/* pp_crowd's functions, and lists of them.  CROWD_N(f) is f(000) f(001) ... for N = 1, 10, 100 or 1000. */
#ifndef CROWD_H
#define CROWD_H

typedef unsigned int (*const crowd_function)(void);
extern crowd_function functions[];
extern crowd_function bare_functions[]; /* where Kbuild defines ENTRY_OFFSET; a hundred */

/* nmi.c, where there is one: calls of the functions from NMIs. */
int nmis_begin(void);
void nmis_end(void);

#define CROWD_TEN(f, p) \
	f(p##0) f(p##1) f(p##2) f(p##3) f(p##4) f(p##5) f(p##6) f(p##7) f(p##8) f(p##9)
#define CROWD_HUNDRED(f, p)                                                                    \
	CROWD_TEN(f, p##0) CROWD_TEN(f, p##1) CROWD_TEN(f, p##2) CROWD_TEN(f, p##3)            \
	CROWD_TEN(f, p##4) CROWD_TEN(f, p##5) CROWD_TEN(f, p##6) CROWD_TEN(f, p##7)            \
	CROWD_TEN(f, p##8) CROWD_TEN(f, p##9)

#define CROWD_1(f) f(000)
#define CROWD_10(f) CROWD_TEN(f, 00)
#define CROWD_100(f) CROWD_HUNDRED(f, 0)
#define CROWD_1000(f)                                                                          \
	CROWD_HUNDRED(f, 0) CROWD_HUNDRED(f, 1) CROWD_HUNDRED(f, 2) CROWD_HUNDRED(f, 3)        \
	CROWD_HUNDRED(f, 4) CROWD_HUNDRED(f, 5) CROWD_HUNDRED(f, 6) CROWD_HUNDRED(f, 7)        \
	CROWD_HUNDRED(f, 8) CROWD_HUNDRED(f, 9)

#endif
