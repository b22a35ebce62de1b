/tmp/wt/bench/build-asan/obj/src/bench/threads.o: src/bench/threads.c \
 src/base/strings.h src/base/format.h src/base/status.h src/base/mem.h \
 src/bench/steps.h src/bench/measure.h src/bench/bench.h \
 src/device/device.h src/base/threads.h src/tensor/op.h \
 src/tensor/ops.def src/tensor/plan.h src/tensor/tensor.h \
 src/model/config.h src/train/trainer.h src/infer/session.h \
 src/infer/sampler.h src/model/model.h src/model/params.h src/io/sink.h \
 src/train/data.h src/base/rng.h src/train/options.h src/train/schedule.h
src/base/strings.h:
src/base/format.h:
src/base/status.h:
src/base/mem.h:
src/bench/steps.h:
src/bench/measure.h:
src/bench/bench.h:
src/device/device.h:
src/base/threads.h:
src/tensor/op.h:
src/tensor/ops.def:
src/tensor/plan.h:
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
