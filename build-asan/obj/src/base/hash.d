/tmp/wt/bench/build-asan/obj/src/base/hash.o: src/base/hash.c \
 src/base/hash.h src/base/mem.h src/base/status.h
src/base/hash.h:
src/base/mem.h:
src/base/status.h:
