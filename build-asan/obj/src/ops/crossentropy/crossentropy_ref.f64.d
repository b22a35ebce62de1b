/tmp/wt/bench/build-asan/obj/src/ops/crossentropy/crossentropy_ref.f64.o: \
 src/ops/crossentropy/crossentropy_ref.c src/device/ref/ref.h \
 src/base/maths.h src/device/device.h src/base/threads.h \
 src/base/status.h src/tensor/op.h src/base/mem.h src/tensor/ops.def \
 src/tensor/plan.h src/base/strings.h src/base/format.h \
 src/tensor/tensor.h src/device/step_state.h \
 src/ops/crossentropy/crossentropy.h
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
src/ops/crossentropy/crossentropy.h:
