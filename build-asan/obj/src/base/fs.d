/tmp/wt/bench/build-asan/obj/src/base/fs.o: src/base/fs.c src/base/fs.h \
 src/base/mem.h src/base/status.h src/base/atomic_file.h \
 src/base/fs_calls.h
src/base/fs.h:
src/base/mem.h:
src/base/status.h:
src/base/atomic_file.h:
src/base/fs_calls.h:
