/tmp/wt/bench/build-asan/obj/src/base/strings.o: src/base/strings.c \
 src/base/strings.h src/base/format.h src/base/status.h src/base/mem.h
src/base/strings.h:
src/base/format.h:
src/base/status.h:
src/base/mem.h:
