/tmp/wt/bench/build-asan/obj/src/base/log.o: src/base/log.c \
 src/base/log.h src/base/status.h src/base/format.h src/base/platform.h \
 src/base/strings.h src/base/mem.h
src/base/log.h:
src/base/status.h:
src/base/format.h:
src/base/platform.h:
src/base/strings.h:
src/base/mem.h:
