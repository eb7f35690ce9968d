# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The page of --html in a browser (`make pages`): what a person would see.

top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
load host/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# look FILE WIDTH - open a copy of the page with a script that measures it; the answers are in seen.
look() {
	{
		cat "$1"
		cat <<-'END'
			<script>
			const lines = [];
			const say = (...words) => lines.push(words.join(" "));
			const box = element => element.getBoundingClientRect();
			const colour = element => getComputedStyle(element).backgroundColor;
			say("title", document.title);
			say("mode", document.compatMode);
			say("scroll", document.documentElement.scrollWidth <= window.innerWidth ? "fits" : "wider");
			for (const pair of document.querySelectorAll(".pair")) {
				const [source, code] = pair.children;
				say("pair", box(source).right <= box(code).left + 1 ? "beside" :
				    box(source).bottom <= box(code).top + 1 ? "below" : "over",
				    box(source).width > 200 && box(code).width > 200 ? "wide" : "narrow");
			}
			const plain = colour(document.querySelector("pre"));
			for (const kind of ["old", "new"]) {
				const line = document.querySelector("pre ." + kind);
				say("mark", kind, colour(line) !== plain && box(line).height > 5 ? "seen" : "unseen");
			}
			for (const link of document.querySelectorAll("a[href]"))
				say("link", document.querySelector(link.getAttribute("href")) ? "leads" : "dangles");
			document.body.innerHTML = "<pre>answers:\n" + lines.map(line => "@" + line).join("\n") + "\n</pre>";
			</script>
		END
	} >looked.html
	timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$PWD/profile" --window-size="$2,900" --virtual-time-budget=2000 \
		--dump-dom "file://$PWD/looked.html" 2>chromium.log | grep -o '@.*' >seen || {
		cat chromium.log
		return 1
	}
	cat seen
}

@test "source and code lie beside each other, what differs is marked, and links lead somewhere" {
	"$program" -k "$release" -q --html x.html "$top/examples/eventfd-writes.patch"
	look x.html 1600
	grep -qx "@title eventfd-writes for $release" seen
	grep -qx '@mode CSS1Compat' seen
	grep -qx '@scroll fits' seen
	[ "$(grep -c '^@pair' seen)" -ge 5 ]
	run grep '^@pair' seen
	run grep -v 'beside wide$' <<<"$output"
	[ "$status" -eq 1 ]
	grep -qx '@mark old seen' seen
	grep -qx '@mark new seen' seen
	grep -qx '@link leads' seen
	run grep 'dangles' seen
	[ "$status" -eq 1 ]
}

@test "on a narrow screen the code lies below its source, and nothing is wider than the screen" {
	"$program" -k "$release" -q --html x.html "$top/examples/eventfd-writes.patch"
	look x.html 600
	grep -qx '@scroll fits' seen
	run grep '^@pair' seen
	run grep -v 'below wide$' <<<"$output"
	[ "$status" -eq 1 ]
}
