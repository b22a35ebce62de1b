/tmp/wt/bench/build-asan/obj/src/ops/gelu/gelu_cpu.avx2_strict.o: \
 src/ops/gelu/gelu_cpu.c src/device/cpu/chunks.h src/base/mem.h \
 src/base/status.h src/base/threads.h src/device/cpu/cpu.h \
 src/base/maths.h src/device/device.h src/tensor/op.h src/tensor/ops.def \
 src/tensor/plan.h src/base/strings.h src/base/format.h \
 src/tensor/tensor.h src/device/step_state.h src/device/cpu/simd_maths.h \
 src/device/cpu/simd.h src/ops/gelu/gelu.h
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
src/device/cpu/simd_maths.h:
src/device/cpu/simd.h:
src/ops/gelu/gelu.h:
