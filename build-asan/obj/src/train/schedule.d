/tmp/wt/bench/build-asan/obj/src/train/schedule.o: src/train/schedule.c \
 src/train/schedule.h src/base/maths.h src/base/mem.h src/base/status.h
src/train/schedule.h:
src/base/maths.h:
src/base/mem.h:
src/base/status.h:
