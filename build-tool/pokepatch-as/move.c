// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moving the NOPs of patchable entries after the labels of MIPS functions.
 *
 * GCC 12 writes this (-fverbose-asm adds comments, -g adds .loc and .LVL):
 *
 *		.section __patchable_function_entries,"awo",@progbits,f
 *		.align 3
 *		.8byte .LPFE1
 *		.text
 *	.LPFE1:				the block begins
 *		.set	noreorder
 *		nop			... N times these three lines
 *		.set	reorder
 *	.LVL0 = .			the prologue begins: nothing that takes space
 *	.LFB1 = .
 *		.cfi_startproc
 *		.set	nomips16
 *		.set	nomicromips
 *		.ent	f
 *		.type	f, @function
 *	f:				the block is moved after this line
 *		.frame	$sp,16,$31
 *
 * (With o32, local symbols begin with "$L", and the table has .4byte.)
 *
 * Between a block and its label, only lines of the block and lines that may be in a prologue are
 * accepted; any other line is an error.  A compiler in which the bug is fixed writes the label
 * first.  The block then comes between the label and the first instruction, and stays.
 */
#include <string.h>

#include "pokepatch-as/entries.h"

struct slice {
	const char *text;
	size_t length;
};

enum place {
	OUTSIDE,  /* not in a function */
	BLOCK,	  /* in the lines of a block */
	PROLOGUE, /* between a block and its label */
	FRESH,	  /* after a label, before the first instruction */
	INSIDE,	  /* in a function, after its first instruction or its entry */
};

struct scan {
	const char *name; /* for messages */
	size_t line; /* number, from 1 */
	enum place place;
	struct slice function; /* name in the last .ent; length 0: none, or after .end */
	struct slice block;    /* the last block, from its .LPFE label on */
	size_t block_line, nops; /* line number of that label; NOPs in the block */
	struct buffer *out;
	const char *copied; /* all text before this is in out, or in block */
	size_t moved;
};

static bool starts(struct slice line, const char *prefix)
{
	size_t length = strlen(prefix);

	return line.length >= length && !memcmp(line.text, prefix, length);
}

static bool equals(struct slice line, const char *s)
{
	return line.length == strlen(s) && !memcmp(line.text, s, line.length);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The text of a line without its comment, and without blanks around it. */
static struct slice trim(struct slice line)
{
	while (line.length && is_blank(*line.text))
		line.text++, line.length--;
	for (size_t i = 0; i < line.length; i++)
		if (line.text[i] == '#' && (!i || is_blank(line.text[i - 1])))
			line.length = i;
	while (line.length && is_blank(line.text[line.length - 1]))
		line.length--;
	return line;
}

/* The word after a directive: "f" in ".ent\tf". */
static struct slice operand(struct slice line)
{
	struct slice word;

	while (line.length && !is_blank(*line.text))
		line.text++, line.length--;
	word = trim(line);
	for (size_t i = 0; i < word.length; i++)
		if (is_blank(word.text[i]) || word.text[i] == ',')
			word.length = i;
	return word;
}

static bool is_directive(struct slice line, const char *name)
{
	size_t length = strlen(name);

	return starts(line, name) && (line.length == length || is_blank(line.text[length]));
}

/* ".set noreorder", with any blank between. */
static bool is_set(struct slice line, const char *what)
{
	return is_directive(line, ".set") && equals(operand(line), what);
}

static bool is_label_of(struct slice line, struct slice function)
{
	return function.length && line.length == function.length + 1 &&
	       line.text[function.length] == ':' &&
	       !memcmp(line.text, function.text, function.length);
}

/* Does the line begin with a local symbol, ".LVL0" or in o32 "$LVL0"?  prefix is "LVL". */
static bool is_local(struct slice line, const char *prefix)
{
	struct slice rest = {line.text + 1, line.length - 1};

	return line.length && (*line.text == '.' || *line.text == '$') && starts(rest, prefix);
}

/* ".LVL0 = ." or ".LFB1:": does the line define a local symbol for the current place? */
static bool is_local_here(struct slice line)
{
	const char *end;

	if (!is_local(line, "L"))
		return false;
	if (line.text[line.length - 1] == ':')
		return true;
	end = memchr(line.text, '=', line.length);
	if (!end)
		return false;

	struct slice value = {end + 1, line.length - (end + 1 - line.text)};

	return equals(trim(value), ".");
}

/* Does the line take no space, and mean the same before and after a block? */
static bool fits_prologue(struct slice line)
{
	static const char *const directives[] = {
		".loc",	   ".file", ".ent",    ".type",	    ".globl",	 ".global", ".weak",
		".hidden", ".protected", ".internal", ".frame", ".mask", ".fmask",
	};

	if (!line.length || starts(line, ".cfi_") || is_local_here(line) ||
	    is_set(line, "nomips16") || is_set(line, "nomicromips"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(directives); i++)
		if (is_directive(line, directives[i]))
			return true;
	return false;
}

static struct error *refuse(const struct scan *scan, const char *what)
{
	return error_new(STATUS_FAILED,
			 "%s:%zu: %s the patchable entry at line %zu; only what GCC writes for "
			 "MIPS is understood: compile this unit without -fpatchable-function-entry",
			 scan->name, scan->line, what, scan->block_line);
}

static bool in_block(struct scan *scan, struct slice line)
{
	if (equals(line, "nop"))
		scan->nops++;
	return !line.length || equals(line, "nop") || is_set(line, "noreorder") ||
	       is_set(line, "reorder");
}

/* End the block before this line. */
static struct error *end_block(struct scan *scan, const char *line)
{
	if (!scan->nops)
		return refuse(scan, "there is no nop in");
	scan->block.length = line - scan->block.text;
	scan->copied = line;
	scan->place = PROLOGUE;
	return NULL;
}

/*
 * Can scan_line() skip this line?  It can skip most lines: instructions and data, without a label
 * or a directive that matters outside of blocks and prologues.
 */
static bool is_irrelevant(const struct scan *scan, struct slice raw)
{
	if ((scan->place != OUTSIDE && scan->place != INSIDE) || raw.length < 3 ||
	    raw.text[0] != '\t')
		return false;
	if (raw.text[1] == '.')
		return raw.text[2] != 'e' && raw.text[2] != 'L';
	return !is_blank(raw.text[1]) && !memchr(raw.text, ':', raw.length);
}

/* Process one line; next is the start of the following line. */
static struct error *scan_line(struct scan *scan, struct slice raw, const char *next)
{
	struct slice line;

	if (is_irrelevant(scan, raw))
		return NULL;
	line = trim(raw);
	if (scan->place == BLOCK) {
		if (in_block(scan, line))
			return NULL;
		TRY(end_block(scan, raw.text));
	}
	if (is_directive(line, ".ent")) {
		scan->function = operand(line);
	} else if (is_directive(line, ".end")) {
		scan->function.length = 0;
		if (scan->place != PROLOGUE)
			scan->place = OUTSIDE;
	}
	if (is_label_of(line, scan->function)) {
		if (scan->place == PROLOGUE) {
			buffer_add(scan->out, scan->copied, next - scan->copied);
			buffer_add(scan->out, scan->block.text, scan->block.length);
			scan->copied = next;
			scan->moved++;
			scan->place = INSIDE;
		} else {
			scan->place = FRESH;
		}
		return NULL;
	}

	bool entry = is_local(line, "LPFE") && line.text[line.length - 1] == ':';

	if (scan->place == PROLOGUE && (entry || !fits_prologue(line)))
		return refuse(scan, is_set(line, "mips16") || is_set(line, "micromips") ?
					    "MIPS16 or microMIPS code after" :
					    "no label of a function right after");
	/* Directives of the table's section may come between the label and the entry. */
	if (scan->place == FRESH && line.length && line.text[0] != '.' && !is_local(line, "L"))
		scan->place = INSIDE;
	if (!entry)
		return NULL;

	scan->block_line = scan->line;
	if (scan->place == FRESH)
		return NULL;
	if (scan->place == INSIDE)
		return refuse(scan, "code before");
	scan->place = BLOCK;
	scan->nops = 0;
	buffer_add(scan->out, scan->copied, raw.text - scan->copied);
	scan->block.text = raw.text;
	return NULL;
}

struct error *entries_move(const char *name, const char *text, size_t length, struct buffer *ret,
			   size_t *ret_moved)
{
	struct scan scan = {.name = name, .out = ret, .copied = text};
	const char *end = text + length;

	*ret_moved = 0;
	if (!memmem(text, length, "LPFE", strlen("LPFE")))
		return NULL;
	for (const char *p = text; p < end;) {
		const char *newline = memchr(p, '\n', end - p);
		const char *next = newline ? newline + 1 : end;

		scan.line++;
		TRY(scan_line(&scan, (struct slice){p, (newline ? newline : end) - p}, next));
		p = next;
	}
	if (scan.place == BLOCK || scan.place == PROLOGUE)
		return refuse(&scan, "the end of the file after");
	buffer_add(ret, scan.copied, end - scan.copied);
	*ret_moved = scan.moved;
	return NULL;
}
