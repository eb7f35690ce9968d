# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables of build, which reads this
# x86-64, built by clang as LLVM= builds it, whose indirect calls are checked.  build explains each variable.

kernel_configs=(guest kcfi)
kernel_cc=clang-19
kernel_llvm=-19
kernel_targets=(bzImage)
kernel_image=arch/x86/boot/bzImage
kernel_image_name=vmlinuz
# Not what other machines, and devices that no guest has, are made of.
kernel_without=('*/drivers/gpu/*.[ch]' '*/drivers/net/ethernet/*.[ch]' '*/drivers/net/wireless/*.[ch]'
	'*/drivers/media/*.[ch]' '*/drivers/staging/*.[ch]' '*/drivers/infiniband/*.[ch]'
	'*/drivers/scsi/*.[ch]' '*/drivers/usb/*.[ch]' '*/sound/*.[ch]' '*/arch/a*/*.[chS]'
	'*/arch/[cilmnoprs]*/*.[chS]')
