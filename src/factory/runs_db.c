/* The index of runs. SPDX-License-Identifier: MIT */
#include "factory/runs_db.h"

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/maths.h"
#include "base/platform.h"

#define VERSION 4    /* of the table, and of what the summaries mean */
#define WAIT_MS 2000 /* for another process that writes */

#if defined(__APPLE__)
static const char library[] = "libsqlite3.dylib";
#else
static const char library[] = "libsqlite3.so.0";
#endif

/* The functions used, with SQLite's own types. */
#define FUNCTIONS(X) \
    X(open_v2)       \
    X(close)         \
    X(busy_timeout)  \
    X(exec)          \
    X(prepare_v2)    \
    X(step)          \
    X(reset)         \
    X(finalize)      \
    X(bind_text)     \
    X(bind_int64)    \
    X(bind_double)   \
    X(column_text)   \
    X(column_int64)  \
    X(column_double) \
    X(column_type)   \
    X(libversion)
typedef struct functions {
#define MEMBER(name) __typeof__(sqlite3_##name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} functions;

struct pt_runs_db {
    functions f;
    sqlite3 *file;
    sqlite3_stmt *get, *put;
    bool damaged;
    char path[1024];
};

static bool load(functions *f)
{
#define LOAD(name)                                                                 \
    f->name = (__typeof__(f->name))pt_platform_library(library, "sqlite3_" #name); \
    if (!f->name) return false;
    FUNCTIONS(LOAD)
#undef LOAD
    return true;
}

const char *pt_runs_db_version(void)
{
    functions f;
    return load(&f) ? f.libversion() : NULL;
}

/* A summary's columns after the path, in this order everywhere. */
#define COLUMNS                                                                                \
    "json_ns, json_bytes, log_ns, log_bytes, preset, started, state, verdict, params, steps, " \
    "total_steps, best_step, last_step, best_val, last_val, train_loss, speed, seconds, crc"

#define TEXT_OF(number) #number
#define AS_TEXT(macro) TEXT_OF(macro)
static const char create[] = "PRAGMA user_version = " AS_TEXT(
    VERSION) ";"
             "CREATE TABLE IF NOT EXISTS runs (path TEXT PRIMARY KEY, " COLUMNS ")";
static const char get[] = "SELECT " COLUMNS " FROM runs WHERE path = ? AND json_ns = ? AND "
                          "json_bytes = ? AND log_ns = ? AND log_bytes = ?";
static const char put[] = "INSERT OR REPLACE INTO runs (path, " COLUMNS ") VALUES "
                          "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

/* ---- opening ---- */

static void shut(pt_runs_db *db)
{
    db->f.finalize(db->get);
    db->f.finalize(db->put);
    db->f.close(db->file);
    db->get = db->put = NULL;
    db->file = NULL;
}

/* Not of this version: an error that asks for a new file. */
static int check_version(pt_runs_db *db)
{
    sqlite3_stmt *query = NULL;
    int code = db->f.prepare_v2(db->file, "PRAGMA user_version", -1, &query, NULL);
    if (code == SQLITE_OK) code = db->f.step(query);
    if (code == SQLITE_ROW) {
        int64_t version = db->f.column_int64(query, 0);
        code = version == 0 || version == VERSION ? SQLITE_OK : SQLITE_ERROR;
    }
    db->f.finalize(query);
    return code;
}

/* SQLITE_OK when the file is a database with our table; a transaction is begun. */
static int use(pt_runs_db *db)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = db->f.open_v2(db->path, &db->file, flags, NULL);
    if (code) return code;
    db->f.busy_timeout(db->file, WAIT_MS);
    code = check_version(db);
    if (!code) code = db->f.exec(db->file, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (!code) code = db->f.exec(db->file, create, NULL, NULL, NULL);
    if (!code) code = db->f.prepare_v2(db->file, get, -1, &db->get, NULL);
    if (!code) code = db->f.prepare_v2(db->file, put, -1, &db->put, NULL);
    return code;
}

/* Damaged, of another version, or not ours; rather than busy, full or out of reach. */
static bool is_useless(int code)
{
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
}

static void remove_file(const char *path)
{
    char journal[1100];
    pt_format(journal, sizeof journal, "%s-journal", path);
    (void)pt_fs_remove(journal, NULL);
    (void)pt_fs_remove(path, NULL);
}

static bool make_parent(const char *path)
{
    char folder[1024];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path) return true;
    if ((size_t)(slash - path) >= sizeof folder) return false;
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    return pt_fs_make_folder(folder, NULL) == PT_OK;
}

static int open_or_renew(pt_runs_db *db)
{
    int code = use(db);
    if (!is_useless(code) || pt_fs_is_folder(db->path)) return code;
    shut(db);
    remove_file(db->path); /* all it knew is in the folders */
    return use(db);
}

pt_runs_db *pt_runs_db_open(const char *path)
{
    pt_runs_db *db = pt_alloc(sizeof *db);
    if (!db) return NULL;
    bool fits = pt_format(db->path, sizeof db->path, "%s", path) < sizeof db->path;
    if (fits && load(&db->f) && make_parent(path)) {
        if (open_or_renew(db) == SQLITE_OK) return db;
        shut(db);
    }
    pt_free(db);
    return NULL;
}

void pt_runs_db_close(pt_runs_db *db)
{
    if (!db) return;
    db->f.exec(db->file, "COMMIT", NULL, NULL, NULL);
    shut(db);
    if (db->damaged) remove_file(db->path);
    pt_free(db);
}

/* ---- values ---- */

typedef struct cursor {
    pt_runs_db *db;
    sqlite3_stmt *statement;
    int at; /* the next parameter (from 1) or column (from 0) */
} cursor;

static void bind_text(cursor *c, const char *text)
{
    c->db->f.bind_text(c->statement, c->at++, text, -1, SQLITE_STATIC);
}
static void bind_int(cursor *c, int64_t value)
{
    c->db->f.bind_int64(c->statement, c->at++, value);
}
static void bind_real(cursor *c, double value)
{
    c->db->f.bind_double(c->statement, c->at++, value);
}

static void bind_stamp(cursor *c, const pt_run_stamp *stamp)
{
    bind_int(c, stamp->json_ns);
    bind_int(c, stamp->json_bytes);
    bind_int(c, stamp->log_ns);
    bind_int(c, stamp->log_bytes);
}

static void take_text(cursor *c, char *out, size_t cap)
{
    const unsigned char *text = c->db->f.column_text(c->statement, c->at++);
    pt_format(out, cap, "%s", text ? (const char *)text : "");
}
static int64_t take_int(cursor *c) { return c->db->f.column_int64(c->statement, c->at++); }

/* SQLite stores NaN as NULL. */
static double take_real(cursor *c)
{
    int at = c->at++;
    if (c->db->f.column_type(c->statement, at) == SQLITE_NULL) return PT_NAN;
    return c->db->f.column_double(c->statement, at);
}

static uint32_t add_text(uint32_t crc, const char *text)
{
    return pt_crc32c(crc, text, strlen(text) + 1);
}

/* CRC-32C of a row: SQLite does not notice a bit that flipped in a value. */
static int64_t sum_of(const char *path, const pt_run_stamp *stamp, const pt_run_summary *s)
{
    const int64_t counts[] = {stamp->json_ns,   stamp->json_bytes, stamp->log_ns,
                              stamp->log_bytes, s->params,         s->steps,
                              s->total_steps,   s->best_step,      s->last_step};
    const double reals[] = {s->best_val, s->last_val, s->train_loss, s->speed, s->seconds};
    uint32_t crc = add_text(0, path);
    crc = add_text(crc, s->preset);
    crc = add_text(crc, s->started);
    crc = add_text(crc, s->state);
    crc = add_text(crc, s->verdict);
    crc = pt_crc32c(crc, counts, sizeof counts);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        double real = pt_is_nan(reals[i]) ? PT_NAN : reals[i] == 0 ? 0 : reals[i]; /* one of each */
        crc = pt_crc32c(crc, &real, sizeof real);
    }
    return crc;
}

bool pt_runs_db_get(pt_runs_db *db, const char *path, const pt_run_stamp *stamp,
                    pt_run_summary *out)
{
    cursor c = {db, db->get, 1};
    bind_text(&c, path);
    bind_stamp(&c, stamp);
    int code = db->f.step(db->get);
    bool found = code == SQLITE_ROW;
    if (is_useless(code)) db->damaged = true;
    *out = (pt_run_summary){0};
    c.at = 4; /* behind the stamp */
    if (found) {
        take_text(&c, out->preset, sizeof out->preset);
        take_text(&c, out->started, sizeof out->started);
        take_text(&c, out->state, sizeof out->state);
        take_text(&c, out->verdict, sizeof out->verdict);
        out->params = take_int(&c);
        out->steps = take_int(&c);
        out->total_steps = take_int(&c);
        out->best_step = take_int(&c);
        out->last_step = take_int(&c);
        out->best_val = take_real(&c);
        out->last_val = take_real(&c);
        out->train_loss = take_real(&c);
        out->speed = take_real(&c);
        out->seconds = take_real(&c);
        found = take_int(&c) == sum_of(path, stamp, out);
    }
    db->f.reset(db->get);
    return found;
}

void pt_runs_db_put(pt_runs_db *db, const char *path, const pt_run_stamp *stamp,
                    const pt_run_summary *s)
{
    cursor c = {db, db->put, 1};
    bind_text(&c, path);
    bind_stamp(&c, stamp);
    bind_text(&c, s->preset);
    bind_text(&c, s->started);
    bind_text(&c, s->state);
    bind_text(&c, s->verdict);
    bind_int(&c, s->params);
    bind_int(&c, s->steps);
    bind_int(&c, s->total_steps);
    bind_int(&c, s->best_step);
    bind_int(&c, s->last_step);
    bind_real(&c, s->best_val);
    bind_real(&c, s->last_val);
    bind_real(&c, s->train_loss);
    bind_real(&c, s->speed);
    bind_real(&c, s->seconds);
    bind_int(&c, sum_of(path, stamp, s));
    if (is_useless(db->f.step(db->put))) db->damaged = true;
    db->f.reset(db->put);
}

static bool is_gone(const char *folder)
{
    static const char *const names[] = {"run.json", "log.jsonl"};
    char path[PT_FS_PATH_MAX];
    for (int i = 0; i < 2; i++)
        if (pt_fs_join(path, sizeof path, folder, names[i]) && pt_fs_size(path) >= 0) return false;
    return true;
}

void pt_runs_db_sweep(pt_runs_db *db)
{
    sqlite3_stmt *all = NULL, *drop = NULL;
    if (!db) return;
    int code = db->f.prepare_v2(db->file, "SELECT path FROM runs", -1, &all, NULL);
    if (!code)
        code = db->f.prepare_v2(db->file, "DELETE FROM runs WHERE path = ?", -1, &drop, NULL);
    while (!code && (code = db->f.step(all)) == SQLITE_ROW) {
        char path[PT_FS_PATH_MAX];
        cursor row = {db, all, 0}, to = {db, drop, 1};
        take_text(&row, path, sizeof path);
        code = SQLITE_OK;
        if (!is_gone(path)) continue;
        bind_text(&to, path);
        code = db->f.step(drop) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
        db->f.reset(drop);
    }
    if (is_useless(code)) db->damaged = true;
    db->f.finalize(all);
    db->f.finalize(drop);
}

#else /* built without SQLite */

const char *pt_runs_db_version(void) { return NULL; }
pt_runs_db *pt_runs_db_open(const char *path)
{
    (void)path;
    return NULL;
}
bool pt_runs_db_get(pt_runs_db *db, const char *path, const pt_run_stamp *stamp,
                    pt_run_summary *out)
{
    (void)db, (void)path, (void)stamp, (void)out;
    return false;
}
void pt_runs_db_put(pt_runs_db *db, const char *path, const pt_run_stamp *stamp,
                    const pt_run_summary *summary)
{
    (void)db, (void)path, (void)stamp, (void)summary;
}
void pt_runs_db_sweep(pt_runs_db *db) { (void)db; }
void pt_runs_db_close(pt_runs_db *db) { (void)db; }

#endif
