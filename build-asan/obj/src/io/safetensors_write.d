/tmp/wt/bench/build-asan/obj/src/io/safetensors_write.o: \
 src/io/safetensors_write.c src/io/bytes.h src/base/mem.h \
 src/base/status.h src/io/safetensors.h src/base/json.h src/base/arena.h \
 src/base/strings.h src/base/format.h src/io/sink.h src/tensor/tensor.h
src/io/bytes.h:
src/base/mem.h:
src/base/status.h:
src/io/safetensors.h:
src/base/json.h:
src/base/arena.h:
src/base/strings.h:
src/base/format.h:
src/io/sink.h:
src/tensor/tensor.h:
