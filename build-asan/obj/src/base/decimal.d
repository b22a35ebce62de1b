/tmp/wt/bench/build-asan/obj/src/base/decimal.o: src/base/decimal.c \
 src/base/decimal.h src/base/status.h src/base/decimal_internal.h \
 src/base/bigint.h src/base/maths.h src/base/wide.h
src/base/decimal.h:
src/base/status.h:
src/base/decimal_internal.h:
src/base/bigint.h:
src/base/maths.h:
src/base/wide.h:
