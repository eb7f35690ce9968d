# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables of build, which reads this
# x86-64 with KASAN: what the core reads and writes outside its memory.  build explains each variable.

kernel_configs=(guest linux-6.1 kasan)
kernel_targets=(bzImage)
kernel_image=arch/x86/boot/bzImage
kernel_image_name=vmlinuz
