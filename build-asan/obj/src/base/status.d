/tmp/wt/bench/build-asan/obj/src/base/status.o: src/base/status.c \
 src/base/status.h src/base/format.h src/base/mem.h
src/base/status.h:
src/base/format.h:
src/base/mem.h:
