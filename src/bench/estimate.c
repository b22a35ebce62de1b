/* How long a training run will take. SPDX-License-Identifier: MIT */
#include "bench/estimate.h"

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/steps.h"

#define SHORT_WINDOW 64
#define PROBE_SECONDS 0.5   /* of measured steps of one shape */
#define MICRO_SECONDS 0.2   /* of one micro-batch of the probe, at most */
#define MOST_STEPS 8        /* of one shape */
#define MOST_SHAPES 4       /* from small to large */
#define SLOWEST 5e8         /* operations a second that even a plain device reaches */
#define SLOWEST_THREAD 1e10 /* and one thread of a fast one */
#define SLOWEST_GPU 1e11    /* and a GPU that is one */
#define TOO_LONG 3.0        /* seconds that the smallest micro-batch may take at that */
#define SCALED_LOW 0.8      /* how far off scaling may be */
#define SCALED_HIGH 1.3

typedef struct shape {
    int64_t rows, layers, tokens;
} shape;

/* Seconds of one step of a probe: a micro-batch, and what there is once a step. */
typedef struct cost {
    double micro, rest;
} cost;

typedef struct measured {
    shape shape;
    int64_t params;
    cost cost[MOST_STEPS];
    int n; /* steps; 0 = the shape does not fit */
} measured;

typedef struct probe {
    pt_device *device;
    pt_pool *pool;
    const pt_trainer_desc *desc;
    int64_t available;
    shape whole;
    bool stepped;
} probe;

static pt_status on_step(void *ctx, const pt_step_report *report, pt_error *err)
{
    (void)report, (void)err;
    ((probe *)ctx)->stepped = true;
    return PT_OK;
}

static double flop(const probe *p, shape s)
{
    pt_model_config config = p->desc->config;
    config.n_layers = s.layers;
    return pt_bench_step_flop(&config, s.rows, s.tokens);
}

/* One step of two micro-batches. The first is a poll of its own; the second's is also the end of the step. */
static pt_status measure_step(probe *p, pt_trainer *trainer, cost *out, pt_error *err)
{
    double start = pt_clock_seconds(), before = start;
    p->stepped = false;
    while (!p->stepped) {
        pt_status s = pt_trainer_poll(trainer, err);
        if (s == PT_OK) return pt_fail(err, PT_INTERNAL, "the probe ended");
        if (s != PT_PENDING) return s;
        double now = pt_clock_seconds();
        if (pt_trainer_micro_batches(trainer) == 1) out->micro = now - before;
        before = now;
    }
    double rest = before - start - 2 * out->micro;
    out->rest = rest > 0 ? rest : 0;
    return PT_OK;
}

/* The run's device, model and text, and of its options what a step's time depends on: none of the others can refuse a
 * probe, or end it. */
static pt_status make_probe(probe *p, shape s, pt_trainer **out, pt_error *err)
{
    pt_trainer_desc desc = *p->desc;
    const pt_train_options *run = &p->desc->options;
    desc.events = (pt_train_events){.ctx = p, .step = on_step};
    desc.config.n_layers = s.layers;
    desc.options = pt_train_defaults();
    pt_train_options *o = &desc.options;
    o->ctx = s.tokens;
    o->batch = s.rows;
    o->accum = 2;
    o->steps = 1000000000;
    o->read_every = 1;
    o->on_spike = PT_SPIKE_OFF;
    o->clip = run->clip;
    o->recompute = run->recompute;
    o->bf16 = run->bf16;
    pt_status status = pt_trainer_new(out, p->device, &desc, err);
    if (status) return status;
    if (!p->available || pt_plan_total_bytes(pt_trainer_plan(*out)) <= p->available) return PT_OK;
    pt_trainer_free(*out);
    *out = NULL;
    return PT_OK;
}

/* Some steps after one to warm up; that one counts when it took long, but that it waited for a compiler. */
static pt_status measure(probe *p, shape of, measured *m, pt_error *err)
{
    pt_trainer *trainer = NULL;
    *m = (measured){.shape = of};
    pt_status s = make_probe(p, of, &trainer, err);
    if (s || !trainer) return s;
    m->params = pt_trainer_n_params(trainer);
    s = pt_trainer_begin(trainer, p->pool, err);
    double start = pt_clock_seconds();
    if (s == PT_OK) s = measure_step(p, trainer, &m->cost[0], err);
    double now = pt_clock_seconds();
    bool slow = !p->device->compiles && now - start > PROBE_SECONDS;
    for (start = now; s == PT_OK && !slow && m->n < MOST_STEPS;) {
        s = measure_step(p, trainer, &m->cost[m->n++], err);
        slow = pt_clock_seconds() - start > PROBE_SECONDS;
    }
    if (!m->n) m->n = 1;
    pt_trainer_free(trainer);
    return s;
}

static shape smallest(const probe *p)
{
    return (shape){1, 1, pt_min_i64(p->whole.tokens, SHORT_WINDOW)};
}

/* The largest shape whose micro-batch should take no more than MICRO_SECONDS, at what the smaller one took. */
static shape choose(const probe *p, const measured *m)
{
    double most = flop(p, m->shape) * MICRO_SECONDS / (m->cost[m->n / 2].micro + 1e-9);
    shape s = p->whole, small = smallest(p);
    while (s.rows > 1 && flop(p, s) > most) s.rows = pt_div_up(s.rows, 2);
    while (s.layers > 1 && flop(p, s) > most) s.layers = pt_div_up(s.layers, 2);
    while (s.tokens > small.tokens && flop(p, s) > most)
        s.tokens = pt_max_i64(small.tokens, pt_div_up(s.tokens, 2));
    return s;
}

static int64_t steps_left(const pt_train_options *o, int64_t done)
{
    return pt_max_i64(0, o->steps - done);
}

/* Evaluations in the steps left, in micro-batches; one is forward only, a third of the operations. */
static double evaluations(const pt_train_options *o, int64_t done)
{
    int64_t every = o->eval_every ? o->eval_every : o->steps;
    if (!steps_left(o, done)) return 0;
    int64_t times = o->steps / every - done / every;
    if (o->steps % every) times++;
    if (o->eval_every && !done) times++; /* before the first step */
    return (double)(times * o->eval_batches) / 3;
}

static int by_sum(const cost *a, const cost *b) { return a->micro + a->rest < b->micro + b->rest; }

static void sort(cost *list, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && by_sum(&list[k], &list[k - 1]); k--) {
            cost swap = list[k];
            list[k] = list[k - 1];
            list[k - 1] = swap;
        }
}

/* Measures larger and larger shapes while there is time: a small one computes less well than a large one. */
static pt_status probe_shapes(probe *p, measured *best, pt_error *err)
{
    shape next = smallest(p);
    best->n = 0;
    for (int i = 0; i < MOST_SHAPES; i++) {
        measured m;
        pt_status s = measure(p, next, &m, err);
        if (s || !m.n) return s;
        sort(m.cost, m.n);
        *best = m;
        next = choose(p, best);
        if (flop(p, next) < 1.5 * flop(p, best->shape)) return PT_OK;
    }
    return PT_OK;
}

static bool same_shape(shape a, shape b)
{
    return a.rows == b.rows && a.layers == b.layers && a.tokens == b.tokens;
}

/* Both factors are 1 when nothing was scaled. */
static void conclude(const probe *p, const pt_bench_estimate_desc *d, const measured *m,
                     pt_bench_estimate *e)
{
    const pt_train_options *o = &d->run->options;
    const pt_trainer *run = d->trainer;
    double looks = pt_trainer_held_out(run)->n ? evaluations(o, d->done) : 0;
    double by_flop = flop(p, p->whole) / flop(p, m->shape);
    double by_params = (double)pt_trainer_n_params(run) / (double)m->params;
    e->known = true;
    e->whole = same_shape(m->shape, p->whole);
    for (int i = 0; i < m->n; i++) {
        double micro = m->cost[i].micro * by_flop;
        double step = micro * (double)o->accum + m->cost[i].rest * by_params;
        double total = step * (double)steps_left(o, d->done) + micro * looks;
        if (i == 0 || total < e->low) e->low = total;
        if (total > e->high) e->high = total;
        if (i != m->n / 2) continue;
        e->step_seconds = step;
        e->seconds = total;
    }
    e->low *= e->whole ? 1 : SCALED_LOW;
    e->high *= e->whole ? 1 : SCALED_HIGH;
    e->steps = m->n;
    e->rows = m->shape.rows;
    e->layers = m->shape.layers;
    e->tokens = m->shape.tokens;
}

pt_status pt_bench_estimate_run(pt_device *device, pt_pool *pool, const pt_bench_estimate_desc *d,
                                pt_bench_estimate *out, pt_error *err)
{
    *out = (pt_bench_estimate){0};
    const pt_train_options *o = &d->run->options;
    int64_t T = pt_train_window(o, &d->run->config);
    probe p = {.device = device,
               .pool = pool,
               .desc = d->run,
               .available = d->available,
               .whole = {o->batch, d->run->config.n_layers, T}};
    double slowest = pool                 ? SLOWEST_THREAD * pt_pool_threads(pool)
                     : device->own_memory ? SLOWEST_GPU
                                          : SLOWEST;
    if (flop(&p, smallest(&p)) / slowest > TOO_LONG) return PT_OK;
    measured best;
    pt_status s = probe_shapes(&p, &best, err);
    if (s == PT_OK && best.n) conclude(&p, d, &best, out);
    return s;
}
