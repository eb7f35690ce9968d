# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # for scripts; /vm/arch sets arch_lacks
# Words for scripts that run in the guest; /vm/run reads this before the script.

tracing=/sys/kernel/tracing
pokepatch=/sys/kernel/pokepatch

# can WHAT - does the architecture have it?  (arch_lacks in /vm/arch, from test/vm/arch/)
can() {
	case " $arch_lacks " in
	*" $1 "*) return 1 ;;
	esac
}

# The modes that this machine has, first the one that `auto` prefers; and the mode that `auto` takes
# where a tracer uses the entry already.
all_modes=entry shared_mode=entry
! can ftrace || all_modes="entry ftrace" shared_mode=ftrace
! can direct || all_modes="entry direct ftrace" shared_mode=direct

# die TEXT... - end the script, failing.
die() {
	echo "FAILED: $*"
	exit 1
}

# same WHAT GOT WANTED - fail unless the two texts are equal.
same() {
	[ "$2" = "$3" ] || die "$1: got '$2', wanted '$3'"
}

# has WHAT TEXT PATTERN - fail unless TEXT matches the shell PATTERN somewhere.
has() {
	case $2 in
	*$3*) ;;
	*) die "$1: '$3' is not in: $2" ;;
	esac
}

# lacks WHAT TEXT PATTERN - the opposite.
lacks() {
	case $2 in
	*$3*) die "$1: '$3' is in: $2" ;;
	esac
}

# refused COMMAND... - fail if the command succeeds, is not there, or dies of a signal; its output is shown.
refused() {
	_status=0
	"$@" 2>&1 || _status=$?
	[ $_status -ne 0 ] || die "should have been refused: $*"
	# The shell's words for no such command, and for signals of crashes: ILL, ABRT, BUS, FPE, KILL and SEGV.  insmod of
	# busybox ends with the error's number, of which those of keys are near.
	case $_status in
	127 | 132 | 134 | 135 | 136 | 137 | 139) die "did not refuse, but ended with status $_status: $*" ;;
	esac
}

# until_true SECONDS COMMAND... - wait until the command succeeds; on a machine that is busy
# with other things, six times as long.
until_true() {
	_tries=$(($1 * 60))
	shift
	until "$@"; do
		_tries=$((_tries - 1))
		[ $_tries -gt 0 ] || die "did not become true: $*"
		usleep 100000
	done
}
