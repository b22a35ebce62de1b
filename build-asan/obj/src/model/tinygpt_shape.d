/tmp/wt/bench/build-asan/obj/src/model/tinygpt_shape.o: \
 src/model/tinygpt_shape.c src/model/tinygpt_shape.h src/io/tinygpt.h \
 src/base/json.h src/base/arena.h src/base/mem.h src/base/status.h \
 src/base/strings.h src/base/format.h src/io/sink.h src/model/config.h
src/model/tinygpt_shape.h:
src/io/tinygpt.h:
src/base/json.h:
src/base/arena.h:
src/base/mem.h:
src/base/status.h:
src/base/strings.h:
src/base/format.h:
src/io/sink.h:
src/model/config.h:
