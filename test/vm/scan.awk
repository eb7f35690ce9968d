# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reads a kernel log as the console writes it with console_msg_format=syslog,
# "<level>[ time] text", and prints what should not be there.
#
#	awk -f scan.awk -v allow=FILE -v expect=FILE LOG
#
# A line is a finding if its level is warning or worse, if it holds one of the
# alarm words at any level, or if it is no kernel message at all.  A report
# between "cut here" and "end trace" is one finding, named by its first line.
# Not a finding: what a regular expression of the allow file matches, and what
# one of the expect file matches (each of which must match something).
#
# Output: one line per finding, "LINE-NUMBER TEXT".  Exit status 1 if any.

function load(file, list,	line, n, reason) {
	n = 0
	while (file != "" && (getline line < file) > 0) {
		if (line ~ /^[ \t]*$/) {
			reason = 0
		} else if (line ~ /^#/) {
			reason = 1
		} else {
			if (list == "allow" && !reason)
				finding(0, "allow-list: no reason is given for: " line)
			if (list == "allow")
				allowed[++n] = line
			else
				expected[++n] = line
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
# restarts while it prints.
function suspect(number, text) {
	if (!in_report) {
		finding(number, text)
		return
	}
	held = text
	held_at = number
}

function is_known(text,		i) {
	for (i = 1; i <= nr_expected; i++)
		if (text ~ expected[i]) {
			seen[i] = 1
			return 1
		}
	for (i = 1; i <= nr_allowed; i++)
		if (text ~ allowed[i])
			return 1
	return 0
}

# What the kernel prints inside a report besides its first line; of x86-64, arm64, MIPS.
function is_report_detail(text) {
	if (text ~ /^(pstate: |pmr_save: |(pc|lr|sp) : |x[0-9]+ ?: )/)
		return 1
	if (text ~ /^($|\$ ?[0-9]+ *: |(Hi|Lo|epc|ra) *: |Status: |Cause : |BadVA : |PrId  : |Process |Stack : |        [0-9a-f. ]+$|\[<[0-9a-f]+>\] )/)
		return 1
	return text ~ /^(Modules linked in:|CPU: |Hardware name:|RIP: |Code: |RSP: |R[A-Z0-9]+: |FS: |CS: |CR2: |DR[0-9]: |PKRU: |Call [Tt]race:| <\/?(TASK|IRQ|NMI|SOFTIRQ|EXCEPTION)>| [? ]*[A-Za-z0-9_.]+\+0x|irq event stamp|hardirqs last|softirqs last|ORIG_RAX|Tainted:|Unloaded tainted modules:|Workqueue: |Kernel Offset: | *\? )/
}

# The first lines of a report, before the registers and the trace, are its name.
# in_report: 1 in those lines, 2 after them, 3 after the end, where an oops prints
# its registers once more.
function end_of_head() {
	if (in_report == 1 && !is_known(head))
		finding(head_line, head)
	in_report = 2
}

BEGIN {
	alarm = "WARNING:|BUG:|BUG at|Oops|INFO: task |rcu.*(stall|detected)|soft lockup|" \
		"LOCKUP|Kernel panic|general protection|possible (circular|recursive) locking|" \
		"suspicious RCU|inconsistent lock|lock held when|held lock freed|UBSAN|KASAN|KCSAN|" \
		"Call Trace:|segfault at|invalid opcode|messages? (suppressed|dropped)|" \
		"refcount_t|list_(add|del) corruption|hung_task|Bad page|unchecked MSR"
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

	if (text ~ /\[ cut here \]/) {
		in_report = 1
		head = ""
		next
	}
	if (in_report && is_report_detail(text)) {
		end_of_head()
		next
	}
	if (in_report && text ~ /\[ end trace/) {
		end_of_head()
		in_report = 3
		next
	}
	if (in_report == 1 && level <= 4) {
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
	if (text ~ /^Kernel panic/)
		exit
}

END {
	if (in_report == 1)
		end_of_head()
	for (i = 1; i <= nr_expected; i++)
		if (!(i in seen))
			finding(0, "expected, but not in the log: " expected[i])
	exit findings > 0
}
