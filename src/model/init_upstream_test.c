/* The original's initial weights. The hash is that of the body of a file which the original made
 * (tests/golden/small-96-step0.tinygpt). SPDX-License-Identifier: MIT */
#include "model/init_upstream.h"

#include <math.h>

#include "base/hash.h"
#include "base/test.h"

/* The 10,000th output of a generator seeded with 5489: the C++ standard, [rand.predef]. */
TEST(the_generator_is_mt19937)
{
    pt_mt19937 g;
    uint32_t last = 0;
    pt_mt19937_seed(&g, 5489);
    for (int i = 0; i < 10000; i++) last = pt_mt19937_next(&g);
    CHECK(last == 4123659995u);
}

TEST(the_first_weights_of_seed_42)
{
    static const float want[8] = {
        -0.01033928245306015f, 0.02443842589855194f, 0.014426653273403645f, 0.0173927191644907f,
        0.032364342361688614f, 0.03177112340927124f, -0.02376617304980755f, -0.003742493689060211f};
    pt_tinygpt_config config = {
        .layers = 1, .heads = 1, .d_model = 4, .d_mlp = 8, .ctx = 2, .vocab = 256};
    float w[1024];
    pt_upstream_init init;
    pt_upstream_init_begin(&init, &config, 42);
    pt_upstream_init_next(&init, w);
    for (int i = 0; i < 8; i++) CHECK(pt_float_bits(w[i]) == pt_float_bits(want[i]));
}

TEST(the_whole_body_of_small_96_step0)
{
    pt_tinygpt_config config = {
        .layers = 3, .heads = 3, .d_model = 96, .d_mlp = 384, .ctx = 64, .vocab = 256};
    float *w = calloc(384 * 96, sizeof *w);
    static const float zeros[384 * 96];
    static const uint8_t step[4];
    pt_upstream_init init;
    pt_upstream_init_begin(&init, &config, 42);
    pt_sha256 hash;
    pt_sha256_init(&hash);
    pt_sha256_update(&hash, step, 4);
    for (int64_t i = 0; i < pt_tinygpt_n_tensors(&config); i++) {
        size_t bytes = (size_t)pt_tinygpt_tensor_at(&config, i).n * sizeof *w;
        pt_upstream_init_next(&init, w);
        pt_sha256_update(&hash, w, bytes);
        pt_sha256_update(&hash, zeros, bytes);
        pt_sha256_update(&hash, zeros, bytes);
    }
    uint8_t digest[32];
    char hex[65];
    pt_sha256_final(&hash, digest);
    pt_hex(digest, 32, hex);
    free(w);
    CHECK_STR(hex, "aefcb487750a28639db67f43f3cf92e6a846d3b8f9153e6ac57173d0fab83307");
}

/* The arguments that initialisations meet, and some that they do not. */
TEST(the_logarithm_is_glibcs)
{
#ifdef __GLIBC__
    pt_mt19937 g;
    pt_mt19937_seed(&g, 7);
    int64_t draws = 0, bad = 0;
    while (draws < 10000000) {
        float u = 2.0f * ((float)pt_mt19937_next(&g) / 4294967296.0f) - 1.0f;
        float v = 2.0f * ((float)pt_mt19937_next(&g) / 4294967296.0f) - 1.0f;
        float s = u * u + v * v;
        if (s > 1.0f || s == 0.0f) continue;
        draws++;
        bad += pt_float_bits(pt_upstream_logf(s)) != pt_float_bits(logf(s));
    }
    for (uint32_t bits = 1; bits <= 0x3f800000u; bits += 4097) {
        float x = pt_float_from_bits(bits);
        bad += pt_float_bits(pt_upstream_logf(x)) != pt_float_bits(logf(x));
    }
    CHECK_INT(bad, 0);
#else
    SKIP("the C library is not glibc");
#endif
}

PT_TEST_MAIN
