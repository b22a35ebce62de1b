/tmp/wt/bench/build-asan/obj/src/base/mem.o: src/base/mem.c \
 src/base/mem.h src/base/status.h src/base/platform.h
src/base/mem.h:
src/base/status.h:
src/base/platform.h:
