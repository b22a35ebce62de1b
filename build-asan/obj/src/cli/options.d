/tmp/wt/bench/build-asan/obj/src/cli/options.o: src/cli/options.c \
 src/cli/options.h src/base/json.h src/base/arena.h src/base/mem.h \
 src/base/status.h src/base/strings.h src/base/format.h \
 src/base/decimal.h
src/cli/options.h:
src/base/json.h:
src/base/arena.h:
src/base/mem.h:
src/base/status.h:
src/base/strings.h:
src/base/format.h:
src/base/decimal.h:
