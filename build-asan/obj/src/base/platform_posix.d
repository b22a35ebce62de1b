/tmp/wt/bench/build-asan/obj/src/base/platform_posix.o: \
 src/base/platform_posix.c src/base/platform.h
src/base/platform.h:
