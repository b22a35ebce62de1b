/* The JSON header of a .tinygpt file, as the original's browser page writes it: the same keys in the
 * same order, and one more, "posttrain", for what is ours.
 * SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "io/tinygpt_internal.h"

#define MAX_POINTS 512       /* of the loss history */
#define MAX_SAMPLE_UNITS 320 /* UTF-16 */
#define PROJECT "https://github.com/PostTrainLLM/posttrainllm"

typedef struct header {
    const pt_tinygpt_desc *desc;
    pt_json_writer w;
    int64_t crc_at;
} header;

/* Writes one key: its new value, else `old` (NULL: none) as it was, else nothing or the word for
 * "none". */
typedef void (*put_fn)(header *h, const char *key, const pt_json *old);

static void put_old(header *h, const char *key, const pt_json *old)
{
    if (old) pt_json_value(&h->w, key, old);
}

static void put_u64(header *h, const char *key, uint64_t value)
{
    char text[24];
    size_t n = pt_format(text, sizeof text, "%llu", (unsigned long long)value);
    pt_json number = {.type = PT_JSON_NUMBER, .text = text, .text_len = n};
    pt_json_value(&h->w, key, &number);
}

/* The next member whose key the JSON writer can repeat: one with a NUL in it is dropped. */
static const pt_json *usable(const pt_json *m)
{
    while (m && strlen(m->key) != m->key_len) m = m->next;
    return m;
}

static const pt_json *first_member(const pt_json *object)
{
    return usable(object && object->type == PT_JSON_OBJECT ? object->child : NULL);
}

static void put_version(header *h, const char *key, const pt_json *old)
{
    (void)old;
    pt_json_i64(&h->w, key, PT_TINYGPT_VERSION);
}

static void put_saved_at(header *h, const char *key, const pt_json *old)
{
    if (h->desc->saved_at) pt_json_string(&h->w, key, h->desc->saved_at);
    else put_old(h, key, old);
}

/* ---- config ---- */

enum { CONFIG_KEYS = 13 };

/* The keys of `config` in the browser's order; vocabSize, which it lacks, comes last. */
static const char *const config_keys[CONFIG_KEYS] = {
    "ctx",      "layers",   "heads",     "dModel", "dMlp",    "batchSize", "learningRate",
    "gradClip", "maxSteps", "evalEvery", "seed",   "backend", "vocabSize",
};

static int config_key(const char *name, size_t n)
{
    for (int i = 0; i < CONFIG_KEYS; i++)
        if (strlen(config_keys[i]) == n && memcmp(config_keys[i], name, n) == 0) return i;
    return -1;
}

/* old: the value there was, NULL if none. */
static void put_config_key(header *h, int key, const pt_json *old)
{
    const pt_tinygpt_config *c = &h->desc->config;
    const pt_tinygpt_run *run = h->desc->run;
    const char *name = config_keys[key];
    const int64_t dims[] = {c->ctx, c->layers, c->heads, c->d_model, c->d_mlp};
    if (key < 5) {
        pt_json_i64(&h->w, name, dims[key]);
    } else if (key == CONFIG_KEYS - 1) {
        if (c->vocab != 256 || old) pt_json_i64(&h->w, name, c->vocab);
    } else if (!run) {
        put_old(h, name, old);
    } else {
        switch (key) {
        case 5: pt_json_i64(&h->w, name, run->batch_size); break;
        case 6: pt_json_double(&h->w, name, run->learning_rate); break;
        case 7: pt_json_double(&h->w, name, run->grad_clip); break;
        case 8: pt_json_i64(&h->w, name, run->max_steps); break;
        case 9: pt_json_i64(&h->w, name, run->eval_every); break;
        case 10: put_u64(h, name, run->seed); break;
        default: pt_json_string(&h->w, name, run->backend ? run->backend : "cpu"); break;
        }
    }
}

static void put_config(header *h, const char *key, const pt_json *old)
{
    bool done[CONFIG_KEYS] = {false};
    pt_json_begin_object(&h->w, key);
    for (const pt_json *m = first_member(old); m; m = usable(m->next)) {
        int known = config_key(m->key, m->key_len);
        if (known < 0) {
            pt_json_value(&h->w, m->key, m);
            continue;
        }
        put_config_key(h, known, m);
        done[known] = true;
    }
    for (int i = 0; i < CONFIG_KEYS; i++)
        if (!done[i]) put_config_key(h, i, NULL);
    pt_json_end_object(&h->w);
}

/* ---- data and results ---- */

static void put_corpus(header *h, const char *key, const pt_json *old)
{
    const pt_tinygpt_desc *d = h->desc;
    if (d->corpus) pt_json_string_n(&h->w, key, d->corpus, d->corpus_len);
    else if (!d->drop_corpus) put_old(h, key, old);
}

static void put_manifest(header *h, const char *key, const pt_json *old)
{
    (void)old;
    const pt_tinygpt_config *config = &h->desc->config;
    int64_t n = pt_tinygpt_n_tensors(config);
    pt_json_begin_array(&h->w, key);
    for (int64_t i = 0; i < n; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(config, i);
        pt_json_begin_object(&h->w, NULL);
        pt_json_string(&h->w, "name", t.name);
        pt_json_begin_array(&h->w, "shape");
        for (int d = 0; d < t.rank; d++) pt_json_i64(&h->w, NULL, t.dim[d]);
        pt_json_end_array(&h->w);
        pt_json_i64(&h->w, "floatOffset", t.offset);
        pt_json_end_object(&h->w);
    }
    pt_json_end_array(&h->w);
}

static double round4(double loss) { return pt_floor(loss * 1e4 + 0.5) / 1e4; }

static void put_point(header *h, const char *key, const pt_tinygpt_loss *p, bool rounded)
{
    pt_json_begin_object(&h->w, key);
    pt_json_i64(&h->w, "step", p->step);
    pt_json_double(&h->w, "train", rounded ? round4(p->train) : p->train);
    pt_json_double(&h->w, "val", rounded ? round4(p->val) : p->val);
    pt_json_end_object(&h->w);
}

static void put_history(header *h, const char *key, const pt_json *old)
{
    const pt_tinygpt_desc *d = h->desc;
    if (!d->n_history && old) {
        put_old(h, key, old);
        return;
    }
    int64_t n = d->n_history, stride = n > MAX_POINTS ? pt_div_up(n, MAX_POINTS) : 1;
    pt_json_begin_array(&h->w, key);
    for (int64_t i = 0; i < n; i += stride) put_point(h, NULL, &d->history[i], true);
    if (n && (n - 1) % stride) put_point(h, NULL, &d->history[n - 1], true);
    pt_json_end_array(&h->w);
}

static void put_final_loss(header *h, const char *key, const pt_json *old)
{
    if (h->desc->final_loss) put_point(h, key, h->desc->final_loss, false);
    else pt_json_value(&h->w, key, old);
}

static void put_best(header *h, const char *key, const pt_json *old)
{
    const pt_tinygpt_loss *best = h->desc->best_val;
    if (!best) {
        pt_json_value(&h->w, key, old);
        return;
    }
    pt_json_begin_object(&h->w, key);
    pt_json_double(&h->w, "loss", best->val);
    pt_json_i64(&h->w, "step", best->step);
    pt_json_end_object(&h->w);
}

/* Bytes of the longest prefix of at most MAX_SAMPLE_UNITS UTF-16 units: one per character, two when
 * its UTF-8 has four bytes. */
static size_t sample_bytes(const char *text)
{
    size_t i = 0;
    for (int units = 0; text[i];) {
        unsigned char lead = (unsigned char)text[i];
        units += lead >= 0xf0 ? 2 : 1;
        if (units > MAX_SAMPLE_UNITS) break;
        i++;
        while (((unsigned char)text[i] & 0xc0) == 0x80) i++;
    }
    return i;
}

static void put_sample(header *h, const char *key, const pt_json *old)
{
    const char *sample = h->desc->sample;
    if (!sample && old) put_old(h, key, old);
    else pt_json_string_n(&h->w, key, sample ? sample : "", sample ? sample_bytes(sample) : 0);
}

static void put_project(header *h, const char *key, const pt_json *old)
{
    if (old) put_old(h, key, old);
    else pt_json_string(&h->w, key, PROJECT);
}

static void put_converted_from(header *h, const char *key, const pt_json *old)
{
    if (h->desc->converted_from) pt_json_string(&h->w, key, h->desc->converted_from);
    else put_old(h, key, old);
}

static void put_converted_at(header *h, const char *key, const pt_json *old)
{
    if (h->desc->converted_from && h->desc->saved_at) pt_json_string(&h->w, key, h->desc->saved_at);
    else put_old(h, key, old);
}

/* ---- what describes the body ---- */

static void put_has_moments(header *h, const char *key, const pt_json *old)
{
    (void)old;
    pt_json_bool(&h->w, key, h->desc->dtype == PT_TINYGPT_F32);
}

static void put_body_bytes(header *h, const char *key, const pt_json *old)
{
    (void)old;
    pt_json_i64(&h->w, key, pt_tinygpt_body_bytes(&h->desc->config, h->desc->dtype));
}

static void put_dtype(header *h, const char *key, const pt_json *old)
{
    switch (h->desc->dtype) {
    case PT_TINYGPT_F16: pt_json_string(&h->w, key, "fp16"); break;
    case PT_TINYGPT_INT4: pt_json_string(&h->w, key, "int4"); break;
    default: /* the browser leaves it out, the native program writes it */
        if (old) pt_json_string(&h->w, key, "fp32");
        break;
    }
}

static void put_int4(header *h, const char *key, const pt_json *old)
{
    (void)old;
    const pt_tinygpt_config *config = &h->desc->config;
    if (h->desc->dtype != PT_TINYGPT_INT4) return;
    int64_t blocks = pt_tinygpt_blocks_before(config, pt_tinygpt_n_tensors(config));
    if (strcmp(key, "int4BlockSize") == 0) pt_json_i64(&h->w, key, PT_TINYGPT_BLOCK);
    else if (strcmp(key, "int4ScalesBytes") == 0) pt_json_i64(&h->w, key, 2 * blocks);
    else pt_json_i64(&h->w, key, PT_TINYGPT_BLOCK_BYTES * blocks);
}

/* The old members, replaced by new ones of the same key, the rest of the new ones, the checksum. */
static void put_posttrain(header *h, const char *key, const pt_json *old)
{
    const pt_json *own = h->desc->posttrain;
    pt_json_begin_object(&h->w, key);
    for (const pt_json *m = first_member(old); m; m = usable(m->next)) {
        const pt_json *by = pt_json_get(own, m->key);
        if (strcmp(m->key, PT_TINYGPT_CRC) != 0) pt_json_value(&h->w, m->key, by ? by : m);
    }
    for (const pt_json *m = first_member(own); m; m = usable(m->next))
        if (!pt_json_get(old, m->key) && strcmp(m->key, PT_TINYGPT_CRC) != 0)
            pt_json_value(&h->w, m->key, m);
    pt_json_string(&h->w, PT_TINYGPT_CRC, "00000000");
    h->crc_at = (int64_t)h->w.out->len - 9;
    pt_json_end_object(&h->w);
}

/* ---- the header ---- */

static const struct {
    const char *name;
    put_fn put;
} keys[] = {
    {"version", put_version},
    {"savedAt", put_saved_at},
    {"config", put_config},
    {"corpus", put_corpus},
    {"manifest", put_manifest},
    {"includesOptimizerState", put_has_moments},
    {"stateByteLength", put_body_bytes},
    {"lossHistory", put_history},
    {"finalLoss", put_final_loss},
    {"sample", put_sample},
    {"bestVal", put_best},
    {"project", put_project},
    {"weightDtype", put_dtype},
    {"sourceConvertedFrom", put_converted_from},
    {"convertedAt", put_converted_at},
    {"int4BlockSize", put_int4},
    {"int4ScalesBytes", put_int4},
    {"int4PackedBytes", put_int4},
    {"posttrain", put_posttrain}, /* always last */
};
enum { N_KEYS = sizeof keys / sizeof keys[0] };

static int known_key(const pt_json *m)
{
    for (int i = 0; i < N_KEYS; i++)
        if (strlen(keys[i].name) == m->key_len && memcmp(keys[i].name, m->key, m->key_len) == 0)
            return i;
    return -1;
}

static void put_all(header *h)
{
    const pt_json *old[N_KEYS] = {NULL};
    bool done[N_KEYS] = {false};
    pt_json_begin_object(&h->w, NULL);
    for (const pt_json *m = first_member(h->desc->from); m; m = usable(m->next)) {
        int k = known_key(m);
        if (k < 0) {
            pt_json_value(&h->w, m->key, m);
        } else if (k == N_KEYS - 1) {
            old[k] = m->type == PT_JSON_OBJECT ? m : NULL;
        } else {
            keys[k].put(h, keys[k].name, m);
            done[k] = true;
        }
    }
    for (int k = 0; k < N_KEYS; k++)
        if (!done[k]) keys[k].put(h, keys[k].name, old[k]);
    pt_json_end_object(&h->w);
}

static pt_status check_desc(const pt_tinygpt_desc *d, pt_error *err)
{
    pt_status s = pt_tinygpt_config_check(&d->config, err);
    if (s) return s;
    if (d->dtype != PT_TINYGPT_F32 && d->dtype != PT_TINYGPT_F16 && d->dtype != PT_TINYGPT_INT4)
        return pt_fail(err, PT_BAD_INPUT, "a .tinygpt file is written as f32, f16 or int4, not %s",
                       pt_tinygpt_dtype_name(d->dtype));
    if (d->step < 0 || d->step > INT32_MAX)
        return pt_fail(err, PT_BAD_INPUT, "step is %lld; a .tinygpt file holds 0 to %d",
                       (long long)d->step, INT32_MAX);
    if (!d->saved_at && !pt_json_get(d->from, "savedAt"))
        return pt_fail(err, PT_BAD_INPUT, "a .tinygpt file needs a date: saved_at is not given");
    if (!d->from) return PT_OK;
    pt_tinygpt_config old;
    s = pt_tinygpt_config_parse(d->from, &old, err);
    if (s) return s;
    const pt_tinygpt_config *c = &d->config;
    if (old.layers != c->layers || old.heads != c->heads || old.d_model != c->d_model ||
        old.d_mlp != c->d_mlp || old.ctx != c->ctx || old.vocab != c->vocab)
        return pt_fail(err, PT_BAD_INPUT, "the header to pass on is of a model of another shape");
    return PT_OK;
}

pt_status pt_tinygpt_header_text(const pt_tinygpt_desc *desc, pt_strbuf *out, int64_t *crc_at,
                                 pt_error *err)
{
    pt_status s = check_desc(desc, err);
    if (s) return s;
    header h = {.desc = desc, .w = pt_json_writer_begin(out, 0)};
    put_all(&h);
    *crc_at = h.crc_at;
    if (out->failed) return pt_fail(err, PT_NO_MEMORY, "no memory for the header");
    if (out->len > PT_TINYGPT_MAX_HEADER)
        return pt_fail(err, PT_BAD_INPUT,
                       "the header would have %lld bytes; at most %d can be "
                       "read back: leave out the corpus",
                       (long long)out->len, PT_TINYGPT_MAX_HEADER);
    return PT_OK;
}
