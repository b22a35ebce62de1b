/tmp/wt/bench/build-asan/obj/src/base/maths.o: src/base/maths.c \
 src/base/maths.h src/base/maths_internal.h
src/base/maths.h:
src/base/maths_internal.h:
