/tmp/wt/bench/build-asan/obj/src/io/sink_file.o: src/io/sink_file.c \
 src/base/atomic_file.h src/base/mem.h src/base/status.h src/io/sink.h \
 src/base/strings.h src/base/format.h
src/base/atomic_file.h:
src/base/mem.h:
src/base/status.h:
src/io/sink.h:
src/base/strings.h:
src/base/format.h:
