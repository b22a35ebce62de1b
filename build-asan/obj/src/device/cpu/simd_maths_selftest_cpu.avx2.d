/tmp/wt/bench/build-asan/obj/src/device/cpu/simd_maths_selftest_cpu.avx2.o: \
 src/device/cpu/simd_maths_selftest_cpu.c src/device/cpu/simd_selftest.h \
 src/device/cpu/cpu.h src/base/maths.h src/device/device.h \
 src/base/threads.h src/base/status.h src/tensor/op.h src/base/mem.h \
 src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/device/step_state.h \
 src/device/cpu/simd_maths.h src/device/cpu/simd.h
src/device/cpu/simd_selftest.h:
src/device/cpu/cpu.h:
src/base/maths.h:
src/device/device.h:
src/base/threads.h:
src/base/status.h:
src/tensor/op.h:
src/base/mem.h:
src/tensor/ops.def:
src/tensor/plan.h:
src/base/strings.h:
src/base/format.h:
src/tensor/tensor.h:
src/device/step_state.h:
src/device/cpu/simd_maths.h:
src/device/cpu/simd.h:
