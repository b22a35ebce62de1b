/tmp/wt/bench/build-asan/obj/src/cli/eval.o: src/cli/eval.c \
 src/base/clock.h src/base/platform.h src/cli/loaded.h src/cli/cli.h \
 src/base/fs.h src/base/mem.h src/base/status.h src/cli/options.h \
 src/base/json.h src/base/arena.h src/base/strings.h src/base/format.h \
 src/io/tinygpt.h src/io/sink.h src/model/model.h src/device/device.h \
 src/base/threads.h src/tensor/op.h src/tensor/ops.def src/tensor/plan.h \
 src/tensor/tensor.h src/model/config.h src/model/params.h \
 src/infer/scorer.h src/infer/session.h src/infer/sampler.h \
 src/infer/text_score.h
src/base/clock.h:
src/base/platform.h:
src/cli/loaded.h:
src/cli/cli.h:
src/base/fs.h:
src/base/mem.h:
src/base/status.h:
src/cli/options.h:
src/base/json.h:
src/base/arena.h:
src/base/strings.h:
src/base/format.h:
src/io/tinygpt.h:
src/io/sink.h:
src/model/model.h:
src/device/device.h:
src/base/threads.h:
src/tensor/op.h:
src/tensor/ops.def:
src/tensor/plan.h:
src/tensor/tensor.h:
src/model/config.h:
src/model/params.h:
src/infer/scorer.h:
src/infer/session.h:
src/infer/sampler.h:
src/infer/text_score.h:
