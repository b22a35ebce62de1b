/* The list of presets, for the help of train. SPDX-License-Identifier: MIT */
#include "cli/dry_run.h"
#include "cli/table.h"
#include "cli/train_options.h"

/* That a run can save is planned for; a plan never does. */
static pt_status save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *err)
{
    (void)ctx, (void)step, (void)sink;
    return pt_fail(err, PT_INTERNAL, "a plan of a preset saves nothing");
}

/* Bytes that training the preset as it stands takes, as --dry-run plans it; 0: it is not trained here. */
static int64_t memory_of(pt_device *device, const pt_preset *preset, const pt_model_config *config)
{
    pt_trainer_desc desc = {
        .config = *config, .options = pt_train_defaults(), .events = {.save_begin = save_begin}};
    pt_trainer *trainer = NULL;
    uint8_t *text = NULL;
    desc.options.batch = preset->batch;
    desc.options.steps = preset->steps;
    int64_t bytes = 0;
    pt_status s = pt_dry_run_text(config, &text, &desc.corpus_bytes, NULL);
    desc.corpus = text;
    if (s == PT_OK) s = pt_trainer_new(&trainer, device, &desc, NULL);
    if (s == PT_OK) bytes = pt_plan_total_bytes(pt_trainer_plan(trainer));
    pt_trainer_free(trainer);
    pt_free(text);
    return bytes;
}

static void put_preset(pt_table *t, int64_t row, const pt_preset *preset, pt_device *device)
{
    char n[32];
    pt_params params;
    pt_model_config c = preset->config;
    pt_model_config_complete(&c);
    int64_t bytes = device ? memory_of(device, preset, &c) : 0;
    pt_table_text(t, row, 0, preset->name);
    if (pt_params_init(&params, &c, NULL) == PT_OK) {
        pt_table_text(t, row, 1, pt_grouped(params.n_params, n));
        pt_params_deinit(&params);
    }
    pt_table_put(t, row, 2, "%lld", (long long)c.n_layers);
    pt_table_put(t, row, 3, "%lld", (long long)c.d_model);
    pt_table_put(t, row, 4, "%lld", (long long)c.ctx);
    pt_table_text(t, row, 5, bytes ? pt_megabytes(bytes, n) : "-");
}

void pt_train_list_presets(pt_strbuf *out)
{
    static const char *const titles[] = {"", "parameters", "layers", "width", "context", "memory"};
    const pt_preset *presets = pt_presets();
    pt_table t = {.rows = 1, .columns = 6, .left = "  ", .right = 0x3e};
    pt_device *device = NULL;
    while (presets[t.rows - 1].name) t.rows++;
    pt_strbuf_puts(out, "\nPresets, and the memory that training them as they are takes here:\n");
    if (pt_table_begin(&t, NULL)) return;
    if (pt_device_choose(&(pt_device_choice){"cpu", NULL, 0}, &device, NULL)) device = NULL;
    for (int k = 0; k < t.columns; k++) pt_table_text(&t, 0, k, titles[k]);
    for (int64_t row = 1; row < t.rows; row++) put_preset(&t, row, &presets[row - 1], device);
    pt_table_print(&t, out);
    pt_table_end(&t);
    pt_device_free(device);
}
