/tmp/wt/bench/build-asan/obj/src/model/config.o: src/model/config.c \
 src/model/config.h src/base/mem.h src/base/status.h
src/model/config.h:
src/base/mem.h:
src/base/status.h:
