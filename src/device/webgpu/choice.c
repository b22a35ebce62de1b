/* Which kernel multiplies. SPDX-License-Identifier: MIT */
#include "device/webgpu/choice.h"

#include "base/format.h"
#include "device/webgpu/host.h"
#include "device/webgpu/remembered.h"
#include "device/webgpu/timing.h"
#include "device/webgpu/trial.h"

#define REMEMBERED_BYTES 16384
#define MOST_NAMED 3 /* kernels of the remark */

struct pt_wg_choosing {
    pt_device *device;
    pt_wg_choice found;
    pt_wg_selftest *test;
    pt_wg_timing *timing; /* NULL: nothing is timed, or not yet */
    int64_t pipelines;    /* of the device, before */
    bool timed, recalled;
    unsigned wanted[PT_WG_MOST_TILES]; /* to be tried, with these products */
    int at;                            /* the kernel on trial */
    bool begun;                        /* its trial */
    int race;
    const pt_wg_tile *racing[PT_WG_MOST_TILES];
    int n_racing; /* 0: the race has not begun */
};

void pt_wg_choice_init(pt_wg_choice *c, bool usual)
{
    for (int i = 0; i < PT_WG_CHOICES; i++)
        c->tile[i / PT_WG_LAYOUTS][i % PT_WG_LAYOUTS] =
            usual ? pt_wg_usual_tile((pt_wg_size)(i / PT_WG_LAYOUTS)) : pt_wg_tiles;
}

/* ---- which are tried ---- */

/* Whether a name is one of a list, "a,b". */
static bool is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0')) return true;
    return false;
}

static bool is_candidate(const pt_device *device, int i)
{
    const pt_wg_tile *t = &pt_wg_tiles[i];
    const char *list = pt_wg_options_of(device)->kernels;
    bool listed = list ? is_listed(list, t->name) : t->contends;
    return i == 0 || (listed && !pt_wg_tile_approximate(t) && !pt_wg_tile_lacks(device, t));
}

static void want(pt_wg_choosing *c, int i, unsigned products)
{
    if (!c->wanted[i]) c->device->to_ready++;
    c->wanted[i] |= products;
}

static void want_all(pt_wg_choosing *c)
{
    for (int i = 0; i < pt_wg_tile_count(); i++)
        if (is_candidate(c->device, i)) want(c, i, PT_WG_ALL_TRIALS);
}

/* The kernels chosen on an earlier day, for what they were chosen for, when all that could be chosen now were tried then. */
static bool recall(pt_wg_choosing *c)
{
    char *text = pt_alloc(REMEMBERED_BYTES);
    bool good = text != NULL;
    if (good) pt_gpu_remembered(pt_wg_host_of(c->device), text, REMEMBERED_BYTES);
    good = good && pt_wg_choice_read(&c->found, c->device->detail, text);
    pt_free(text);
    for (int i = 0; i < pt_wg_tile_count() && good; i++)
        good = is_candidate(c->device, i) == (c->found.verdict[i] != PT_WG_UNTRIED);
    for (int i = 0; i < PT_WG_CHOICES && good; i++)
        want(c, (int)(c->found.tile[i / PT_WG_LAYOUTS][i % PT_WG_LAYOUTS] - pt_wg_tiles),
             1u << i % PT_WG_LAYOUTS);
    return good;
}

static void start(pt_wg_choosing *c, bool may_recall)
{
    c->device->readied = c->device->to_ready = c->at = 0;
    memset(c->wanted, 0, sizeof c->wanted);
    memset(&c->found, 0, sizeof c->found);
    c->recalled = may_recall && recall(c);
    if (!c->recalled) want_all(c);
}

pt_status pt_wg_choosing_new(pt_wg_choosing **out, pt_device *device, pt_error *err)
{
    const pt_webgpu_options *o = pt_wg_options_of(device);
    pt_wg_choosing *c = *out = pt_alloc(sizeof *c);
    if (!c) return pt_fail(err, PT_NO_MEMORY, "no memory to choose kernels");
    c->device = device;
    c->pipelines = pt_wg_pipelines(device);
    c->timed = !o->tuned || o->timed_scale;
    pt_status s = pt_wg_selftest_new(&c->test, device, err);
    if (s == PT_OK) {
        start(c, c->timed);
    } else {
        pt_wg_choosing_free(c);
        *out = NULL;
    }
    return s;
}

void pt_wg_choosing_free(pt_wg_choosing *c)
{
    if (!c) return;
    pt_wg_selftest_free(c->test);
    pt_wg_timing_free(c->timing);
    pt_free(c);
}

/* ---- the trials ---- */

static pt_status after_verdict(pt_wg_choosing *c, pt_wg_verdict verdict, pt_error *err)
{
    c->begun = false;
    if (c->at == 0 && verdict != PT_WG_RIGHT)
        return pt_fail(err, PT_UNSUPPORTED, "this GPU cannot be used: its simplest product: %s",
                       pt_wg_verdict_words(verdict));
    if (c->recalled && verdict != PT_WG_RIGHT) { /* it was right on that day */
        start(c, false);
        return PT_PENDING;
    }
    c->found.verdict[c->at++] = verdict;
    c->device->readied++;
    return PT_PENDING;
}

static pt_status try_kernel(pt_wg_choosing *c, pt_error *err)
{
    pt_wg_verdict verdict;
    pt_status s = PT_OK;
    if (!c->wanted[c->at]) {
        c->at++;
        return PT_PENDING;
    }
    if (!c->begun) s = pt_wg_selftest_begin(c->test, &pt_wg_tiles[c->at], c->wanted[c->at], err);
    c->begun = s == PT_OK;
    if (s == PT_OK) s = pt_wg_selftest_poll(c->test, &verdict, err);
    return s == PT_OK ? after_verdict(c, verdict, err) : s;
}

/* ---- the races ---- */

/* The usual kernel of a size, or the next simpler one that is right. */
static const pt_wg_tile *preferred(const pt_wg_choosing *c, pt_wg_size size)
{
    const pt_wg_tile *t = pt_wg_usual_tile(size);
    while (c->found.verdict[t - pt_wg_tiles] != PT_WG_RIGHT) t--;
    return t;
}

/* Who takes part: all that are right, naive only alone. Returns the preferred one. */
static int line_up(pt_wg_choosing *c, pt_wg_size size)
{
    const pt_wg_tile *usual = preferred(c, size);
    int at = 0;
    for (int i = 1; i < pt_wg_tile_count(); i++) {
        if (c->found.verdict[i] != PT_WG_RIGHT) continue;
        if (&pt_wg_tiles[i] == usual) at = c->n_racing;
        c->racing[c->n_racing++] = &pt_wg_tiles[i];
    }
    if (!c->n_racing) c->racing[c->n_racing++] = pt_wg_tiles;
    return at;
}

static pt_status begin_race(pt_wg_choosing *c, pt_wg_size size, pt_wg_layout layout, pt_error *err)
{
    int scale = pt_wg_options_of(c->device)->timed_scale;
    pt_status s = PT_OK;
    if (!c->timing) s = pt_wg_timing_new(&c->timing, c->device, scale ? scale : 1, err);
    if (s) return s;
    int usual = line_up(c, size);
    pt_wg_timing_begin(c->timing, size, layout, c->racing, c->n_racing, usual);
    return PT_OK;
}

static pt_status race(pt_wg_choosing *c, pt_error *err)
{
    pt_wg_size size = (pt_wg_size)(c->race / PT_WG_LAYOUTS);
    pt_wg_layout layout = (pt_wg_layout)(c->race % PT_WG_LAYOUTS);
    int winner = 0;
    pt_status s = c->n_racing ? PT_OK : begin_race(c, size, layout, err);
    if (s == PT_OK && c->n_racing > 1) s = pt_wg_timing_poll(c->timing, &winner, err);
    if (s) return s;
    c->found.tile[size][layout] = c->racing[winner];
    c->n_racing = 0;
    c->race++;
    return PT_PENDING;
}

/* ---- the end ---- */

static void put_remark(pt_wg_choice *c)
{
    int tried = 0, refused = 0;
    char names[300] = "";
    size_t n = 0;
    for (int i = 0; i < pt_wg_tile_count(); i++) {
        tried += c->verdict[i] != PT_WG_UNTRIED;
        if (c->verdict[i] == PT_WG_UNTRIED || c->verdict[i] == PT_WG_RIGHT) continue;
        if (refused++ < MOST_NAMED)
            n += pt_format(names + n, sizeof names - n, "%s%s (%s)", n ? ", " : "",
                           pt_wg_tiles[i].name, pt_wg_verdict_words(c->verdict[i]));
    }
    if (refused)
        pt_format(c->remark, sizeof c->remark,
                  "%d of %d kernels for products failed their trial and %s not used: %s%s", refused,
                  tried, refused == 1 ? "is" : "are", names, refused > MOST_NAMED ? ", …" : "");
}

static void remember(const pt_wg_choosing *c)
{
    pt_strbuf text = {0};
    pt_wg_choice_write(&c->found, c->device->detail, &text);
    if (!text.failed) pt_gpu_remember(pt_wg_host_of(c->device), text.data, (int32_t)text.len);
    pt_strbuf_deinit(&text);
}

static void finish(pt_wg_choosing *c)
{
    for (int i = 0; i < PT_WG_CHOICES && !c->timed; i++)
        c->found.tile[i / PT_WG_LAYOUTS][i % PT_WG_LAYOUTS] =
            preferred(c, (pt_wg_size)(i / PT_WG_LAYOUTS));
    if (c->timed && !c->recalled) remember(c);
    put_remark(&c->found);
    pt_wg_choose(c->device, &c->found);
    pt_wg_pipelines_drop(c->device, c->pipelines);
}

pt_status pt_wg_choosing_poll(pt_wg_choosing *c, pt_error *err)
{
    if (c->at < pt_wg_tile_count()) return try_kernel(c, err);
    if (c->timed && !c->recalled && c->race < PT_WG_CHOICES) return race(c, err);
    finish(c);
    return PT_OK;
}
