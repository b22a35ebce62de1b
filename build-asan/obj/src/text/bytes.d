/tmp/wt/bench/build-asan/obj/src/text/bytes.o: src/text/bytes.c \
 src/text/bytes.h src/base/mem.h src/base/status.h
src/text/bytes.h:
src/base/mem.h:
src/base/status.h:
