/tmp/wt/bench/build-asan/obj/src/base/fs_calls.o: src/base/fs_calls.c \
 src/base/fs_calls.h src/base/fs.h src/base/mem.h src/base/status.h
src/base/fs_calls.h:
src/base/fs.h:
src/base/mem.h:
src/base/status.h:
