/tmp/wt/bench/build-asan/obj/src/base/heap.o: src/base/heap.c \
 src/base/heap.h src/base/mem.h src/base/status.h
src/base/heap.h:
src/base/mem.h:
src/base/status.h:
