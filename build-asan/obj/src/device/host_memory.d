/tmp/wt/bench/build-asan/obj/src/device/host_memory.o: \
 src/device/host_memory.c src/device/host_memory.h src/device/device.h \
 src/base/threads.h src/base/status.h src/tensor/op.h src/base/mem.h \
 src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h
src/device/host_memory.h:
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
