/tmp/wt/bench/build-asan/obj/src/device/cpu/probe_cpu.base.o: \
 src/device/cpu/probe_cpu.c src/base/rng.h src/device/cpu/chunks.h \
 src/base/mem.h src/base/status.h src/base/threads.h src/device/cpu/cpu.h \
 src/base/maths.h src/device/device.h src/tensor/op.h src/tensor/ops.def \
 src/tensor/plan.h src/base/strings.h src/base/format.h \
 src/tensor/tensor.h src/device/step_state.h src/device/cpu/isa_table.h \
 src/device/cpu/probe.h src/device/cpu/simd.h
src/base/rng.h:
src/device/cpu/chunks.h:
src/base/mem.h:
src/base/status.h:
src/base/threads.h:
src/device/cpu/cpu.h:
src/base/maths.h:
src/device/device.h:
src/tensor/op.h:
src/tensor/ops.def:
src/tensor/plan.h:
src/base/strings.h:
src/base/format.h:
src/tensor/tensor.h:
src/device/step_state.h:
src/device/cpu/isa_table.h:
src/device/cpu/probe.h:
src/device/cpu/simd.h:
