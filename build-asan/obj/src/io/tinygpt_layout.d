/tmp/wt/bench/build-asan/obj/src/io/tinygpt_layout.o: \
 src/io/tinygpt_layout.c src/io/tinygpt_internal.h src/io/tinygpt.h \
 src/base/json.h src/base/arena.h src/base/mem.h src/base/status.h \
 src/base/strings.h src/base/format.h src/io/sink.h
src/io/tinygpt_internal.h:
src/io/tinygpt.h:
src/base/json.h:
src/base/arena.h:
src/base/mem.h:
src/base/status.h:
src/base/strings.h:
src/base/format.h:
src/io/sink.h:
