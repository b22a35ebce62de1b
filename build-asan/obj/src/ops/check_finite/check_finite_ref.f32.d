/tmp/wt/bench/build-asan/obj/src/ops/check_finite/check_finite_ref.f32.o: \
 src/ops/check_finite/check_finite_ref.c src/device/ref/ref.h \
 src/base/maths.h src/device/device.h src/base/threads.h \
 src/base/status.h src/tensor/op.h src/base/mem.h src/tensor/ops.def \
 src/tensor/plan.h src/base/strings.h src/base/format.h \
 src/tensor/tensor.h src/device/step_state.h \
 src/ops/check_finite/check_finite.h
src/device/ref/ref.h:
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
src/ops/check_finite/check_finite.h:
