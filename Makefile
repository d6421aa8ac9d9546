# SPDX-License-Identifier: GPL-2.0-only
# Building denet-record. `make help` lists the targets.

V ?= 0
DEV ?= 0
O ?= build
SANITIZE ?=
STATIC ?= 0
DESTDIR ?=
prefix ?= /usr/local
bindir = $(prefix)/bin
mandir = $(prefix)/share/man/man1
datadir = $(prefix)/share/denet
completiondir = $(prefix)/share/bash-completion/completions

# As in the kernel's build; and where headers and libraries of the other machine are.
CROSS_COMPILE ?=
SYSROOT ?=
ifeq ($(origin CC),default)
  CC := $(CROSS_COMPILE)gcc $(SYSROOT:%=--sysroot=%)
endif
ifeq ($(origin CXX),default)
  CXX := $(CROSS_COMPILE)g++ $(SYSROOT:%=--sysroot=%)
endif
ifeq ($(origin AR),default)
  AR := $(CROSS_COMPILE)ar
endif
STRIP ?= $(CROSS_COMPILE)strip
OBJCOPY ?= $(CROSS_COMPILE)objcopy
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config

VERSION := 0.1
# The compiler's target, which may differ from this machine.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(MACHINE)))
DEPS ?= .deps

ifeq ($(V),1)
  Q :=
  say = @:
else
  Q := @
  say = @printf '  %-8s %s\n'
endif

# libperf: the system's where pkg-config knows one, else the one scripts/build-libperf.sh made.
ifeq ($(shell $(PKG_CONFIG) --exists libperf 2>/dev/null && echo yes),yes)
  LIBPERF_CFLAGS := $(shell $(PKG_CONFIG) --cflags libperf)
  LIBPERF_LIBS := $(shell $(PKG_CONFIG) --libs libperf)
  LIBPERF_FILE :=
else
  LIBPERF_CFLAGS := -isystem $(DEPS)/include
  LIBPERF_LIBS := $(DEPS)/lib/libperf.a $(DEPS)/lib/libapi.a
  # The script's output when it is done: rebuilt if the script has changed.
  LIBPERF_FILE := $(DEPS)/built-by-$(shell cksum <scripts/build-libperf.sh | tr ' ' -)
endif

ifeq ($(STATIC),1)
  override PKG_CONFIG += --static
  LINK_STATIC := -static-pie -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose
endif
PACKAGES := libbpf libelf libdw libtraceevent libseccomp ncursesw zlib libzstd
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)

WARNINGS := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wvla -Wshadow \
	    -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings
ifeq ($(DEV),1)
  WARNINGS += -Werror
endif
OPT := -O2 -g
# A write beyond an object ends the program, and no table of addresses can be written.
HARDEN := -fstack-protector-strong -fPIE
HARDEN_LINK := -Wl,-z,relro,-z,now,-z,noexecstack
ifneq ($(STATIC),1)
  HARDEN_LINK += -pie
endif
# Needs an optimizing compiler, and gets in the way of the sanitizers.
ifeq ($(SANITIZE)$(findstring -O0,$(CFLAGS)),)
  HARDEN += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
ifeq ($(STATIC),1)
  # Keeps the path of the build folder out of the binaries.
  OPT += -ffile-prefix-map=$(CURDIR)=.
endif
ifneq ($(SANITIZE),)
  OPT := -O1 -g -fno-omit-frame-pointer -fsanitize=$(SANITIZE)
  ifneq ($(findstring undefined,$(SANITIZE)),)
    OPT += -fno-sanitize-recover=undefined
  endif
endif

CPPFLAGS_ALL := -D_GNU_SOURCE -DDENET_VERSION='"$(VERSION)"' -include util/base/banned.h \
		-iquote . -Iutil -Ibpf_skel -I$(O) $(if $(filter 1,$(STATIC)),-DDENET_STATIC)
CFLAGS_ALL = -std=gnu11 $(OPT) $(HARDEN) $(WARNINGS) $(CPPFLAGS_ALL) $(LIBPERF_CFLAGS) $(PKG_CFLAGS) \
	     -MMD -MP -pthread $(CPPFLAGS) $(CFLAGS)
# libiberty has no description for pkg-config. Not all compilers leave out what a program does not use.
LIBS = -Wl,--as-needed $(LIBPERF_LIBS) $(PKG_LIBS) -liberty -pthread -lm
# On arm64 a leaf has no frame record of its own, and frame pointers then lack its caller. Return
# addresses are signed, as some distributions do; but not where there are no frame pointers, since
# that takes a newer libdw than Debian 12's.
FRAMES := $(if $(filter arm64,$(ARCH)),-mno-omit-leaf-frame-pointer -mbranch-protection=pac-ret)
# Frame pointers are wanted in workloads: their chains are the truth that tests compare with.
WORKLOAD_CFLAGS = -std=gnu11 -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		  -fno-inline $(WARNINGS) $(FRAMES) -D_GNU_SOURCE -pthread -MMD -MP
BPF_CFLAGS := -std=gnu11 -O2 -g -ffile-prefix-map=$(CURDIR)=. -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -D__bpf__ \
	      -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-declarations -Ibpf_skel

UTIL_SRCS := $(sort $(wildcard util/*/*.c util/*/*/*.c))
BUILTIN_SRCS := $(sort $(wildcard builtin/*.c builtin/*/*.c))
UTIL_OBJS := $(UTIL_SRCS:%.c=$(O)/%.o)
BUILTIN_OBJS := $(BUILTIN_SRCS:%.c=$(O)/%.o)
BPF_SRCS := $(sort $(wildcard bpf_skel/*.bpf.c))
SKELS := $(BPF_SRCS:bpf_skel/%.bpf.c=$(O)/%.skel.h)
LIB := $(O)/libdenet.a
BUILTIN_LIB := $(O)/libbuiltin.a

UNIT_TESTS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/unit/test_*.c)))
BPF_TESTS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/bpf/test_*.c)))
WORKLOADS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/workloads/*.c)))
FUZZERS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# Programs without frame pointers, for the unwinder; those of other languages where there is
# a compiler: the tests that need them are skipped elsewhere.
RUSTC ?= rustc
have = $(shell command -v $(1) >/dev/null 2>&1 && echo yes)
UNWOUND := $(addprefix $(O)/tests/unwind/,nofp nofp_static nofp_debug nofp_mini \
	   nofp_bare nofp_roomy nofp_bomb \
	   small.so medium.so large.so prelinked.so \
	   teller $(if $(filter x86,$(ARCH)),pause32 badcfi samecfi popped norule plt pointers \
	   oddcfi.so widecfi.so) \
	   $(if $(call have,$(firstword $(CXX))),nofp_cpp $(if $(filter x86,$(ARCH)),naps naps_static)) \
	   $(if $(CROSS_COMPILE),,$(if $(call have,$(RUSTC)),nofp_rs)))
TEST_COMMON := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/common/*.c)))

# The benchmarks' own: what scripts/bench.sh and its kin run.
BENCH := $(O)/tests/bench/cell $(O)/tests/bench/floor $(O)/tests/bench/floor.bpf.o \
	 $(O)/tests/bench/call_floor.bpf.o $(O)/tests/bench/latency

BIN := $(O)/denet
NAMES := denet-check denet-offcputime denet-record denet-report denet-stat denet-top perf-denet
# Scripts that are commands once they are installed: scripts/NAME.sh becomes denet-NAME.
SCRIPTS := fold setcap

.PHONY: all bench bpf workloads tests fuzzers man check check-root check-fuzz \
	check-vm check-headers install uninstall dist clean help compile_commands.json format
.SECONDARY:
.DELETE_ON_ERROR:

all: $(BIN) $(NAMES:%=$(O)/%)

# Built with the program, so that installing needs no asciidoctor.
ifneq (,$(call have,asciidoctor))
all: man
endif

help:
	@echo 'make                the program, in $(O)/'
	@echo 'make check          tests that need no root'
	@echo 'make check-root     tests that load BPF programs, as root'
	@echo 'make check-fuzz     fuzzers, some seconds each (clang)'
	@echo 'make check-vm       some of the tests under other kernels, in qemu (KERNELS="5.10 6.1 7")'
	@echo 'make bench          what scripts/bench.sh, bench-stat.sh and bench-top.sh need'
	@echo 'make man            the man pages (asciidoctor; part of make where it is installed)'
	@echo 'make install        DESTDIR= prefix=$(prefix)'
	@echo 'make dist           static binary, tarball and checksums, in $(O)/dist'
	@echo 'make clean'
	@echo 'make compile_commands.json'
	@echo 'Variables: V=1 (show commands) O=DIR DEV=1 (warnings are errors)'
	@echo '           SANITIZE=address,undefined STATIC=1 (one static binary)'
	@echo '           CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=DIR (scripts/arm64/make.sh)'

$(LIBPERF_FILE):
	$(say) LIBPERF $(DEPS)
	$(Q)CROSS_COMPILE=$(CROSS_COMPILE) ARCH=$(ARCH) scripts/build-libperf.sh $(DEPS)

$(O)/%.bpf.o: bpf_skel/%.bpf.c $(wildcard bpf_skel/*.h) $(O)/.flags
	$(say) BPF $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp
	$(Q)$(BPFTOOL) gen object $@ $@.tmp
	$(Q)rm -f $@.tmp

$(O)/%.skel.h: $(O)/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp
	$(Q)mv $@.tmp $@

bpf: $(SKELS)

# The names of the system calls, as the C library's headers of this architecture have them.
$(O)/syscall_names.h:
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)echo '#include <sys/syscall.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/[__NR_\1] = "\1",/p' | \
		grep -v -e '"syscalls"' -e arch_specific | sort > $@.tmp
	$(Q)mv $@.tmp $@

# The page of the flame graph as a string of C.
$(O)/flamegraph_page.h: util/output/flamegraph/page.html
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $< > $@.tmp
	$(Q)mv $@.tmp $@

# A change of flags, or another libperf, rebuilds: they are kept in a file that all objects depend on.
FLAGS_KEPT = $(CC) $(OPT) $(HARDEN) $(HARDEN_LINK) $(WARNINGS) $(STATIC) $(CFLAGS) $(CPPFLAGS) $(BPF_CFLAGS) \
	$(LIBPERF_FILE)
$(O)/.flags: FORCE
	@mkdir -p $(O)
	@echo '$(FLAGS_KEPT)' | cmp -s - $@ || echo '$(FLAGS_KEPT)' > $@
.PHONY: FORCE

$(O)/util/%.o: util/%.c $(O)/.flags | $(SKELS) $(O)/syscall_names.h $(O)/flamegraph_page.h $(LIBPERF_FILE)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -c $< -o $@

$(O)/builtin/%.o: builtin/%.c $(O)/.flags | $(SKELS) $(LIBPERF_FILE)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -c $< -o $@

$(LIB): $(UTIL_OBJS)
	$(say) AR $@
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

# The commands without main(), for their unit tests.
$(BUILTIN_LIB): $(filter-out $(O)/builtin/main.o,$(BUILTIN_OBJS))
	$(say) AR $@
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BIN): $(BUILTIN_OBJS) $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(OPT) $(HARDEN_LINK) $(LINK_STATIC) $(LDFLAGS) -o $@ $(BUILTIN_OBJS) $(LIB) $(LIBS)

$(NAMES:%=$(O)/%): $(BIN)
	$(Q)ln -sf $(notdir $(BIN)) $@

# Tests. Older harnesses define the functions of a fixture without static, and with parameters
# that a test does not use.
TEST_CFLAGS = -Wno-missing-prototypes -Wno-unused-parameter -isystem $(DEPS)/include -Itests

$(O)/tests/common/%.o: tests/common/%.c $(O)/.flags | $(SKELS) $(LIBPERF_FILE)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) -c $< -o $@

# Half of the time that -O2 takes, and a test program runs each function but a few times.
$(UNIT_TESTS) $(BPF_TESTS): private OPT := $(subst -O2,-O1,$(OPT))

$(O)/tests/unit/%: tests/unit/%.c $(TEST_COMMON) $(BUILTIN_LIB) $(LIB)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $< $(TEST_COMMON) $(BUILTIN_LIB) $(LIB) $(LIBS)

$(O)/tests/bpf/%: tests/bpf/%.c $(TEST_COMMON) $(LIB)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(LIB) $(LIBS)

# Programs of tests, which look at a part of ours.
$(O)/tests/bpf/%.bpf.o: tests/bpf/%.bpf.c $(wildcard bpf_skel/*.h)
	$(say) BPF $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp
	$(Q)$(BPFTOOL) gen object $@ $@.tmp
	$(Q)rm -f $@.tmp

$(O)/tests/bpf/%.skel.h: $(O)/tests/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp
	$(Q)mv $@.tmp $@

# What several tests of level bpf share.
$(O)/tests/bpf/comparison.o: tests/bpf/comparison.c $(O)/tests/bpf/kernel_walk.skel.h $(O)/.flags | $(SKELS) $(LIBPERF_FILE)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) -c $< -o $@

$(O)/tests/bpf/test_frames: $(O)/tests/bpf/frames.skel.h
$(O)/tests/bpf/test_kernel_walk $(O)/tests/bpf/test_left_walks: $(O)/tests/bpf/comparison.o
$(O)/tests/bpf/test_left_walks: $(O)/tests/bpf/trampolines.skel.h
$(O)/tests/bpf/kernel_walk.bpf.o: tests/bpf/kernel_walk.h
$(O)/tests/bpf/test_user_walk: $(O)/tests/bpf/user_walk.skel.h
$(O)/tests/bpf/user_walk.bpf.o: tests/bpf/user_walk.h

$(O)/tests/workloads/%: tests/workloads/%.c
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -o $@ $< -pthread

$(O)/tests/bench/cell: $(patsubst %,$(O)/tests/bench/%.o,cell objects process)
	$(say) LINK $@
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(O)/tests/bench/latency: $(O)/tests/bench/latency.o
	$(say) LINK $@
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^

$(O)/tests/bench/floor: $(O)/tests/bench/floor.o
	$(say) LINK $@
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(O)/tests/bench/%.o: tests/bench/%.c $(O)/.flags | $(LIBPERF_FILE)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -Itests -c $< -o $@

$(O)/tests/bench/%.bpf.o: tests/bench/%.bpf.c bpf_skel/vmlinux.h
	$(say) BPF $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
UNWOUND_CFLAGS = -std=gnu11 -O2 -g -fomit-frame-pointer $(WARNINGS) -D_GNU_SOURCE -pthread

$(filter $(O)/tests/unwind/nofp%,$(UNWOUND)) \
$(addprefix $(O)/tests/unwind/,small.so medium.so large.so prelinked.so): \
	tests/workloads/known.h

$(O)/tests/unwind/nofp: tests/unwind/nofp.c
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNWOUND_CFLAGS) -o $@ $< -ldl

$(O)/tests/unwind/teller: tests/unwind/teller.c tests/workloads/workload.h
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNWOUND_CFLAGS) -o $@ $<

# dlopen(3) in a static program draws a warning, and is not called there.
$(O)/tests/unwind/nofp_static: tests/unwind/nofp.c
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNWOUND_CFLAGS) -static-pie -o $@ $< 2>$@.log || { cat $@.log >&2; exit 1; }

# The frames are described in .debug_frame alone, of the file itself or of one packed in it.
$(O)/tests/unwind/nofp_debug: tests/unwind/nofp.c
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNWOUND_CFLAGS) -fno-asynchronous-unwind-tables -fno-unwind-tables -o $@ $< -ldl

$(O)/tests/unwind/nofp_mini: $(O)/tests/unwind/nofp_debug
	$(say) WORKLOAD $@
	$(Q)xz -c $< >$@.xz
	$(Q)$(OBJCOPY) --strip-all --add-section .gnu_debugdata=$@.xz $< $@

# No description of its frames is left.
$(O)/tests/unwind/nofp_bare: $(O)/tests/unwind/nofp_debug
	$(say) WORKLOAD $@
	$(Q)$(OBJCOPY) --strip-all $< $@

# .gnu_debugdata that unpacks to an ELF file of 12 MB, and below to 400 MB of zeros.
$(O)/tests/unwind/nofp_roomy: $(O)/tests/unwind/nofp_debug
	$(say) WORKLOAD $@
	$(Q)head -c 12000000 /dev/zero >$@.pad
	$(Q)$(OBJCOPY) --add-section .pad=$@.pad $< $@.full
	$(Q)xz -0 -c $@.full >$@.xz
	$(Q)$(OBJCOPY) --strip-all --add-section .gnu_debugdata=$@.xz $< $@
	$(Q)rm -f $@.pad $@.full $@.xz

$(O)/tests/unwind/nofp_bomb: $(O)/tests/unwind/nofp_debug
	$(say) WORKLOAD $@
	$(Q)head -c 400000000 /dev/zero | xz -0 -c >$@.xz
	$(Q)$(OBJCOPY) --strip-all --add-section .gnu_debugdata=$@.xz $< $@
	$(Q)rm -f $@.xz

$(O)/tests/unwind/pause32: tests/unwind/pause32.S
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -m32 -nostdlib -static -o $@ $<

$(addprefix $(O)/tests/unwind/,badcfi popped norule plt pointers): $(O)/tests/unwind/%: tests/unwind/%.S
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -nostdlib -static -o $@ $<

$(O)/tests/unwind/samecfi: tests/unwind/badcfi.S
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -DSAME -nostdlib -static -o $@ $<

$(addprefix $(O)/tests/unwind/,oddcfi.so widecfi.so): $(O)/tests/unwind/%.so: tests/unwind/%.S
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -nostdlib -shared -o $@ $<

$(O)/tests/unwind/small.so: ROOM := 64
# Another frame with the same instructions at the same places.
$(O)/tests/unwind/medium.so: ROOM := 96
$(O)/tests/unwind/large.so: ROOM := 1024
# As prelink leaves a library: its addresses are not offsets from its begin.
$(O)/tests/unwind/prelinked.so: ROOM := 64
$(O)/tests/unwind/prelinked.so: UNWOUND_LDFLAGS := -Wl,-Ttext-segment=0x3a40000000
$(O)/tests/unwind/%.so: tests/unwind/library.c
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNWOUND_CFLAGS) -DROOM=$(ROOM) $(UNWOUND_LDFLAGS) -shared -fPIC -o $@ $<

$(O)/tests/unwind/nofp_cpp: tests/unwind/nofp.cpp
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -o $@ $<

$(O)/tests/unwind/naps: tests/unwind/naps.cpp
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -pthread -o $@ $<

$(O)/tests/unwind/naps_static: tests/unwind/naps.cpp
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -pthread -static-pie -o $@ $<

$(O)/tests/unwind/nofp_rs: tests/unwind/nofp.rs
	$(say) WORKLOAD $@
	$(Q)mkdir -p $(@D)
	$(Q)env -u MAKEFLAGS -u MFLAGS $(RUSTC) -O -o $@ $<

# Fuzzers are built with clang, and the product's sources once for all of them, instrumented.
FUZZ_CFLAGS = -std=gnu11 -O1 -gline-tables-only -fsanitize=address,undefined -fno-sanitize-recover=undefined -Wall \
	      $(CPPFLAGS_ALL) $(LIBPERF_CFLAGS) $(PKG_CFLAGS) -MMD -MP
# Only what they reach, which takes less than half of the time: rooms of which they need nearly all files, and
# files of others. One that a fuzzer lacks is missed by its link.
FUZZ_SRCS := $(sort $(wildcard $(patsubst %,util/%/*.c,base cfi host input machine symbol synth))) \
	     $(patsubst %,util/%.c,$(addprefix capture/,decode idle options reason sideband_filter) \
	     output/perfdata/encode output/perfdata/time_kind session/users stat/proc_text \
	     stat/syscall_names $(addprefix top/,activity batch columns completion csv_beside \
	     csv_cgroups csv_completions csv_ends csv_lines csv_reader csv_stacks csv_text \
	     extra_text names perf_reader recorded replay socket_text stack_text thread_sample \
	     uring_text user_maps user_names wall_time) \
	     unwind/dsos unwind/unwinder)
FUZZ_OBJS := $(FUZZ_SRCS:%.c=$(O)/fuzz/%.o)
FUZZ_LIB := $(O)/fuzz/libdenet.a

$(O)/fuzz/util/%.o: util/%.c $(O)/.flags | $(SKELS) $(O)/syscall_names.h $(O)/flamegraph_page.h $(LIBPERF_FILE)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -c $< -o $@

$(FUZZ_LIB): $(FUZZ_OBJS)
	$(say) AR $@
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(O)/tests/fuzz/%: tests/fuzz/%.c $(FUZZ_LIB)
	$(say) FUZZER $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_LIB) $(LIBS)

bench: all $(WORKLOADS) $(BENCH)
workloads: $(WORKLOADS) $(UNWOUND)
tests: $(UNIT_TESTS) $(BPF_TESTS) $(WORKLOADS) $(UNWOUND) $(BENCH)
fuzzers: $(FUZZERS)

check: all $(UNIT_TESTS) $(WORKLOADS) $(UNWOUND)
	$(Q)O=$(O) scripts/run-tests.sh unit user

check-root: all $(BPF_TESTS) $(WORKLOADS) $(UNWOUND) $(BENCH)
	$(Q)O=$(O) scripts/run-tests.sh bpf cli

check-fuzz: $(FUZZERS)
	$(Q)O=$(O) scripts/run-tests.sh fuzz

check-vm: all $(BPF_TESTS) $(WORKLOADS) $(UNWOUND)
	$(Q)O=$(O) scripts/run-tests.sh vm boot

# Each header by itself, and without banned.h, which would lend it its own includes.
HEADERS := $(sort $(wildcard util/*.h util/*/*.h util/*/*/*.h builtin/*.h builtin/*/*.h tests/*/*.h) \
	$(filter-out %.bpf.h bpf_skel/vmlinux.h,$(wildcard bpf_skel/*.h)))

check-headers: $(HEADERS:%=$(O)/headers/%.ok)

$(O)/headers/%.ok: % | $(SKELS) $(LIBPERF_FILE)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -include util/base/banned.h,$(CFLAGS_ALL)) -MF $(@:.ok=.d) -MT $@ \
		-isystem $(DEPS)/include -Itests -Werror -fsyntax-only -x c $<
	$(Q)touch $@

PAGES := denet $(filter denet-%,$(NAMES)) $(SCRIPTS:%=denet-%)
MAN := $(PAGES:%=$(O)/man/%.1)

$(O)/man/%.1: Documentation/%.txt
	$(say) MAN $@
	$(Q)mkdir -p $(@D)
	$(Q)asciidoctor -b manpage -d manpage -a manmanual='denet manual' \
		-a mansource='denet $(VERSION)' -o $@ $<

man: $(MAN)

INSTALLED := $(bindir)/denet $(NAMES:%=$(bindir)/%) $(SCRIPTS:%=$(bindir)/denet-%) $(PAGES:%=$(mandir)/%.1) \
	     $(mandir)/perf-denet.1 $(NAMES:%=$(completiondir)/%) $(completiondir)/denet

install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(datadir) $(DESTDIR)$(completiondir)
	install -m 755 $(BIN) $(DESTDIR)$(bindir)/denet
	for name in $(NAMES); do ln -sf denet $(DESTDIR)$(bindir)/$$name; done
	for name in $(SCRIPTS); do install -m 755 scripts/$$name.sh $(DESTDIR)$(bindir)/denet-$$name; done
	install -m 755 scripts/archive.sh $(DESTDIR)$(datadir)
	install -m 644 scripts/completion.bash $(DESTDIR)$(completiondir)/denet
	for name in $(NAMES); do ln -sf denet $(DESTDIR)$(completiondir)/$$name; done
	@if ls $(O)/man/*.1 >/dev/null 2>&1; then install -d $(DESTDIR)$(mandir) && \
		install -m 644 $(O)/man/*.1 $(DESTDIR)$(mandir) && \
		ln -sf denet.1 $(DESTDIR)$(mandir)/perf-denet.1; \
	else echo 'no man pages: asciidoctor was not installed when $(O) was built'; fi

uninstall:
	rm -f $(INSTALLED:%=$(DESTDIR)%)
	rm -rf $(DESTDIR)$(datadir)

# For machines without compilers: one static binary, and a tarball that adds the man pages and the
# completion, to be unpacked in a prefix such as /usr/local.
DIST := denet-$(VERSION)-$(MACHINE)

dist:
	$(Q)$(MAKE) --no-print-directory -s O=$(O)/static STATIC=1 all
	$(Q)O=$(O)/static MAKE='$(MAKE)' STRIP=$(STRIP) scripts/dist.sh $(DIST) $(O)/dist

clean:
	rm -rf $(O)

compile_commands.json:
	$(Q)rm -f $@
	$(Q)bear --output $@ -- $(MAKE) --no-print-directory -B O=$(O)/compdb all $(UNIT_TESTS:$(O)/%=$(O)/compdb/%)
	$(Q)rm -rf $(O)/compdb

format:
	clang-format -i $$(git ls-files '*.c' '*.h' ':!bpf_skel/vmlinux.h')

-include $(UTIL_OBJS:.o=.d) $(BUILTIN_OBJS:.o=.d) $(TEST_COMMON:.o=.d)
-include $(wildcard $(O)/tests/bench/*.d) $(O)/tests/bpf/comparison.d
-include $(HEADERS:%=$(O)/headers/%.d)
-include $(FUZZ_OBJS:.o=.d) $(FUZZERS:%=%.d)
-include $(UNIT_TESTS:%=%.d) $(BPF_TESTS:%=%.d) $(WORKLOADS:%=%.d)
