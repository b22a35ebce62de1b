/tmp/wt/bench/build-asan/obj/src/ops/loss_sum/loss_sum_ref.f32.o: \
 src/ops/loss_sum/loss_sum_ref.c src/device/ref/ref.h src/base/maths.h \
 src/device/device.h src/base/threads.h src/base/status.h src/tensor/op.h \
 src/base/mem.h src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/device/step_state.h \
 src/ops/loss_sum/loss_sum.h
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
src/ops/loss_sum/loss_sum.h:
