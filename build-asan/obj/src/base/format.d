/tmp/wt/bench/build-asan/obj/src/base/format.o: src/base/format.c \
 src/base/format.h src/base/status.h src/base/decimal.h src/base/maths.h \
 src/base/mem.h
src/base/format.h:
src/base/status.h:
src/base/decimal.h:
src/base/maths.h:
src/base/mem.h:
