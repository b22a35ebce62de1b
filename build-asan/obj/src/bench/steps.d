/tmp/wt/bench/build-asan/obj/src/bench/steps.o: src/bench/steps.c \
 src/bench/steps.h src/bench/measure.h src/bench/bench.h \
 src/device/device.h src/base/threads.h src/base/status.h src/tensor/op.h \
 src/base/mem.h src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/model/config.h \
 src/train/trainer.h src/infer/session.h src/infer/sampler.h \
 src/model/model.h src/model/params.h src/io/sink.h src/train/data.h \
 src/base/rng.h src/train/options.h src/train/schedule.h
src/bench/steps.h:
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
src/train/trainer.h:
src/infer/session.h:
src/infer/sampler.h:
src/model/model.h:
src/model/params.h:
src/io/sink.h:
src/train/data.h:
src/base/rng.h:
src/train/options.h:
src/train/schedule.h:
