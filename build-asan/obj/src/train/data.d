/tmp/wt/bench/build-asan/obj/src/train/data.o: src/train/data.c \
 src/train/data.h src/base/rng.h src/base/status.h src/base/mem.h \
 src/text/bytes.h
src/train/data.h:
src/base/rng.h:
src/base/status.h:
src/base/mem.h:
src/text/bytes.h:
