/tmp/wt/bench/build-asan/obj/src/base/threads.o: src/base/threads.c \
 src/base/threads.h src/base/status.h src/base/mem.h src/base/platform.h
src/base/threads.h:
src/base/status.h:
src/base/mem.h:
src/base/platform.h:
