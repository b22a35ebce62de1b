/tmp/wt/bench/build-asan/obj/src/train/save.o: src/train/save.c \
 src/train/save.h src/io/tinygpt.h src/base/json.h src/base/arena.h \
 src/base/mem.h src/base/status.h src/base/strings.h src/base/format.h \
 src/io/sink.h src/train/optimizer.h src/device/step_state.h \
 src/model/model.h src/device/device.h src/base/threads.h src/tensor/op.h \
 src/tensor/ops.def src/tensor/plan.h src/tensor/tensor.h \
 src/model/config.h src/model/params.h src/model/tinygpt_shape.h
src/train/save.h:
src/io/tinygpt.h:
src/base/json.h:
src/base/arena.h:
src/base/mem.h:
src/base/status.h:
src/base/strings.h:
src/base/format.h:
src/io/sink.h:
src/train/optimizer.h:
src/device/step_state.h:
src/model/model.h:
src/device/device.h:
src/base/threads.h:
src/tensor/op.h:
src/tensor/ops.def:
src/tensor/plan.h:
src/tensor/tensor.h:
src/model/config.h:
src/model/params.h:
src/model/tinygpt_shape.h:
