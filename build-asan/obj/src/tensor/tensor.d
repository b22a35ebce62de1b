/tmp/wt/bench/build-asan/obj/src/tensor/tensor.o: src/tensor/tensor.c \
 src/tensor/tensor.h src/base/mem.h src/base/status.h src/base/format.h
src/tensor/tensor.h:
src/base/mem.h:
src/base/status.h:
src/base/format.h:
