# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reads a kernel log as the console writes it with console_msg_format=syslog,
# "<level>[ time] text", and prints what should not be there.
#
#	awk -f scan.awk -v allow=FILE -v expect=FILE -v arch=NAME -v cap_us=NUMBER -v cut=1 LOG
#
# A line is a finding if its level is warning or worse, if it holds one of the
# alarm words at any level, or if it is no kernel message at all.  A report
# between "cut here" and "end trace" is one finding, named by its first line, and so is one of KCSAN's.
# Not a finding: what a regular expression of the allow file matches, and what
# one of the expect file matches (each of which must match something).
#
# The allow file is in paragraphs, each with a comment that gives the reason.  Above its regular
# expressions a paragraph may have these lines, which hold for all of them:
#	@arch NAME...		only on these architectures
#	@trace REGEX		only for a report with such a line in its trace; of several, with all
#	@no-trace REGEX		only for a report without
#
# Nor may clocks and timers complain of a stop of ours that took longer than cap_us microseconds: such
# a line is a finding although it is allowed.
#
# cut: the log does not end with the end of a line.
#
# ended=1: the guest has come to its end, so the log has to: the machine restarts, is switched off, or panics.
#
# Output: one line per finding, "LINE-NUMBER TEXT".  Exit status 1 if any.

function load(file, list,	line, n, reason, here, with, without) {
	n = 0
	here = 1
	while (file != "" && (getline line < file) > 0) {
		if (line ~ /^[ \t]*$/) {
			reason = 0
			here = 1
			with = without = ""
		} else if (list == "allow" && line ~ /^#/) {
			reason = 1
		} else if (list == "allow" && sub(/^@arch /, "", line)) {
			here = index(" " line " ", " " arch " ")
		} else if (list == "allow" && sub(/^@trace /, "", line)) {
			with = with "\n" line
		} else if (list == "allow" && sub(/^@no-trace /, "", line)) {
			without = without "\n" line
		} else if (list == "allow" && line ~ /^@/) {
			finding(0, "allow-list: no such word: " line)
		} else if (here) {
			if (list == "allow" && !reason)
				finding(0, "allow-list: no reason is given for: " line)
			if (list == "allow") {
				allowed[++n] = line
				traces[n] = with
				no_traces[n] = without
			} else {
				expected[++n] = line
			}
		}
	}
	if (file != "")
		close(file)
	return n
}

function finding(number, text) {
	print number " " text
	findings++
}

# Within a report, whose head has been judged, the last line may be any part of one: the machine
# restarts while it prints.  So it may, if it is cut, where the kernel has said that it restarts the machine.
function suspect(number, text) {
	if (!in_report && !(restarts && cut)) {
		finding(number, text)
		return
	}
	held = text
	held_at = number
}

# Has the report, or what there is of it, a line for each of those regular expressions?
function has_all(patterns,	i, n, list) {
	n = split(patterns, list, "\n")
	for (i = 1; i <= n; i++)
		if (list[i] != "" && body !~ list[i])
			return 0
	return 1
}

function has_any(patterns,	i, n, list) {
	n = split(patterns, list, "\n")
	for (i = 1; i <= n; i++)
		if (list[i] != "" && body ~ list[i])
			return 1
	return 0
}

# whole: the text is the head of a report; 2: which ends with the log, so that lines may be missing
function is_known(text, whole,		i) {
	for (i = 1; i <= nr_expected; i++)
		if (text ~ expected[i]) {
			seen[i] = 1
			return 1
		}
	for (i = 1; i <= nr_allowed; i++) {
		if (text !~ allowed[i])
			continue
		if (traces[i] no_traces[i] == "")
			return 1
		if (whole && (whole == 2 || has_all(traces[i])) && !has_any(no_traces[i]))
			return 1
	}
	return 0
}

# What the kernel prints inside a report besides its first line; of x86-64, arm64, MIPS.
function is_report_detail(text) {
	if (text ~ /^(pstate: |pmr_save: |(pc|lr|sp) : |x[0-9]+ ?: )/)
		return 1
	if (text ~ /^($|\$ ?[0-9]+ *: |(Hi|Lo|epc|ra) *: |Status: |Cause : |BadVA : |PrId  : |Process |Stack : |        [0-9a-f. ]+$|\[<[0-9a-f]+>\] )/)
		return 1
	return text ~ /^(Modules linked in:|CPU: |Hardware name:|RIP: |Code: |RSP: |R[A-Z0-9]+: |FS: |CS: |CR2: |DR[0-9]: |PKRU: |Call [Tt]race:| <\/?(TASK|IRQ|NMI|SOFTIRQ|EXCEPTION)>| [? ]*([A-Za-z0-9_.]+\+)?0x|irq event stamp|hardirqs last|softirqs last|ORIG_RAX|Tainted:|Unloaded tainted modules:|Workqueue: |Kernel Offset: | *\? )/
}

# What KCSAN prints of a race below its first line: two accesses with their stacks, values, where it
# was found.
function is_race_detail(text) {
	return text ~ /^($|(read|write|read-write|assert no)[a-z (),-]* to 0x|race at unknown origin| |value changed: |Reported by Kernel Concurrency|CPU: |Hardware name:|Workqueue: |Stopper: )/
}

# The first lines of a report, before the registers and the trace, are its name.  It is judged when all of it
# is read; but not if the log ends within its first line, as the machine restarts (suspect()).  in_report: 1 in
# those lines, 2 after them, 3 after the end, where an oops prints its registers once more.
function judge(whole) {
	if (head != "" && !(whole == 2 && restarts && cut && head_line == NR && head !~ / \| /) && !is_known(head, whole))
		finding(head_line, head)
	head = body = ""
}

# The clocks' watchdog looks twice a second (WATCHDOG_INTERVAL), and a line may be printed late.
function judge_clocks(	i, j) {
	for (i = 1; i <= nr_clocks; i++)
		for (j = 1; j <= nr_stops; j++)
			if (clock_at[i] >= stop_end[j] - stop_us[j] / 1e6 - 0.1 && clock_at[i] <= stop_end[j] + 0.6) {
				finding(clock_line[i], clock_text[i] " (near a stop of " stop_us[j] " us)")
				break
			}
}

BEGIN {
	alarm = "WARNING:|BUG:|BUG at|Oops|INFO: task |rcu.*(stall|detected)|soft lockup|" \
		"LOCKUP|Kernel panic|general protection|possible (circular|recursive) locking|" \
		"suspicious RCU|inconsistent lock|lock held when|held lock freed|UBSAN|KASAN|KCSAN|" \
		"Call Trace:|segfault at|invalid opcode|messages? (suppressed|dropped)|" \
		"refcount_t|list_(add|del) corruption|hung_task|Bad page|unchecked MSR|" \
		"sending SIGSEGV to|unhandled exception|^traps: [^ ]+ trap "
	nr_allowed = load(allow, "allow")
	nr_expected = load(expect, "expect")
}

held != "" {
	finding(held_at, held)
	held = ""
}

{
	sub(/\r+$/, "")
	if (!match($0, /^<[0-9]+>\[ *[0-9]+\.[0-9]+\] ?/)) {
		# The firmware and the kernel's loader talk before the kernel does.
		if (started && $0 != "" && !is_known($0))
			suspect(NR, "not a kernel message: " $0)
		next
	}
	started = 1
	text = substr($0, RLENGTH + 1)
	level = substr($0, 2, index($0, ">") - 2) % 8
	now = substr($0, index($0, "[") + 1) + 0
	if (text ~ /^reboot: Restarting system$/)
		restarts = 1
	if (text ~ /^reboot: / || (cut && text != "" && index("reboot: Restarting system", text) == 1))
		ends = 1
	if (text ~ /^pokepatch: .*, the machine stopped for [0-9]+ us$/) {
		micros = text
		sub(/ us$/, "", micros)
		sub(/.* /, "", micros)
		if (cap_us != "" && micros + 0 > cap_us) {
			stop_end[++nr_stops] = now
			stop_us[nr_stops] = micros
		}
	} else if (text ~ /^(hrtimer: interrupt took|clocksource: (Long readout|Marking|timekeeping watchdog))/) {
		clock_at[++nr_clocks] = now
		clock_line[nr_clocks] = NR
		clock_text[nr_clocks] = text
	}

	# A report of KCSAN's, from its first line to the line below it.
	if (text ~ /^BUG: KCSAN: /) {
		judge(1)
		head = text
		head_line = NR
		in_race = 1
		next
	}
	if (in_race && text ~ /^=+$/) {
		judge(1)
		in_race = 0
		next
	}
	if (in_race && is_race_detail(text)) {
		# Of each stack only the function that made the access, and the caller of one that
		# works on its caller's memory.
		if (text !~ /^ [^ ]/)
			is_below = 0
		if (text ~ /^ / && !is_below)
			body = body text "\n"
		if (text ~ /^ [^ ]/ && text !~ /^ (__)?(mem|str|bcmp|list_|hlist_|sort|swap_|bsearch|_?find_|[a-z]*printf|sysfs_emit|_?copy_(to|from)_user|rb_|llist_|bitmap_|number|string|xa|xas|refcount)/)
			is_below = 1
		next
	}
	if (text ~ /\[ cut here \]/) {
		judge(1)
		in_race = 0
		in_report = 1
		next
	}
	if (in_report && is_report_detail(text)) {
		# In every report are the modules that are loaded, and the kernel's release, which may be of our making.
		if (text !~ /^(Modules linked in:|CPU: [0-9]+ PID:)/)
			body = body text "\n"
		if (in_report == 1)
			in_report = 2
		next
	}
	if (in_report && text ~ /\[ end trace/) {
		judge(1)
		in_report = 3
		next
	}
	if (in_report == 1 && level <= 4) {
		# Below this line there are only details, and on some machines WARN()'s text; so what begins as a report does
		# is another processor's.
		if (head ~ /WARNING: / && text ~ alarm) {
			if (!is_known(text))
				suspect(NR, text)
			next
		}
		head = head (head == "" ? "" : " | ") text
		head_line = NR
		next
	}
	if (in_report == 3)
		in_report = 0
	if (level <= 4 || text ~ alarm)
		if (!is_known(text))
			suspect(NR, text)
	# A fault's report has no "cut here"; what follows is its registers and its trace.
	if (text ~ /^(BUG: |general protection fault|Oops|[a-z ]*stack segment:)/)
		in_report = 2
	# All that follows belongs to it: where each processor was, what each task did.
	if (text ~ /^Kernel panic/) {
		ends = 1
		exit
	}
}

END {
	judge(2)
	judge_clocks()
	if (ended && !ends)
		finding(NR, started ? "the log breaks off: no restart, no end and no panic" : "no log of a kernel")
	for (i = 1; i <= nr_expected; i++)
		if (!(i in seen))
			finding(0, "expected, but not in the log: " expected[i])
	exit findings > 0
}
