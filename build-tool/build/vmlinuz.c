// SPDX-License-Identifier: GPL-2.0-or-later
/* The build id of the kernel that really boots, from inside its compressed image. */
#include "vmlinuz.h"

#include <elfutils/libdwelf.h>
#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

/* Offsets in a bzImage: Documentation/x86/boot.rst, "The Real-Mode Kernel Header". */
#define SETUP_SECTS 0x1f1
#define HEADER_MAGIC 0x202
#define HEADER_VERSION 0x206
#define PAYLOAD_OFFSET 0x248
#define PAYLOAD_LENGTH 0x24c
#define HEADER_END 0x250

/* A kernel is a few times 10 MB; more is a broken image. */
#define KERNEL_SIZE_MAX (1UL << 30)
/* lz4's legacy frame, which the kernel's build makes with lz4 -l: blocks of at most 8 MiB. */
#define LZ4_LEGACY_BLOCK (8UL << 20)

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return le32toh(value);
}

/* ---- unpacking -------------------------------------------------------------- */

/* A length of 15 in a token goes on in bytes, up to one that is not 255. */
static bool lz4_length(const uint8_t **in, const uint8_t *end, size_t *length)
{
	uint8_t byte;

	if (*length != 15)
		return true;
	do {
		if (*in == end)
			return false;
		byte = *(*in)++;
		*length += byte;
	} while (byte == 255);
	return true;
}

bool lz4_block(const uint8_t *in, size_t length, struct buffer *out)
{
	const uint8_t *end = in + length;
	size_t start = out->length;

	while (in < end) {
		uint8_t token = *in++;
		size_t literals = token >> 4, match = token & 15, offset;

		if (!lz4_length(&in, end, &literals) || literals > (size_t)(end - in) ||
		    out->length - start + literals > LZ4_LEGACY_BLOCK)
			return false;
		buffer_add(out, in, literals);
		in += literals;
		if (in == end)
			return true; /* the last sequence has literals only */
		if (end - in < 2)
			return false;
		offset = in[0] | (size_t)in[1] << 8;
		in += 2;
		if (!lz4_length(&in, end, &match))
			return false;
		match += 4;
		if (!offset || offset > out->length - start ||
		    out->length - start + match > LZ4_LEGACY_BLOCK)
			return false;
		while (match) { /* overlapping: what was written a moment ago is read again */
			size_t step = match < offset ? match : offset;
			char part[256];

			step = step < sizeof(part) ? step : sizeof(part);
			memcpy(part, out->text + out->length - offset, step);
			buffer_add(out, part, step);
			match -= step;
		}
	}
	return true;
}

static bool unpack_lz4(const uint8_t *in, size_t length, struct buffer *out)
{
	const uint8_t *end = in + length;

	in += 4;
	/* The kernel's build adds the unpacked size, four bytes, to the end. */
	while (end - in > 4) {
		uint32_t size = get_u32(in);

		in += 4;
		if (size > (size_t)(end - in) || out->length > KERNEL_SIZE_MAX ||
		    !lz4_block(in, size, out))
			return false;
		in += size;
	}
	return true;
}

static const struct packing {
	uint8_t magic[6];
	size_t magic_length;
	const char *program[5]; /* NULL: by ourselves */
} packings[] = {
	{{0x02, 0x21, 0x4c, 0x18}, 4, {NULL}},
	{{0xfd, '7', 'z', 'X', 'Z', 0}, 6, {"xz", "-dc", "--single-stream", NULL}},
	{{0x1f, 0x8b}, 2, {"gzip", "-dc", NULL}},
	{{0x28, 0xb5, 0x2f, 0xfd}, 4, {"zstd", "-dc", NULL}},
	{{'B', 'Z', 'h'}, 3, {"bzip2", "-dc", NULL}},
};

/*
 * Programs complain about the size that the kernel's build puts behind the
 * payload; whether it was unpacked shows when the result is read.
 */
static struct error *unpack_with(const char *const *program, const uint8_t *payload, size_t length,
				 const char *work, const char *to)
{
	_free_ char *from = xasprintf("%s/vmlinuz.payload", work);
	struct proc_options options = {.input = from, .output = to, .keep_stderr_apart = true};
	struct proc_result result = {};
	struct error *error;

	_failed_(file_write(from, payload, length));
	error = proc_run(program, &options, &result);
	proc_result_deinit(&result);
	unlink(from);
	if (error && !proc_interrupted()) { /* no such program */
		error_destroy(error);
		error = NULL;
	}
	return error;
}

static struct error *unpack(const uint8_t *payload, size_t length, const char *work, const char *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(packings); i++) {
		const struct packing *packing = &packings[i];
		struct buffer out = {};
		struct error *error = NULL;

		if (length < 8 || memcmp(payload, packing->magic, packing->magic_length))
			continue;
		if (packing->program[0])
			return unpack_with(packing->program, payload, length, work, to);
		if (unpack_lz4(payload, length, &out))
			error = file_write(to, out.text, out.length);
		buffer_deinit(&out);
		return error;
	}
	return NULL;
}

/* ---- build ids -------------------------------------------------------------- */

struct error *elf_build_id(const char *path, char **ret)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const uint8_t *id;
	struct buffer text = {};
	ssize_t length;
	Elf *elf;

	*ret = NULL;
	if (fd < 0)
		return error_errno("cannot open %s", path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return error_new(STATUS_FAILED, "%s: not an ELF file", path);
	}
	length = dwelf_elf_gnu_build_id(elf, (const void **)&id);
	for (ssize_t i = 0; i < length; i++)
		buffer_printf(&text, "%02x", id[i]);
	elf_end(elf);
	*ret = text.text;
	return NULL;
}

struct error *vmlinuz_build_id(const char *path, const char *work, char **ret)
{
	_free_ char *unpacked = xasprintf("%s/vmlinuz.unpacked", work);
	_free_ char *text = NULL;
	const uint8_t *image;
	size_t length, start, payload_length;
	struct error *error;

	*ret = NULL;
	_failed_(file_read(path, &text, &length));
	image = (const uint8_t *)text;
	if (length < HEADER_END || memcmp(image + HEADER_MAGIC, "HdrS", 4) ||
	    (image[HEADER_VERSION] | image[HEADER_VERSION + 1] << 8) < 0x208)
		return NULL;
	start = ((image[SETUP_SECTS] ? image[SETUP_SECTS] : 4) + 1UL) * 512 +
		get_u32(image + PAYLOAD_OFFSET);
	payload_length = get_u32(image + PAYLOAD_LENGTH);
	if (start > length || payload_length > length - start)
		return error_new(STATUS_FAILED, "%s: truncated; fetch the kernel again", path);
	_failed_(unpack(image + start, payload_length, work, unpacked));
	if (!file_exists(unpacked))
		return NULL;
	error = elf_build_id(unpacked, ret);
	unlink(unpacked);
	if (error) {
		error_destroy(error);
		return error_new(STATUS_FAILED,
				 "%s: the kernel in it cannot be unpacked; fetch the "
				 "kernel again",
				 path);
	}
	return NULL;
}
