/tmp/wt/bench/build-asan/obj/src/bench/memory.o: src/bench/memory.c \
 src/base/rng.h src/bench/measure.h src/bench/bench.h src/device/device.h \
 src/base/threads.h src/base/status.h src/tensor/op.h src/base/mem.h \
 src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/model/config.h
src/base/rng.h:
src/bench/measure.h:
src/bench/bench.h:
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
src/model/config.h:
