/tmp/wt/bench/build-asan/obj/src/tensor/plan.o: src/tensor/plan.c \
 src/tensor/plan.h src/base/strings.h src/base/format.h src/base/status.h \
 src/base/mem.h src/tensor/tensor.h
src/tensor/plan.h:
src/base/strings.h:
src/base/format.h:
src/base/status.h:
src/base/mem.h:
src/tensor/tensor.h:
