/tmp/wt/bench/build-clang/obj/src/model/facts.o: src/model/facts.c \
  src/model/facts.h src/base/maths.h
src/model/facts.h:
src/base/maths.h:
