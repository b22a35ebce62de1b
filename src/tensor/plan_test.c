/* Memory plans: places, sums, and sizes that are not possible. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "tensor/plan.h"

static int64_t add(pt_plan *plan, pt_arena_id arena, const char *name, pt_dtype dtype, int64_t d0,
                   int64_t d1)
{
    return pt_plan_add(plan, arena, name, dtype, (int64_t[4]){d0, d1, 0, 0});
}

TEST(tensors_stand_side_by_side_on_256_bytes)
{
    static const int64_t sizes[] = {1, 16, 17, 5, 64, 63, 1};
    pt_plan plan;
    pt_plan_init(&plan);
    int64_t end = 0;
    for (int i = 0; i < 7; i++) {
        int64_t id = add(&plan, PT_ARENA_STEP, "x", PT_F32, sizes[i], 0);
        pt_tensor t = pt_plan_tensor(&plan, id);
        CHECK_INT(t.offset % 256, 0);
        CHECK_INT(t.offset, (end + 255) / 256 * 256); /* after the one before, without a gap */
        CHECK_INT(t.rank, 1);
        CHECK_INT(t.dim[0], sizes[i]);
        CHECK_INT(plan.entries[id].bytes, 4 * sizes[i]);
        end = t.offset + 4 * sizes[i];
        CHECK(plan.arena_bytes[PT_ARENA_STEP] >= end);
    }
    CHECK_INT(plan.failure, PT_OK);
    pt_plan_deinit(&plan);
}

TEST(arenas_are_counted_apart_and_in_total)
{
    pt_plan plan;
    pt_plan_init(&plan);
    int64_t w = add(&plan, PT_ARENA_MODEL, "w", PT_F32, 10, 32);
    int64_t g = add(&plan, PT_ARENA_RUN, "g", PT_F64, 3, 0);
    int64_t q = add(&plan, PT_ARENA_MODEL, "q", PT_Q4_0, 2, 64);
    pt_plan_add_host(&plan, "staging", 100);
    CHECK_INT(pt_plan_tensor(&plan, w).offset, 0);
    CHECK_INT(pt_plan_tensor(&plan, g).offset, 0);
    CHECK_INT(pt_plan_tensor(&plan, q).offset, 1280);
    CHECK_INT(plan.arena_bytes[PT_ARENA_MODEL], 1280 + 256);
    CHECK_INT(plan.arena_bytes[PT_ARENA_RUN], 256);
    CHECK_INT(plan.arena_bytes[PT_ARENA_HOST], 256);
    CHECK_INT(plan.arena_bytes[PT_ARENA_STEP], 0);
    CHECK_INT(pt_plan_total_bytes(&plan), 1280 + 256 + 256 + 256);
    CHECK(!pt_present(&plan.entries[w].tensor));
    pt_plan_deinit(&plan);
    CHECK_INT(pt_plan_total_bytes(&plan), 0);
}

TEST(many_entries_keep_their_ids)
{
    pt_plan plan;
    pt_plan_init(&plan);
    for (int64_t i = 0; i < 1000; i++)
        CHECK_INT(add(&plan, (pt_arena_id)(i % 4), "t", PT_U8, i + 1, 0), i);
    for (int64_t i = 0; i < 1000; i++) CHECK_INT(pt_plan_tensor(&plan, i).dim[0], i + 1);
    CHECK(!pt_present(&(pt_tensor){0}));
    pt_tensor none = pt_plan_tensor(&plan, PT_PLAN_NONE), beyond = pt_plan_tensor(&plan, 1000);
    CHECK(none.rank == 0 && beyond.rank == 0);
    pt_plan_deinit(&plan);
}

TEST(impossible_sizes_are_kept_as_a_failure)
{
    static const int64_t bad[][4] = {{INT64_C(1) << 62, 4, 0, 0},
                                     {INT64_C(1) << 61, 0, 0, 0},
                                     {INT64_C(1) << 32, INT64_C(1) << 32, 0, 0},
                                     {-5, 0, 0, 0},
                                     {3, -5, 0, 0},
                                     {-3, -5, 0, 0},
                                     {2, 2, 2, INT64_MIN}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pt_plan plan;
        pt_plan_init(&plan);
        CHECK_INT(add(&plan, PT_ARENA_RUN, "fine", PT_F32, 16, 0), 0);
        CHECK_INT(pt_plan_add(&plan, PT_ARENA_RUN, "bad", PT_F32, bad[i]), PT_PLAN_NONE);
        CHECK_INT(plan.failure, PT_BAD_INPUT);
        CHECK_INT(add(&plan, PT_ARENA_RUN, "after", PT_F32, 16, 0), PT_PLAN_NONE);
        CHECK_INT(plan.failure, PT_BAD_INPUT);
        CHECK_INT(plan.arena_bytes[PT_ARENA_RUN], 512);
        pt_plan_deinit(&plan);
    }
    pt_plan plan;
    pt_plan_init(&plan);
    pt_plan_add_host(&plan, "host", -1);
    CHECK_INT(plan.failure, PT_BAD_INPUT);
    pt_plan_deinit(&plan);
}

TEST(the_total_never_wraps)
{
    pt_plan plan;
    pt_plan_init(&plan);
    for (int round = 0; round < 3; round++)
        for (int arena = 0; arena < PT_ARENA_COUNT; arena++)
            for (int64_t bytes = INT64_C(1) << 62; bytes >= 64; bytes /= 2) {
                pt_status before = plan.failure;
                add(&plan, (pt_arena_id)arena, "x", PT_U8, bytes, 0);
                CHECK(before == PT_OK || plan.failure == before);
                plan.failure = PT_OK; /* the largest that still fits, and so on */
            }
    int64_t total = 0;
    for (int arena = 0; arena < PT_ARENA_COUNT; arena++) {
        CHECK(plan.arena_bytes[arena] > INT64_MAX / 16);
        CHECK(pt_add_i64(total, plan.arena_bytes[arena], &total));
    }
    CHECK_INT(pt_plan_total_bytes(&plan), total);
    pt_plan_deinit(&plan);
}

TEST(the_first_failure_stays)
{
    pt_plan plan;
    pt_plan_init(&plan);
    pt_alloc_fail_after(1);
    CHECK_INT(add(&plan, PT_ARENA_RUN, "x", PT_F32, 1, 0), PT_PLAN_NONE);
    pt_alloc_fail_after(0);
    CHECK_INT(plan.failure, PT_NO_MEMORY);
    CHECK_INT(add(&plan, PT_ARENA_RUN, "y", PT_F32, -1, 0), PT_PLAN_NONE);
    CHECK_INT(plan.failure, PT_NO_MEMORY);
    pt_plan_deinit(&plan);

    pt_plan_init(&plan);
    pt_plan_add_host(&plan, "x", -1);
    for (int i = 1; i < 64; i++) add(&plan, PT_ARENA_RUN, "fine", PT_F32, 1, 0);
    pt_alloc_fail_after(1);
    add(&plan, PT_ARENA_RUN, "grows", PT_F32, 1, 0);
    pt_alloc_fail_after(0);
    CHECK_INT(plan.failure, PT_BAD_INPUT);
    pt_plan_deinit(&plan);
}

TEST(a_tensor_is_known_by_its_first_byte)
{
    struct pt_buffer *one = (struct pt_buffer *)&one, *two = (struct pt_buffer *)&two;
    pt_plan plan;
    pt_plan_init(&plan);
    int64_t a = add(&plan, PT_ARENA_RUN, "a", PT_F32, 10, 0);
    int64_t b = add(&plan, PT_ARENA_RUN, "b", PT_F32, 4, 4);
    int64_t c = add(&plan, PT_ARENA_STEP, "c", PT_F32, 100, 0);
    pt_tensor t = pt_plan_tensor(&plan, a);
    CHECK_STR(pt_plan_name_of(&plan, &t), "?"); /* not allocated */
    plan.entries[a].tensor.buffer = plan.entries[b].tensor.buffer = one;
    plan.entries[c].tensor.buffer = two;
    t = pt_plan_tensor(&plan, b);
    CHECK_STR(pt_plan_name_of(&plan, &t), "b");
    t = pt_slice(&t, 3, 1);
    CHECK_STR(pt_plan_name_of(&plan, &t), "b");
    t.offset = 39;
    CHECK_STR(pt_plan_name_of(&plan, &t), "a");
    t.offset = 40; /* the gap between them */
    CHECK_STR(pt_plan_name_of(&plan, &t), "?");
    t.buffer = two;
    CHECK_STR(pt_plan_name_of(&plan, &t), "c");
    pt_plan_deinit(&plan);
}

TEST(long_names_are_cut)
{
    pt_plan plan;
    pt_plan_init(&plan);
    add(&plan, PT_ARENA_RUN, "a name that is much longer than the forty-seven bytes it may have",
        PT_F32, 1, 0);
    CHECK_STR(plan.entries[0].name, "a name that is much longer than the forty-seven");
    pt_plan_deinit(&plan);
}

TEST(the_table_names_arenas_and_largest_entries)
{
    static const char *const names[] = {"model", "run", "step", "call", "host"};
    pt_plan plan;
    pt_strbuf out = {0};
    pt_plan_init(&plan);
    add(&plan, PT_ARENA_MODEL, "small.weight", PT_F32, 10, 0);
    add(&plan, PT_ARENA_MODEL, "large.weight", PT_F32, 1024, 1024);
    add(&plan, PT_ARENA_MODEL, "middle.weight", PT_F32, 100, 0);
    add(&plan, PT_ARENA_STEP, "huge.activation", PT_F32, 1024 * 16, 1024);
    pt_plan_add_host(&plan, "scratch", 2048);
    pt_plan_print(&plan, &out);
    for (int i = 0; i < PT_ARENA_COUNT; i++) {
        CHECK_STR(pt_arena_id_name((pt_arena_id)i), names[i]);
        CHECK(strstr(out.data, names[i]));
    }
    CHECK(strstr(out.data, "4.2 MB   largest: large.weight"));
    CHECK(strstr(out.data, "67.1 MB   largest: huge.activation"));
    CHECK(strstr(out.data, "2.0 kB   largest: scratch"));
    CHECK(strstr(out.data, "total       71.3 MB"));
    CHECK(!strstr(out.data, "small.weight") && !strstr(out.data, "middle.weight"));
    pt_strbuf_deinit(&out);
    pt_plan_deinit(&plan);
}

PT_TEST_MAIN
