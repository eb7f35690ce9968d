# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of vm and of its other parts
# Starts QEMU, watches the time, finds out how the guest ended.

# qemu_command ACCEL OUTPUT-CHARDEV - set $qemu to the command.
#
# Programs begin at the same addresses each time (randomize_va_space in guest/init): TCG finds translated code by its
# address, and would translate pokepatch and its libraries anew whenever it is run.  Nor
# does the kernel clear memory that its caller did not ask it to clear, as Debian's kernels do
# (init_on_alloc): that takes a tenth of the time, and hides what the core forgets to clear.  Ours for MIPS do not.
#
# Since 7.3 slub_debug has the kernel show addresses as they are, and say so in 15 lines of warning
# (hash_pointers).
#
# A busy host may leave a guest's CPU without time for longer than the 20 seconds after which the
# kernel takes it for locked up (watchdog_thresh, of which that is twice).
#
# TCG takes turns with the virtual CPUs in one thread.  With a thread each, QEMU before 8.2
# may translate code while another CPU writes it and keep the stale translation: a CPU then
# meets an INT3 for ever that ftrace has long taken away.  On two processors it is not slower.
qemu_command() {
	local cpu=("${arch_cpu_tcg[@]}") tcg=(-accel 'tcg,thread=single')
	[ -z "$cpu_model" ] || cpu=(-cpu "$cpu_model")
	[ "$1" != kvm ] || cpu=("${arch_cpu_kvm[@]}") tcg=(-accel kvm)
	[ -z "$icount" ] || tcg+=(-icount shift=0)
	local drive=()
	# What the guest has written outlives QEMU, if not the host.
	[ -z "$system" ] || drive=(-drive "file=$system,format=raw,if=virtio,cache=unsafe")
	if [ -n "$disk" ]; then
		truncate -s "${disk}M" "$work/disk"
		drive+=(-drive "file=$work/disk,format=raw,if=virtio")
	fi
	local firmware=()
	if [ -n "$variables" ]; then
		# What the guest writes there is still there when it is started again.
		[ -e "$work/variables" ] || cp "$variables" "$work/variables"
		firmware=("${arch_firmware_options[@]}"
			-drive "if=pflash,format=raw,readonly=on,file=$arch_firmware"
			-drive "if=pflash,format=raw,file=$work/variables")
	fi
	local init_on_alloc=' init_on_alloc=0'
	[ -z "${arch_kernel-}" ] || init_on_alloc=''
	local words="console=$arch_log_tty console_msg_format=syslog ignore_loglevel \
printk.time=1 log_buf_len=4M panic=-1 oops=panic panic_print=0x41${init_on_alloc} \
watchdog_thresh=30 ${arch_append[*]}${arch_append[*]:+ }${append[*]-}"
	local max=${arch_words_max:-2047}
	[ ${#words} -le "$max" ] ||
		fail "the kernel's command line has ${#words} characters; what boots it passes on $max"
	qemu=("$arch_qemu" -nodefaults -no-user-config -display none -no-reboot
		"${arch_machine[@]}" "${tcg[@]}" "${cpu[@]}" -smp "$smp" -m "$memory"
		"${firmware[@]}" "${drive[@]}"
		-kernel "$image" -initrd "$work/initramfs"
		-chardev "file,id=log,path=$out/kernel.log,append=on"
		-chardev "$2"
		-chardev "file,id=control,path=$work/control,append=on"
		-chardev "pipe,id=monitor,path=$work/monitor" -mon chardev=monitor
		"${arch_ports[@]}"
		-append "$words")
}

# start_qemu ACCEL - in the background; sets $qemu_pid and opens its monitor as fd 8.
start_qemu() {
	local output=stdio,id=output,signal=off,logfile=$out/output,logappend=on
	[ -z "$quiet" ] || output=file,id=output,path=$out/output,append=on
	rm -f "$work"/monitor.{in,out}
	mkfifo "$work"/monitor.{in,out}
	qemu_command "$1" "$output"
	exec 8<>"$work/monitor.in" 7<>"$work/monitor.out"
	"${qemu[@]}" </dev/null 2>"$work/qemu.err" 7>&- 8>&- &
	qemu_pid=$!
}

# count_waited - set $waited to the seconds for which QEMU could have run and other programs had the processors: of
# the thread that waited longest.
count_waited() {
	local file ns
	waited=0
	for file in /proc/"$qemu_pid"/task/*/schedstat; do
		{ read -r _ ns _ <"$file"; } 2>/dev/null || continue
		[ $((ns / 1000000000)) -le $waited ] || waited=$((ns / 1000000000))
	done
}

# wait_qemu SECONDS - fails if QEMU is still there then; what it waited for a processor does not count, up to three
# times as long.  The monitor's pipe, in which nothing is ever waited for, serves as a sleep that costs no process.
# The power button (--power-button) is pressed a second or two after the line; if that is too early, what
# waits for it begins anew, and with it comes the next line.
wait_qemu() {
	local never=1000000000
	local end=$((SECONDS + $1)) lines seen=0 press_at=$never before
	count_waited
	before=$waited
	while kill -0 "$qemu_pid" 2>/dev/null; do
		if [ $SECONDS -ge $end ]; then
			count_waited
			[ $SECONDS -lt $((end + waited - before)) ] && [ $SECONDS -lt $((end + 3 * $1)) ] || return 1
		fi
		if [ -n "$power_button" ]; then
			lines=$(grep -cE -e "$power_button" "$out/kernel.log")
			[ "$lines" -le "$seen" ] || press_at=$((SECONDS + 2))
			seen=$lines
			[ $SECONDS -lt "$press_at" ] || {
				echo system_powerdown >&8
				press_at=$never
			}
		fi
		read -r -t 0.05 -u 9 || :
	done
}

# run_qemu - run the guest to its end; the status is the script's or STATUS_*.
run_qemu() {
	local status=0
	mkfifo "$work/never"
	exec 9<>"$work/never"
	: >"$out/kernel.log"
	: >"$out/output"
	: >"$work/control"
	run_qemu_once || status=$?
	if [ $status -eq "$STATUS_DIED" ] && grep -q 'PM: hibernation: Wrote' "$out/kernel.log"; then
		status=0
		run_qemu_once || status=$?
	fi
	return $status
}

# run_qemu_once - from a boot until QEMU ends.
run_qemu_once() {
	local status=0 own_status=0 line
	start_qemu "$accel"
	if ! wait_qemu "$limit"; then
		status=$STATUS_TIMEOUT
		# Let the guest say where it hangs, if it still can.
		if [ -n "${arch_hang_command:-}" ]; then
			echo "$arch_hang_command" >&8
			wait_qemu 10 || :
		fi
		kill -KILL "$qemu_pid" 2>/dev/null || :
	fi
	wait "$qemu_pid" 2>/dev/null || own_status=$?
	qemu_pid=''
	[ ! -s "$work/qemu.err" ] || sed 's/^/vm: QEMU says: /' "$work/qemu.err" >&2
	[ "$status" -eq 0 ] || return "$status"
	[ "$own_status" -eq 0 ] || {
		echo "vm: QEMU ended with status $own_status" >&2
		return "$STATUS_DIED"
	}

	line=$(tr -d '\r' <"$work/control" | grep -E '^pokepatch-vm: exit [0-9]+$' || :)
	# From a port without interrupts it may not have come (guest/init).
	[ -n "$line" ] || line=$(sed -nE 's/^<[0-9]+>\[[0-9. ]+\] (pokepatch-vm: exit [0-9]+)\r*$/\1/p' "$out/kernel.log" | tail -n 1)
	[ -n "$line" ] || return "$STATUS_DIED"
	return "${line##* }"
}

run_shell() {
	qemu_command "$accel" "stdio,id=output,signal=off"
	mkfifo "$work"/monitor.{in,out}
	exec 8<>"$work/monitor.in" 7<>"$work/monitor.out"
	"${qemu[@]}" 7>&- 8>&- || fail "QEMU ended with status $?"
}

# choose_accel - set $accel and $accel_reason.  That KVM's device can be opened
# proves nothing: a guest must really have run under it.  The verdict holds until
# the host's next boot.
choose_accel() {
	local verdict boot
	accel=tcg
	if [ -n "$icount" ]; then
		accel_reason="instructions are counted"
		return
	fi
	if [ -n "$cpu_model" ]; then
		accel_reason="a processor is asked for"
		return
	fi
	if is_foreign; then
		accel_reason="the guest is $arch, this machine $(uname -m)"
		return
	fi
	if [ ! -w "$arch_kvm" ]; then
		accel_reason="$arch_kvm is not there for us"
		return
	fi
	boot=$(cat /proc/sys/kernel/random/boot_id)
	verdict=$top/build/vm/accel-$boot
	if [ ! -s "$verdict" ]; then
		mkdir -p "${verdict%/*}"
		if kvm_trial; then echo kvm; else echo tcg; fi >"$verdict.$$"
		mv "$verdict.$$" "$verdict"
	fi
	accel=$(cat "$verdict")
	if [ "$accel" = kvm ]; then
		accel_reason="a trial guest ran under KVM"
	else
		accel_reason="$arch_kvm is there, but a trial guest did not run under it"
	fi
}

# kvm_trial - boot a guest that does nothing; true if it reached its end in time.
# In a subshell: its options and folders are its own.
kvm_trial() (
	modules=() programs=() files=() append=() disk='' own_root='' system='' variables='' cpu_model='' limit=15 quiet=1 accel=kvm arch_hang_command=''
	out=$work/trial work=$out
	mkdir -p "$work"
	trap clean_up EXIT
	echo 'exit 42' >"$work/script"
	make_initramfs "$work/script"
	status=0
	run_qemu >/dev/null 2>&1 || status=$?
	[ $status -eq 42 ]
)
