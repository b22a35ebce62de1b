/tmp/wt/bench/build-clang/obj/src/train/schedule.o: src/train/schedule.c \
  src/train/schedule.h src/base/maths.h src/base/mem.h src/base/status.h
src/train/schedule.h:
src/base/maths.h:
src/base/mem.h:
src/base/status.h:
