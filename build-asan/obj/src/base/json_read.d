/tmp/wt/bench/build-asan/obj/src/base/json_read.o: src/base/json_read.c \
 src/base/decimal.h src/base/status.h src/base/json.h src/base/arena.h \
 src/base/mem.h src/base/strings.h src/base/format.h src/base/maths.h
src/base/decimal.h:
src/base/status.h:
src/base/json.h:
src/base/arena.h:
src/base/mem.h:
src/base/strings.h:
src/base/format.h:
src/base/maths.h:
