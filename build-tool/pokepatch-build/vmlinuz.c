// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading build ids: of an ELF file, and of the kernel inside a boot image; see vmlinuz.h. */
#include "pokepatch-build/vmlinuz.h"

#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/build_id.h"
#include "common/proc.h"

/* Offsets in a bzImage: Documentation/x86/boot.rst, "The Real-Mode Kernel Header". */
#define SETUP_SECTS 0x1f1
#define HEADER_MAGIC 0x202
#define HEADER_VERSION 0x206
#define PAYLOAD_OFFSET 0x248
#define PAYLOAD_LENGTH 0x24c
#define HEADER_END 0x250

/* A kernel has some 10 MB; an image that unpacks to more than this is broken. */
#define KERNEL_SIZE_MAX (1UL << 30)
/* Block size of lz4's legacy frame, which the kernel's build makes (lz4 -l): 8 MiB. */
#define LZ4_LEGACY_BLOCK (8UL << 20)

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return le32toh(value);
}

/* ---- unpacking -------------------------------------------------------------- */

/* Add the bytes that extend a token's length of 15, up to the first that is not 255. */
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

bool lz4_unpack_block(const uint8_t *in, size_t length, struct buffer *out)
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
		while (match) { /* a match may overlap the bytes that it produces */
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
	/* The kernel's build appends the unpacked size, four bytes. */
	while (end - in > 4) {
		uint32_t size = get_u32(in);

		in += 4;
		if (size > (size_t)(end - in) || out->length > KERNEL_SIZE_MAX ||
		    !lz4_unpack_block(in, size, out))
			return false;
		in += size;
	}
	return true;
}

static const struct packing {
	uint8_t magic[6];
	size_t magic_length;
	const char *program[5]; /* argv of a program that unpacks it; NULL: we do */
} packings[] = {
	{{0x02, 0x21, 0x4c, 0x18}, 4, {NULL}},
	{{0xfd, '7', 'z', 'X', 'Z', 0}, 6, {"xz", "-dc", "--single-stream", NULL}},
	{{0x1f, 0x8b}, 2, {"gzip", "-dc", NULL}},
	{{0x28, 0xb5, 0x2f, 0xfd}, 4, {"zstd", "-dc", NULL}},
	{{'B', 'Z', 'h'}, 3, {"bzip2", "-dc", NULL}},
};

/*
 * Unpack the payload with a program, and ignore its status: it complains about the size that the
 * kernel's build appends to the payload.  Reading the result shows whether it was unpacked.
 */
static struct error *unpack_with(const char *const *program, const uint8_t *payload, size_t length,
				 const char *work, const char *to)
{
	_free_ char *from = xasprintf("%s/vmlinuz.payload", work);
	struct proc_options options = {.input = from, .output = to, .keep_stderr_apart = true};
	struct proc_result result = {};
	struct error *error;

	TRY(file_write_scratch(from, payload, length));
	error = proc_run(program, &options, &result);
	proc_result_deinit(&result);
	unlink(from);
	if (error && !proc_interrupted()) { /* the program is not installed */
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
			error = file_write_scratch(to, out.text, out.length);
		buffer_deinit(&out);
		return error;
	}
	return NULL;
}

/* ---- build ids -------------------------------------------------------------- */

static char *build_id_in_data(const Elf_Data *data)
{
	return data ? build_id_in_notes(data->d_buf, data->d_size) : NULL;
}

static char *build_id_in_sections(Elf *elf)
{
	Elf_Scn *section = NULL;
	char *id = NULL;
	GElf_Shdr header;

	while (!id && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
			id = build_id_in_data(elf_getdata(section, NULL));
	return id;
}

/* For a file without sections. */
static char *build_id_in_segments(Elf *elf)
{
	char *id = NULL;
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; !id && i < count; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_NOTE)
			id = build_id_in_data(elf_getdata_rawchunk(elf, (int64_t)header.p_offset,
								   header.p_filesz, ELF_T_NHDR));
	return id;
}

struct error *elf_read_build_id(const char *path, char **ret)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
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
	*ret = elf_nextscn(elf, NULL) ? build_id_in_sections(elf) : build_id_in_segments(elf);
	elf_end(elf);
	return NULL;
}

/* Boot images that are the kernel's memory itself, with a magic number in a header at offset. */
static const struct raw_image {
	size_t offset;
	char magic[4];
} raw_images[] = {
	{0x38, {'A', 'R', 'M', 0x64}}, /* Documentation/arm64/booting.rst */
	{0x38, {'R', 'S', 'C', 0x05}}, /* Documentation/riscv/boot-image-header.rst */
};

static bool is_raw(const uint8_t *image, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(raw_images); i++)
		if (length >= raw_images[i].offset + 4 &&
		    !memcmp(image + raw_images[i].offset, raw_images[i].magic, 4))
			return true;
	return false;
}

/* Find .notes in vmlinux: the offset in memory from the kernel's first byte, and the size. */
static struct error *find_notes(const char *vmlinux, uint64_t *ret_offset, uint64_t *ret_size)
{
	_close_ int fd = open(vmlinux, O_RDONLY | O_CLOEXEC);
	uint64_t first = UINT64_MAX;
	Elf_Scn *section = NULL;
	size_t names, count = 0;
	GElf_Phdr segment;
	GElf_Shdr header;
	Elf *elf;

	*ret_size = 0;
	if (fd < 0)
		return error_errno("cannot open %s", vmlinux);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_vaddr < first)
			first = segment.p_vaddr;
	while (elf && !elf_getshdrstrndx(elf, &names) && (section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (!name || strcmp(name, ".notes") || header.sh_addr < first)
			continue;
		*ret_offset = header.sh_addr - first;
		*ret_size = header.sh_size;
	}
	elf_end(elf);
	return NULL;
}

/*
 * The build id in the notes of an image that is_raw() knows; or NULL.  Such an image is
 * little-endian, and build_id_in_notes() reads words in the byte order of this machine.
 */
static char *build_id_in_image(const uint8_t *notes, uint64_t size)
{
	_free_ char *words = xmalloc(size);
	const Elf_Data from = {.d_buf = (void *)notes, .d_type = ELF_T_NHDR,
			       .d_version = EV_CURRENT, .d_size = size};
	Elf_Data to = {.d_buf = words, .d_version = EV_CURRENT, .d_size = size};

	if (!elf64_xlatetom(&to, &from, ELFDATA2LSB))
		return NULL;
	return build_id_in_notes(words, size);
}

struct error *vmlinuz_read_build_id(const char *path, const char *vmlinux, const char *work,
				    char **ret)
{
	_free_ char *unpacked = xasprintf("%s/vmlinuz.unpacked", work);
	_free_ char *text = NULL;
	const uint8_t *image;
	uint64_t start, payload_length;
	size_t length;
	struct error *error;

	*ret = NULL;
	TRY(file_read(path, &text, &length));
	image = (const uint8_t *)text;
	if (length >= SELFMAG && !memcmp(image, ELFMAG, SELFMAG))
		return elf_read_build_id(path, ret);
	if (is_raw(image, length)) {
		TRY(find_notes(vmlinux, &start, &payload_length));
		if (payload_length && start <= length && payload_length <= length - start)
			*ret = build_id_in_image(image + start, payload_length);
		return NULL;
	}
	if (length < HEADER_END || memcmp(image + HEADER_MAGIC, "HdrS", 4) ||
	    (image[HEADER_VERSION] | image[HEADER_VERSION + 1] << 8) < 0x208)
		return NULL;
	start = ((image[SETUP_SECTS] ? image[SETUP_SECTS] : 4) + 1UL) * 512 +
		get_u32(image + PAYLOAD_OFFSET);
	payload_length = get_u32(image + PAYLOAD_LENGTH);
	if (start > length || payload_length > length - start)
		return error_new(STATUS_FAILED, "%s: truncated; fetch the kernel again", path);
	TRY(unpack(image + start, payload_length, work, unpacked));
	if (!file_exists(unpacked))
		return NULL;
	error = elf_read_build_id(unpacked, ret);
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
