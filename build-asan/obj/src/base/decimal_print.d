/tmp/wt/bench/build-asan/obj/src/base/decimal_print.o: \
 src/base/decimal_print.c src/base/decimal.h src/base/status.h \
 src/base/bigint.h src/base/decimal_internal.h src/base/maths.h \
 src/base/mem.h
src/base/decimal.h:
src/base/status.h:
src/base/bigint.h:
src/base/decimal_internal.h:
src/base/maths.h:
src/base/mem.h:
