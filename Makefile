# posttrain: one GNU Makefile, no generator. `make help` lists the targets.
# Adding a source file needs no edit here: sources are found by name.
#   src/**/x.c        compiled once          x_ref.c  compiled for float and for double storage
#   src/**/x_cpu.c    compiled once per instruction set        x_test.c  a test program of its own

BUILD ?= build
CC ?= cc
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
WERROR ?=
SANITIZE ?=

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wdouble-promotion \
        -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wcast-qual -Wpointer-arith \
        -Wformat=2 $(WERROR)
OPT ?= -O3
CFLAGS ?= -g1
# -fno-math-errno, -fno-trapping-math: no errno or FP traps are used; both keep IEEE values. -ffast-math is banned.
ALL_CFLAGS = -std=c17 -D_POSIX_C_SOURCE=200809L -D_DARWIN_C_SOURCE -Isrc -Iinclude $(OPT) \
             -fno-math-errno -fno-trapping-math -ffp-contract=off -pthread $(WARN) \
             $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer) $(CFLAGS)
ALL_LDFLAGS = -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)

# Instruction sets for the *_cpu.c kernels. `base` is plain C for any machine.
ISAS_x86_64 := base avx2 avx512
ISAS_aarch64 := base neon
ISAS := $(or $(ISAS_$(ARCH)),base)
ISA_FLAGS_base :=
ISA_FLAGS_avx2 := -mavx2 -mfma -mf16c
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma -mf16c \
                    -mprefer-vector-width=512
ISA_FLAGS_neon :=
ISA_DEFS := $(foreach i,$(ISAS),-DPT_HAVE_ISA_$(i)=1)

SRC := $(sort $(wildcard src/*/*.c src/*/*/*.c))
TESTS := $(filter %_test.c,$(SRC)) $(sort $(wildcard tests/*_test.c))
REF := $(filter %_ref.c,$(SRC))
CPU := $(filter %_cpu.c,$(SRC))
CLI := $(filter src/cli/%,$(SRC))
PLAIN := $(filter-out $(REF) $(CPU) $(CLI) %_test.c src/wasm/% %/platform_wasm.c %/freestanding.c,$(SRC))

obj = $(patsubst %.c,$(BUILD)/obj/%$(2).o,$(1))
LIB_OBJ := $(call obj,$(PLAIN),) $(call obj,$(REF),.f32) $(call obj,$(REF),.f64) \
           $(foreach i,$(ISAS),$(call obj,$(CPU),.$(i)))
CLI_OBJ := $(call obj,$(CLI),)
TEST_BIN := $(addprefix $(BUILD)/tests/,$(notdir $(TESTS:.c=)))
LIB := $(BUILD)/libposttrain.a

.DEFAULT_GOAL := all
.PHONY: all
all: $(BUILD)/posttrain $(LIB) ## build the program and the library
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

$(BUILD)/posttrain: $(CLI_OBJ) $(LIB)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lm
$(LIB): $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

COMPILE = @mkdir -p $(@D) && echo "cc $(patsubst $(BUILD)/obj/%,%,$@)" && \
          $(CC) $(ALL_CFLAGS) $(ISA_DEFS) -MMD -MP -c -o $@ $<
$(BUILD)/obj/%_ref.f32.o: %_ref.c
	$(COMPILE) -DPT_REAL=float -DPT_REAL_SUFFIX=f32
$(BUILD)/obj/%_ref.f64.o: %_ref.c
	$(COMPILE) -DPT_REAL=double -DPT_REAL_SUFFIX=f64
define isa_rule
$(BUILD)/obj/%_cpu.$(1).o: %_cpu.c
	$$(COMPILE) -DPT_ISA=$(1) -DPT_ISA_$(1)=1 $$(ISA_FLAGS_$(1))
endef
$(foreach i,$(ISAS),$(eval $(call isa_rule,$(i))))
$(BUILD)/obj/%.o: %.c
	$(COMPILE)

define test_rule
.PHONY: $(notdir $(1:.c=))
$(notdir $(1:.c=)): $(BUILD)/tests/$(notdir $(1:.c=))
$(BUILD)/tests/$(notdir $(1:.c=)): $(BUILD)/obj/$(1:.c=.o) $$(LIB)
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ -lm
endef
$(foreach t,$(TESTS),$(eval $(call test_rule,$(t))))
.PHONY: test-programs
test-programs: $(TEST_BIN)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
