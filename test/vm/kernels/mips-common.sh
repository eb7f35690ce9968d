# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of build, which reads this
# What the definitions of MIPS kernels share.

kernel_cc=${kernel_cross}gcc-12
kernel_targets=(vmlinux)
# QEMU reads it as it is; without DWARF, in a moment.
kernel_image=vmlinux.stripped
kernel_image_name=vmlinux
# Half of the source, which is not even looked at.
kernel_without=('*/drivers/gpu/*.[ch]' '*/drivers/net/ethernet/*.[ch]' '*/drivers/net/wireless/*.[ch]'
	'*/drivers/media/*.[ch]' '*/drivers/staging/*.[ch]' '*/drivers/infiniband/*.[ch]'
	'*/drivers/scsi/*.[ch]' '*/drivers/usb/*.[ch]' '*/sound/*.[ch]' '*/arch/arm*/boot/dts/*'
	'*/arch/a*/*.[chS]' '*/arch/[cilnoprsx]*/*.[chS]')

kernel_make_image() {
	"${kernel_cross}strip" -o "$tree/$kernel_image" "$tree/vmlinux"
}
