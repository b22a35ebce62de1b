/tmp/wt/bench/build-asan/obj/src/device/device.o: src/device/device.c \
 src/device/device.h src/base/threads.h src/base/status.h src/tensor/op.h \
 src/base/mem.h src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/base/platform.h
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
src/base/platform.h:
