/tmp/wt/bench/build-asan/obj/tests/bench_test.o: tests/bench_test.c \
 src/base/json.h src/base/arena.h src/base/mem.h src/base/status.h \
 src/base/strings.h src/base/format.h src/base/test_folder.h \
 src/base/fs.h src/base/test.h src/base/maths.h src/tensor/ops.def
src/base/json.h:
src/base/arena.h:
src/base/mem.h:
src/base/status.h:
src/base/strings.h:
src/base/format.h:
src/base/test_folder.h:
src/base/fs.h:
src/base/test.h:
src/base/maths.h:
src/tensor/ops.def:
