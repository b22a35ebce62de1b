/tmp/wt/bench/build-asan/obj/src/base/json_write.o: src/base/json_write.c \
 src/base/decimal.h src/base/status.h src/base/json.h src/base/arena.h \
 src/base/mem.h src/base/strings.h src/base/format.h src/base/log.h \
 src/base/maths.h
src/base/decimal.h:
src/base/status.h:
src/base/json.h:
src/base/arena.h:
src/base/mem.h:
src/base/strings.h:
src/base/format.h:
src/base/log.h:
src/base/maths.h:
