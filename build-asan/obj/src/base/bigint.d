/tmp/wt/bench/build-asan/obj/src/base/bigint.o: src/base/bigint.c \
 src/base/bigint.h src/base/mem.h src/base/status.h
src/base/bigint.h:
src/base/mem.h:
src/base/status.h:
