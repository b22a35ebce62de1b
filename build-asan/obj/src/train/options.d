/tmp/wt/bench/build-asan/obj/src/train/options.o: src/train/options.c \
 src/train/options.h src/infer/sampler.h src/base/mem.h src/base/status.h \
 src/train/schedule.h src/text/bytes.h
src/train/options.h:
src/infer/sampler.h:
src/base/mem.h:
src/base/status.h:
src/train/schedule.h:
src/text/bytes.h:
