# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# What scripts of replace.bats begin with.  Behaviours: the kernel's own, and what each patch makes
# of it.

state_of() { echo "$(file "$1" enabled) $(file "$1" state)"; }
users() { cat "/sys/module/pokepatch_$(patch_id "$1")/refcnt"; }
is_live() { grep -q Live-patched /proc/version; }
# on NAME... - these patches, and no others, are enabled.
on() {
	for _folder in "$pokepatch"/*/; do
		_name=$(basename "$_folder")
		case " $* " in
		*" $_name "*) same "$_name" "$(state_of "$_name") $(users "$_name")" "1 enabled 1" ;;
		*) same "$_name" "$(state_of "$_name") $(users "$_name")" "0 disabled 0" ;;
		esac
	done
}
# fails STATUS COMMAND... - with that status and a word about the reason, in /tmp/error.
fails() {
	_wanted=$1
	shift
	_status=0
	"$@" >/tmp/error 2>&1 || _status=$?
	cat /tmp/error
	same "status of $*" "$_status" "$_wanted"
	[ -s /tmp/error ] || die "$*: no word about the reason"
}
