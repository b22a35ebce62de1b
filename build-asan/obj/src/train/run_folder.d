/tmp/wt/bench/build-asan/obj/src/train/run_folder.o: \
 src/train/run_folder.c src/train/run_folder.h src/train/trainer.h \
 src/infer/session.h src/infer/sampler.h src/base/mem.h src/base/status.h \
 src/model/model.h src/device/device.h src/base/threads.h src/tensor/op.h \
 src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/model/config.h \
 src/model/params.h src/io/sink.h src/train/data.h src/base/rng.h \
 src/train/options.h src/train/schedule.h src/base/append_file.h \
 src/base/atomic_file.h src/base/clock.h src/base/fs.h src/base/hash.h \
 src/base/json.h src/base/arena.h src/base/version.h src/io/checkpoint.h
src/train/run_folder.h:
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
src/base/append_file.h:
src/base/atomic_file.h:
src/base/clock.h:
src/base/fs.h:
src/base/hash.h:
src/base/json.h:
src/base/arena.h:
src/base/version.h:
src/io/checkpoint.h:
