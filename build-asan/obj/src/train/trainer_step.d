/tmp/wt/bench/build-asan/obj/src/train/trainer_step.o: \
 src/train/trainer_step.c src/train/trainer_internal.h src/infer/scorer.h \
 src/model/model.h src/device/device.h src/base/threads.h \
 src/base/status.h src/tensor/op.h src/base/mem.h src/tensor/ops.def \
 src/tensor/plan.h src/base/strings.h src/base/format.h \
 src/tensor/tensor.h src/model/config.h src/model/params.h \
 src/train/diagnose.h src/train/optimizer.h src/device/step_state.h \
 src/train/save.h src/io/tinygpt.h src/base/json.h src/base/arena.h \
 src/io/sink.h src/train/trainer.h src/infer/session.h \
 src/infer/sampler.h src/train/data.h src/base/rng.h src/train/options.h \
 src/train/schedule.h src/base/clock.h src/base/maths.h
src/train/trainer_internal.h:
src/infer/scorer.h:
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
src/train/diagnose.h:
src/train/optimizer.h:
src/device/step_state.h:
src/train/save.h:
src/io/tinygpt.h:
src/base/json.h:
src/base/arena.h:
src/io/sink.h:
src/train/trainer.h:
src/infer/session.h:
src/infer/sampler.h:
src/train/data.h:
src/base/rng.h:
src/train/options.h:
src/train/schedule.h:
src/base/clock.h:
src/base/maths.h:
