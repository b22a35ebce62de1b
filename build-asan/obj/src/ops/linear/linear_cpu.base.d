/tmp/wt/bench/build-asan/obj/src/ops/linear/linear_cpu.base.o: \
 src/ops/linear/linear_cpu.c src/device/cpu/gemm.h src/device/cpu/cpu.h \
 src/base/maths.h src/device/device.h src/base/threads.h \
 src/base/status.h src/tensor/op.h src/base/mem.h src/tensor/ops.def \
 src/tensor/plan.h src/base/strings.h src/base/format.h \
 src/tensor/tensor.h src/device/step_state.h src/device/cpu/simd.h \
 src/ops/linear/linear.h
src/device/cpu/gemm.h:
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
src/device/cpu/simd.h:
src/ops/linear/linear.h:
