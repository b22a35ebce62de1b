/tmp/wt/bench/build-asan/obj/src/ops/scale/scale_cpu.base.o: \
 src/ops/scale/scale_cpu.c src/device/cpu/chunks.h src/base/mem.h \
 src/base/status.h src/base/threads.h src/device/cpu/cpu.h \
 src/base/maths.h src/device/device.h src/tensor/op.h src/tensor/ops.def \
 src/tensor/plan.h src/base/strings.h src/base/format.h \
 src/tensor/tensor.h src/device/step_state.h src/ops/scale/scale.h
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
src/ops/scale/scale.h:
