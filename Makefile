# SPDX-License-Identifier: GPL-2.0-or-later
#
# pokepatch: `make help` lists the targets.  Everything built goes under build/.

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:

PREFIX  ?= /usr
DESTDIR ?=
DATADIR := $(PREFIX)/share/pokepatch

CC     ?= gcc
CFLAGS ?= -O2 -g
V      ?= 0
Q      := $(if $(filter 1,$(V)),,@)
say     = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' '$(1)' '$(2)')

out := build
ifeq ($(SANITIZE),1)
out := build/asan
# Reports need lines, and no more debug information; this takes half the time to compile.
sanitize := -fsanitize=address,undefined -fno-omit-frame-pointer -O1 -g1
endif

all_cflags = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes \
	-DPOKEPATCH_DATADIR='"$(DATADIR)"' -Ibuild-tool \
	-Icore-module/include $(CPPFLAGS) $(CFLAGS) $(sanitize) -MMD -MP
libraries := -lelf -ldw -ljson-c -lcapstone -lkmod -lcrypto

sources   = $(wildcard build-tool/$(1)/*.c)
objects   = $(patsubst %.c,$(out)/%.o,$(1))
not_main  = $(filter-out %/main.o %/as_main.o,$(1))

common_o := $(call objects,$(call sources,common))
differ_o := $(call objects,$(call sources,object) $(call sources,arch) $(call sources,types) \
	$(call sources,diff))
proof_o  := $(call objects,$(call sources,proof))
build_o  := $(call objects,$(call sources,pokepatch-build)) $(proof_o)
history_o := $(call objects,$(call sources,history))
cli_o    := $(call objects,$(call sources,pokepatch)) $(history_o)
as_o     := $(filter-out %/as_main.o,$(call objects,$(call sources,pokepatch-as)))
dmain_o  := $(call objects,$(call sources,pokepatch-diff))
scan_o   := $(call objects,$(call sources,pokepatch-scan))
programs := $(addprefix $(out)/bin/,pokepatch pokepatch-build pokepatch-diff pokepatch-as pokepatch-scan)

unit_tests := $(patsubst test/unit/%.c,$(out)/test/unit/%,$(wildcard test/unit/test_*.c))

.PHONY: all
all: $(programs) $(out)/libexec/as ## build the programs (the core is built for each kernel it is used on)

$(out)/bin/pokepatch: $(cli_o) $(differ_o) $(common_o)
$(out)/bin/pokepatch-build: $(build_o) $(differ_o) $(common_o)
$(out)/bin/pokepatch-diff: $(dmain_o) $(differ_o) $(common_o)
$(out)/bin/pokepatch-scan: $(scan_o) $(call not_main,$(build_o)) $(differ_o) $(common_o)

$(out)/bin/pokepatch-as: $(as_o) $(differ_o) $(common_o)

$(programs):
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^ $(libraries)

# In a folder for a compiler's -B.  It is run for each unit of a kernel, and loads no libraries.
$(out)/libexec/as: $(call objects,$(addprefix build-tool/pokepatch-as/,as_main.c move.c)) \
		$(filter-out %/sha256.o,$(common_o))
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^

# DATADIR is compiled in: another PREFIX compiles again what was compiled with the last.
$(out)/datadir: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(DATADIR)' | cmp -s - $@ || echo '$(DATADIR)' >$@

$(out)/%.o: %.c Makefile $(out)/datadir
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(compiler_cache) $(CC) $(all_cflags) -c -o $@ $<

# ---- tests -----------------------------------------------------------------

.PHONY: unit-tests
unit-tests: $(unit_tests) $(out)/test/selfcheck/selfcheck $(out)/test/rebuild/rebuild $(out)/test/section-rules

# What is run with sanitizers too.
.PHONY: sanitized
sanitized: $(unit_tests) $(out)/bin/pokepatch-diff

$(out)/test/section-rules: $(out)/test/pairs/section_rules.o $(differ_o) $(common_o)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^ $(libraries)

$(out)/test/unit/%: $(out)/test/unit/%.o $(call not_main,$(build_o) $(cli_o) $(as_o)) $(differ_o) $(common_o)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^ $(libraries) -lcmocka
.SECONDARY: $(addsuffix .o,$(unit_tests))

# The differ on every unit of some of the kernel's folders (test/selfcheck/README.md).
selfcheck_o := $(call objects,$(wildcard test/selfcheck/*.c))
$(out)/test/selfcheck/selfcheck: $(selfcheck_o) $(call not_main,$(build_o)) $(differ_o) $(common_o)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^ $(libraries)

# Units picked at random against the shipped kernel (test/rebuild/README.md).
rebuild_o := $(call objects,$(wildcard test/rebuild/*.c) test/selfcheck/inventory.c)
$(out)/test/rebuild/rebuild: $(rebuild_o) $(call not_main,$(build_o)) $(differ_o) $(common_o)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^ $(libraries)

$(out)/test/unit/test_selfcheck: $(addprefix $(out)/test/selfcheck/,text.o inlining.o)

# Text histories made by hand.
history_seeds_o := $(call objects,$(addprefix test/text-history/,seeds.c records.c))
$(addprefix $(out)/test/unit/test_,history past): $(out)/test/text-history/records.o

# The text history against what was in memory: for a guest.
replay_o := $(call objects,$(addprefix test/text-history/,replay_main.c replay.c))
$(out)/test/text-history/replay: $(replay_o) $(history_o) $(differ_o) $(common_o)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^ $(libraries)
unit-tests: $(out)/test/text-history/replay

# What changes finished modules, to show that the final check notices.
mutate_o := $(call objects,$(wildcard test/mutate/*.c))
$(out)/test/mutate/mutate: $(mutate_o) $(proof_o) $(differ_o) $(common_o)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^ $(libraries)
unit-tests: $(out)/test/mutate/mutate

# The kernel that the tests, the demo and the bench use, for ARCH: KERNEL is a series of test/kernels,
# which names one release of it, or a release.  What is made for another architecture than this
# machine's has its name in that of its file, and so has what is made for another kernel than the
# default.
host_arch := $(shell test/host-arch)
ARCH ?= $(host_arch)
# The architectures of which a machine can build kernels' modules and run guests.
guests_x86_64 := x86_64 arm64 mips64el mips64r6el
guests_arm64 := arm64
# The architecture of Debian's package, from which a kernel of our own takes the source.
fetched_x86_64 := x86_64
fetched_arm64 := arm64
fetched_mips64el := x86_64
fetched_mips64r6el := x86_64
fetched_arch = $(or $(if $(filter $(ARCH),$(guests_$(host_arch))),$(fetched_$(ARCH))),$(error \
	ARCH=$(ARCH): on $(host_arch) machines, ARCH is one of: $(guests_$(host_arch))))
cross_arm64 := aarch64-linux-gnu-
cross_mips64el := mips64el-linux-gnuabi64-
cross_mips64r6el := mipsisa64r6el-linux-gnuabi64-
cross = $(if $(for_arch),$(cross_$(ARCH)))
# The variables for kbuild, where these are not ARCH alone.
kbuild_mips64el := ARCH=mips CC=$(cross_mips64el)gcc-12
kbuild_mips64r6el := ARCH=mips CC=$(cross_mips64r6el)gcc-12
# Kernels that we build ourselves, from that source: test/vm/kernels/NAME.sh.
own_kernels := mips64el mips64r6el
default_kernel := $(shell awk '/^[0-9]/ { print $$1; exit }' test/kernels)
KERNEL ?= $(default_kernel)
for_arch := $(if $(filter-out $(host_arch),$(ARCH)),-$(ARCH))
for_kernel := $(if $(filter-out $(default_kernel),$(KERNEL)),-$(KERNEL))
# A KERNEL that is not known ends make here, before it installs or compiles anything.
ifneq ($(for_kernel),)
unknown_kernel := $(shell test/fetch-kernel --check $(or $(fetched_$(ARCH)),$(host_arch)) '$(KERNEL)' 2>&1)
$(if $(unknown_kernel),$(error $(unknown_kernel)))
endif
kernel_release := $(out)/kernel-release$(for_arch)$(for_kernel)
# For what runs on the default kernel unless it is told of another.
with_kernel := $(if $(for_kernel),POKEPATCH_KERNEL=$$(cat $(kernel_release)))
$(kernel_release): $(out)/bin/pokepatch $(out)/libexec/as FORCE
	$(call say,FETCH,Linux $(KERNEL) ($(fetched_arch)))
	$(Q)test/fetch-kernel $(fetched_arch) '$(KERNEL)' >$@.fetched
ifneq ($(filter $(ARCH),$(own_kernels)),)
	$(call say,KERNEL,$(ARCH))
	$(Q)test/vm/kernels/build $(ARCH) "$$(cat $@.fetched)" >$@.new
else
	$(Q)cp $@.fetched $@.new
endif
	$(Q)cmp -s $@.new $@ || mv $@.new $@

.PHONY: kernel
kernel: $(kernel_release) ## fetch the kernel that tests and demo use into the cache

# Lines that call make are carried out also by "make -n", which is to do nothing.
dry_run := $(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS))))

# Kbuild writes beside its sources, so each release and variant gets a copy of them.
cache   = $${XDG_CACHE_HOME:-$$HOME/.cache}/pokepatch
headers = $(cache)/kernels/$$release/headers/usr/src/linux-headers-$$release
vmlinux = $(cache)/kernels/$$release/dbg/usr/lib/debug/boot/vmlinux-$$release
core_sources := $(shell find core-module -type f)
define kbuild_core # variant folder, make variables
	$(Q)$(if $(dry_run),exit 0;) release=$$(cat $(kernel_release)) && dir=$(CURDIR)/build/$(1)/$$release && \
	mkdir -p $$dir && cp -ru core-module/. $$dir/ && \
	$(MAKE) -s -C "$(headers)" M=$$dir $(or $(kbuild_$(ARCH)),ARCH=$(ARCH)) CROSS_COMPILE=$(cross) \
		POKEPATCH_VMLINUX="$(vmlinux)" $$(test/kernel-tools $$release) $(2) modules
	$(Q)touch $@
endef

$(out)/.core$(for_arch)$(for_kernel): $(kernel_release) $(core_sources)
	$(call say,KBUILD,core-module)
	+$(call kbuild_core,core,)
$(out)/.core-debug$(for_arch)$(for_kernel): $(kernel_release) $(core_sources)
	$(call say,KBUILD,core-module (debug build))
	+$(call kbuild_core,core-debug,POKEPATCH_DEBUG=1)

.PHONY: core
core: $(out)/.core$(for_arch)$(for_kernel) $(out)/.core-debug$(for_arch)$(for_kernel) ## build the core module for that kernel (of ARCH)

# What of the programs runs in guests of another architecture: linked with Debian's libraries
# for it, which the harness unpacks (test/vm/lib/foreign.sh).
ifneq ($(for_arch),)
foreign = $$($(with_kernel) test/vm/vm foreign)
.PHONY: guest-programs
guest-programs: $(kernel_release) ## build pokepatch and replay for guests of ARCH
	$(call say,CROSS,pokepatch for $(ARCH))
	$(Q)$(if $(dry_run),exit 0;) foreign=$(foreign) && $(MAKE) -s out=build/$(ARCH) CC=$(cross)gcc-12 \
		CFLAGS="$(CFLAGS) -isystem $$foreign/usr/include -isystem $$foreign/usr/include/$(patsubst %-,%,$(cross)) \
		-L$$foreign/usr/lib/$(patsubst %-,%,$(cross)) -Wl,-rpath-link,$$foreign/lib/$(patsubst %-,%,$(cross)):$$foreign/usr/lib/$(patsubst %-,%,$(cross))" \
		build/$(ARCH)/bin/pokepatch build/$(ARCH)/test/text-history/replay
export POKEPATCH_ARCH := $(ARCH)
endif

# An ARCH that is not known ends make here, before it installs or compiles anything.
.PHONY: known-arch
known-arch:
	$(Q): $(fetched_arch)

.PHONY: setup setup-demo
setup setup-demo: | known-arch
setup: ## install the Debian packages that building and testing need
	$(Q)test/setup
setup-demo: ## only those for building, and for a guest of ARCH
	$(Q)test/setup --demo --arch $(ARCH)

# What needs packages comes after setup: a second make sees what setup installed.  What is not
# about a guest's architecture is among the tests of this machine's.  CHECK=short: what .ci/run has the time for
# (test/README.md).
architectures := $(filter x86_64 arm64 mips64el,$(guests_$(host_arch)))
CHECK ?= all
# Each builds one more kernel.  A short check has the time for one of them, which the commit chooses.
in_turn := $(if $(filter x86_64,$(host_arch)),debug mips64r6el)
all_checks = $(addprefix check-,$(architectures) \
	$(if $(filter short,$(CHECK)),$(shell test/eighth --turn $(in_turn)),$(in_turn)))
# Tests compile what an earlier run has compiled, in whichever clone, out of ccache's folder in our cache.
with_ccache = compiler_cache="env CCACHE_DIR=$(cache)/ccache CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=500M ccache"
# As many jobs as there are processors, unless make was told how many.
in_parallel = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
# STEP=build, STEP=test: only what comes before the tests, or these (test/check-all).
.PHONY: check
ifeq ($(ARCH),all)
check:
	$(Q)test/check-all "$(MAKE) --no-print-directory ARCH=$(host_arch) CHECK=$(CHECK)" $(all_checks)
else
check: setup ## run all tests, of ARCH=x86_64, arm64, mips64el, mips64r6el, or all; KERNEL=6.12
ifneq ($(STEP),test)
	$(if $(STEP),,$(Q)rm -rf build/test/warnings)
	+$(Q)$(in_parallel) $(with_ccache) all unit-tests core
ifneq ($(for_arch),)
	+$(Q)$(in_parallel) $(with_ccache) guest-programs
else ifeq ($(for_kernel),)
	+$(Q)$(in_parallel) $(with_ccache) SANITIZE=1 sanitized
	+$(Q)$(in_parallel) $(with_ccache) $(fuzz_programs)
endif
endif
ifneq ($(STEP),build)
	$(Q)$(with_kernel) test/run $(if $(filter short,$(CHECK)),--short) $(if $(for_kernel),--guests)
endif
endif

.PHONY: $(guests_$(host_arch):%=check-%)
$(guests_$(host_arch):%=check-%): check-%:
	$(Q)$(MAKE) --no-print-directory check ARCH=$*

# An eighth of these, if the check is a short one; and torture always.
debug_tests := $(patsubst %,test/vm/%.bats,consistency stopped)
some_debug_tests = $(shell printf '%s\n' $(debug_tests) | test/eighth)
.PHONY: check-debug
check-debug: setup ## run tests in guests on a kernel with lockdep, KFENCE and the like
ifneq ($(STEP),test)
	$(Q)$(MAKE) --no-print-directory all unit-tests kernel
	$(Q)$(with_kernel) test/vm/kernels/run debug true
endif
ifneq ($(STEP),build)
	$(Q)$(with_kernel) test/vm/kernels/run debug test/run $(if $(filter short,$(CHECK)),--short) \
		test/vm/torture.bats $(if $(filter short,$(CHECK)),$(some_debug_tests),$(debug_tests))
endif

# LONG: some of it.  Each leaves its row in test/RESULTS.md.
.PHONY: check-long
check-long: setup ## run all that `make check` leaves out, and note it in test/RESULTS.md (a day); LONG="kasan pairs"
	$(Q)test/check-long $(LONG)

.PHONY: pairs
pairs: setup ## run all pairs of objects from kernel sources, and print the table of constructs
	$(Q)$(MAKE) --no-print-directory all unit-tests kernel
	$(Q)test/pairs/run
	$(Q)test/pairs/table

# BROKEN: rows whose description has these words, in place of all.
.PHONY: broken
broken: setup ## break the product on purpose, in one place after the other: does a test turn red? (half an hour)
	$(Q)test/broken $(BROKEN)

.PHONY: mutate
mutate: setup ## change finished modules in many ways: does the final check notice?
	$(Q)$(MAKE) --no-print-directory all unit-tests kernel
	$(Q)$(with_kernel) test/mutate/run -n 20 test/mutate/patches/*.patch test/vm/patches/*.patch \
		examples/*.patch

.PHONY: demo
demo: setup-demo ## patch the stock Debian kernel (of ARCH) in QEMU and roll it back
	$(Q)$(MAKE) --no-print-directory all core $(if $(for_arch),guest-programs)
	$(Q)$(with_kernel) test/demo

.PHONY: bench
bench: setup ## measure build times, module size and the cost of a patched call
	$(Q)$(MAKE) --no-print-directory all core $(if $(for_arch),guest-programs)
	$(Q)$(with_kernel) test/bench/run

# MATRIX: some releases, in place of all of test/matrix/rows.
.PHONY: matrix
matrix: setup ## all examples on each of Debian's kernels, one by one, for README's table (hours)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)test/matrix/run $(MATRIX)

# ENTRIES: some of the catalogue's, in place of all.  FORMAT=livepatch: for the kernel's own livepatch core.
# ROUNDS: how often each is loaded.
.PHONY: catalogue
catalogue: setup ## build each real fix of patches/catalogue/, load it, see its effect, roll it back
	$(Q)$(MAKE) --no-print-directory all kernel $(if $(for_arch),guest-programs)
	$(Q)$(with_kernel) patches/check $(if $(FORMAT),--format $(FORMAT)) \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(ENTRIES)

.PHONY: debian-diffs
debian-diffs: setup ## each change between two of Debian's kernels as a patch (an hour)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)test/debian-diffs/all

.PHONY: point-release
point-release: setup ## all changes between these two kernels as one patch, in a guest (two hours)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)test/debian-diffs/point

.PHONY: headers
headers: setup ## build thirty changes of headers, and prove that no unit is missed (an hour)
	$(Q)$(MAKE) --no-print-directory all kernel
	$(Q)test/headers/run
	$(Q)test/headers/run --prove

# libFuzzer is clang's; everything that it is to see is compiled once more for it.
FUZZ_CC ?= clang-16
FUZZ_SECONDS ?= 60
TORTURE_SECONDS ?= 900
# clang warns of what gcc knows to be meant: variables that are there to be freed, and
# members of a nested initializer that stay zero.
fuzz_flags := -g1 -O1 -fno-omit-frame-pointer -Wno-unused-variable -Wno-missing-field-initializers
fuzz_sources := $(foreach folder,common object arch types diff,$(call sources,$(folder)))
fuzz_o := $(patsubst %.c,build/fuzz/%.o,$(fuzz_sources))
fuzz_history_o := $(patsubst %.c,build/fuzz/%.o,$(call sources,history) test/fuzz/fuzz_history.c)
build/fuzz/%.o: %.c Makefile $(out)/datadir
	$(call say,CC,$< (fuzz))
	$(Q)mkdir -p $(@D)
	$(Q)$(compiler_cache) $(FUZZ_CC) $(all_cflags) $(fuzz_flags) -fsanitize=fuzzer-no-link,address,undefined \
		-fno-sanitize-recover=undefined -c -o $@ $<
build/fuzz/fuzz_diff: $(fuzz_o) build/fuzz/test/fuzz/fuzz_diff.o
build/fuzz/fuzz_history: $(fuzz_o) $(fuzz_history_o)
# The core's own code, in as much of a kernel as fuzz_image.c has: its headers are empty.
fuzz_image_c := test/fuzz/fuzz_image.c core-module/image.c
build/fuzz/kernel/made: $(fuzz_image_c) $(wildcard core-module/*.h core-module/arch/*.h core-module/include/*.h)
	$(Q)mkdir -p $(@D)
	$(Q)sed -n 's|^#include <\(linux/.*\)>|\1|p' $^ | sort -u | while read -r header; do \
		mkdir -p "$(@D)/$${header%/*}"; : >"$(@D)/$$header"; done
	$(Q)echo '#include_next <linux/types.h>' >$(@D)/linux/types.h
	$(Q)touch $@
build/fuzz/fuzz_image: build/fuzz/kernel/made test/fuzz/image_edits.h
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) -std=gnu11 -g -O1 -Wall -Wextra -Wno-sign-compare -Wno-unused-function \
		-D_GNU_SOURCE -D__KERNEL__ -Ibuild/fuzz/kernel -Icore-module -Icore-module/include \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o $@ \
		test/fuzz/fuzz_image.c
build/fuzz/fuzz_diff build/fuzz/fuzz_history:
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(libraries)
build/fuzz/history-seeds: $(history_seeds_o) $(history_o) $(differ_o) $(common_o)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(sanitize) -o $@ $^ $(libraries)
fuzz_programs := $(addprefix build/fuzz/,fuzz_diff fuzz_history fuzz_image history-seeds)

.PHONY: fuzz
fuzz: setup ## feed the differ, histories' reader and the core's check of images broken input, FUZZ_SECONDS (60)
	$(Q)$(MAKE) --no-print-directory $(fuzz_programs)
	$(Q)test/fuzz/run $(FUZZ_SECONDS)

.PHONY: selfcheck
selfcheck: setup ## run the differ on every unit of the kernel's central folders (an hour the first time)
	$(Q)$(MAKE) --no-print-directory all unit-tests kernel
	$(Q)$(with_kernel) test/selfcheck/run

.PHONY: rebuild
rebuild: setup ## compare 200 units of the kernel, picked at random, with their shipped code
	$(Q)$(MAKE) --no-print-directory all unit-tests kernel
	$(Q)test/rebuild/run

# TORTURE_KERNEL=debug: on a kernel with lockdep, KFENCE and the like, see test/vm/kernels/debug.config.
torture_with := $(if $(filter debug,$(TORTURE_KERNEL)),test/vm/kernels/run debug) bats
.PHONY: torture
torture: setup ## switch patches at random under load for TORTURE_SECONDS (900); TORTURE_KERNEL=debug
	$(Q)$(MAKE) --no-print-directory all kernel core
	$(Q)$(with_kernel) POKEPATCH_TORTURE_SECONDS=$(TORTURE_SECONDS) $(torture_with) test/vm/torture.bats

.PHONY: kasan
kasan: setup ## load a thousand broken images into a kernel with KASAN (half an hour the first time)
	$(Q)$(MAKE) --no-print-directory all kernel build/fuzz/fuzz_image
	$(Q)test/vm/kernels/run kasan bats test/vm/kernels/kasan.bats

.PHONY: kcsan
kcsan: setup ## switch patches on a kernel that reports data races (half an hour the first time)
	$(Q)$(MAKE) --no-print-directory all kernel
	$(Q)test/vm/kernels/run kcsan bats test/vm/kernels/kcsan.bats

# It is of 6.12, whatever KERNEL is.
.PHONY: own-kernel
own-kernel: setup ## build a kernel with clang and kCFI, and patch it with its build folder alone (half an hour)
	$(Q)$(MAKE) --no-print-directory all unit-tests
	$(Q)source=$$(test/fetch-kernel x86_64 6.12) && \
		POKEPATCH_KERNEL=$$source test/vm/kernels/run kcfi bats test/vm/kernels/kbuild.bats test/vm/examples.bats test/vm/lifecycle.bats

# As root.
.PHONY: hosts
hosts: ## README's two commands on a fresh Debian 12 and 13, each in a folder (hours); HOST=arm64
	$(Q)test/hosts $(if $(HOST),--arch $(HOST))

.PHONY: vm-shell
vm-shell: setup-demo ## a shell in a guest that runs the test kernel
	$(Q)$(MAKE) --no-print-directory all core $(if $(for_arch),guest-programs)
	$(Q)$(with_kernel) test/vm/vm shell

# The browser is not among the packages for all tests: it is the largest of them.
.PHONY: pages
pages: ## look at the page of --html in a browser, which is installed for it
	$(Q)test/setup --browser
	$(Q)$(MAKE) --no-print-directory all kernel
	$(Q)bats test/browser.bats

# ---- packages ----

.PHONY: setup-deb
setup-deb:
	$(Q)test/setup --deb

.PHONY: deb
deb: setup-deb ## build Debian packages of what is committed into build/deb/
	$(Q)V=$(V) debian/make-deb

.PHONY: packages
packages: setup ## build the packages thrice, compare, and install and purge them in a clean Debian
	$(Q)$(MAKE) --no-print-directory all kernel core
	$(Q)bats test/host/packages.bats

# ---- install ---------------------------------------------------------------

man_pages := $(wildcard man/*.[1-8])
unit_dir := $(PREFIX)/lib/systemd/system
completions := $(wildcard build-tool/completions/*)
completions_dir := $(PREFIX)/share/bash-completion/completions

.PHONY: install
install: all ## install to DESTDIR and PREFIX (/usr)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(DATADIR)
	install $(out)/bin/pokepatch-build $(out)/bin/pokepatch-diff $(out)/bin/pokepatch-as \
		$(out)/bin/pokepatch-scan build-tool/repo/pokepatch-repo $(DESTDIR)$(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/libexec/pokepatch
	install $(out)/libexec/as $(DESTDIR)$(PREFIX)/libexec/pokepatch
	install $(out)/bin/pokepatch $(DESTDIR)$(PREFIX)/sbin
	install -d $(DESTDIR)$(DATADIR)/patches/catalogue
	cp -r --no-preserve=ownership core-module $(DESTDIR)$(DATADIR)
	cp -r --no-preserve=ownership patches/module $(DESTDIR)$(DATADIR)/patches
	install -m 644 patches/catalogue/*.patch $(DESTDIR)$(DATADIR)/patches/catalogue
	install -d $(DESTDIR)$(unit_dir)
	sed 's|@sbindir@|$(PREFIX)/sbin|' build-tool/pokepatch/pokepatch.service.in \
		>$(DESTDIR)$(unit_dir)/pokepatch.service
	chmod 644 $(DESTDIR)$(unit_dir)/pokepatch.service
	install -d $(DESTDIR)$(completions_dir)
	install -m 644 $(completions) $(DESTDIR)$(completions_dir)
	for page in $(man_pages); do section=$${page##*.}; \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$$section/$${page##*/} || exit 1; \
	done

.PHONY: uninstall
uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,pokepatch-build pokepatch-diff pokepatch-as \
		pokepatch-scan pokepatch-repo)
	rm -rf $(DESTDIR)$(PREFIX)/libexec/pokepatch
	rm -f $(DESTDIR)$(PREFIX)/sbin/pokepatch
	rm -f $(DESTDIR)$(unit_dir)/pokepatch.service
	rm -rf $(DESTDIR)$(DATADIR)
	rm -f $(addprefix $(DESTDIR)$(completions_dir)/,$(notdir $(completions)))
	for page in $(man_pages); do \
		rm -f $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; done

.PHONY: clean
clean: ## remove everything that was built (the cache outside the tree stays)
	rm -rf build

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

.PHONY: FORCE
FORCE:

-include $(patsubst %.o,%.d,$(common_o) $(differ_o) $(build_o) $(cli_o) $(dmain_o)) \
	$(addsuffix .d,$(unit_tests)) $(patsubst %.o,%.d,$(fuzz_o) $(fuzz_history_o)) build/fuzz/test/fuzz/fuzz_diff.d \
	$(patsubst %.o,%.d,$(selfcheck_o) $(rebuild_o) $(mutate_o) $(replay_o) $(history_seeds_o)) $(out)/test/pairs/section_rules.d
