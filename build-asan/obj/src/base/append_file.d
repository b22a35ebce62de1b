/tmp/wt/bench/build-asan/obj/src/base/append_file.o: \
 src/base/append_file.c src/base/append_file.h src/base/mem.h \
 src/base/status.h src/base/fs_calls.h src/base/fs.h
src/base/append_file.h:
src/base/mem.h:
src/base/status.h:
src/base/fs_calls.h:
src/base/fs.h:
