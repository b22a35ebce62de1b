/tmp/wt/bench/build-asan/obj/src/base/atomic_file.o: \
 src/base/atomic_file.c src/base/atomic_file.h src/base/mem.h \
 src/base/status.h src/base/fs_calls.h src/base/fs.h
src/base/atomic_file.h:
src/base/mem.h:
src/base/status.h:
src/base/fs_calls.h:
src/base/fs.h:
