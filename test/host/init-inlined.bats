# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Changed helpers that are inlined into functions which run at initialisation only: uid_hash_insert()
# is inlined into alloc_uid() and into uid_cache_init(), which is __init.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

helper='s/^\thlist_add_head(&up->uidhash_node, hashent);/\tWRITE_ONCE(up->uid, up->uid);\n&/'

init_refused() {
	run -2 "$program" -q -k "$release" --dry-run x.patch
	[[ $output == *"refused [init-changed]: 'uid_cache_init' runs"* ]]
}

@test "only a helper is changed: a warning" {
	edited kernel/user.c "$helper"
	"$program" -q -k "$release" --report report.json -o x.ko x.patch
	[ "$(jq -r '.functions[] | .name + " " + .change' report.json)" = "alloc_uid changed" ]
	[ "$(jq -r '.refusals[] | .code + " " + .subject' report.json)" = "init-inlined uid_cache_init" ]
}

# Lines above and below it do not count.
@test "the lines around the function are changed, too" {
	edited kernel/user.c -e "$helper" -e 's/^static int __init uid_cache_init/static int added;\nint *where_added(void) { return \&added; }\n\n&/' \
		-e '/^subsys_initcall(uid_cache_init)/i /* A comment. */'
	"$program" -q -k "$release" --report report.json -o x.ko x.patch
	[ "$(jq -r '.refusals[] | select(.code | startswith("init")) | .code + " " + .subject' report.json)" = "init-inlined uid_cache_init" ]
}

@test "the function itself is changed: refused" {
	edited kernel/user.c -e "$helper" -e '/^static int __init uid_cache_init/,/^}/s/n < UIDHASH_SZ/n + 1 < UIDHASH_SZ/'
	init_refused
	rm x.patch
	edited kernel/user.c -e "$helper" -e '/Insert the root user immediately/i\	n = 0;'
	init_refused
	rm x.patch
	edited kernel/user.c -e "$helper" -e '/^static int __init uid_cache_init/,/^}/{ /user_epoll_alloc/,+1d }'
	init_refused
	rm x.patch
	edited kernel/user.c -e "$helper" -e 's/^static int __init uid_cache_init(void)/static int __init uid_cache_init( void )/'
	init_refused
}
