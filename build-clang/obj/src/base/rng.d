/tmp/wt/bench/build-clang/obj/src/base/rng.o: src/base/rng.c \
  src/base/rng.h src/base/maths.h
src/base/rng.h:
src/base/maths.h:
