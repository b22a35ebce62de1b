/* Tests of the checked launch and of the words for checks, for every op of ops.def.
 * SPDX-License-Identifier: MIT */
#include "ops/op_check.h"
#include "ops/test_checks.h"

TEST(every_op_refuses_empty_args)
{
    for (int op = 0; op < PT_OP_COUNT; op++) {
        op_case c;
        op_begin(&c, (pt_op)op);
        CHECK(op_refused(&c, PT_FORWARD));
        CHECK(op_refused(&c, PT_BACKWARD));
    }
}

TEST(every_op_has_its_kernels)
{
    int n;
    const op_device *d = op_devices(&n);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < PT_OP_COUNT; i++) {
            pt_op op = (pt_op)i;
            bool backward = pt_op_info_of(op)->has_backward;
            CHECK(pt_device_require(d[k].device, op, PT_FORWARD, NULL) == PT_OK);
            CHECK((pt_device_require(d[k].device, op, PT_BACKWARD, NULL) == PT_OK) == backward);
        }
    }
}

/* Two buffers of 64 elements and a call on them. */
typedef struct pair {
    pt_buffer *buffer[2];
    pt_scale_args args;
} pair;

static void pair_new(pair *t, pt_device *x, pt_device *y)
{
    pt_error err = {0};
    memset(t, 0, sizeof *t);
    CHECK_OK(pt_buffer_new(x, 64 * 8, &t->buffer[0], &err), err);
    CHECK_OK(pt_buffer_new(y, 64 * 8, &t->buffer[1], &err), err);
    pt_tensor shape = {.dtype = x->compute};
    t->args.x = t->args.y = pt_view(&shape, 64, 0, 0, 0);
    t->args.x.buffer = t->buffer[0];
    t->args.y.buffer = t->buffer[1];
    t->args.factor = 2;
}

static void pair_free(pair *t)
{
    for (int i = 0; i < 2; i++) pt_buffer_free(t->buffer[i]);
}

TEST(tensors_must_lie_in_their_buffers)
{
    pt_device *device = op_ref64()->device;
    pt_error err = {0};
    pair t;
    pair_new(&t, device, device);
    CHECK_OK(pt_scale_forward(device, &t.args, &err), err);
    t.args.y.offset = 8;
    CHECK(pt_scale_forward(device, &t.args, &err) == PT_INTERNAL);
    CHECK(strstr(err.message, "scale") && strstr(err.message, "buffer"));
    t.args.y.offset = -8;
    CHECK(pt_scale_forward(device, &t.args, NULL) == PT_INTERNAL);
    t.args.y.offset = 0;
    t.args.y.dim[0] = INT64_MAX / 2;
    CHECK(pt_scale_forward(device, &t.args, NULL) == PT_INTERNAL);
    pair_free(&t);
}

/* The kernels of ref in double would read floats as doubles, past their end. */
TEST(tensors_must_have_the_dtype_of_the_device)
{
    int n;
    pt_device *device = op_devices(&n)[0].device;
    pair t;
    pair_new(&t, device, device);
    t.args.x.dtype = t.args.y.dtype = PT_F32;
    CHECK(pt_scale_forward(device, &t.args, NULL) == PT_INTERNAL);
    pair_free(&t);
}

TEST(tensors_must_share_a_device)
{
    int n;
    const op_device *d = op_devices(&n);
    pt_device *other = NULL;
    pt_error err = {0};
    CHECK_OK(pt_device_ref_new(&other, PT_F64, &err), err);
    pair t;
    pair_new(&t, d[0].device, other);
    CHECK(pt_scale_forward(d[0].device, &t.args, &err) == PT_INTERNAL);
    CHECK(strstr(err.message, "device") != NULL);
    pair_free(&t);
    pt_device_free(other);
}

TEST(overlap)
{
    pt_device *device = op_ref64()->device;
    pair t;
    pair_new(&t, device, device);
    pt_tensor whole = t.args.x, head = pt_slice(&whole, 0, 10), tail = pt_slice(&whole, 10, 54);
    pt_tensor middle = pt_slice(&whole, 9, 2), absent = {0};
    CHECK(pt_apart(&head, &tail) && pt_apart(&tail, &head));
    CHECK(!pt_apart(&head, &middle) && !pt_apart(&middle, &tail) && !pt_apart(&whole, &middle));
    CHECK(pt_apart(&whole, &t.args.y) && pt_apart(&absent, &whole) && pt_apart(&whole, &absent));
    CHECK(pt_apart(&absent, &absent));
    CHECK(pt_same_or_apart(&whole, &whole) && pt_same_or_apart(&head, &tail));
    CHECK(!pt_same_or_apart(&whole, &head) && !pt_same_or_apart(&middle, &head));
    pair_free(&t);
}

PT_TEST_MAIN
