/* A choice of kernels as text. SPDX-License-Identifier: MIT */
#include "device/webgpu/remembered.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/version.h"
#include "device/webgpu/shader.h"

static void hash_shaders(char hex[65])
{
    int64_t n;
    const char *text = pt_shaders_text(&n);
    pt_sha256_hex(text, (size_t)n, hex);
}

void pt_wg_choice_write(const pt_wg_choice *choice, const char *adapter, pt_strbuf *out)
{
    char hex[65];
    hash_shaders(hex);
    pt_json_writer w = pt_json_writer_begin(out, 1);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "adapter", adapter);
    pt_json_string(&w, "version", PT_VERSION);
    pt_json_string(&w, "shaders", hex);
    pt_json_begin_object(&w, "verdicts");
    for (int i = 0; i < pt_wg_tile_count(); i++)
        if (choice->verdict[i] != PT_WG_UNTRIED)
            pt_json_string(&w, pt_wg_tiles[i].name, pt_wg_verdict_words(choice->verdict[i]));
    pt_json_end_object(&w);
    pt_json_begin_array(&w, "kernels");
    for (int i = 0; i < PT_WG_CHOICES; i++)
        pt_json_string(&w, NULL, choice->tile[i / PT_WG_LAYOUTS][i % PT_WG_LAYOUTS]->name);
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(out, '\n');
}

static bool says(const pt_json *json, const char *key, const char *wanted)
{
    const char *said = pt_json_get_string(json, key);
    return said && strcmp(said, wanted) == 0;
}

static const pt_wg_tile *tile_named(const pt_json *name)
{
    if (name->type != PT_JSON_STRING) return NULL;
    for (int i = 0; i < pt_wg_tile_count(); i++)
        if (strcmp(pt_wg_tiles[i].name, name->text) == 0) return &pt_wg_tiles[i];
    return NULL;
}

static void read_verdicts(pt_wg_choice *choice, const pt_json *verdicts)
{
    for (int i = 0; i < pt_wg_tile_count(); i++) {
        choice->verdict[i] = PT_WG_UNTRIED;
        for (int v = PT_WG_UNTRIED + 1; v < PT_WG_VERDICTS; v++)
            if (says(verdicts, pt_wg_tiles[i].name, pt_wg_verdict_words((pt_wg_verdict)v)))
                choice->verdict[i] = (pt_wg_verdict)v;
    }
}

static bool read_kernels(pt_wg_choice *choice, const pt_json *kernels)
{
    int n = 0;
    if (!kernels || kernels->n_children != PT_WG_CHOICES) return false;
    for (const pt_json *name = kernels->child; name; name = name->next, n++) {
        const pt_wg_tile *tile = tile_named(name);
        if (!tile || choice->verdict[tile - pt_wg_tiles] != PT_WG_RIGHT) return false;
        choice->tile[n / PT_WG_LAYOUTS][n % PT_WG_LAYOUTS] = tile;
    }
    return true;
}

static bool read_all(pt_wg_choice *choice, const char *adapter, const pt_json *json)
{
    char hex[65];
    pt_wg_choice read = *choice;
    hash_shaders(hex);
    if (!says(json, "adapter", adapter) || !says(json, "version", PT_VERSION)) return false;
    if (!says(json, "shaders", hex)) return false;
    read_verdicts(&read, pt_json_get(json, "verdicts"));
    if (!read_kernels(&read, pt_json_get(json, "kernels"))) return false;
    *choice = read;
    return true;
}

bool pt_wg_choice_read(pt_wg_choice *choice, const char *adapter, const char *text)
{
    pt_arena arena = {0};
    const pt_json *json = NULL;
    bool good = pt_json_parse(text, strlen(text), &arena, &json, NULL) == PT_OK &&
                read_all(choice, adapter, json);
    pt_arena_deinit(&arena);
    return good;
}
