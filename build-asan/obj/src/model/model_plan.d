/tmp/wt/bench/build-asan/obj/src/model/model_plan.o: \
 src/model/model_plan.c src/base/maths.h src/model/model.h \
 src/device/device.h src/base/threads.h src/base/status.h src/tensor/op.h \
 src/base/mem.h src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/model/config.h \
 src/model/params.h
src/base/maths.h:
src/model/model.h:
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
src/model/params.h:
