# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Series of commits: some of Debian's history (test/debian-diffs), backwards, as commits.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# commits FOLDER NUMBER[+NUMBER]... - a folder as git format-patch makes it, of diffs of
# test/debian-diffs/judged.tsv; with + one commit of several.
commits() {
	"$top/test/debian-diffs/series" "$@"
}

# report FILTER - of r.json
report() {
	python3 -c 'import json, sys
for c in json.load(open("r.json"))["commits"]:
	print(eval(sys.argv[1], {}, c))' "$1"
}

@test "a folder, a quilt series and a mailbox give one module" {
	commits folder 005+007 120
	mkdir quilt
	cp folder/*.patch quilt/
	# shellcheck disable=SC2012
	{
		echo '# in order'
		(cd folder && ls) | sed 's/$/ -p1/'
	} >quilt/series
	cat folder/*.patch >all.mbox
	"$program" -q -k "$release" --series folder/ -o folder.ko -n s --report r.json
	"$program" -q -k "$release" --series quilt -o quilt.ko -n s
	"$program" -q -k "$release" --series all.mbox -o mbox.ko -n s
	cmp folder.ko quilt.ko
	report '" ".join([id, status, ",".join(cve), subject])'
	[ "$(report 'subject')" = $'change back 005+007\nchange back 120' ]
	[ "$(report '",".join(cve)')" = $'CVE-2020-0005,CVE-2020-0007\nCVE-2020-0120' ]
	[ "$(report 'status + str(reasons)')" = $'live[]\nlive[]' ]
	[ "$(report 'len(id)')" = $'40\n40' ]
	# What pokepatch info shows is what the module carries.
	run "$top/build/bin/pokepatch" info ./folder.ko
	echo "$output"
	[[ $output == *$'COMMIT        STATUS  CVE                          SUBJECT\n'* ]]
	[[ $output == *"  live    CVE-2020-0005,CVE-2020-0007  change back 005+007"$'\n'* ]]
	"$top/build/bin/pokepatch" info --json ./folder.ko >info.json
	python3 -c 'import json
info, report = json.load(open("info.json")), json.load(open("r.json"))
assert info["report"]["commits"] == report["commits"], info
assert len(report["patch"]) == 2'

	# A mailbox given as a diff is the same but for what the module says of its source.
	"$program" -q -k "$release" all.mbox -o diff.ko -n s
	[ "$(modinfo -F pokepatch_source diff.ko)" = "$(sha256sum <all.mbox | cut -d ' ' -f 1)" ]
	for file in folder mbox diff; do
		[ "$(modinfo -F pokepatch_source $file.ko)" = "$(modinfo -F pokepatch_source diff.ko)" ]
		objcopy -R .pokepatch.report -R .note.gnu.build-id $file.ko $file.bare
		cmp $file.bare folder.bare
	done
}

@test "wrong use of --series" {
	run "$program" -k "$release" --series
	[ "$status" -eq 1 ]
	run "$program" -k "$release" --series "$top/examples" "$top/examples/proc-version.patch"
	[ "$status" -eq 1 ]
	[[ $output == *"no PATCH goes with it"* ]]
	run "$program" -k "$release" --series "$top/examples" --instrument
	[ "$status" -eq 1 ]
	[[ $output == *"do not go together"* ]]
	run "$program" -k "$release" --series nowhere
	[ "$status" -eq 1 ]
	[[ $output == *"--series nowhere: No such file"* ]]
}
