/tmp/wt/bench/build-asan/obj/src/bench/measure.o: src/bench/measure.c \
 src/bench/measure.h src/bench/bench.h src/device/device.h \
 src/base/threads.h src/base/status.h src/tensor/op.h src/base/mem.h \
 src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/model/config.h \
 src/base/clock.h src/base/maths.h
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
src/base/clock.h:
src/base/maths.h:
