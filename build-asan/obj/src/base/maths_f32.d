/tmp/wt/bench/build-asan/obj/src/base/maths_f32.o: src/base/maths_f32.c \
 src/base/maths_internal.h src/base/maths.h
src/base/maths_internal.h:
src/base/maths.h:
