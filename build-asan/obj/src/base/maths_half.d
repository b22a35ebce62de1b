/tmp/wt/bench/build-asan/obj/src/base/maths_half.o: src/base/maths_half.c \
 src/base/maths.h
src/base/maths.h:
