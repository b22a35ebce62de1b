/tmp/wt/bench/build-clang/obj/src/cli/bench.o: src/cli/bench.c \
  src/base/clock.h src/base/version.h src/bench/bench.h \
  src/device/device.h src/base/threads.h src/base/status.h \
  src/tensor/op.h src/base/mem.h src/tensor/ops.def src/tensor/plan.h \
  src/base/strings.h src/base/format.h src/tensor/tensor.h \
  src/model/config.h src/bench/machine.h src/cli/cli.h src/base/fs.h \
  src/cli/options.h src/base/json.h src/base/arena.h src/io/tinygpt.h \
  src/io/sink.h src/model/model.h src/model/params.h
src/base/clock.h:
src/base/version.h:
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
src/bench/machine.h:
src/cli/cli.h:
src/base/fs.h:
src/cli/options.h:
src/base/json.h:
src/base/arena.h:
src/io/tinygpt.h:
src/io/sink.h:
src/model/model.h:
src/model/params.h:
