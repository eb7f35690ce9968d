/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers: statements that let a probe observe a place in kernel code.
 *
 *	POKEPATCH_MARK(reclaim, "took %lu of %lu pages from %s", taken, seen, zone->name);
 *
 * In a normal build of the kernel a marker compiles to nothing: no code, no data, and the
 * arguments are not evaluated.  `pokepatch-build --instrument` compiles the same file with
 * POKEPATCH_INSTRUMENT defined, and puts the functions that have markers into a patch module.
 * There a marker is a load and a conditional jump.  The jump is taken while a probe is attached
 * to the marker by name: the tracepoint pokepatch:marker, or a probe of some module.
 *
 * This header includes no other and may be copied into a kernel's include/linux.  A file that
 * `pokepatch-build --instrument` compiles has it in any case, without an #include.
 */
#ifndef POKEPATCH_MARK_H
#define POKEPATCH_MARK_H

/*
 * One POKEPATCH_MARK() of the source.  If the function that holds it is inlined several times,
 * all copies share this structure.
 */
struct pokepatch_marker {
	void *probes;	      /* owned by the core: the attached probes; NULL: the marker is off */
	void *core;	      /* owned by the core */
	long missed;	      /* how often it was reached where no probe could be called */
	const char *name;
	const char *format;
	const char *file;
	unsigned int line;
	unsigned int reserved;
};

#define POKEPATCH_SECTION_MARKERS ".pokepatch.markers"

/* A probe gets this many arguments by value.  The text that it can ask for has all of them. */
#define POKEPATCH_MARK_ARGS 12

/*
 * The argument of a probe, which is valid until the probe returns.
 *
 * types has one letter for each element of args: 'i' and 'l' are signed numbers of 4 and 8
 * bytes, 'u' and 'w' unsigned ones, 'c' is a character, 's' the address of a string, and 'p' any
 * other address.  The address of a string may be invalid: do not follow it, but call
 * pokepatch_mark_text(), which checks it.  Numbers are extended to 64 bits.
 */
struct pokepatch_mark {
	const struct pokepatch_marker *marker;
	const char *patch;	  /* the name of the patch that holds the marker */
	unsigned long ip;	  /* the marker's address in the text of that patch */
	unsigned int nr_args;
	const char *types;	  /* ends with 0 */
	const unsigned long long *args;
	void *core;		  /* owned by the core */
};

/*
 * The core calls a probe with preemption off, in the context of the marker, which may be an NMI.
 * While a probe runs, markers that it reaches on the same CPU at the same level (task, softirq,
 * interrupt, NMI) call no probe, and are counted as missed.
 */
typedef void (*pokepatch_probe_t)(void *private, const struct pokepatch_mark *mark);

/*
 * pokepatch_marker_register - attach @probe to all markers called @name, including those of
 * patches that are loaded later.
 * @name: NULL stands for all markers.
 * @private: the core passes it to the probe.
 *
 * A marker may have several probes.  The same triple of @name, @probe and @private can be
 * registered only once.  May sleep.
 * Return: 0; -EEXIST if the triple is registered; -EINVAL if @probe is NULL; or -ENOMEM.  After
 * an error the probe is attached to no marker, and is not running.
 */
int pokepatch_marker_register(const char *name, pokepatch_probe_t probe, void *private);

/*
 * pokepatch_marker_unregister - undo pokepatch_marker_register() with the same arguments.  When
 * it returns, the probe is not running and will not be called again for that registration.
 * Waits for an RCU grace period; may sleep.  Return: 0, or -ENOENT.
 */
int pokepatch_marker_unregister(const char *name, pokepatch_probe_t probe, void *private);

/*
 * pokepatch_mark_text - format the marker's arguments by its format into @buf.  For use within
 * a probe, in the probe's context.
 * Return: the length of the whole text, as snprintf() does.
 */
int pokepatch_mark_text(const struct pokepatch_mark *mark, char *buf, unsigned long size);

/*
 * A marker whose probes are not NULL calls this on architectures without pokepatch_mark_met(), and
 * in a module for the kernel's livepatch core (POKEPATCH_MARK_HITS).  Any context.
 */
void pokepatch_mark_hit(struct pokepatch_marker *marker, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3), __cold__));
/* Never called: lets the compiler check the format against the arguments. */
void pokepatch_mark_check(const char *format, ...)
	__attribute__((__format__(__printf__, 1, 2)));

/*
 * On x86-64 a marker of a patch for pokepatch's core calls pokepatch_mark_met() instead, with the
 * address of this structure in
 * %rdi.  pokepatch_mark_met() preserves all registers, %rdi among them.  Any context.
 */
struct pokepatch_mark_call {
	struct pokepatch_marker *marker;
	unsigned long saved;	/* the marker's: what %rdi held before */
	unsigned long args[];	/* laid out like the stack arguments of a variadic call */
};
void pokepatch_mark_met(void);

#ifdef POKEPATCH_INSTRUMENT

/*
 * POKEPATCH_MARK(name, "format", args...) - a statement.  The format is that of printk(); one
 * that does not fit the arguments is a compile error.  The arguments are evaluated only while a
 * probe is attached, so they must have no side effects.  Do not use it in noinstr code.
 *
 * Each marker has its own section until the patch is linked.  Objects refer to static data by
 * section and offset, and in a shared section the end of one marker would be the beginning of
 * the next.  The explicit alignment keeps the compiler from choosing a larger one, which would
 * leave gaps in the linked table.  The load is volatile so that the compiler cannot hoist it out
 * of a loop.
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

#if defined(__x86_64__) && !defined(POKEPATCH_MARK_HITS)

/*
 * The compiler does not see this as a call.  A function that makes a call keeps the values that
 * it needs afterwards in callee-saved registers, and saves those in its prologue whether or not
 * it reaches the marker: some fifteen instructions if there are many.
 *
 * With up to six arguments the marker has no local variable either.  A variable whose address is
 * taken makes -fstack-protector-strong guard the function, which costs six instructions more on
 * every call.  The arguments are pushed instead, so that they lie where a variadic function
 * finds the arguments that did not fit into registers.  Each pushed operand is in a register,
 * because an operand that is addressed relative to %rsp would be wrong after the first push.
 * Pushing is safe since the kernel is compiled without a red zone.
 */
#define POKEPATCH_MARK_CALL_(marker_, format_, ...)                                       \
	do {                                                                              \
		if (0)                                                                    \
			pokepatch_mark_check(format_, ##__VA_ARGS__);                     \
		POKEPATCH_PASTE_(POKEPATCH_CALL_, POKEPATCH_COUNT_(__VA_ARGS__))          \
		(marker_, ##__VA_ARGS__);                                                 \
	} while (0)

/*
 * Naming %rsp as an operand makes the compiler set up the frame pointer before the asm, where it
 * uses one.
 */
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

/*
 * The operand with the promotions of a variadic argument.  The bits above the argument's own size
 * do not matter.
 */
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

/*
 * More than six arguments are stored into a variable.  Then the compiler need not find a register
 * for each of them at once.
 */
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

/* Not a tail call: its return address tells the function. */
#define POKEPATCH_MARK_CALL_(marker_, format_, ...)                                       \
	do {                                                                              \
		pokepatch_mark_hit(&marker_, format_, ##__VA_ARGS__);                     \
		__asm__ volatile("");                                                     \
	} while (0)

#endif /* __x86_64__ && !POKEPATCH_MARK_HITS */

#else

#define POKEPATCH_MARK(name_, format_, ...) do { } while (0)

#endif /* POKEPATCH_INSTRUMENT */

#endif /* POKEPATCH_MARK_H */
