/tmp/wt/bench/build-asan/obj/src/bench/machine.o: src/bench/machine.c \
 src/bench/machine.h src/base/decimal.h src/base/status.h src/base/fs.h \
 src/base/mem.h src/base/platform.h src/base/strings.h src/base/format.h
src/bench/machine.h:
src/base/decimal.h:
src/base/status.h:
src/base/fs.h:
src/base/mem.h:
src/base/platform.h:
src/base/strings.h:
src/base/format.h:
