/* Dropout where the generator's counter passes 2^32: vector kernels add to its low word only, and must carry.
 * SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

TEST(low_word_of_the_counter_wraps_inside_a_block)
{
    /* first counter 2^32 - back; a block of 64 elements takes 16 counters */
    for (int64_t back = 0; back <= 17; back++) {
        op_case c;
        pt_dropout_args *a = op_begin(&c, PT_OP_dropout);
        op_in(&c, &a->x, 200, 0, 0, 0);
        op_out(&c, &a->y, 200, 0, 0, 0);
        op_in(&c, &a->dy, 200, 0, 0, 0);
        op_out(&c, &a->dx, 200, 0, 0, 0);
        a->p = 0.5;
        a->seed = 7;
        a->site = 2;
        a->first = 4 * ((INT64_C(1) << 32) - back);
        op_parity(&c, OP_BOTH, 0, OP_EXACT);
        op_end(&c);
    }
}

PT_TEST_MAIN
