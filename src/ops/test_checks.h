/* The questions the ops' tests ask of a case (test_case.h): values, parity, gradients, refusals.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_TEST_CHECKS_H
#define PT_OPS_TEST_CHECKS_H

#include "ops/test_case.h"

/* How a tolerance is meant: relative to the tensor's largest component, relative to each element, or
 * the very bits of ref in float. */
typedef enum op_match { OP_LARGEST, OP_EACH, OP_EXACT } op_match;

static inline bool op_written(const op_case *c, int i)
{
    return c->role[i] == OP_ROLE_OUT || c->role[i] == OP_ROLE_ACC;
}

static inline double op_largest(const double *x, int64_t n)
{
    double largest = 0;
    for (int64_t e = 0; e < n; e++)
        if (pt_is_finite(x[e]))
            largest =
                x[e] < 0 ? (-x[e] > largest ? -x[e] : largest) : (x[e] > largest ? x[e] : largest);
    return largest;
}

/* got and want are the same number, both NaN, or within bound. */
static inline bool op_near(double got, double want, double bound)
{
    if (pt_is_nan(want) || pt_is_nan(got)) return pt_is_nan(want) && pt_is_nan(got);
    return got == want || pt_fabs(got - want) <= bound;
}

/* Compares n values; prints the worst offender and fails the test when one is off. */
static inline void op_compare_values(const op_case *c, const op_device *d, int i, const double *got,
                                     const double *want, const double tol[2])
{
    int64_t n = pt_numel((const pt_tensor *)c->args.bytes + i), bad = -1;
    double largest = op_largest(want, n), worst = -1;
    for (int64_t e = 0; e < n; e++) {
        double bound = tol[OP_LARGEST] * largest + tol[OP_EACH] * pt_fabs(want[e]);
        double off = pt_fabs(got[e] - want[e]);
        if (op_near(got[e], want[e], bound)) continue;
        if (bad < 0 || pt_is_nan(off) || off > worst) bad = e, worst = off;
    }
    if (bad < 0) return;
    op_complain(c, d, i, "is wrong");
    printf("element %lld = %.9g, want %.9g, largest %.3g, off by %.3g of it\n", (long long)bad,
           got[bad], want[bad], largest, worst / largest);
    CHECK_INT(bad, -1);
}

static inline void op_compare(const op_case *c, const op_device *d, const op_result *got,
                              const op_result *want, double tol, op_match match)
{
    double tols[2] = {match == OP_LARGEST ? tol : 0, match == OP_EACH ? tol : 0};
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++)
        if (op_written(c, i)) op_compare_values(c, d, i, got->value[i], want->value[i], tols);
}

static inline void op_refuse_nan(const op_case *c, const op_result *r)
{
    for (int i = 0; i < PT_OP_MAX_TENSORS && !c->nan_ok; i++) {
        if (!op_written(c, i)) continue;
        bool finite = true;
        for (int64_t e = 0; e < pt_numel((const pt_tensor *)c->args.bytes + i); e++)
            finite &= pt_is_finite(r->value[i][e]);
        if (!finite) op_complain(c, op_ref64(), i, "was not written, or is not finite");
        CHECK(finite);
    }
}

/* Whether a device takes the case. */
static inline bool op_takes(const op_device *d, const op_case *c)
{
    int64_t n = 0;
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++)
        if (op_has(c, i)) n += pt_numel((const pt_tensor *)c->args.bytes + i);
    return !d->most_elements || n <= d->most_elements;
}

/* Every device against ref in double at `tol`; for OP_EXACT, cpu against the bits of ref in float. All runs of
 * one instruction set must give the same bits, whatever the number of threads. */
static inline void op_parity(const op_case *c, unsigned passes, double tol, op_match match)
{
    int n;
    const op_device *d = op_devices(&n);
    op_result want, ref32, first = {0};
    op_run(c, &d[0], passes, &want);
    op_refuse_nan(c, &want);
    op_run(c, &d[1], passes, &ref32);
    op_compare(c, &d[1], &ref32, &want, match == OP_EXACT ? 6e-8 : tol,
               match == OP_EXACT ? OP_EACH : match);
    for (int i = 2, family = -1; i < n; i++) {
        op_result got;
        if (!op_takes(&d[i], c)) continue;
        op_run(c, &d[i], passes, &got);
        op_compare(c, &d[i], &got, match == OP_EXACT ? &ref32 : &want, match == OP_EXACT ? 0 : tol,
                   match);
        if (d[i].family >= 0 && d[i].family != family) {
            op_result_free(&first);
            first = got;
            family = d[i].family;
            continue;
        }
        if (d[i].family >= 0) op_compare(c, &d[i], &got, &first, 0, OP_EXACT);
        op_result_free(&got);
    }
    op_result_free(&first);
    op_result_free(&ref32);
    op_result_free(&want);
}

/* On every device: tensor t holds want[0 … n-1] after the passes, within tol on ref in double, and
 * within 1e-6 + 2e-5 |want| on the others. */
static inline void op_expect(const op_case *c, unsigned passes, const pt_tensor *t,
                             const double *want, double tol)
{
    int n, i = op_index(c, t);
    const op_device *d = op_devices(&n);
    for (int k = 0; k < n; k++) {
        op_result got;
        op_run(c, &d[k], passes, &got);
        for (int64_t e = 0; e < pt_numel(t); e++) {
            double bound = k == 0 ? tol : 1e-6 + 2e-5 * pt_fabs(want[e]);
            if (op_near(got.value[i][e], want[e], bound)) continue;
            op_complain(c, &d[k], i, "does not hold the hand-worked values");
            CHECK_CLOSE(got.value[i][e], want[e], bound); /* fails */
        }
        op_result_free(&got);
    }
}

/* ---- gradients ---- */

static inline double op_functional(const op_case *c, op_bound *b)
{
    double sum = 0;
    for (int p = 0; p < c->n_pair_out; p++) {
        const pt_tensor *out = op_bound_tensor(b, c->pair_out[p][0]);
        const pt_tensor *gradient = op_bound_tensor(b, c->pair_out[p][1]);
        for (int64_t e = 0; e < pt_numel(out); e++) sum += op_get(out, e) * op_get(gradient, e);
    }
    return sum;
}

/* dL/dt[e] by a central difference. */
static inline double op_difference(const op_case *c, op_bound *b, const pt_tensor *t, int64_t e)
{
    double x = op_get(t, e), h = 1e-5;
    op_put(t, e, x + h);
    op_launch(c, op_ref64(), OP_FORWARD, b);
    double above = op_functional(c, b);
    op_put(t, e, x - h);
    op_launch(c, op_ref64(), OP_FORWARD, b);
    double below = op_functional(c, b);
    op_put(t, e, x);
    return (above - below) / ((x + h) - (x - h));
}

/* The derived gradient of one pair: the result less what was there before. */
static inline double op_derived(const op_case *c, const op_result *r, int i, int64_t e)
{
    return r->value[i][e] - (c->role[i] == OP_ROLE_ACC ? c->data[i][e] : 0);
}

static inline double op_gradient_norm(const op_case *c, const op_result *r)
{
    double sum = 0;
    for (int p = 0; p < c->n_pair_in; p++) {
        int i = c->pair_in[p][1];
        for (int64_t e = 0; e < pt_numel((const pt_tensor *)c->args.bytes + i); e++)
            sum += op_derived(c, r, i, e) * op_derived(c, r, i, e);
    }
    return pt_sqrt(sum);
}

/* Derived gradients against finite differences, all in double, for every element of every input pair. The
 * error is measured over the largest component of that gradient, floored at 1e-6 of the global norm. */
static inline void op_gradcheck(const op_case *c, double tol)
{
    op_result r;
    op_bound b;
    op_run(c, op_ref64(), OP_BOTH, &r);
    op_bind(c, op_ref64(), false, &b);
    op_fill(c, &b);
    double floor = 1e-6 * op_gradient_norm(c, &r);
    CHECK(floor > 0);
    for (int p = 0; p < c->n_pair_in; p++) {
        int i = c->pair_in[p][1];
        const pt_tensor *in = op_bound_tensor(&b, c->pair_in[p][0]);
        double largest = floor, worst = 0;
        for (int64_t e = 0; e < pt_numel(in); e++) {
            double derived = op_derived(c, &r, i, e);
            double off = pt_fabs(derived - op_difference(c, &b, in, e));
            largest = pt_fabs(derived) > largest ? pt_fabs(derived) : largest;
            if (!(off <= worst)) worst = off;
        }
        if (!(worst <= tol * largest)) op_complain(c, op_ref64(), i, "is not the gradient");
        CHECK_CLOSE(worst / largest, 0, tol);
    }
    op_unbind(&b);
    op_result_free(&r);
}

/* ---- refusals ---- */

/* The checked call answers INTERNAL with a message that names the op. */
static inline bool op_refused(const op_case *c, pt_pass pass)
{
    op_bound b;
    pt_error err = {0};
    op_bind(c, op_ref64(), true, &b);
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) /* indices of 0, in case it is not refused */
        if (b.buffer[i]) memset(b.buffer[i]->data, 0, (size_t)b.buffer[i]->bytes);
    pt_status s = pt_op_run(op_ref64()->device, c->op, pass, b.args.bytes, &err);
    op_unbind(&b);
    return s == PT_INTERNAL && err.status == PT_INTERNAL &&
           strstr(err.message, pt_op_info_of(c->op)->name) != NULL;
}

/* The case is refused after `change` (which alters the case or its args), and only then. */
#define OP_REFUSES(c, pass, change)                          \
    do {                                                     \
        op_case saved_ = *(c);                               \
        change;                                              \
        bool refused_ = op_refused((c), (pass));             \
        *(c) = saved_;                                       \
        if (!refused_) printf("not refused: %s\n", #change); \
        CHECK(refused_);                                     \
    } while (0)

/* The case is refused without a tensor it needs, and with a wrong dtype, a malformed shape or an unaligned
 * offset of one it looks at. `uses` has a letter per tensor: n needed, o optional, - not looked at. */
static inline void op_refuses_malformed(op_case *c, pt_pass pass, const char *uses)
{
    CHECK_INT(strlen(uses), pt_op_info_of(c->op)->n_tensors);
    CHECK(!op_refused(c, pass));
    for (int i = 0; uses[i]; i++) {
        pt_tensor *t = op_tensor(c, i);
        if (uses[i] == '-') continue;
        CHECK(op_has(c, i));
        if (uses[i] == 'n') OP_REFUSES(c, pass, c->role[i] = OP_ROLE_ABSENT);
        OP_REFUSES(c, pass, t->dtype = t->dtype == PT_I32 ? PT_F32 : PT_I32);
        OP_REFUSES(c, pass, t->dtype = PT_BF16);
        OP_REFUSES(c, pass, t->rank = 0);
        OP_REFUSES(c, pass, t->rank = PT_MAX_RANK + 1);
        OP_REFUSES(c, pass, t->dim[0] = 0);
        OP_REFUSES(c, pass, t->dim[t->rank - 1] = -1);
        if (t->dtype != PT_U8) OP_REFUSES(c, pass, c->shift[i] = 1);
    }
}

#endif
