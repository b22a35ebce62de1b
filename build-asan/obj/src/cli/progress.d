/tmp/wt/bench/build-asan/obj/src/cli/progress.o: src/cli/progress.c \
 src/cli/progress.h src/train/trainer.h src/infer/session.h \
 src/infer/sampler.h src/base/mem.h src/base/status.h src/model/model.h \
 src/device/device.h src/base/threads.h src/tensor/op.h \
 src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/model/config.h \
 src/model/params.h src/io/sink.h src/train/data.h src/base/rng.h \
 src/train/options.h src/train/schedule.h src/base/clock.h \
 src/base/platform.h src/cli/cli.h src/base/fs.h src/cli/options.h \
 src/base/json.h src/base/arena.h src/io/tinygpt.h
src/cli/progress.h:
src/train/trainer.h:
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
src/io/sink.h:
src/train/data.h:
src/base/rng.h:
src/train/options.h:
src/train/schedule.h:
src/base/clock.h:
src/base/platform.h:
src/cli/cli.h:
src/base/fs.h:
src/cli/options.h:
src/base/json.h:
src/base/arena.h:
src/io/tinygpt.h:
