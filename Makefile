# posttrain: one GNU Makefile, no generator. `make help` lists the targets.
# Adding a source file needs no edit here: sources are found by name.
#   src/**/x.c        compiled once          x_ref.c  compiled for float and for double storage
#   src/**/x_cpu.c    compiled once per instruction set; twice where it names PT_KERNEL (for storage in bf16)
#   src/**/x_test.c   a test program of its own
# The program is src/cli/ and the library; the library is everything else, and offers include/posttrain.h.

BUILD ?= build
CC ?= cc
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
ARCH := $(firstword $(subst -, ,$(MACHINE)))
WERROR ?=
SANITIZE ?=

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wdouble-promotion \
        -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wcast-qual -Wpointer-arith \
        -Wformat=2 $(WERROR)
OPT ?= -O3
CFLAGS ?= -g1
# -fno-math-errno, -fno-trapping-math: no errno or FP traps are used; both keep IEEE values. -ffast-math is banned.
ALL_CFLAGS = -std=c17 -D_POSIX_C_SOURCE=200809L -D_DARWIN_C_SOURCE -Isrc -Iinclude $(OPT) \
             -fno-math-errno -fno-trapping-math -ffp-contract=off -fPIC -fvisibility=hidden -pthread $(WARN) \
             $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
             $(CFLAGS)
LIBS := -lm -ldl
ALL_LDFLAGS = -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)

# Instruction sets for the *_cpu.c kernels. `base` is plain C for any machine. X_strict is X without fused
# multiply-adds: it gives the bits of `base`.
ISAS_x86_64 := base avx2 avx512 avx2_strict avx512_strict
ISAS_aarch64 := base neon neon_strict
ISAS := $(or $(ISAS_$(ARCH)),base)
ISA_FLAGS_base :=
ISA_FLAGS_avx2 := -mavx2 -mfma -mf16c
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma -mf16c \
                    -mprefer-vector-width=512
ISA_FLAGS_neon :=
ISA_FLAGS_amx := $(ISA_FLAGS_avx512) -mamx-tile -mamx-bf16 -DPT_ISA_avx512=1
# Those with kernels for activations stored in bf16. amx: the f32 kernels are those of avx512.
BF16_ISAS := $(filter-out %_strict,$(ISAS)) $(if $(filter avx512,$(ISAS)),amx)
ISA_DEFS := $(foreach i,$(ISAS) $(filter amx,$(BF16_ISAS)),-DPT_HAVE_ISA_$(i)=1)

# For posttrain data get, where its headers are; the library itself is loaded when it is used.
CURL_FLAGS := $(shell pkg-config --exists 'libcurl >= 7.85' 2>/dev/null && echo -DPT_HAVE_CURL=1 && pkg-config --cflags libcurl)

SRC := $(sort $(wildcard src/*/*.c src/*/*/*.c))
TESTS := $(filter %_test.c,$(SRC)) $(sort $(wildcard tests/*_test.c tests/*/*_test.c))
WGSL := $(sort $(wildcard src/*/*.wgsl src/*/*/*.wgsl))
FUZZ := $(sort $(wildcard fuzz/fuzz_*.c))
REF := $(filter %_ref.c,$(SRC))
CPU := $(filter %_cpu.c,$(SRC))
CPU_BF16 := $(shell grep -l PT_KERNEL $(CPU))
CLI := $(filter src/cli/%,$(SRC))
PLAIN := $(filter-out $(REF) $(CPU) $(CLI) %_test.c src/wasm/% %/platform_wasm.c %/freestanding.c,$(SRC))

obj = $(patsubst %.c,$(BUILD)/obj/%$(2).o,$(1))
LIB_OBJ := $(call obj,$(PLAIN),) $(call obj,$(REF),.f32) $(call obj,$(REF),.f64) \
           $(foreach i,$(ISAS),$(call obj,$(CPU),.$(i))) \
           $(foreach i,$(BF16_ISAS),$(call obj,$(CPU_BF16),.$(i).bf16)) \
           $(if $(filter amx,$(BF16_ISAS)),$(call obj,$(filter src/device/cpu/gemm%,$(CPU)),.amx)) \
           $(BUILD)/obj/shaders.o
CLI_OBJ := $(call obj,$(CLI),)
TEST_BIN := $(addprefix $(BUILD)/tests/,$(notdir $(TESTS:.c=)))
LIB := $(BUILD)/libposttrain.a

VERSION := $(shell sed -n 's/^\#define PT_VERSION "\(.*\)"/\1/p' src/base/version.h)
# Programs linked with the library run with later ones of the same SOVERSION: 0.1 for 0.1.x, 1 for 1.x.
SOVERSION := $(shell echo $(VERSION) | sed 's/^\(0\.[0-9]*\|[1-9][0-9]*\)\..*/\1/')
SHARED := $(if $(findstring linux,$(MACHINE)),$(BUILD)/libposttrain.so.$(VERSION))

CORPUS := $(BUILD)/data/moby-dick.txt

.DEFAULT_GOAL := all
.PHONY: all
all: $(BUILD)/posttrain $(LIB) $(SHARED) ## build the program and the libraries
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

$(BUILD)/obj/src/io/fetch.o: ALL_CFLAGS += $(CURL_FLAGS)
$(BUILD)/posttrain: $(CLI_OBJ) $(LIB)
	@echo "ld $(@F)"
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
$(LIB): $(LIB_OBJ)
	@rm -f $@ && echo "ar $(@F)"
	@ar rcs $@ $^
$(BUILD)/libposttrain.so.$(VERSION): $(LIB_OBJ)
	@echo "ld $(@F)"
	@$(CC) -shared -Wl,-soname,libposttrain.so.$(SOVERSION) -Wl,-z,defs $(ALL_LDFLAGS) -o $@ $^ -lm

# Written when the words differ from those in the file: what depends on it is then made again.
.PHONY: always
WRITE_IF_NEW = mkdir -p $(@D) && cat >$@.new && if cmp -s $@ $@.new; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/flags: always
	@echo '$(subst ','\'',$(CC) $(ALL_CFLAGS))' | ($(WRITE_IF_NEW))

COMPILE = @mkdir -p $(@D) && echo "cc $(patsubst $(BUILD)/obj/%,%,$@)" && \
          $(CC) $(ALL_CFLAGS) $(ISA_DEFS) -MMD -MP -c -o $@ $<
$(BUILD)/obj/%_ref.f32.o: %_ref.c $(BUILD)/flags
	$(COMPILE) -DPT_REAL=float -DPT_REAL_SUFFIX=f32
$(BUILD)/obj/%_ref.f64.o: %_ref.c $(BUILD)/flags
	$(COMPILE) -DPT_REAL=double -DPT_REAL_SUFFIX=f64
define isa_rule
$(BUILD)/obj/%_cpu.$(1).o: %_cpu.c $(BUILD)/flags
	$$(COMPILE) -DPT_ISA=$(1) -DPT_ISA_$(1:_strict=)=1 $$(ISA_FLAGS_$(1:_strict=)) \
	    $(if $(filter %_strict,$(1)),-DPT_STRICT=1)
$(BUILD)/obj/%_cpu.$(1).bf16.o: %_cpu.c $(BUILD)/flags
	$$(COMPILE) -DPT_STORED_BF16=1 -DPT_ISA=$(1) -DPT_ISA_$(1)=1 $$(ISA_FLAGS_$(1))
endef
$(foreach i,$(sort $(ISAS) $(BF16_ISAS)),$(eval $(call isa_rule,$(i))))
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(COMPILE)

# The text of all shaders.
$(BUILD)/shaders.c: $(WGSL) tools/shaders
	@mkdir -p $(@D) && tools/shaders -c $(WGSL) >$@
$(BUILD)/obj/shaders.o: $(BUILD)/shaders.c $(BUILD)/flags
	$(COMPILE)

# What --version says; one object is compiled again when it changes.
REVISION := $(shell tools/revision)
BUILD_FLAGS = $(filter-out -W% -I% -D_%,$(ALL_CFLAGS))
BUILD_WORDS = -DPT_BUILD_DATE='"$(filter-out -,$(firstword $(REVISION)))"' \
              -DPT_BUILD_REVISION='"$(wordlist 2,9,$(REVISION))"' \
              -DPT_BUILD_FLAGS='"$(subst ",\",$(BUILD_FLAGS))"'
$(BUILD)/build-words: always
	@echo "$(REVISION)" | ($(WRITE_IF_NEW))
$(BUILD)/obj/src/cli/build.o: src/cli/build.c $(BUILD)/build-words
	$(COMPILE) $(BUILD_WORDS)

define test_rule
.PHONY: $(notdir $(1:.c=))
$(notdir $(1:.c=)): $(BUILD)/tests/$(notdir $(1:.c=))
$(BUILD)/tests/$(notdir $(1:.c=)): $(BUILD)/obj/$(1:.c=.o) $$(LIB)
	@mkdir -p $$(@D) && echo "ld $$(@F)"
	@$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $(LIBS)
endef
$(foreach t,$(TESTS),$(eval $(call test_rule,$(t))))
$(BUILD)/tests/cli_test $(BUILD)/tests/bench_test $(addprefix $(BUILD)/tests/,planning_test resume_test resume_damage_test screen_test kill_program_test data_cli_test runs_cli_test config_cli_test webgpu_test webgpu_faults_test): | $(BUILD)/posttrain
# Stands before a library that offers webgpu.h, which a test puts behind it under this name.
ifneq (,$(findstring linux,$(MACHINE)))
$(BUILD)/tests/webgpu_faults_test: | $(BUILD)/tests/libgpu_faults.so
$(BUILD)/tests/libgpu_faults.so: tests/gpu_faults.c src/device/webgpu/abi.h $(BUILD)/flags
	@mkdir -p $(@D) && echo "ld $(@F)"
	@$(CC) -shared -Wl,-soname,libgpu_behind.so -o $(@D)/libgpu_behind.so -x c /dev/null
	@$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -Wl,--no-as-needed -o $@ $< $(@D)/libgpu_behind.so -ldl
endif
.PHONY: test-programs
test-programs: $(TEST_BIN)

# A fuzz target with a main that replays files, for any compiler; and with libFuzzer, for clang.
$(BUILD)/fuzz/%: $(BUILD)/obj/fuzz/%.o $(BUILD)/obj/fuzz/replay.o $(LIB)
	@mkdir -p $(@D) && echo "ld $(@F)"
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/libfuzzer/%: $(BUILD)/obj/fuzz/%.o $(LIB)
	@mkdir -p $(@D) && echo "ld $(@F)"
	@$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)
.SECONDARY: $(call obj,$(wildcard fuzz/*.c),)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ---- what people type ----

DEMO := $(BUILD)/demo
DEMO_ARGS ?= --preset reference --steps 1000 --lr 3e-3 --schedule cosine --warmup 50 \
             --eval-every 200 --sample-every 200 --save-every 500 --prompt 'The '
HAVE_CLANG := $(shell command -v clang-19 2>/dev/null)

.PHONY: setup demo corpus test check fuzz
setup: ## install what is missing to build and test (tools/setup dev: to develop)
	@tools/setup
demo: ## train a small model on Moby-Dick and let it write
	@tools/setup
	@$(MAKE) --no-print-directory all
	@tools/get-corpus $(CORPUS)
	@rm -rf $(DEMO)
	$(BUILD)/posttrain train --corpus $(CORPUS) --out $(DEMO) $(DEMO_ARGS)
	@echo; echo 'The model is $(DEMO)/model.tinygpt, the whole run is in $(DEMO)/log.jsonl. Next:'
	@echo "  $(BUILD)/posttrain sample $(DEMO)/model.tinygpt --prompt 'Call me '"
	@echo '  $(BUILD)/posttrain eval $(DEMO)/model.tinygpt --corpus FILE'
	@echo '  $(BUILD)/posttrain train --help'
corpus: ## fetch the default corpus
	@tools/get-corpus $(CORPUS)
.PHONY: webgpu
webgpu: ## fetch a library for --device webgpu (Linux on x86-64)
	@tools/get-webgpu $(BUILD)/webgpu/libwebgpu_dawn.so
	@echo 'export POSTTRAIN_WEBGPU=$(abspath $(BUILD))/webgpu/libwebgpu_dawn.so'
test: ## everything that must pass
	@tools/setup test
	@$(MAKE) --no-print-directory run-test
.PHONY: run-test
run-test: all test-programs # a make of its own: setup may have brought clang
	@tools/get-corpus $(CORPUS)
	@$(if $(HAVE_CLANG),$(MAKE) --no-print-directory wasm-check web-engine $(WASM_TESTED) $(WEB_TESTED))
	@MAKE='$(MAKE)' BUILD=$(BUILD) POSTTRAIN=$(BUILD)/posttrain CORPUS=$(CORPUS) \
	    WEB_ENGINE=$(WEB_ENGINE) WEB=$(if $(WEB_TESTED),$(WEB)) TEST_TIMEOUT=$${TEST_TIMEOUT:-900} \
	    POSTTRAIN_TEST_GPU=quick tools/with-webgpu tools/run-tests $(TEST_BIN) tools/selftest tests/install-test \
	    $(if $(HAVE_CLANG),tools/wasm-test tools/web-test)

.PHONY: fault
fault: ## break a run at every call and kill it 50 times, for minutes
	@$(MAKE) --no-print-directory all test-programs
	@FAULT=long TEST_TIMEOUT=1800 tools/run-tests $(addprefix $(BUILD)/tests/,$(filter $(notdir \
	    $(patsubst %.c,%,$(wildcard tests/fault/*_test.c))),$(notdir $(TESTS:.c=))))

.PHONY: test-webgpu soak-webgpu
test-webgpu: all test-programs ## every op's every case on the GPU, or an emulated one (an hour there)
	@POSTTRAIN_TEST_GPU=all TEST_TIMEOUT=3600 tools/with-webgpu tools/run-tests \
	    $(addprefix $(BUILD)/tests/,$(basename $(notdir $(filter src/ops/%_test.c,$(TESTS)))) choice_test webgpu_test webgpu_faults_test)
GPU_SOAK_SECONDS ?= 1800
soak-webgpu: $(BUILD)/tests/webgpu_soak_test ## train on the GPU for GPU_SOAK_SECONDS (half an hour): what it holds stays the same
	@SOAK_SECONDS=$(GPU_SOAK_SECONDS) tools/with-webgpu $<

.PHONY: soak-data
soak-data: all ## train on 3 GB of shards: memory bounded, shard size without effect (minutes, 6 GB of disk)
	@tools/soak-data $(BUILD)/posttrain $(SOAK_BYTES)

# ---- what a change must pass as well: warnings, sanitizers, fuzz corpora, style ----

TSAN_TESTS ?= threads_test gemm_test crossentropy_test trainer_test
TSAN_BIN := $(addprefix $(BUILD)/tests/,$(filter $(TSAN_TESTS),$(notdir $(TESTS:.c=))))
export ASAN_OPTIONS ?= detect_leaks=1:strict_string_checks=1
export UBSAN_OPTIONS ?= print_stacktrace=1
export TSAN_OPTIONS ?= halt_on_error=1
# TSan of gcc 12 cannot start under the largest address randomisation: switch it off where allowed.
NO_ASLR := $(shell setarch -R true 2>/dev/null && echo setarch -R)
SUB = $(MAKE) --no-print-directory

check: ## test with sanitizers, replay fuzz corpora, lint
	+@$(SUB) -k lint
	+@$(SUB) check-warnings
	+@$(SUB) check-asan
	+@$(SUB) check-tsan
	@echo 'check: all passed'
.PHONY: check-warnings check-asan check-tsan run-asan run-tsan
check-warnings: # both compilers; clang without optimisation, for time
	+@$(SUB) BUILD=$(BUILD)/werror WERROR=-Werror all test-programs
	+@$(if $(HAVE_CLANG),$(SUB) BUILD=$(BUILD)/werror-clang CC=clang-19 OPT=-O0 WERROR=-Werror all test-programs)
check-asan:
	+@$(SUB) BUILD=$(BUILD)/asan SANITIZE=address,undefined OPT=-O1 run-asan
check-tsan:
	+@$(SUB) BUILD=$(BUILD)/tsan SANITIZE=thread OPT=-O1 run-tsan
run-asan: $(TEST_BIN) $(patsubst fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ))
	@TEST_TIMEOUT=600 tools/run-tests $(TEST_BIN)
	@set -e; for f in $(FUZZ:fuzz/fuzz_%.c=%); do \
	    echo "replaying fuzz/corpus/$$f"; $(BUILD)/fuzz/fuzz_$$f fuzz/corpus/$$f; done
run-tsan: $(TSAN_BIN)
	@$(if $(TSAN_BIN),TEST_TIMEOUT=600 $(NO_ASLR) tools/run-tests $(TSAN_BIN),echo 'no TSan tests yet')

.PHONY: lint layers size banned format tidy
lint: layers size banned format-check ops-doc-check tidy ## layers, sizes, banned words, format, analysis
layers size banned:
	@tools/$@
tidy:
	@tools/lint
format: ## reformat all C sources (clang-format-14)
	@tools/format -i
.PHONY: format-check ops-doc-check
format-check:
	@if command -v clang-format-14 >/dev/null; then tools/format; \
	 else echo 'clang-format-14 is not installed: tools/setup dev'; fi
ops-doc-check:
	@awk -f tools/ops-doc.awk src/tensor/ops.def | cmp -s - docs/ops.md || \
	 { echo 'docs/ops.md is not what src/tensor/ops.def gives: run make docs/ops.md'; exit 1; }
docs/ops.md: src/tensor/ops.def tools/ops-doc.awk
	awk -f tools/ops-doc.awk $< > $@.tmp && mv $@.tmp $@

# ---- installing, like any other program: PREFIX and DESTDIR, and each folder by itself ----

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/posttrain
INSTALL ?= install
SONAME := libposttrain.so.$(SOVERSION)
SHARED_NAMES := $(if $(SHARED),$(notdir $(SHARED)) $(SONAME) libposttrain.so)
DOCS := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md THIRD_PARTY.md LICENSE $(wildcard docs/*.md docs/*.svg) \
        $(wildcard examples/*)
# A cross-compiled program cannot print its own manual: HELPER names one that runs here.
HELPER ?= $(BUILD)/posttrain
VERBS = $(shell $(HELPER) help --names)
COMPLETIONS := bash-completion/completions/posttrain zsh/site-functions/_posttrain \
               fish/vendor_completions.d/posttrain.fish

# Looked at before any of them stands in a command.
define INSTALL_DIR_LINES
DESTDIR=$(DESTDIR)
PREFIX=$(PREFIX)
BINDIR=$(BINDIR)
LIBDIR=$(LIBDIR)
INCLUDEDIR=$(INCLUDEDIR)
DATADIR=$(DATADIR)
MANDIR=$(MANDIR)
DOCDIR=$(DOCDIR)
endef
LDCONFIG ?= ldconfig

.PHONY: install uninstall manuals install-dirs
install-dirs: export INSTALL_DIRS = $(INSTALL_DIR_LINES)
install-dirs:
	@tools/install-dirs
manuals: install-dirs $(BUILD)/posttrain # the manual pages, the completions and the pkg-config file, in $(BUILD)/share
	@mkdir -p $(BUILD)/share/man1
	@set -e; for verb in $(VERBS); do \
	    $(HELPER) help --man $$verb >$(BUILD)/share/man1/posttrain-$$verb.1; done
	@$(HELPER) help --man >$(BUILD)/share/man1/posttrain.1
	@set -e; for file in $(COMPLETIONS); do mkdir -p $(BUILD)/share/$$(dirname $$file); \
	    $(HELPER) help --completion $$(echo $${file%%[-/]*}) >$(BUILD)/share/$$file; done
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' tools/posttrain.pc.in >$(BUILD)/share/posttrain.pc
install: install-dirs all manuals ## install to PREFIX (/usr/local), below DESTDIR
	$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig $(INCLUDEDIR) $(MANDIR)/man1 $(DOCDIR)/docs \
	    $(DOCDIR)/examples $(dir $(addprefix $(DATADIR)/,$(COMPLETIONS))))
	$(INSTALL) -m 755 $(BUILD)/posttrain $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 644 $(LIB) $(DESTDIR)$(LIBDIR)
	$(if $(SHARED),$(INSTALL) -m 755 $(SHARED) $(DESTDIR)$(LIBDIR))
	$(if $(SHARED),ln -sf $(notdir $(SHARED)) $(DESTDIR)$(LIBDIR)/$(SONAME))
	$(if $(SHARED),ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libposttrain.so)
	$(INSTALL) -m 644 include/posttrain.h $(DESTDIR)$(INCLUDEDIR)
	$(INSTALL) -m 644 $(BUILD)/share/posttrain.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	$(INSTALL) -m 644 $(BUILD)/share/man1/*.1 $(DESTDIR)$(MANDIR)/man1
	@set -e; for file in $(COMPLETIONS); do \
	    $(INSTALL) -m 644 $(BUILD)/share/$$file $(DESTDIR)$(DATADIR)/$$file; done
	@set -e; for file in $(DOCS); do $(INSTALL) -m 644 $$file $(DESTDIR)$(DOCDIR)/$$file; done
	@# the loader's cache: a program linked with the shared library finds it at once
	@if [ -n "$(SHARED)" ] && [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then \
	    $(LDCONFIG) || echo 'install: the loader does not know the library yet: run $(LDCONFIG) as root' >&2; fi
uninstall: install-dirs $(BUILD)/posttrain ## remove what install put there (same variables)
	rm -f $(DESTDIR)$(BINDIR)/posttrain $(DESTDIR)$(MANDIR)/man1/posttrain.1 \
	    $(addprefix $(DESTDIR)$(MANDIR)/man1/posttrain-,$(addsuffix .1,$(VERBS))) \
	    $(addprefix $(DESTDIR)$(LIBDIR)/,libposttrain.a $(SHARED_NAMES) pkgconfig/posttrain.pc) \
	    $(DESTDIR)$(INCLUDEDIR)/posttrain.h $(addprefix $(DESTDIR)$(DATADIR)/,$(COMPLETIONS)) \
	    $(addprefix $(DESTDIR)$(DOCDIR)/,$(DOCS))
	@set -e; for folder in $(DOCDIR)/docs $(DOCDIR)/examples $(DOCDIR); do \
	    if [ -d $(DESTDIR)$$folder ] && [ -z "$$(ls -A $(DESTDIR)$$folder)" ]; then rmdir $(DESTDIR)$$folder; fi; done

# ---- a release: what git holds, as a tarball, the same bytes every time ----

DIST := posttrain-$(VERSION)
# Programs that need no fetched text and little time.
QUICK_TESTS ?= $(filter-out %/trainer_test %/bench_test %/simd_maths_test %/gemm_test,$(TEST_BIN))
.PHONY: dist distcheck quick-test
dist: ## a source tarball of the last commit, in build/
	@mkdir -p $(BUILD)
	@git archive --format=tar --prefix=$(DIST)/ HEAD | gzip -n -9 >$(BUILD)/$(DIST).tar.gz
	@echo $(BUILD)/$(DIST).tar.gz
distcheck: dist ## build, test and install what the tarball holds, outside git
	@MAKE='$(MAKE)' tools/dist-check $(BUILD)/$(DIST).tar.gz
quick-test: all test-programs ## the tests that need no network and about a minute
	@tools/run-tests $(QUICK_TESTS)

# ---- arm64, cross-compiled and emulated (tools/setup dev installs both) ----

ARM64_TESTS ?= simd_test simd_maths_test gemm_test op_check_test device_test golden_test:_48 session_test \
               $(basename $(notdir $(filter src/ops/%_test.c,$(TESTS))))
.PHONY: check-arm64
check-arm64: all ## build for arm64 with NEON, run its kernels' tests under qemu, compare bits with this machine
	+@$(SUB) CC=aarch64-linux-gnu-gcc BUILD=$(BUILD)-arm64 all \
	    $(foreach t,$(ARM64_TESTS),$(firstword $(subst :, ,$(t))))
	@ARM64_TESTS='$(ARM64_TESTS)' tools/check-arm64 $(BUILD) $(BUILD)-arm64

# ---- searching for new inputs that break a reader ----

FUZZ_SECONDS ?= 60
fuzz: ## search for crashes in every reader with libFuzzer (clang-19), FUZZ_SECONDS each
	+@$(SUB) BUILD=$(BUILD)/fuzz-clang CC=clang-19 OPT=-O1 SANITIZE=fuzzer-no-link,address,undefined \
	    run-fuzz
.PHONY: run-fuzz
run-fuzz: $(patsubst fuzz/%.c,$(BUILD)/libfuzzer/%,$(FUZZ))
	@set -e; for f in $(FUZZ:fuzz/fuzz_%.c=%); do \
	    mkdir -p $(BUILD)/corpus/$$f $(BUILD)/crash fuzz/corpus/$$f; \
	    $(BUILD)/libfuzzer/fuzz_$$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 -timeout=10 \
	        -print_final_stats=1 -artifact_prefix=$(BUILD)/crash/$$f- $(BUILD)/corpus/$$f fuzz/corpus/$$f; done

# ---- speed: development only; posttrain bench needs none of this ----

PEERS_VENV ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/posttrain-peers
PEERS_ARGS ?=
.PHONY: bench bench-peers
bench: all ## measure this machine: products, ops, training steps, threads (minutes)
	@for kind in gemm ops train threads; do $(BUILD)/posttrain bench $$kind || exit; echo; done
bench-peers: all ## compare training steps with PyTorch, in turns (fetches it: gigabytes)
	@test -x $(PEERS_VENV)/bin/python || python3 -m venv $(PEERS_VENV)
	@$(PEERS_VENV)/bin/python -c 'import torch' 2>/dev/null || $(PEERS_VENV)/bin/pip install torch numpy
	@mkdir -p docs/measurements
	$(PEERS_VENV)/bin/python bench/peers.py --program $(BUILD)/posttrain $(PEERS_ARGS)

# ---- WebAssembly: the same C, freestanding; clang-19 and wasm-ld-19 called directly, never through clang's driver, which would
# run whatever wasm-opt it finds. A module is a target (its objects), an instruction set (its kernels) and a way to link.
#   wasm32                  one thread                      the bits of plain C
#   wasm32-threads          shared memory                   the bits of plain C
#   wasm32-relaxed          shared memory, fused multiply-adds where the machine has them
#   wasm64-relaxed          the same with 64-bit addresses, for models that need them
#   wasm64-threads, scalar  for tests and measurements only

WASM_CC ?= clang-19
WASM_LD ?= wasm-ld-19
WASM_OUT := $(BUILD)/wasm
WASM_SHIPPED := wasm32 wasm32-threads wasm32-relaxed wasm64-relaxed
WASM_MODULES := $(WASM_SHIPPED) wasm64-threads scalar
WASM_FILES := $(shell grep -lE '^.include "base/(fs|fs_calls|atomic_file|append_file)\.h"' $(SRC))
WASM_BENCH := $(addprefix src/bench/,ladder.c memory.c probe.c samples.c square.c timed.c)
WASM_SRC := $(filter-out $(filter-out $(WASM_BENCH),$(wildcard src/bench/*.c)) %_test.c src/api/% src/cli/% src/factory/% src/device/fake/% src/base/fs% \
              src/base/atomic_file.c src/base/append_file.c %/platform_posix.c \
              %/host_native.c %/host_library.c $(WASM_FILES),$(SRC))
WASM_CPU := $(filter-out %_selftest_cpu.c src/device/cpu/gemm_bf16%,$(CPU))
WASM_CFLAGS = -std=c17 -ffreestanding -nostdlib -Isrc -mbulk-memory -fno-math-errno \
              -fno-trapping-math -ffp-contract=off -DPT_CPU_DEVICE_ONLY=1 $(WARN)
WASM_KERNELS_wasm := -msimd128 -DPT_ISA=wasm -DPT_ISA_wasm=1
WASM_KERNELS_relaxed := -msimd128 -mrelaxed-simd -DPT_ISA=wasm_relaxed -DPT_ISA_wasm=1
WASM_KERNELS_scalar := -DPT_ISA=wasm
# Kernels in the order that they are written in: clang would put off half of a tile's multiply-adds, and the host's compiler
# run out of registers. Everything else -Oz, because modules travel.
WASM_KERNEL_OPT := -O3 -mllvm -pre-RA-sched=source
WASM_SHARED := --shared-memory --export=__wasm_init_tls --export=__stack_pointer
# target: its flags; module: target, kernels, how to link
WASM_TARGET_w32 := --target=wasm32
WASM_TARGET_w32t := --target=wasm32 -matomics
WASM_TARGET_w32r := --target=wasm32 -matomics -DPT_HAVE_ISA_wasm_relaxed=1
WASM_TARGET_w64t := --target=wasm64 -matomics
WASM_TARGET_w64r := --target=wasm64 -matomics -DPT_HAVE_ISA_wasm_relaxed=1
WASM_MODULE_wasm32 := w32 wasm
WASM_MODULE_scalar := w32 scalar
WASM_MODULE_wasm32-threads := w32t wasm $(WASM_SHARED) --max-memory=4294967296
WASM_MODULE_wasm32-relaxed := w32r relaxed $(WASM_SHARED) --max-memory=4294967296
WASM_MODULE_wasm64-threads := w64t wasm -mwasm64 $(WASM_SHARED) --max-memory=17179869184
WASM_MODULE_wasm64-relaxed := w64r relaxed -mwasm64 $(WASM_SHARED) --max-memory=17179869184

wasm_obj = $(patsubst %.c,$(WASM_OUT)/obj/$(1)/%.o,$(filter-out %_ref.c %_cpu.c,$(WASM_SRC))) \
           $(patsubst %.c,$(WASM_OUT)/obj/$(1)/%.f32.o,$(REF)) \
           $(patsubst %.c,$(WASM_OUT)/obj/$(1)/%.$(2).o,$(WASM_CPU))
WASM_COMPILE = @mkdir -p $(@D) && echo "wasm $(patsubst $(WASM_OUT)/obj/%,%,$@)" && \
               $(WASM_CC) $(WASM_CFLAGS) -MMD -MP -c -o $@ $<
define wasm_kernel_rule
$(WASM_OUT)/obj/$(1)/%_cpu.$(2).o: %_cpu.c
	$$(WASM_COMPILE) $$(WASM_KERNEL_OPT) $(WASM_TARGET_$(1)) $$(WASM_KERNELS_$(2))

endef
define wasm_target_rules
$(WASM_OUT)/obj/$(1)/%_ref.f32.o: %_ref.c
	$$(WASM_COMPILE) -Oz $(WASM_TARGET_$(1)) -DPT_REAL=float -DPT_REAL_SUFFIX=f32
$(foreach k,wasm relaxed scalar,$(call wasm_kernel_rule,$(1),$(k)))
$(WASM_OUT)/obj/$(1)/%.o: %.c
	$$(WASM_COMPILE) -Oz $(WASM_TARGET_$(1))
endef
$(foreach t,w32 w32t w32r w64t w64r,$(eval $(call wasm_target_rules,$(t))))
define wasm_module_rule
$(WASM_OUT)/$(1).wasm: $(call wasm_obj,$(word 1,$(WASM_MODULE_$(1))),$(word 2,$(WASM_MODULE_$(1))))
	@echo "wasm-ld $$(@F)"
	@$(WASM_LD) --no-entry --import-memory --stack-first -z stack-size=1048576 -s \
	    $(wordlist 3,99,$(WASM_MODULE_$(1))) -o $$@ $$^
endef
$(foreach m,$(WASM_MODULES),$(eval $(call wasm_module_rule,$(m))))
-include $(shell find $(WASM_OUT)/obj -name '*.d' 2>/dev/null)

# The npm package, whole, in $(WEB_ENGINE): modules, compiled TypeScript, and beside it its tests and a Node that can run it.
WEB_ENGINE := $(BUILD)/web-engine
WEB_ENGINE_SRC := $(wildcard web/engine/src/*.ts)
WEB_NODE = $(firstword $(wildcard $(WEB_ENGINE)/node_modules/node-linux-*/bin/node) node)
.PHONY: wasm web-engine wasm-test bench-wasm
wasm: $(WASM_MODULES:%=$(WASM_OUT)/%.wasm)
$(WEB_ENGINE)/node_modules/.ready: web/engine/package.json web/engine/package-lock.json web/engine/.npmrc
	@mkdir -p $(WEB_ENGINE) && cp $^ $(WEB_ENGINE)/ && echo 'npm ci: what web/engine needs'
	@cd $(WEB_ENGINE) && npm ci --silent --ignore-scripts && touch node_modules/.ready
$(WEB_ENGINE)/dist/.ready: $(WEB_ENGINE_SRC) web/engine/tsconfig.json $(WEB_ENGINE)/node_modules/.ready
	@echo 'tsc web/engine'
	@cp web/engine/tsconfig.json web/engine/README.md $(WEB_ENGINE)/ && rm -rf $(WEB_ENGINE)/src && cp -R web/engine/src $(WEB_ENGINE)/
	@cd $(WEB_ENGINE) && node_modules/.bin/tsc -p . && touch dist/.ready
$(WEB_ENGINE)/dist/%.wasm: $(WASM_OUT)/%.wasm | $(WEB_ENGINE)/dist/.ready
	@cp $< $@
$(WEB_ENGINE)/dist/shaders.wgsl: $(WGSL) tools/shaders | $(WEB_ENGINE)/dist/.ready
	@tools/shaders $(WGSL) >$@
WASM_TESTED := $(WASM_MODULES:%=$(WEB_ENGINE)/dist/%.wasm)
WASM_PACKS := $(WEB_ENGINE)/dist/engine32.wasm $(WEB_ENGINE)/dist/engine64.wasm $(WEB_ENGINE)/dist/shaders.wgsl
$(WEB_ENGINE)/dist/engine%.wasm: web/engine/pack.mjs $(WASM_SHIPPED:%=$(WASM_OUT)/%.wasm) | $(WEB_ENGINE)/dist/.ready
	@node $< $@ $(filter $(WASM_OUT)/wasm$*%,$^)
web-engine: $(WEB_ENGINE)/dist/.ready $(WASM_PACKS) $(WASM_SHIPPED:%=$(WEB_ENGINE)/dist/%.wasm) ## build the engine for browsers and Node: modules and npm package
wasm-test: web-engine $(WASM_TESTED) $(BUILD)/posttrain ## test it against the native program
	@tools/get-corpus $(CORPUS)
	@POSTTRAIN=$(BUILD)/posttrain CORPUS=$(CORPUS) WEB_ENGINE=$(WEB_ENGINE) tools/wasm-test
bench-wasm: web-engine $(WASM_TESTED) $(BUILD)/posttrain ## measure it beside the native program, in Node and Chromium
	@tools/get-corpus $(CORPUS)
	@rm -rf $(WEB_ENGINE)/test && cp -R web/engine/test $(WEB_ENGINE)/test
	@CORPUS=$(CORPUS) $(WEB_NODE) bench/wasm.mjs $(WEB_ENGINE) $(BUILD)/posttrain $(CORPUS)

# The playground, a static site in $(WEB). Its package names the engine's folder, so BUILD must be what it is by default.
WEB := $(BUILD)/web
WEB_PORT ?= 8080
WEB_APP_NODE := web/app/node_modules/.ready
WEB_APP_FILES = $(shell find web/app/src web/app/public web/app/index.html web/app/*.ts web/app/*.js web/app/*.mjs web/app/*.json -type f)
WEB_TESTED = $(if $(filter build,$(BUILD)),web)
SOAK_SECONDS ?= 300
.PHONY: web web-serve web-test web-test-long
$(WEB_APP_NODE): web/app/package.json web/app/package-lock.json web/app/.npmrc | $(WEB_ENGINE)/dist/.ready
	@echo 'npm ci: what web/app needs'
	@cd web/app && npm ci --silent --ignore-scripts && touch node_modules/.ready
$(WEB)/index.html: $(WEB_APP_FILES) $(WEB_APP_NODE) $(WEB_ENGINE)/dist/.ready $(WASM_PACKS)
	$(if $(filter build,$(BUILD)),,$(error web/app is built with BUILD=build only))
	@tools/get-corpus $(BUILD)/web-public/moby-dick.txt
	@cp web/app/public/* $(BUILD)/web-public/
	@for name in uplot svelte; do echo "$$name, in this page:" && cat web/app/node_modules/$$name/LICENSE* && echo; done \
	    >$(BUILD)/web-public/licences.txt
	@cat LICENSE >>$(BUILD)/web-public/licences.txt
	@echo 'vite web/app' && cd web/app && npm run --silent check && npx vite build --logLevel warn
web: $(WEB)/index.html ## build the playground: a static site in build/web
web-serve: web ## serve it on this machine, WEB_PORT (8080)
	@node web/app/serve.mjs $(WEB) $(WEB_PORT)
web-test: web ## drive the built page in Chromium; TOPICS="shelf share" runs some of web/app/test/topics
	@WEB=$(WEB) tools/web-test $(TOPICS)
web-test-long: web web-engine $(WASM_TESTED) $(BUILD)/posttrain ## and for long: a soak, killed tabs, pictures, the largest preset (10 GB)
	@tools/get-corpus $(CORPUS)
	@LONG=1 SOAK_SECONDS=$(SOAK_SECONDS) SHOTS=$(BUILD)/web-shots POSTTRAIN=$(BUILD)/posttrain CORPUS=$(CORPUS) \
	    WEB_ENGINE=$(WEB_ENGINE) WEB=$(WEB) TEST_JOBS=1 TEST_TIMEOUT=$$((3600 + $(SOAK_SECONDS))) \
	    tools/run-tests tools/web-test tools/wasm-test

.PHONY: wasm-check
wasm-check: ## prove that the freestanding part compiles and links as WASM (clang-19)
	@CC=clang-19 tools/wasm-check

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
