/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build ids: of an ELF file, and of the kernel inside a boot image. */
#ifndef POKEPATCH_VMLINUZ_H
#define POKEPATCH_VMLINUZ_H

#include "common/util.h"

/*
 * vmlinuz_read_build_id - read the GNU build id of the kernel in a boot image.
 * @path: an x86 bzImage (Documentation/x86/boot.rst, protocol 2.08 and later) or an uncompressed
 * image: arm64's (Documentation/arm64/booting.rst), riscv's, or an ELF file.
 * @vmlinux: tells where an uncompressed image would have its build id.
 * @work: a folder for temporary files.
 * @ret: hexadecimal, which the caller frees.  NULL if the image is of another kind, or no program
 * on this machine can unpack it, or it has no build id where vmlinux has one.
 */
struct error *vmlinuz_read_build_id(const char *path, const char *vmlinux, const char *work,
				    char **ret);

/* elf_read_build_id - read an ELF file's build id; *ret is as above, NULL if the file has none. */
struct error *elf_read_build_id(const char *path, char **ret);

/*
 * lz4_unpack_block - unpack one block of the LZ4 block format, which doc/lz4_Block_format.md in the
 * lz4 project specifies, and append the result to out.  Matches may not reach back before the end
 * that out has at the call.  Return: false if the block is malformed.
 */
bool lz4_unpack_block(const uint8_t *in, size_t length, struct buffer *out);

#endif /* POKEPATCH_VMLINUZ_H */
