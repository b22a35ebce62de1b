/tmp/wt/bench/build-asan/obj/src/model/facts.o: src/model/facts.c \
 src/model/facts.h src/base/maths.h
src/model/facts.h:
src/base/maths.h:
