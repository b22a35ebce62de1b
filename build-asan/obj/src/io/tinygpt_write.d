/tmp/wt/bench/build-asan/obj/src/io/tinygpt_write.o: \
 src/io/tinygpt_write.c src/base/hash.h src/base/maths.h src/io/bytes.h \
 src/base/mem.h src/base/status.h src/io/tinygpt_internal.h \
 src/io/tinygpt.h src/base/json.h src/base/arena.h src/base/strings.h \
 src/base/format.h src/io/sink.h
src/base/hash.h:
src/base/maths.h:
src/io/bytes.h:
src/base/mem.h:
src/base/status.h:
src/io/tinygpt_internal.h:
src/io/tinygpt.h:
src/base/json.h:
src/base/arena.h:
src/base/strings.h:
src/base/format.h:
src/io/sink.h:
