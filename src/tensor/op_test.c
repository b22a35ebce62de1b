/* The op list. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "tensor/op.h"

TEST(every_op_has_a_name_of_its_own)
{
    for (int i = 0; i < PT_OP_COUNT; i++) {
        const pt_op_info *info = pt_op_info_of((pt_op)i);
        CHECK(info->name && info->name[0]);
        for (const char *c = info->name; *c; c++) CHECK((*c >= 'a' && *c <= 'z') || *c == '_');
        for (int k = 0; k < i; k++) CHECK(strcmp(pt_op_info_of((pt_op)k)->name, info->name) != 0);
    }
}

TEST(every_op_fits_a_record_and_has_a_formula)
{
    for (int i = 0; i < PT_OP_COUNT; i++) {
        const pt_op_info *info = pt_op_info_of((pt_op)i);
        CHECK(info->n_tensors >= 2 && info->n_tensors <= PT_OP_MAX_TENSORS);
        CHECK(strstr(info->formula, " ") != NULL);
    }
}

TEST(number_and_name_belong_together)
{
    CHECK_STR(pt_op_info_of(PT_OP_linear)->name, "linear");
    CHECK_INT(pt_op_info_of(PT_OP_linear)->n_tensors, 8);
    CHECK(pt_op_info_of(PT_OP_linear)->has_backward && pt_op_info_of(PT_OP_linear)->has_cpu);
    CHECK_STR(pt_op_info_of(PT_OP_kv_store)->name, "kv_store");
    CHECK(!pt_op_info_of(PT_OP_kv_store)->has_backward);
    CHECK(!pt_op_info_of(PT_OP_loss_sum)->has_cpu);
    CHECK_STR(pt_op_info_of((pt_op)(PT_OP_COUNT - 1))->name, "check_finite");
}

PT_TEST_MAIN
