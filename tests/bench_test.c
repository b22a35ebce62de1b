/* posttrain bench, end to end and short: every kind runs, its JSON holds what the verb promises, bad words are
 * refused. How fast anything is, is not tested.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/test_folder.h"

static const char *program = "build/posttrain";
static char out[1 << 22];

/* Runs the program with --seconds 0.02 and small arrays; returns its exit code, its stdout is in `out`. */
static int run(const char *const *words)
{
    char path[512];
    int n = 0, status = 0;
    const char *argv[24] = {program, "bench"};
    snprintf(path, sizeof path, "%s", in_folder("stdout"));
    for (n = 2; words[n - 2]; n++) argv[n] = words[n - 2];
    const char *always[] = {"--seconds", "0.02", "--array-mb", "1", "--threads", "2"};
    for (int i = 0; i < 6; i++) argv[n++] = always[i];
    pid_t pid = fork();
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), 2);
        dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
        union {
            const char **in;
            char **out;
        } cast = {argv};
        execv(program, cast.out);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(out, 1, sizeof out - 1, f) : 0;
    if (f) fclose(f);
    out[size] = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}
#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static double number(const pt_json *json, const char *key)
{
    double value = 0;
    if (!pt_json_get_double(json, key, &value)) printf("no number %s\n", key);
    CHECK(pt_json_get_double(json, key, &value));
    return value;
}

static void check_samples(const pt_json *s)
{
    double median = number(s, "median");
    CHECK(median > 0 && number(s, "p10") <= median && median <= number(s, "p90"));
    CHECK(pt_json_get(s, "samples")->n_children >= 3);
}

/* The rows of the JSON in `out`, after checking what all kinds have. */
static const pt_json *rows_of(pt_arena *arena, const char *kind, int64_t n_rows)
{
    pt_error err = {0};
    const pt_json *json = NULL;
    CHECK_OK(pt_json_parse(out, strlen(out), arena, &json, &err), err);
    CHECK_STR(pt_json_get_string(json, "bench"), kind);
    const pt_json *machine = pt_json_get(json, "machine");
    CHECK(number(machine, "cores") >= 1 && number(machine, "memory_bytes") > 0);
    CHECK(pt_json_get_string(machine, "processor") && pt_json_get_string(machine, "isa"));
    const pt_json *limits = pt_json_get(json, "limits");
    CHECK_INT(limits->n_children, 2);
    for (const pt_json *l = limits->child; l; l = l->next) {
        check_samples(pt_json_get(l, "flop_per_second"));
        check_samples(pt_json_get(l, "bytes_per_second"));
    }
    const pt_json *rows = pt_json_get(json, "rows");
    CHECK_INT(rows->n_children, n_rows);
    for (const pt_json *r = rows->child; r; r = r->next) {
        check_samples(pt_json_get(r, "seconds"));
        check_samples(pt_json_get(r, "peak_beside"));
    }
    return rows;
}

TEST(gemm)
{
    fresh_folder();
    pt_arena arena = {0};
    CHECK_INT(RUN("gemm", "--only", " 48->", "--json"), 0);
    const pt_json *row = rows_of(&arena, "gemm", 18)->child;
    CHECK_STR(pt_json_get_string(row, "name"), "NT");
    CHECK_STR(pt_json_get_string(row, "shape"), "M2048 48->48");
    CHECK_CLOSE(number(row, "flop"), 2.0 * 2048 * 48 * 48, 0);
    double rate = number(row, "flop") / number(pt_json_get(row, "seconds"), "median");
    CHECK_CLOSE(number(row, "flop_per_second"), rate, 1e-5 * rate);
    CHECK_STR(pt_json_get_string(row, "dtype"), "f32");
    const pt_json *bf16 = row->next->next->next;
    CHECK_STR(pt_json_get_string(bf16, "name"), "NT bf16");
    CHECK_STR(pt_json_get_string(bf16, "dtype"), "bf16");
    CHECK_CLOSE(2 * number(bf16, "bytes"), number(row, "bytes"), 0);
    pt_arena_deinit(&arena);
}

/* What the strict instruction sets lack is not measured. */
TEST(gemm_without_bf16)
{
    fresh_folder();
    pt_arena arena = {0};
    CHECK_INT(RUN("gemm", "--only", "M2048 48->48", "--isa", "base", "--json"), 0);
    rows_of(&arena, "gemm", 6);
    if (RUN("gemm", "--only", "M2048 48->48", "--isa", "avx2-strict", "--json") == 0) {
        rows_of(&arena, "gemm", 3);
        CHECK(!strstr(out, "bf16"));
    }
    pt_arena_deinit(&arena);
}

TEST(ops)
{
    fresh_folder();
    pt_arena arena = {0};
    CHECK_INT(RUN("ops", "--only", "reference", "--json"), 0);
    int64_t n = 0;
#define PT_OP(name, tensors, backward, cpu, formula) n += 1 + (backward);
#include "tensor/ops.def"
#undef PT_OP
    rows_of(&arena, "ops", n);
    pt_arena_deinit(&arena);
}

TEST(train_says_where_the_time_goes)
{
    fresh_folder();
    pt_arena arena = {0};
    CHECK_INT(RUN("train", "--preset", "tiny", "--json"), 0);
    const pt_json *row = rows_of(&arena, "train", 1)->child;
    CHECK_CLOSE(number(row, "tokens"), 512, 0);
    CHECK_CLOSE(number(row, "flop_6n"), 6.0 * 70464 * 512, 0);
    double whole = 0, median = number(pt_json_get(row, "seconds"), "median");
    for (const pt_json *p = pt_json_get(row, "split_seconds")->child; p; p = p->next)
        whole += p->number;
    CHECK(whole > 0.1 * median && whole < 10 * median);
    pt_arena_deinit(&arena);
}

TEST(threads)
{
    fresh_folder();
    pt_arena arena = {0};
    CHECK_INT(RUN("threads", "--preset", "tiny", "--json"), 0);
    const pt_json *row = rows_of(&arena, "threads", 4)->child;
    CHECK_CLOSE(number(row, "speed_up"), 1, 0);
    CHECK_CLOSE(number(row->next, "threads"), 2, 0);
    CHECK_CLOSE(number(row->next->next, "neighbours"), 1, 0);
    pt_arena_deinit(&arena);
}

TEST(decode)
{
    fresh_folder();
    pt_arena arena = {0};
    CHECK_INT(RUN("decode", "--preset", "tiny", "--json"), 0);
    const pt_json *row = rows_of(&arena, "decode", 1)->child;
    CHECK_CLOSE(number(row, "tokens"), 1, 0);
    CHECK_CLOSE(number(row, "bytes"), 4.0 * (256 * 48 + 2 * (4 * 48 * 48 + 2 * 48 * 192)), 0);
    CHECK(number(row, "tokens_per_second") > 0);
    pt_arena_deinit(&arena);
}

TEST(for_people)
{
    fresh_folder();
    CHECK_INT(RUN("gemm", "--only", "M256 768->768"), 0);
    CHECK(strstr(out, "peak") && strstr(out, "memory") && strstr(out, "\nTN "));
}

TEST(bad_words)
{
    fresh_folder();
    CHECK_INT(RUN("gem"), 2);
    CHECK_INT(RUN("gemm", "--only", "no such figure"), 2);
    CHECK_INT(RUN("train", "--preset", "tiny,tyni"), 2);
    CHECK_INT(RUN("gemm", "--isa", "sse9"), 2);
    CHECK_STR(out, "");
}

/* build/tests/bench_test stands beside build/posttrain. */
int main(int argc, char **argv)
{
    static char path[1024];
    const char *slash = strrchr(argv[0], '/');
    snprintf(path, sizeof path, "%.*s/../posttrain", slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    program = path;
    return pt_test_run(argc, argv);
}
