/tmp/wt/bench/build-asan/obj/src/tensor/op.o: src/tensor/op.c \
 src/tensor/op.h src/base/mem.h src/base/status.h src/tensor/ops.def
src/tensor/op.h:
src/base/mem.h:
src/base/status.h:
src/tensor/ops.def:
