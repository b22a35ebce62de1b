/tmp/wt/bench/build-asan/obj/src/infer/session.o: src/infer/session.c \
 src/infer/session.h src/infer/sampler.h src/base/mem.h src/base/status.h \
 src/model/model.h src/device/device.h src/base/threads.h src/tensor/op.h \
 src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/model/config.h \
 src/model/params.h
src/infer/session.h:
src/infer/sampler.h:
src/base/mem.h:
src/base/status.h:
src/model/model.h:
src/device/device.h:
src/base/threads.h:
src/tensor/op.h:
src/tensor/ops.def:
src/tensor/plan.h:
src/base/strings.h:
src/base/format.h:
src/tensor/tensor.h:
src/model/config.h:
src/model/params.h:
