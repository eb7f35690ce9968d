/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers: places in kernel code where somebody may want to look.
 *
 *	POKEPATCH_MARK(reclaim, "took %lu of %lu pages from %s", taken, seen, zone->name);
 *
 * In the kernel as it is built normally this is nothing at all: no code, no data, and the
 * arguments are not looked at.  `pokepatch-build --instrument` compiles the same file with
 * POKEPATCH_INSTRUMENT defined, and puts the functions that have markers into a patch
 * module.  There a marker is a load and a jump, which takes the other way once a probe is
 * attached to it by name: the tracepoint pokepatch:marker, or a module's.
 *
 * This file needs no other, and may be copied into a kernel's include/linux.  In what
 * pokepatch-build --instrument compiles it is always there, included or not.
 */
#ifndef POKEPATCH_MARK_H
#define POKEPATCH_MARK_H

/* A marker that was compiled in.  Of one that is inlined into several functions there is one. */
struct pokepatch_marker {
	void *probes;	      /* the core's: who is attached; NULL: nobody */
	void *core;	      /* the core's own notes */
	long missed;	      /* how often it was met where nobody could be called */
	const char *name;
	const char *format;
	const char *file;
	unsigned int line;
	unsigned int reserved;
};

#define POKEPATCH_SECTION_MARKERS ".pokepatch.markers"

/* How many of a marker's arguments a probe gets by type; the text has all of them. */
#define POKEPATCH_MARK_ARGS 12

/*
 * What a probe is told.  Valid until it returns.
 *
 * types has a letter for each of args: 'i' and 'l' are signed numbers of 4 and 8 bytes, 'u'
 * and 'w' unsigned ones, 'c' a character, 's' the address of a string (it may be a bad one:
 * pokepatch_mark_text() checks), 'p' of anything else.  Numbers are extended to 64 bits.
 */
struct pokepatch_mark {
	const struct pokepatch_marker *marker;
	const char *patch;	  /* the name of the patch that the marker is in */
	unsigned long ip;	  /* where it is, in that patch's text */
	unsigned int nr_args;
	const char *types;	  /* ends with 0 */
	const unsigned long long *args;
	void *core;		  /* the core's own */
};

/*
 * A probe is called with preemption off, in whatever context the marker stands, NMIs
 * included.  What it does may meet markers itself: those do not call it again.
 */
typedef void (*pokepatch_probe_t)(void *private, const struct pokepatch_mark *mark);

/*
 * pokepatch_marker_register - attach a probe to all markers of that name, those of patches
 * that are loaded later too.  @name: NULL for all markers.  Several probes may be attached
 * to a marker; the same @probe with the same @private to the same @name only once.
 * May sleep.  Return: 0, -EEXIST, -EINVAL or -ENOMEM; then it is attached to none.
 */
int pokepatch_marker_register(const char *name, pokepatch_probe_t probe, void *private);

/*
 * pokepatch_marker_unregister - undo exactly that.  When it returns the probe is not running
 * and will not be called again.  May sleep.  Return: 0, or -ENOENT.
 */
int pokepatch_marker_unregister(const char *name, pokepatch_probe_t probe, void *private);

/*
 * pokepatch_mark_text - the marker's format with its arguments, for a probe, at most once in
 * each call of it.  Return: the length, as of snprintf().  The probe's context.
 */
int pokepatch_mark_text(const struct pokepatch_mark *mark, char *buf, unsigned long size);

/* What a marker calls if its probes are not NULL, where the call below is not to be had. */
void pokepatch_mark_hit(struct pokepatch_marker *marker, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3), __cold__));
/* The compiler compares the format with the arguments; never called. */
void pokepatch_mark_check(const char *format, ...)
	__attribute__((__format__(__printf__, 1, 2)));

/*
 * What a marker calls else: pokepatch_mark_met(), with the address of this in the first
 * argument's register, which comes back with all others as they were.
 */
struct pokepatch_mark_call {
	struct pokepatch_marker *marker;
	unsigned long saved;	/* the caller's: that register's own contents */
	unsigned long args[];	/* as a variable argument list has them in memory */
};
void pokepatch_mark_met(void);

#ifdef POKEPATCH_INSTRUMENT

/*
 * POKEPATCH_MARK(name, "format", args...) - a statement.  The format is printk()'s, and
 * one that does not fit the arguments is an error.  Arguments are evaluated only while a
 * probe is attached; let them have no side effects.  Not for noinstr code.
 *
 * Each has a section of its own until the patch is linked: objects refer to static data by
 * section and offset, where the end of one marker would be the beginning of the next.  The
 * alignment keeps compilers from aligning them more, which would then leave gaps.  The load
 * is volatile, for the compiler must not take it out of a loop.
 */
#define POKEPATCH_MARKER_SECTION_(name, line) POKEPATCH_MARKER_SECTION__(name, line)
#define POKEPATCH_MARKER_SECTION__(name, line) POKEPATCH_SECTION_MARKERS "." name "." #line
#define POKEPATCH_MARK(name_, format_, ...)                                               \
	do {                                                                              \
		_Pragma("GCC diagnostic push")                                            \
		_Pragma("GCC diagnostic error \"-Wformat\"")                              \
		static struct pokepatch_marker pokepatch_marker_ __attribute__((          \
			section(POKEPATCH_MARKER_SECTION_(#name_, __LINE__)), aligned(8))) = { \
			.name = #name_,                                                   \
			.format = format_,                                                \
			.file = __FILE__,                                                 \
			.line = __LINE__,                                                 \
		};                                                                        \
		if (__builtin_expect(*(void *volatile *)&pokepatch_marker_.probes !=      \
					     (void *)0, 0))                               \
			POKEPATCH_MARK_CALL_(pokepatch_marker_, format_, ##__VA_ARGS__);  \
		_Pragma("GCC diagnostic pop")                                             \
	} while (0)

#ifdef __x86_64__

/*
 * A function that calls another has to keep what it needs afterwards in registers that a
 * call leaves alone, which it saves at its beginning, marker or not: some fifteen
 * instructions, where there are many.  So this is no call to the compiler.
 *
 * Nor, with up to six arguments, has it a variable: one whose address is taken makes
 * -fstack-protector-strong guard the function, which takes six more, marker met or not.  The
 * arguments are pushed, so that they are where a list of variable arguments has those that do
 * not fit into registers.  What is pushed is in a register: something that is
 * addressed by the stack pointer would be elsewhere after the first push.  The kernel has no
 * red zone.
 */
#define POKEPATCH_MARK_CALL_(marker_, format_, ...)                                       \
	do {                                                                              \
		if (0)                                                                    \
			pokepatch_mark_check(format_, ##__VA_ARGS__);                     \
		POKEPATCH_PASTE_(POKEPATCH_CALL_, POKEPATCH_COUNT_(__VA_ARGS__))          \
		(marker_, ##__VA_ARGS__);                                                 \
	} while (0)

/* One that has a frame pointer is to have set it up by then. */
#ifdef CONFIG_FRAME_POINTER
register unsigned long pokepatch_stack_pointer_ __asm__("rsp");
#define POKEPATCH_IN_FRAME_ "+r"(pokepatch_stack_pointer_)
#else
#define POKEPATCH_IN_FRAME_
#endif

#define POKEPATCH_PUSHED_(size_, pushes_, marker_, ...)                                   \
	__asm__ volatile(pushes_ "pushq %%rdi\n\t"                                        \
				 "pushq %[marker]\n\t"                                    \
				 "movq %%rsp, %%rdi\n\t"                                  \
				 "call pokepatch_mark_met\n\t"                            \
				 "movq 8(%%rdi), %%rdi\n\t"                               \
				 "addq $" #size_ ", %%rsp"                                \
			 : POKEPATCH_IN_FRAME_                                            \
			 : [marker] "i"(&marker_), ##__VA_ARGS__                          \
			 : "memory", "cc")

/* With its promotions, and no more: what is above a number's own bytes does not matter. */
#define POKEPATCH_ARG_(arg_) "r"((unsigned long)(1 ? (arg_) : (arg_)))

#define POKEPATCH_CALL_0(marker_) POKEPATCH_PUSHED_(16, "", marker_)
#define POKEPATCH_PUSH_1_ "pushq %q[a]\n\t"
#define POKEPATCH_CALL_1(marker_, a_)                                                     \
	POKEPATCH_PUSHED_(24, POKEPATCH_PUSH_1_, marker_,                                 \
			  [a] POKEPATCH_ARG_(a_))
#define POKEPATCH_PUSH_2_ "pushq %q[b]\n\t" POKEPATCH_PUSH_1_
#define POKEPATCH_CALL_2(marker_, a_, b_)                                                 \
	POKEPATCH_PUSHED_(32, POKEPATCH_PUSH_2_, marker_,                                 \
			  [a] POKEPATCH_ARG_(a_), [b] POKEPATCH_ARG_(b_))
#define POKEPATCH_PUSH_3_ "pushq %q[c]\n\t" POKEPATCH_PUSH_2_
#define POKEPATCH_CALL_3(marker_, a_, b_, c_)                                             \
	POKEPATCH_PUSHED_(40, POKEPATCH_PUSH_3_, marker_,                                 \
			  [a] POKEPATCH_ARG_(a_), [b] POKEPATCH_ARG_(b_), [c] POKEPATCH_ARG_(c_))
#define POKEPATCH_PUSH_4_ "pushq %q[d]\n\t" POKEPATCH_PUSH_3_
#define POKEPATCH_CALL_4(marker_, a_, b_, c_, d_)                                         \
	POKEPATCH_PUSHED_(48, POKEPATCH_PUSH_4_, marker_,                                 \
			  [a] POKEPATCH_ARG_(a_), [b] POKEPATCH_ARG_(b_), [c] POKEPATCH_ARG_(c_), \
			  [d] POKEPATCH_ARG_(d_))
#define POKEPATCH_PUSH_5_ "pushq %q[e]\n\t" POKEPATCH_PUSH_4_
#define POKEPATCH_CALL_5(marker_, a_, b_, c_, d_, e_)                                     \
	POKEPATCH_PUSHED_(56, POKEPATCH_PUSH_5_, marker_,                                 \
			  [a] POKEPATCH_ARG_(a_), [b] POKEPATCH_ARG_(b_), [c] POKEPATCH_ARG_(c_), \
			  [d] POKEPATCH_ARG_(d_), [e] POKEPATCH_ARG_(e_))
#define POKEPATCH_PUSH_6_ "pushq %q[f]\n\t" POKEPATCH_PUSH_5_
#define POKEPATCH_CALL_6(marker_, a_, b_, c_, d_, e_, f_)                                 \
	POKEPATCH_PUSHED_(64, POKEPATCH_PUSH_6_, marker_,                                 \
			  [a] POKEPATCH_ARG_(a_), [b] POKEPATCH_ARG_(b_), [c] POKEPATCH_ARG_(c_), \
			  [d] POKEPATCH_ARG_(d_), [e] POKEPATCH_ARG_(e_), [f] POKEPATCH_ARG_(f_))

/* Those with more go into a variable; then no register has to be freed for any. */
#define POKEPATCH_STORED_(marker_, ...)                                                   \
	do {                                                                              \
		struct {                                                                  \
			struct pokepatch_marker *marker;                                  \
			unsigned long saved;                                              \
			unsigned long args[POKEPATCH_COUNT_(__VA_ARGS__)];                \
		} pokepatch_call_;                                                        \
		pokepatch_call_.marker = &marker_;                                        \
		POKEPATCH_PASTE_(POKEPATCH_PUT_, POKEPATCH_COUNT_(__VA_ARGS__))(__VA_ARGS__) \
		__asm__ volatile("movq %%rdi, %0\n\t"                                     \
				 "leaq %1, %%rdi\n\t"                                     \
				 "call pokepatch_mark_met\n\t"                            \
				 "movq 8(%%rdi), %%rdi"                                   \
				 : "=m"(pokepatch_call_.saved)                            \
				 : "m"(pokepatch_call_)                                   \
				 : "memory", "cc");                                       \
	} while (0)
#define POKEPATCH_CALL_7 POKEPATCH_STORED_
#define POKEPATCH_CALL_8 POKEPATCH_STORED_
#define POKEPATCH_CALL_9 POKEPATCH_STORED_
#define POKEPATCH_CALL_10 POKEPATCH_STORED_
#define POKEPATCH_CALL_11 POKEPATCH_STORED_
#define POKEPATCH_CALL_12 POKEPATCH_STORED_
#define POKEPATCH_CALL_13 POKEPATCH_STORED_
#define POKEPATCH_CALL_14 POKEPATCH_STORED_
#define POKEPATCH_CALL_15 POKEPATCH_STORED_
#define POKEPATCH_CALL_16 POKEPATCH_STORED_

#define POKEPATCH_PUT_(nr_, arg_)                                                         \
	do {                                                                              \
		__typeof__(1 ? (arg_) : (arg_)) pokepatch_arg_ = (arg_);                  \
		__builtin_memcpy(&pokepatch_call_.args[nr_], &pokepatch_arg_,             \
				 sizeof(pokepatch_arg_));                                 \
	} while (0);

#define POKEPATCH_CALL_too_many_arguments(...) \
	_Static_assert(0, "POKEPATCH_MARK: too_many_arguments, there may be 16")

#define POKEPATCH_PASTE_(a_, b_) POKEPATCH_PASTE__(a_, b_)
#define POKEPATCH_PASTE__(a_, b_) a_##b_
#define POKEPATCH_COUNT_(...)                                                             \
	POKEPATCH_17TH_(0, ##__VA_ARGS__, too_many_arguments, 16, 15, 14, 13, 12, 11, 10, \
			9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define POKEPATCH_17TH_(none_, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, \
			q_, nr_, ...) nr_
#define POKEPATCH_PUT_0()
#define POKEPATCH_PUT_1(a_) \
	POKEPATCH_PUT_0() POKEPATCH_PUT_(0, a_)
#define POKEPATCH_PUT_2(a_, b_) \
	POKEPATCH_PUT_1(a_) POKEPATCH_PUT_(1, b_)
#define POKEPATCH_PUT_3(a_, b_, c_) \
	POKEPATCH_PUT_2(a_, b_) POKEPATCH_PUT_(2, c_)
#define POKEPATCH_PUT_4(a_, b_, c_, d_) \
	POKEPATCH_PUT_3(a_, b_, c_) POKEPATCH_PUT_(3, d_)
#define POKEPATCH_PUT_5(a_, b_, c_, d_, e_) \
	POKEPATCH_PUT_4(a_, b_, c_, d_) POKEPATCH_PUT_(4, e_)
#define POKEPATCH_PUT_6(a_, b_, c_, d_, e_, f_) \
	POKEPATCH_PUT_5(a_, b_, c_, d_, e_) POKEPATCH_PUT_(5, f_)
#define POKEPATCH_PUT_7(a_, b_, c_, d_, e_, f_, g_) \
	POKEPATCH_PUT_6(a_, b_, c_, d_, e_, f_) POKEPATCH_PUT_(6, g_)
#define POKEPATCH_PUT_8(a_, b_, c_, d_, e_, f_, g_, h_) \
	POKEPATCH_PUT_7(a_, b_, c_, d_, e_, f_, g_) POKEPATCH_PUT_(7, h_)
#define POKEPATCH_PUT_9(a_, b_, c_, d_, e_, f_, g_, h_, i_) \
	POKEPATCH_PUT_8(a_, b_, c_, d_, e_, f_, g_, h_) POKEPATCH_PUT_(8, i_)
#define POKEPATCH_PUT_10(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_) \
	POKEPATCH_PUT_9(a_, b_, c_, d_, e_, f_, g_, h_, i_) POKEPATCH_PUT_(9, j_)
#define POKEPATCH_PUT_11(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_) \
	POKEPATCH_PUT_10(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_) POKEPATCH_PUT_(10, k_)
#define POKEPATCH_PUT_12(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_) \
	POKEPATCH_PUT_11(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_) POKEPATCH_PUT_(11, l_)
#define POKEPATCH_PUT_13(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_) \
	POKEPATCH_PUT_12(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_) POKEPATCH_PUT_(12, m_)
#define POKEPATCH_PUT_14(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_) \
	POKEPATCH_PUT_13(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_) POKEPATCH_PUT_(13, n_)
#define POKEPATCH_PUT_15(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_) \
	POKEPATCH_PUT_14(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_) POKEPATCH_PUT_(14, o_)
#define POKEPATCH_PUT_16(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_) \
	POKEPATCH_PUT_15(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_) POKEPATCH_PUT_(15, p_)

#else

#define POKEPATCH_MARK_CALL_(marker_, format_, ...)                                       \
	pokepatch_mark_hit(&marker_, format_, ##__VA_ARGS__)

#endif /* __x86_64__ */

#else

#define POKEPATCH_MARK(name_, format_, ...) do { } while (0)

#endif /* POKEPATCH_INSTRUMENT */

#endif /* POKEPATCH_MARK_H */
