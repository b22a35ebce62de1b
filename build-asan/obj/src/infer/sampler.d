/tmp/wt/bench/build-asan/obj/src/infer/sampler.o: src/infer/sampler.c \
 src/infer/sampler.h src/base/mem.h src/base/status.h src/base/maths.h \
 src/base/rng.h
src/infer/sampler.h:
src/base/mem.h:
src/base/status.h:
src/base/maths.h:
src/base/rng.h:
