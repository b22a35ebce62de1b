/tmp/wt/bench/build-asan/obj/src/device/fake/fake.o: \
 src/device/fake/fake.c src/device/device.h src/base/threads.h \
 src/base/status.h src/tensor/op.h src/base/mem.h src/tensor/ops.def \
 src/tensor/plan.h src/base/strings.h src/base/format.h \
 src/tensor/tensor.h
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
