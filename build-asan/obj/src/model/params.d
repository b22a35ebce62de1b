/tmp/wt/bench/build-asan/obj/src/model/params.o: src/model/params.c \
 src/model/params.h src/model/config.h src/base/mem.h src/base/status.h \
 src/tensor/tensor.h src/base/format.h src/base/maths.h src/base/rng.h
src/model/params.h:
src/model/config.h:
src/base/mem.h:
src/base/status.h:
src/tensor/tensor.h:
src/base/format.h:
src/base/maths.h:
src/base/rng.h:
