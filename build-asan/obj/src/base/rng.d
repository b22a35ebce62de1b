/tmp/wt/bench/build-asan/obj/src/base/rng.o: src/base/rng.c \
 src/base/rng.h src/base/maths.h
src/base/rng.h:
src/base/maths.h:
