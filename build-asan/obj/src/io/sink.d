/tmp/wt/bench/build-asan/obj/src/io/sink.o: src/io/sink.c src/io/sink.h \
 src/base/strings.h src/base/format.h src/base/status.h src/base/mem.h
src/io/sink.h:
src/base/strings.h:
src/base/format.h:
src/base/status.h:
src/base/mem.h:
