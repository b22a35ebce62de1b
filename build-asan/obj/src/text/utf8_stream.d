/tmp/wt/bench/build-asan/obj/src/text/utf8_stream.o: \
 src/text/utf8_stream.c src/text/utf8_stream.h src/base/mem.h \
 src/base/status.h src/base/strings.h src/base/format.h
src/text/utf8_stream.h:
src/base/mem.h:
src/base/status.h:
src/base/strings.h:
src/base/format.h:
