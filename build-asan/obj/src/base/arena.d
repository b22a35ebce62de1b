/tmp/wt/bench/build-asan/obj/src/base/arena.o: src/base/arena.c \
 src/base/arena.h src/base/mem.h src/base/status.h
src/base/arena.h:
src/base/mem.h:
src/base/status.h:
