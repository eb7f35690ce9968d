# SPDX-License-Identifier: GPL-2.0-or-later
# callgraph.awk -v root=FUNCTION - what a function of a module can lead to, outside the module.
#
# Input, each part behind a line "== NAME" (symbols: objdump -t; strings: SECTION ADDRESS TEXT;
# data: objdump -r of read-only data and of the tables of needed symbols; code: objdump -dr), of a
# module.
#
# Every reference counts as a call, so that callbacks and tables of operations are followed: a
# slot of a table, in read-only data, leads to the function that it holds. A slot that the core
# fills at its start with the address of a kernel symbol (struct pp_needed: name, slot, flag)
# leads to that symbol. Output: sorted, one name a line.

function hex(text,    i, value) {
	sub(/^0x/, "", text)
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value + 0
}

# The symbol that a place in a section is in: places are kept by section and address.
function symbol_at(section, address,    name, best, at) {
	best = ""
	for (name in start)
		if (home[name] == section && start[name] <= address &&
		    (address < start[name] + size[name] || start[name] == address) &&
		    (best == "" || start[name] > start[best]))
			best = name
	return best
}

# "name", "name+0x10", ".text+0x20-0x4": sets target_name, target_offset.
function split_target(text) {
	target_offset = 0
	while (match(text, /[-+]0x[0-9a-f]+$/)) {
		target_offset += (substr(text, RSTART, 1) == "-" ? -1 : 1) * hex(substr(text, RSTART + 1))
		text = substr(text, 1, RSTART - 1)
	}
	target_name = text
}

function edge(from, to) {
	if (to != "" && !((from, to) in edges)) {
		edges[from, to]
		out[from] = out[from] " " to
	}
}

# A reference from a function, already without the bias of the instruction.
function refer(from, name, offset,    section, symbol) {
	if (name in home && !(name in is_section)) {
		if (name in is_code) {
			edge(from, name)
			return
		}
		section = home[name]
		offset += start[name]
	} else if (name in is_section) {
		section = name
	} else {
		edge(from, name)
		return
	}
	if ((section, offset) in holds) {
		edge(from, holds[section, offset])
		return
	}
	symbol = symbol_at(section, offset)
	if (symbol in is_code)
		edge(from, symbol)
}

/^== / { part = $2; next }

# nm -S: address size type name; sections come from objdump -t: see below.
part == "symbols" {
	# ADDRESS FLAGS SECTION\tSIZE NAME
	split($0, halves, "\t")
	n = split(halves[1], left, " ")
	m = split(halves[2], right, " ")
	name = right[m]
	section = left[n]
	if (name == section || section == "*UND*" || section == "*ABS*") {
		if (name == section)
			is_section[name]
		next
	}
	home[name] = section
	start[name] = hex(left[1])
	size[name] = hex(right[1])
	if (halves[1] ~ / F /)
		is_code[name]
	next
}

part == "strings" {
	# SECTION ADDRESS TEXT
	strings[$1, hex($2)] = $3
	next
}

part == "data" {
	if (/^RELOCATION RECORDS FOR/) {
		section = substr($4, 2, length($4) - 3)
	} else if ($2 ~ /^R_X86_64_64$/) {
		place = hex($1)
		split_target($3)
		pointer_section[section, place] = target_name
		pointer_offset[section, place] = target_offset
		places[++nr_places] = section SUBSEP place
	}
	next
}

part == "code" && /^[0-9a-f]+ <.*>:$/ {
	if (pending != "")
		edge(pending_from, pending)
	pending = ""
	if (!tables_done)
		read_tables()
	function_name = substr($2, 2, length($2) - 3)
	next
}

function read_tables(    i, key, parts, section, place, to) {
	tables_done = 1
	for (i = 1; i <= nr_places; i++) {
		split(places[i], parts, SUBSEP)
		section = parts[1]
		place = parts[2]
		key = section SUBSEP place
		# A row of struct pp_needed: 48 bytes for a name, and behind them a slot.
		if (section == ".rodata.pp_needed") {
			if ((section, place - 48) in strings)
				fill(pointer_section[key], pointer_offset[key],
				     strings[section, place - 48])
			continue
		}
		# An operation of a table.
		if (pointer_section[key] in is_code)
			holds[key] = pointer_section[key]
		else if (pointer_section[key] in is_section) {
			to = symbol_at(pointer_section[key], pointer_offset[key])
			if (to in is_code)
				holds[key] = to
		}
	}
}

function fill(name, offset, symbol) {
	if (name in home) {
		offset += start[name]
		name = home[name]
	}
	# Of several symbols for one slot, the core takes the first that the kernel has.
	if (!((name, offset) in holds))
		holds[name, offset] = symbol
}

part == "code" && /R_X86_64_/ {
	pending = "" # it shows the bytes that the relocation will replace
	split_target($NF)
	# Relative to the end of the field, four bytes on.
	if ($2 ~ /PC32|PLT32/)
		target_offset += 4
	refer(function_name, target_name, target_offset)
	next
}

# A jump or call that needs no relocation.
part == "code" {
	if (pending != "")
		edge(pending_from, pending)
	pending = ""
	if (!match($0, /<[^>]+>$/))
		next
	split_target(substr($0, RSTART + 1, RLENGTH - 2))
	if (target_name != function_name) {
		pending = target_name
		pending_from = function_name
	}
}

END {
	if (pending != "")
		edge(pending_from, pending)
	todo[1] = root
	reached[root]
	for (i = nr = 1; i <= nr; i++) {
		n = split(out[todo[i]], names, " ")
		for (j = 1; j <= n; j++) {
			if (names[j] in reached)
				continue
			reached[names[j]]
			if (names[j] in is_code)
				todo[++nr] = names[j]
			else
				print names[j]
		}
	}
	if (nr < 5)
		print "callgraph: " root " leads to " nr " functions only" >"/dev/stderr"
}
