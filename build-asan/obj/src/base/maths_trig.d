/tmp/wt/bench/build-asan/obj/src/base/maths_trig.o: src/base/maths_trig.c \
 src/base/maths_internal.h src/base/maths.h src/base/wide.h
src/base/maths_internal.h:
src/base/maths.h:
src/base/wide.h:
