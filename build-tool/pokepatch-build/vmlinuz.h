/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef POKEPATCH_VMLINUZ_H
#define POKEPATCH_VMLINUZ_H

#include "common/util.h"

/*
 * vmlinuz_build_id - the GNU build id of the kernel in an image.
 * @path: an x86 bzImage (Documentation/x86/boot.rst, protocol 2.08 and later), or an
 * image that is not packed: arm64's (Documentation/arm64/booting.rst), riscv's, an ELF file.
 * @vmlinux: with that of an image that is not packed it says where the id would be.
 * @work: a folder for temporary files.
 * @ret: hexadecimal, the caller's; NULL if it is another kind of image, or
 * compressed in a way that no program here unpacks, or no id is where vmlinux has one.
 */
struct error *vmlinuz_build_id(const char *path, const char *vmlinux, const char *work,
			       char **ret);

/* elf_build_id - of an ELF file; NULL if it has none. */
struct error *elf_build_id(const char *path, char **ret);

/*
 * lz4_block - unpack one block of the LZ4 block format (its specification is
 * doc/lz4_Block_format.md in the lz4 project) to the end of out; false: malformed.
 * Matches may reach back no further than to out's length when called.
 */
bool lz4_block(const uint8_t *in, size_t length, struct buffer *out);

#endif /* POKEPATCH_VMLINUZ_H */
