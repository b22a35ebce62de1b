/tmp/wt/bench/build-asan/obj/src/ops/dropout/dropout.o: \
 src/ops/dropout/dropout.c src/ops/op_check.h src/base/maths.h \
 src/device/step_state.h src/ops/ops.h src/ops/add/add.h \
 src/device/device.h src/base/threads.h src/base/status.h src/tensor/op.h \
 src/base/mem.h src/tensor/ops.def src/tensor/plan.h src/base/strings.h \
 src/base/format.h src/tensor/tensor.h src/ops/adamw/adamw.h \
 src/ops/attention/attention.h src/ops/check_finite/check_finite.h \
 src/ops/crossentropy/crossentropy.h src/ops/dropout/dropout.h \
 src/ops/embedding/embedding.h src/ops/gelu/gelu.h \
 src/ops/kv_store/kv_store.h src/ops/layernorm/layernorm.h \
 src/ops/linear/linear.h src/ops/loss_sum/loss_sum.h \
 src/ops/rmsnorm/rmsnorm.h src/ops/rope/rope.h src/ops/scale/scale.h \
 src/ops/sqnorm/sqnorm.h src/ops/step_verdict/step_verdict.h \
 src/ops/swiglu/swiglu.h
src/ops/op_check.h:
src/base/maths.h:
src/device/step_state.h:
src/ops/ops.h:
src/ops/add/add.h:
src/device/device.h:
src/base/threads.h:
src/base/status.h:
src/tensor/op.h:
src/base/mem.h:
src/tensor/ops.def:
src/tensor/plan.h:
src/base/strings.h:
src/base/format.h:
src/tensor/tensor.h:
src/ops/adamw/adamw.h:
src/ops/attention/attention.h:
src/ops/check_finite/check_finite.h:
src/ops/crossentropy/crossentropy.h:
src/ops/dropout/dropout.h:
src/ops/embedding/embedding.h:
src/ops/gelu/gelu.h:
src/ops/kv_store/kv_store.h:
src/ops/layernorm/layernorm.h:
src/ops/linear/linear.h:
src/ops/loss_sum/loss_sum.h:
src/ops/rmsnorm/rmsnorm.h:
src/ops/rope/rope.h:
src/ops/scale/scale.h:
src/ops/sqnorm/sqnorm.h:
src/ops/step_verdict/step_verdict.h:
src/ops/swiglu/swiglu.h:
