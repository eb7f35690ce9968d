# SPDX-License-Identifier: GPL-2.0-or-later
# What must be refused when a patch is loaded or switched: told clearly, nothing changed.

load helpers

example=$top/examples/proc-version.patch

# Every script ends with this: the kernel is as it was, and the good patch still works.
unharmed='
same modules "$(grep -c ^pokepatch_proc_version /proc/modules || :)" 0
lacks /proc/version "$(cat /proc/version)" Live-patched
modprobe pokepatch
[ -z "$(ls -d $pokepatch/*/ 2>/dev/null)" ] || die "left in sysfs: $(ls $pokepatch)"
pokepatch load "$(patch_file proc-version)"
has /proc/version "$(cat /proc/version)" Live-patched
pokepatch unload proc-version
'

refused_script='
load_is_refused() { # FILE STATUS TEXT
	status=0
	pokepatch load "$1" >/tmp/error 2>&1 || status=$?
	cat /tmp/error
	same "exit status" $status "$2"
	same "lines of the error" "$(wc -l </tmp/error)" 1
	has "the error" "$(cat /tmp/error)" "$3"
	refused insmod "$1"
}
check_is_refused() { # FILE, which is not signed
	status=0
	pokepatch check "$1" >/tmp/said 2>&1 || status=$?
	cat /tmp/said
	same "exit status of check" $status 1
	has "what check said" "$(cat /tmp/said)" "accepts only signed modules, and this one is not signed"
}
'

@test "a patch module that was cut short" {
	local file part
	with_patches "$example"
	file=$(patch_module "$example")
	size=$(stat -c %s "$file")
	mkdir "$BATS_TEST_TMPDIR/cut"
	for part in 0 1 63 64 1000 $((size / 2)) $((size - 1)); do
		head -c "$part" "$file" >"$BATS_TEST_TMPDIR/cut/$part.ko"
	done
	guest "${patched[@]}" --file "$BATS_TEST_TMPDIR/cut" \
		--expect '^Invalid ELF (header len|section header overflow)' <<<"$refused_script"'
		modprobe pokepatch
		for file in cut/*.ko; do
			load_is_refused "$file" 1 "$file"
		done
		rmmod pokepatch
	'"$unharmed"
}

@test "a patch module that was made for another kernel build" {
	local file id other
	with_patches "$example"
	file=$(patch_module "$example")
	id=$(/sbin/modinfo -F pokepatch_build_id "$file")
	[[ $id =~ ^[0-9a-f]{40}$ ]]
	other=00112233445566778899aabbccddeeff00112233
	# Both places that tell: the tables (bytes) and modinfo (text).
	replace_bytes "$(hex "$id")" "$(hex "$other")" "$file" "$BATS_TEST_TMPDIR/text.ko"
	replace_bytes "$id" "$other" "$BATS_TEST_TMPDIR/text.ko" "$BATS_TEST_TMPDIR/other.ko"
	guest "${patched[@]}" --file "$BATS_TEST_TMPDIR/other.ko" \
		--expect '^pokepatch: .*build' <<<"$refused_script"'
		modprobe pokepatch
		load_is_refused /root/other.ko 2 "build"
		lacks "the loaded modules" "$(cat /proc/modules)" pokepatch_proc_version
		rmmod pokepatch
	'"$unharmed"
}

@test "the core beside the patch belongs to somebody else" {
	with_patches "$example"
	guest "${patched[@]}" <<-'END'
		mkdir -m 1777 shared
		cp "$(patch_file proc-version)" shared
		cp "/lib/modules/$(uname -r)/extra/pokepatch.ko" shared
		chown 1000 shared/pokepatch.ko
		for command in load check; do
			status=0
			pokepatch $command shared/pokepatch-proc-version.ko >/tmp/error 2>&1 || status=$?
			cat /tmp/error
			same "exit status" $status 1
			same "lines of the error" "$(wc -l </tmp/error)" 1
			has "the error" "$(cat /tmp/error)" "belongs to user 1000"
			lacks "the loaded modules" "$(cat /proc/modules)" pokepatch
		done
		pokepatch load --core shared/pokepatch.ko shared/pokepatch-proc-version.ko
		has /proc/version "$(cat /proc/version)" Live-patched
	END
}

@test "the core is missing" {
	local file
	file=$(patch_module "$example")
	guest --module "$file" --program "$(own_program bin/pokepatch)" \
		--expect 'Unknown symbol pokepatch_(un)?register' <<-'END'
		status=0
		pokepatch load "$(patch_file proc-version)" >/tmp/error 2>&1 || status=$?
		cat /tmp/error
		same "exit status" $status 1
		same "lines of the error" "$(wc -l </tmp/error)" 1
		has "the error" "$(cat /tmp/error)" pokepatch.ko
		refused insmod "$(patch_file proc-version)"
		lacks "the loaded modules" "$(cat /proc/modules)" pokepatch
		lacks /proc/version "$(cat /proc/version)" Live-patched
	END
}

@test "bad values in sysfs" {
	with_patches "$example"
	guest "${patched[@]}" <<<'
		modprobe pokepatch-proc-version
		# address old_addr|new_addr - as kallsyms has it: the new function is in a module.
		address() {
			awk -v which="$1" '"'"'
				$3 == "version_proc_show" && ($4 ? "new_addr" : "old_addr") == which {
					sub("^0*", "0x", $1)
					print $1
				}'"'"' /proc/kallsyms
		}
		bad() { # FILE VALUE ERROR
			was=$(file proc-version "$1")
			if (echo -n "$2" >"$(sysfs proc-version "$1")") 2>/tmp/error; then
				die "$1 took the value \"$2\""
			fi
			has "$1=$2" "$(cat /tmp/error)" "$3"
			same "$1 after a bad value" "$(file proc-version "$1")" "$was"
		}
		for now in 0 1; do
			enabled proc-version $now
			for value in 2 -1 x 1x "1 1" 00000000000000000000000000002 enabled; do
				bad enabled "$value" "Invalid argument"
			done
			for value in -1 x 99999999999999999999; do
				bad timeout_ms "$value" "Invalid argument"
			done
			same enabled "$(file proc-version enabled)" $now
			same "state and behaviour" "$(file proc-version state) $(grep -c Live-patched /proc/version)" \
				"$([ $now = 1 ] && echo enabled 1 || echo disabled 0)"
		done
		for name in state blocked_by stop_ns build_id; do
			(echo 1 >"$(sysfs proc-version $name)") 2>/dev/null && die "$name can be written"
		done
		# Switching to what it is already changes nothing and is no error.
		enabled proc-version 1
		same state "$(file proc-version state)" enabled

		function=$(sysfs proc-version vmlinux/version_proc_show,1)
		same "mode of enabled" "$(stat -c %a "$(sysfs proc-version enabled)")" 644
		for name in old_addr new_addr; do
			same "mode of $name" "$(stat -c %a $function/$name)" 400
			grep -x "$(address "$name")" $function/$name || die "$name: $(cat $function/$name)"
		done
		same mode "$(cat $function/mode)" entry
		bad vmlinux/version_proc_show,1/mode auto "Device or resource busy"
		enabled proc-version 0
		for value in x entry,ftrace 1; do
			bad vmlinux/version_proc_show,1/mode "$value" "Invalid argument"
		done
		enabled proc-version 1

		echo "== an enabled patch cannot be removed"
		refused rmmod pokepatch_proc_version
		has /proc/version "$(cat /proc/version)" Live-patched
		refused rmmod pokepatch
		pokepatch disable proc-version
		rmmod pokepatch_proc_version
	'"$unharmed"
}

@test "the same patch twice, and names that are not there" {
	with_patches "$example"
	guest "${patched[@]}" <<<'
		failing() { # STATUS COMMAND...
			wanted=$1
			shift
			status=0
			"$@" >/tmp/error 2>&1 || status=$?
			cat /tmp/error
			same "status of $*" $status $wanted
			[ -s /tmp/error ] || die "$*: no word about the reason"
		}
		pokepatch load "$(patch_file proc-version)"
		refused insmod "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version
		failing 1 pokepatch enable no-such-patch
		failing 1 pokepatch disable no-such-patch
		failing 1 pokepatch unload no-such-patch
		failing 1 pokepatch load /no/such/file.ko
		failing 1 pokepatch load /proc/version
	'"$unharmed"
}

@test "root without the capabilities, and what audit has of a patch" {
	needs host-programs
	with_patches "$example"
	guest "${patched[@]}" --append audit=1 --program "$(command -v setpriv)" \
		--program "$(test_program nonblock)" <<<'
		# without CAPABILITY COMMAND... - as root of a container that lacks it
		without() {
			local lacks=$1
			shift
			/usr/bin/setpriv --bounding-set="-$lacks" --inh-caps="-$lacks" "$@"
		}
		writes() { # FILE VALUE
			without sys_module sh -c "echo $2 >$1" 2>/tmp/error
		}
		echo 0 >/proc/sys/kernel/printk_ratelimit
		pokepatch load "$(patch_file proc-version)"
		folder=$(sysfs proc-version enabled)
		folder=${folder%/*}
		for file in $folder/enabled $folder/timeout_ms $folder/retry_ms $folder/evict $folder/replace \
			$pokepatch/policy $folder/vmlinux/version_proc_show,1/mode /sys/module/pokepatch/parameters/stop_share \
			/sys/module/pokepatch/parameters/history_kb; do
			if writes $file 5; then
				die "$file was written without CAP_SYS_MODULE"
			fi
			has "the error for $file" "$(cat /tmp/error)" "Operation not permitted"
		done
		for file in $folder/enabled $folder/timeout_ms $folder/retry_ms $folder/evict $folder/replace \
			$folder/vmlinux/version_proc_show,1/mode $pokepatch/policy; do
			if nonblock $file 0 plain 2>/tmp/error; then
				die "$file was written, which was opened without CAP_SYS_MODULE"
			fi
			has "the error for $file" "$(cat /tmp/error)" "Operation not permitted"
		done
		same "enabled" "$(file proc-version enabled)" 1

		blocked_by=$(sysfs proc-version blocked_by)
		cat $blocked_by
		refused without sys_admin cat $blocked_by

		address=$(sysfs proc-version vmlinux/version_proc_show,1)/old_addr
		shown=$(cat $address)
		[ $((shown)) -ne 0 ] || die "root does not see the address"
		for restrict in 1 2; do
			echo $restrict >/proc/sys/kernel/kptr_restrict
			same "the address, kptr_restrict=$restrict" "$(without syslog cat $address)" 0x0
		done
		same "the address, kptr_restrict=2" "$(cat $address)" 0x0

		device=/dev/pokepatch_history
		without sys_admin dd if=$device bs=64k count=1 of=/dev/null 2>/dev/null
		without perfmon dd if=$device bs=64k count=1 of=/dev/null 2>/dev/null
		refused without perfmon,-sys_admin dd if=$device bs=64k count=1 of=/dev/null
		# history_says TEXT [COMMAND...] - it fails with one line, which says why and what to do.
		history_says() {
			text=$1
			shift
			refused "$@" pokepatch history >/tmp/error
			cat /tmp/error
			same "lines of the error" "$(wc -l </tmp/error)" 1
			has "the error" "$(cat /tmp/error)" "cannot open $device: $text"
		}
		history_says "Permission denied; run this as root with CAP_PERFMON" without perfmon,-sys_admin
		mount -t securityfs none /sys/kernel/security
		exec 3<$device 4<$tracing/available_filter_functions
		echo confidentiality >/sys/kernel/security/lockdown
		refused dd if=$device bs=64k count=1 of=/dev/null
		refused cat $tracing/available_filter_functions
		echo "== what was open before can still be read, as files of tracefs can"
		dd bs=64k count=1 of=/dev/null <&3 2>/dev/null
		read -r _ <&4
		exec 3<&- 4<&-
		history_says "Operation not permitted; the kernel is locked down for confidentiality"
		(echo 0 >"$(sysfs proc-version enabled)")
		(echo 1 >"$(sysfs proc-version enabled)")
		pokepatch unload proc-version
		# A thread of the kernel writes the records.
		has_records() { dmesg | sed -n "s/.*audit: type=1316 .*: op=pokepatch-//p" | sort | cmp -s - /tmp/expected; }
		for record in load ask-enable enable disable enable ask-disable disable unload; do
			echo "$record patch=\"proc_version\" res=1"
		done | sort >/tmp/expected
		until_true 10 has_records
	'
}

@test "what audit has of patches that are replaced, removed by force, or refused, and of refused parents" {
	needs audit
	local patches=$top/test/vm/patches other=00112233445566778899aabbccddeeff00112233 id dummy file
	with_patches "$example" "$patches"/{agree-1,dummy-setup}.patch
	dummy=$BATS_TEST_TMPDIR/dummy.ko
	stock_module drivers/net/dummy "$dummy"
	# For other builds, of the kernel and of a parent.
	file=$(patch_module "$example")
	id=$(/sbin/modinfo -F pokepatch_build_id "$file")
	replace_bytes "$(hex "$id")" "$(hex "$other")" "$file" "$BATS_TEST_TMPDIR/text.ko"
	replace_bytes "$id" "$other" "$BATS_TEST_TMPDIR/text.ko" "$BATS_TEST_TMPDIR/other.ko"
	id=$(readelf -n "$dummy" | awk '/Build ID:/ { print $3 }')
	[[ $id =~ ^[0-9a-f]{40}$ ]]
	replace_bytes "$id" "$other" "$(patch_module "$patches/dummy-setup.patch")" "$BATS_TEST_TMPDIR/parent.ko"
	# No name of a patch can be read from this image.
	replace_bytes "00$(hex proc_version)00" "00$(hex proc/version)00" "$file" "$BATS_TEST_TMPDIR/text.ko"
	guest "${patched[@]}" --module dummy --append audit=1 --file "$BATS_TEST_TMPDIR/other.ko" \
		--file "$BATS_TEST_TMPDIR/parent.ko" --file "$BATS_TEST_TMPDIR/text.ko" \
		--expect 'its module is being removed by force' --expect '^pokepatch: .* is refused: ' \
		--expect '^pokepatch: dummy_setup does not fit module dummy: ' \
		--expect '^Disabling lock debugging due to kernel taint' <<<'
		echo 0 >/proc/sys/kernel/printk_ratelimit
		: >/tmp/expected
		# recorded RECORD... - a thread of the kernel writes the records, later.  A load that is
		# refused has two, because busybox makes two system calls.
		records() { dmesg | sed -n "s/.*audit: type=1316 .*: op=pokepatch-//p" | uniq; }
		has_records() { records | cmp -s - /tmp/expected; }
		recorded() {
			for record; do
				echo "$record" >>/tmp/expected
			done
			until_true 10 has_records
		}
		echo "== replaced"
		modprobe pokepatch-agree-1
		modprobe pokepatch-proc-version
		recorded "load patch=\"agree_1\" res=1" "load patch=\"proc_version\" res=1"
		(echo 1 >"$(sysfs agree-1 enabled)")
		recorded "enable patch=\"agree_1\" res=1"
		(echo "*" >"$(sysfs proc-version replace)")
		(echo 1 >"$(sysfs proc-version enabled)")
		recorded "replace patch=\"agree_1\" res=1" "enable patch=\"proc_version\" res=1"
		rmmod pokepatch_agree_1
		recorded "unload patch=\"agree_1\" res=1"

		echo "== removed by force"
		rmmod -f pokepatch_proc_version
		recorded "force-disable patch=\"proc_version\" res=1" "unload patch=\"proc_version\" res=1"

		echo "== refused"
		refused insmod other.ko
		recorded "load patch=\"proc_version\" res=0"
		refused insmod text.ko
		recorded "load patch=\"pokepatch_proc_version\" res=0"
		insmod parent.ko
		recorded "load patch=\"dummy_setup\" res=1"
		refused modprobe dummy
		recorded "load-parent patch=\"dummy_setup\" module=\"dummy\" res=0"
		rmmod pokepatch_dummy_setup
		recorded "unload patch=\"dummy_setup\" res=1"
		modprobe dummy
	'
}

@test "a kernel that takes only signed modules says so, and what to do" {
	needs module-signatures
	with_patches "$example"
	guest "${patched[@]}" --module dummy --append module.sig_enforce=1 <<-'END'
		for what in "pokepatch load $(patch_file proc-version)" "modprobe pokepatch"; do
			status=0
			$what 2>/tmp/said || status=$?
			cat /tmp/said
			same "the lines of: $what" "$(wc -l </tmp/said)" 1
			[ $status -eq 1 ] || [ "${what%% *}" = modprobe ] || die "$what: status $status"
			lacks "the modules after: $what" "$(cat /proc/modules)" pokepatch
			[ "${what%% *}" = modprobe ] ||
				has "what it said" "$(cat /tmp/said)" "accepts only modules signed with a key that it trusts; sign the core and the patch"
		done
		# The kernel's own are taken.
		modprobe dummy
	END
}

# Without module.sig_enforce: there is no other sign of it than the lockdown.
@test "a kernel that is locked down takes only signed modules, and check and load say so" {
	needs module-signatures
	with_patches "$example"
	guest "${patched[@]}" --module dummy --append lockdown=integrity <<<"$refused_script"'
		same "is sig_enforce on" "$(cat /sys/module/module/parameters/sig_enforce)" N
		mount -t securityfs none /sys/kernel/security
		patch=$(patch_file proc-version)
		load_is_refused "$patch" 1 "locked down and accepts only modules signed with a key that it trusts"
		check_is_refused "$patch"
		echo confidentiality >/sys/kernel/security/lockdown
		check_is_refused "$patch"
		modprobe dummy
	'
}

# signed_files FOLDER - of a patch, so that only FOLDER/signed, which has the core too, is signed with
# the key $own, and those in other folders are not or not well; $modules are vm's options for the first.
signed_files() {
	local strangers=$BATS_TEST_TMPDIR/strangers patch module size
	patch=$(patch_module "$example")
	signing_key "$own"
	signing_key "$strangers"
	modules=()
	mkdir -p "$1"/{signed,unsigned,changed,damaged}
	"$top/build/bin/pokepatch-build" -q -k "$(kernel_release)" --sign "$own.pem,$own.der" \
		-o "$1/signed/${patch##*/}" "$example"
	for module in pokepatch.ko "${patch##*/}"; do
		modules+=(--module "$1/signed/$module")
	done
	cp "$patch" "$1/unsigned"
	sign_module "$strangers" "$patch" "$1/strangers/${patch##*/}"
	# A byte of what is signed; and the length of the signature, which ends 28 bytes before the end.
	cp "$1/signed/${patch##*/}" "$1/changed"
	flip_bit "$1/changed/${patch##*/}" $(($(stat -c %s "$patch") - 1))
	cp "$1/signed/${patch##*/}" "$1/damaged"
	size=$(stat -c %s "$1/damaged/${patch##*/}")
	flip_bit "$1/damaged/${patch##*/}" $((size - 32))
}

signed_script="$refused_script"'
patch=$(patch_file proc-version)
only_signed() {
	of() { echo "/root/files/$1/${patch##*/}"; }
	trusts="accepts only modules signed with a key that it trusts; sign the core and the patch"
	check_is_refused "$(of unsigned)"
	pokepatch check "$patch"
	modprobe pokepatch
	load_is_refused "$(of unsigned)" 1 "$trusts"
	load_is_refused "$(of strangers)" 1 "$trusts"
	load_is_refused "$(of changed)" 1 "$trusts"
	load_is_refused "$(of damaged)" 1 "its signature is damaged"
	rmmod pokepatch
}
on_and_off() {
	lacks /proc/version "$(cat /proc/version)" Live-patched
	pokepatch load "$patch"
	has /proc/version "$(cat /proc/version)" Live-patched
	pokepatch disable proc-version
	lacks /proc/version "$(cat /proc/version)" Live-patched
	pokepatch enable proc-version
	has /proc/version "$(cat /proc/version)" Live-patched
	pokepatch unload proc-version
	lacks /proc/version "$(cat /proc/version)" Live-patched
	rmmod pokepatch
	lacks "the modules" "$(cat /proc/modules)" pokepatch
	# 13: a module that is not signed.
	same "taint by an unsigned module" $(($(cat /proc/sys/kernel/tainted) >> 13 & 1)) 0
}
'

@test "a kernel that takes only signed modules takes core and patch signed with a key of the firmware's" {
	needs module-signatures firmware
	local own=$BATS_TEST_TMPDIR/own modules
	signed_files "$BATS_TEST_TMPDIR/files"
	efi_variables "$BATS_TEST_TMPDIR/variables" db="$own.der"
	guest "${modules[@]}" --program "$(own_program bin/pokepatch)" --file "$BATS_TEST_TMPDIR/files" \
		--firmware "$BATS_TEST_TMPDIR/variables" --append module.sig_enforce=1 <<<"$signed_script"'
		only_signed
		on_and_off
	'
}

@test "with Secure Boot, a locked down kernel takes core and patch signed with the machine owner's key" {
	needs module-signatures firmware
	local own=$BATS_TEST_TMPDIR/own firmware=$BATS_TEST_TMPDIR/firmware modules
	signed_files "$BATS_TEST_TMPDIR/files"
	signing_key "$firmware"
	openssl x509 -inform DER -in "$firmware.der" -out "$firmware.crt"
	sbsign --key "$firmware.pem" --cert "$firmware.crt" --output "$BATS_TEST_TMPDIR/image" "$(kernel_image)"
	efi_variables "$BATS_TEST_TMPDIR/variables" PK="$firmware.der" db="$firmware.der" MokListRT="$own.der"
	guest "${modules[@]}" --program "$(own_program bin/pokepatch)" --file "$BATS_TEST_TMPDIR/files" \
		--firmware "$BATS_TEST_TMPDIR/variables" --image "$BATS_TEST_TMPDIR/image" <<<"$signed_script"'
		mount -t securityfs none /sys/kernel/security
		has "lockdown" "$(cat /sys/kernel/security/lockdown)" "[[]integrity]"
		only_signed
		on_and_off
	'
	grep -q 'Kernel is locked down from EFI Secure Boot' "$guest_log"
}
