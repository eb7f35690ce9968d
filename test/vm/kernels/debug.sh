# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# x86-64, with every check that finds mistakes; what each variable means is told in build.

kernel_configs=(debug)
kernel_targets=(bzImage)
kernel_image=arch/x86/boot/bzImage
kernel_image_name=vmlinuz
