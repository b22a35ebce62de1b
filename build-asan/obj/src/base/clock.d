/tmp/wt/bench/build-asan/obj/src/base/clock.o: src/base/clock.c \
 src/base/clock.h src/base/format.h src/base/status.h src/base/platform.h
src/base/clock.h:
src/base/format.h:
src/base/status.h:
src/base/platform.h:
