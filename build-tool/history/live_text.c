// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the running kernel; see live_text.h. */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/live_text.h"
#include "common/proc.h"
#include "common/search.h"

/* Room for several records, so that a long history takes few calls. */
#define READ_SIZE (8 * POKEPATCH_HISTORY_RECORD_MAX)
/* How often to read text again that changed while it was read, and to wait for a transition. */
#define SIGHT_ROUNDS 10
#define WAIT_ROUNDS 100
#define SETTLE_US 5000
#define WAIT_US 50000

/* ---- the device ------------------------------------------------------------------------ */

/* Whether the kernel is locked down for confidentiality, as far as securityfs is mounted. */
static bool is_locked_down(void)
{
	_free_ char *text = NULL;
	size_t length;
	struct error *error = file_read("/sys/kernel/security/lockdown", &text, &length);
	const bool locked = !error && strstr(text, "[confidentiality]");

	error_destroy(error);
	return locked;
}

/*
 * Opening the device has failed. The core asks for a capability first (EACCES), and then whether
 * the kernel is locked down (EPERM). Rules for a container's devices give EPERM, too.
 */
static struct error *open_failed(void)
{
	const char *advice = "run this as root with CAP_PERFMON or CAP_SYS_ADMIN";
	const int reason = errno;

	if (reason == ENOENT || reason == ENXIO || reason == ENODEV)
		return error_new(STATUS_FAILED,
				 "there is no " POKEPATCH_HISTORY_DEVICE ": the core module is not "
				 "loaded ('pokepatch load' does it), or is of an older release");
	if (reason == EPERM && is_locked_down())
		advice = "the kernel is locked down for confidentiality "
			 "(/sys/kernel/security/lockdown), and no process can read its text "
			 "until the next boot";
	else if (reason == EPERM)
		advice = "a security module or a container's rules for devices forbid it; run this "
			 "outside of the container";
	else if (reason != EACCES)
		return error_errno("cannot open " POKEPATCH_HISTORY_DEVICE);
	return error_new(STATUS_FAILED, "cannot open " POKEPATCH_HISTORY_DEVICE ": %s; %s",
			 strerror(reason), advice);
}

struct error *live_open(int *ret_fd)
{
	*ret_fd = open(POKEPATCH_HISTORY_DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return *ret_fd < 0 ? open_failed() : NULL;
}

static struct error *wait_for_records(int fd, int wait_ms)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	if (wait_ms && poll(&poll_fd, 1, wait_ms) < 0 && errno != EINTR)
		return error_errno("cannot wait for " POKEPATCH_HISTORY_DEVICE);
	return NULL;
}

struct error *live_read(int fd, struct history *history, int wait_ms, bool *ret_more,
			bool *ret_gone)
{
	_free_ uint8_t *bytes = xmalloc(READ_SIZE);
	ssize_t got;
	bool info;

	*ret_more = *ret_gone = false;
	TRY(wait_for_records(fd, wait_ms));
	got = read(fd, bytes, READ_SIZE);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (got < 0)
		return error_errno("cannot read " POKEPATCH_HISTORY_DEVICE);
	if (!got) {
		*ret_gone = true;
		return NULL;
	}
	*ret_more = true;
	bytes = xreallocarray(bytes, got, 1);
	return error_prefix(history_add_records(history, history_keep(history, take_pointer(bytes)),
						got, false, &info),
			    POKEPATCH_HISTORY_DEVICE);
}

/*
 * Read both clocks: the core puts their time into the first record of every new reader.  Read the
 * clocks before the last records, and no record of an earlier time can be missing.
 */
static struct error *look_at_clocks(struct history *history)
{
	struct history now = {0};
	struct error *error;
	bool more = false, gone;
	int fd _close_ = -1;

	TRY(live_open(&fd));
	error = live_read(fd, &now, 0, &more, &gone);
	if (!error && !more)
		error = error_new(STATUS_FAILED,
				  POKEPATCH_HISTORY_DEVICE " does not say what time it is");
	if (!error)
		history->end = now.info.time;
	history_deinit(&now);
	return error;
}

struct error *live_drain(int fd, struct history *history)
{
	bool more = true, gone;

	TRY(look_at_clocks(history));
	while (more) {
		TRY(live_read(fd, history, 0, &more, &gone));
		TRY(proc_check_interrupted());
	}
	return NULL;
}

/* ---- /proc/kcore ----------------------------------------------------------------------- */

static struct error *read_at(int fd, const char *path, uint64_t offset, void *bytes, size_t size)
{
	while (size) {
		ssize_t got = pread(fd, bytes, size, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno("cannot read %s", path);
		if (!got)
			return error_new(STATUS_FAILED, "%s ends too early", path);
		bytes = (uint8_t *)bytes + got;
		offset += got;
		size -= got;
	}
	return NULL;
}

static int compare_parts(const void *a, const void *b)
{
	const struct kcore_part *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static struct error *read_parts(const char *path, struct kcore *kcore)
{
	const unsigned char host =
		__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	Elf64_Ehdr header;

	TRY(read_at(kcore->fd, path, 0, &header, sizeof(header)));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_type != ET_CORE ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != host ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return error_new(STATUS_FAILED, "%s is not a core file of a 64-bit machine", path);
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr part;

		TRY(read_at(kcore->fd, path, header.e_phoff + i * sizeof(part), &part,
			    sizeof(part)));
		if (part.p_type == PT_LOAD && part.p_vaddr + part.p_filesz >= part.p_vaddr)
			*vec_push(&kcore->parts) = (struct kcore_part){part.p_vaddr, part.p_filesz,
								       part.p_offset};
	}
	if (kcore->parts.count)
		qsort(kcore->parts.list, kcore->parts.count, sizeof(*kcore->parts.list),
		      compare_parts);
	return NULL;
}

struct error *kcore_open(const char *path, struct kcore *ret)
{
	struct error *error;

	path = path ?: "/proc/kcore";
	*ret = (struct kcore){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (ret->fd < 0 && (errno == EPERM || errno == EACCES))
		return error_errno("cannot read %s, which needs root and a kernel that is not "
				   "locked down",
				   path);
	if (ret->fd < 0)
		return error_errno("cannot read the kernel's text from %s", path);
	error = read_parts(path, ret);
	if (error)
		kcore_close(ret);
	return error;
}

/* The part that has an address, or NULL. */
static const struct kcore_part *find_part(const struct kcore *kcore, uint64_t address)
{
	const struct kcore_part *list = kcore->parts.list;
	size_t behind = first_index(i, kcore->parts.count, list[i].address > address);

	return behind && address - list[behind - 1].address < list[behind - 1].size
		       ? &list[behind - 1]
		       : NULL;
}

struct error *kcore_read(const struct kcore *kcore, uint64_t address, void *bytes, size_t size)
{
	while (size) {
		const struct kcore_part *part = find_part(kcore, address);
		uint64_t inside, here;

		if (!part)
			return error_new(STATUS_FAILED,
					 "/proc/kcore has no text at 0x%" PRIx64, address);
		inside = address - part->address;
		here = part->size - inside < size ? part->size - inside : size;
		TRY(read_at(kcore->fd, "/proc/kcore", part->offset + inside, bytes, here));
		address += here;
		bytes = (uint8_t *)bytes + here;
		size -= here;
	}
	return NULL;
}

void kcore_close(struct kcore *kcore)
{
	if (kcore->fd >= 0)
		close(kcore->fd);
	kcore->fd = -1;
	vec_deinit(&kcore->parts);
}

/* ---- /proc/kallsyms -------------------------------------------------------------------- */

struct listed {
	uint64_t address;
	const char *name, *module; /* module: NULL for the kernel's own */
	bool text;
};
struct listing {
	VEC(struct listed) all;
};

/* Parse "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]", in place. */
static void take_line(struct listing *listing, char *line)
{
	struct listed listed = {.address = strtoull(line, &line, 16)};
	char *module;

	if (strlen(line) < 4)
		return;
	listed.text = strchr("tTwW", line[1]);
	listed.name = line + 3;
	module = strstr(line + 3, "\t[");
	if (module) {
		*module = '\0';
		module += 2;
		module[strcspn(module, "]")] = '\0';
		listed.module = module;
		/* Code that the kernel makes at run time has no history. */
		if (strcmp(module, "bpf") == 0 || has_prefix(module, "__builtin__"))
			return;
	}
	*vec_push(&listing->all) = listed;
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name; /* in the order of the file */
}

/* The end of a symbol: the next symbol of its module, or the end of its page. */
static uint64_t end_of(const struct listing *listing, size_t i, uint64_t page)
{
	const struct listed *symbol = &listing->all.list[i];
	size_t next = i + 1;

	while (next < listing->all.count && listing->all.list[next].address == symbol->address)
		next++;
	if (next < listing->all.count &&
	    (listing->all.list[next].module == symbol->module ||
	     (symbol->module && listing->all.list[next].module &&
	      strcmp(listing->all.list[next].module, symbol->module) == 0)))
		return listing->all.list[next].address;
	return (symbol->address | (page - 1)) + 1;
}

/* A module's text reaches at least to the end of this symbol. */
static void widen_module(struct history *history, struct map *modules,
			 const struct text_symbol *symbol)
{
	void **slot = map_slot(modules, symbol->module);
	struct history_module *module;

	if (!*slot) {
		*vec_push(&history->modules) = (struct history_module){
			symbol->address, symbol->size, symbol->module};
		*slot = (void *)(uintptr_t)history->modules.count;
		return;
	}
	module = &history->modules.list[(uintptr_t)*slot - 1]; /* symbols come by address */
	module->size = symbol->address + symbol->size - module->address;
}

static void add_symbols(struct history *history, const struct listing *listing)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	struct map modules = {0};

	/* Search the end once for all names of a place. */
	for (size_t i = 0; i < listing->all.count; i++) {
		const struct listed *listed = &listing->all.list[i];
		struct text_symbol *symbol;
		bool again = i && listing->all.list[i - 1].address == listed->address;

		if (!listed->text || !listed->address)
			continue;
		symbol = vec_push(&history->symbols);
		*symbol = (struct text_symbol){
			.address = listed->address,
			.died = PAST_FOREVER,
			.name = listed->name,
			.module = listed->module,
		};
		if (again && history->symbols.count > 1 && symbol[-1].address == symbol->address)
			symbol->size = symbol[-1].size;
		else
			symbol->size = end_of(listing, i, page) - listed->address;
		if (symbol->module)
			widen_module(history, &modules, symbol);
	}
	map_deinit(&modules);
}

struct error *live_symbols(const char *path, struct history *history)
{
	struct listing listing = {0};
	struct error *error = NULL;
	char *text, *rest, *line;
	size_t length;

	path = path ?: "/proc/kallsyms";
	TRY(file_read(path, &text, &length));
	rest = history_keep(history, text);
	while ((line = strsep(&rest, "\n")))
		take_line(&listing, line);
	if (listing.all.count)
		qsort(listing.all.list, listing.all.count, sizeof(*listing.all.list),
		      compare_listed);
	if (!listing.all.count || !listing.all.list[listing.all.count - 1].address)
		error = error_new(STATUS_FAILED,
				  "%s shows no addresses: this needs root, and a kernel.kptr_restrict "
				  "below 2",
				  path);
	else
		add_symbols(history, &listing);
	vec_deinit(&listing.all);
	return error;
}

/* ---- looking at text ------------------------------------------------------------------- */

struct looking {
	struct kcore kcore;
	struct live_range *ranges;
	uint8_t **bytes; /* of each range, or NULL */
	bool *again;	 /* read this range again */
	size_t count;
	struct span_list by_place;
};

static void mark(struct looking *looking, uint64_t address, uint64_t size)
{
	size_t index = looking->by_place.spans.count;
	const struct span *span;

	while (size &&
	       (span = span_list_each(&looking->by_place, address, address + size, &index)))
		looking->again[span->item] = true;
}

/* Mark the ranges that the records after that number changed while we read them. */
static void mark_changes(struct looking *looking, const struct history *history, uint64_t seq)
{
	for (size_t i = history->records.count; i-- > 0;) {
		const struct history_record *record = &history->records.list[i];

		if (record->seq <= seq)
			break;
		if (record->type == POKEPATCH_HISTORY_LOST)
			memset(looking->again, true, looking->count);
		else if (record->type == POKEPATCH_HISTORY_TEXT ||
			 record->type == POKEPATCH_HISTORY_APPEAR ||
			 record->type == POKEPATCH_HISTORY_SNAPSHOT)
			mark(looking, record->address, record->size);
	}
}

/* The bytes of a range, or NULL if its module has gone. */
static uint8_t *read_range(const struct kcore *kcore, const struct live_range *range)
{
	uint8_t *bytes = xmalloc(range->size);
	struct error *error = kcore_read(kcore, range->address, bytes, range->size);

	if (!error)
		return bytes;
	error_destroy(error);
	free(bytes);
	return NULL;
}

/*
 * Read each range twice with a pause in between, and keep it only if both agree.  Where other
 * writers' changes are not recorded, this finds a change that is half made.
 */
static void read_ranges(struct looking *looking)
{
	for (size_t i = 0; i < looking->count; i++) {
		free(looking->bytes[i]);
		looking->bytes[i] =
			looking->again[i] ? read_range(&looking->kcore, &looking->ranges[i]) : NULL;
	}
	usleep(SETTLE_US);
	for (size_t i = 0; i < looking->count; i++) {
		const struct live_range *range = &looking->ranges[i];
		_free_ uint8_t *second = NULL;

		if (looking->bytes[i])
			second = read_range(&looking->kcore, range);
		if (second && memcmp(second, looking->bytes[i], range->size) == 0)
			continue;
		free(looking->bytes[i]);
		looking->bytes[i] = NULL;
	}
}

/* Add a range that was read, and that no record has changed since. */
static void take_sight(struct history *history, struct looking *looking, size_t i)
{
	struct live_range *range = &looking->ranges[i];

	*vec_push(&history->sights) = (struct history_sight){
		.address = range->address,
		.size = range->size,
		.time = history->end,
		.seq = history_last_seq(history),
		.bytes = history_keep(history, take_pointer(looking->bytes[i])),
	};
	range->failed = false;
}

/*
 * The core records a change once it is complete, and a transition before its first change.  So read
 * text while no transition is under way, and again if one has begun meanwhile.  If no record is
 * about a range then, its bytes were there when live_drain() read the clocks last.
 */
static struct error *look(int fd, struct history *history, struct looking *looking)
{
	bool left = true;
	int rounds = 0, waits = 0;

	while (left && rounds < SIGHT_ROUNDS && waits < WAIT_ROUNDS) {
		uint64_t seq;

		TRY(proc_check_interrupted());
		TRY(live_drain(fd, history));
		if (history_under_way(history)) {
			waits++;
			usleep(WAIT_US);
			continue;
		}
		rounds++;
		seq = history_last_seq(history);
		read_ranges(looking);
		TRY(live_drain(fd, history));
		if (history_under_way(history))
			continue;

		_free_ bool *read = looking->again;
		looking->again = xcalloc(looking->count + 1, sizeof(bool));
		mark_changes(looking, history, seq);
		left = false;
		for (size_t i = 0; i < looking->count; i++) {
			if (read[i] && !looking->again[i] && looking->bytes[i])
				take_sight(history, looking, i);
			looking->again[i] = read[i] && looking->ranges[i].failed;
			left |= looking->again[i];
		}
	}
	return NULL;
}

struct error *live_sights(int fd, struct history *history, struct live_range *ranges,
			  size_t count)
{
	struct looking looking = {.ranges = ranges, .count = count};
	struct error *error;

	TRY(kcore_open(NULL, &looking.kcore));
	looking.bytes = xcalloc(count + 1, sizeof(*looking.bytes));
	looking.again = xcalloc(count + 1, sizeof(bool));
	for (size_t i = 0; i < count; i++) {
		ranges[i].failed = looking.again[i] = true;
		span_list_add(&looking.by_place, ranges[i].address, ranges[i].size, i);
	}
	span_list_sort(&looking.by_place);
	error = look(fd, history, &looking);
	for (size_t i = 0; i < count; i++)
		free(looking.bytes[i]);
	free(looking.bytes);
	free(looking.again);
	span_list_deinit(&looking.by_place);
	kcore_close(&looking.kcore);
	return error;
}
