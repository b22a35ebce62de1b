/tmp/wt/bench/build-asan/obj/src/io/checkpoint.o: src/io/checkpoint.c \
 src/io/checkpoint.h src/io/sink.h src/base/strings.h src/base/format.h \
 src/base/status.h src/base/mem.h src/base/atomic_file.h src/base/fs.h \
 src/base/hash.h src/base/json.h src/base/arena.h
src/io/checkpoint.h:
src/io/sink.h:
src/base/strings.h:
src/base/format.h:
src/base/status.h:
src/base/mem.h:
src/base/atomic_file.h:
src/base/fs.h:
src/base/hash.h:
src/base/json.h:
src/base/arena.h:
