/* Sixteen floats at a time, on every instruction set. The only file with intrinsics.
 *
 * pt_vf is ALWAYS 16 floats (one zmm, two ymm, four NEON, WASM or plain C quads), so a sum has the same shape
 * everywhere and, where no fused multiply-add is involved, the same bits. With PT_STRICT=1 pt_vf_fma rounds twice
 * everywhere, and then every operation here gives the same bits on every instruction set (NaN payloads aside).
 * Chosen by PT_ISA_avx512, PT_ISA_avx2, PT_ISA_neon, PT_ISA_wasm; anything else is plain C with the vector
 * types of gcc and clang. To be included by *_cpu.c files only.
 *
 * Chapters: the parts of a pt_vf for each instruction set, then the operations, written once.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_SIMD_H
#define PT_DEVICE_CPU_SIMD_H

#include <stdint.h>

#if defined(PT_STRICT) && PT_STRICT
#define PT_SIMD_FUSED 0
#else
#define PT_SIMD_FUSED 1
#endif

#define PT_SIMD static inline __attribute__((always_inline))
#define PT_LANES 16

/* A part: pt_fp holds PT_PART_LANES floats, pt_ip as many 32-bit integers (unsigned arithmetic). min and max
 * are a<b ? a : b and a>b ? a : b, so a NaN in either gives b, as SSE defined it. */

#if defined(PT_ISA_avx512)
/* ---- AVX-512: https://www.intel.com/content/www/us/en/docs/intrinsics-guide/index.html ---- */
#include <immintrin.h>
#define PT_PART_LANES 16
typedef __m512 pt_fp;
typedef __m512i pt_ip;

PT_SIMD pt_fp fp_set1(float x) { return _mm512_set1_ps(x); }
PT_SIMD pt_fp fp_load(const float *p) { return _mm512_loadu_ps(p); }
PT_SIMD void fp_store(float *p, pt_fp a) { _mm512_storeu_ps(p, a); }
PT_SIMD pt_fp fp_add(pt_fp a, pt_fp b) { return _mm512_add_ps(a, b); }
PT_SIMD pt_fp fp_sub(pt_fp a, pt_fp b) { return _mm512_sub_ps(a, b); }
PT_SIMD pt_fp fp_mul(pt_fp a, pt_fp b) { return _mm512_mul_ps(a, b); }
PT_SIMD pt_fp fp_div(pt_fp a, pt_fp b) { return _mm512_div_ps(a, b); }
PT_SIMD pt_fp fp_min(pt_fp a, pt_fp b) { return _mm512_min_ps(a, b); }
PT_SIMD pt_fp fp_max(pt_fp a, pt_fp b) { return _mm512_max_ps(a, b); }
PT_SIMD pt_fp fp_sqrt(pt_fp a) { return _mm512_sqrt_ps(a); }
PT_SIMD pt_fp fp_fused(pt_fp a, pt_fp b, pt_fp c) { return _mm512_fmadd_ps(a, b, c); }
PT_SIMD pt_fp fp_round(pt_fp a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PT_SIMD pt_ip ip_bits(pt_fp a) { return _mm512_castps_si512(a); }
PT_SIMD pt_fp fp_from_bits(pt_ip a) { return _mm512_castsi512_ps(a); }
PT_SIMD pt_ip ip_to_int(pt_fp a) { return _mm512_cvttps_epi32(a); }
PT_SIMD pt_fp fp_from_int(pt_ip a) { return _mm512_cvtepi32_ps(a); }
PT_SIMD pt_fp fp_select_lt(pt_fp a, pt_fp b, pt_fp x, pt_fp y)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}
PT_SIMD pt_fp fp_select_lt_u32(pt_ip a, pt_ip b, pt_fp x, pt_fp y)
{
    return _mm512_mask_blend_ps(_mm512_cmplt_epu32_mask(a, b), y, x);
}
PT_SIMD pt_ip ip_set1(uint32_t x) { return _mm512_set1_epi32((int32_t)x); }
PT_SIMD pt_ip ip_load(const uint32_t *p) { return _mm512_loadu_si512(p); }
PT_SIMD void ip_store(uint32_t *p, pt_ip a) { _mm512_storeu_si512(p, a); }
PT_SIMD pt_ip ip_load_u16(const uint16_t *p)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i_u *)p));
}
PT_SIMD void ip_store_u16(uint16_t *p, pt_ip a)
{
    _mm256_storeu_si256((__m256i_u *)p, _mm512_cvtepi32_epi16(a));
}
PT_SIMD pt_ip ip_add(pt_ip a, pt_ip b) { return _mm512_add_epi32(a, b); }
PT_SIMD pt_ip ip_sub(pt_ip a, pt_ip b) { return _mm512_sub_epi32(a, b); }
PT_SIMD pt_ip ip_and(pt_ip a, pt_ip b) { return _mm512_and_si512(a, b); }
PT_SIMD pt_ip ip_or(pt_ip a, pt_ip b) { return _mm512_or_si512(a, b); }
PT_SIMD pt_ip ip_xor(pt_ip a, pt_ip b) { return _mm512_xor_si512(a, b); }
PT_SIMD pt_ip ip_shl(pt_ip a, uint32_t n) { return _mm512_sllv_epi32(a, ip_set1(n)); }
PT_SIMD pt_ip ip_shr(pt_ip a, uint32_t n) { return _mm512_srlv_epi32(a, ip_set1(n)); }
PT_SIMD pt_ip ip_sar(pt_ip a, uint32_t n) { return _mm512_srav_epi32(a, ip_set1(n)); }
PT_SIMD pt_ip ip_mul_lo(pt_ip a, pt_ip b) { return _mm512_mullo_epi32(a, b); }
PT_SIMD pt_ip ip_mul_hi(pt_ip a, pt_ip b)
{
    pt_ip even = _mm512_mul_epu32(a, b);
    pt_ip odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
    return _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
}
PT_SIMD void ip_transpose4(pt_ip *a, pt_ip *b, pt_ip *c, pt_ip *d)
{
    pt_ip ab_lo = _mm512_unpacklo_epi32(*a, *b), ab_hi = _mm512_unpackhi_epi32(*a, *b);
    pt_ip cd_lo = _mm512_unpacklo_epi32(*c, *d), cd_hi = _mm512_unpackhi_epi32(*c, *d);
    *a = _mm512_unpacklo_epi64(ab_lo, cd_lo);
    *b = _mm512_unpackhi_epi64(ab_lo, cd_lo);
    *c = _mm512_unpacklo_epi64(ab_hi, cd_hi);
    *d = _mm512_unpackhi_epi64(ab_hi, cd_hi);
}

#elif defined(PT_ISA_avx2)
/* ---- AVX2 and FMA: https://www.intel.com/content/www/us/en/docs/intrinsics-guide/index.html ---- */
#include <immintrin.h>
#define PT_PART_LANES 8
typedef __m256 pt_fp;
typedef __m256i pt_ip;

PT_SIMD pt_fp fp_set1(float x) { return _mm256_set1_ps(x); }
PT_SIMD pt_fp fp_load(const float *p) { return _mm256_loadu_ps(p); }
PT_SIMD void fp_store(float *p, pt_fp a) { _mm256_storeu_ps(p, a); }
PT_SIMD pt_fp fp_add(pt_fp a, pt_fp b) { return _mm256_add_ps(a, b); }
PT_SIMD pt_fp fp_sub(pt_fp a, pt_fp b) { return _mm256_sub_ps(a, b); }
PT_SIMD pt_fp fp_mul(pt_fp a, pt_fp b) { return _mm256_mul_ps(a, b); }
PT_SIMD pt_fp fp_div(pt_fp a, pt_fp b) { return _mm256_div_ps(a, b); }
PT_SIMD pt_fp fp_min(pt_fp a, pt_fp b) { return _mm256_min_ps(a, b); }
PT_SIMD pt_fp fp_max(pt_fp a, pt_fp b) { return _mm256_max_ps(a, b); }
PT_SIMD pt_fp fp_sqrt(pt_fp a) { return _mm256_sqrt_ps(a); }
PT_SIMD pt_fp fp_fused(pt_fp a, pt_fp b, pt_fp c) { return _mm256_fmadd_ps(a, b, c); }
PT_SIMD pt_fp fp_round(pt_fp a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PT_SIMD pt_ip ip_bits(pt_fp a) { return _mm256_castps_si256(a); }
PT_SIMD pt_fp fp_from_bits(pt_ip a) { return _mm256_castsi256_ps(a); }
PT_SIMD pt_ip ip_to_int(pt_fp a) { return _mm256_cvttps_epi32(a); }
PT_SIMD pt_fp fp_from_int(pt_ip a) { return _mm256_cvtepi32_ps(a); }
PT_SIMD pt_fp fp_select_lt(pt_fp a, pt_fp b, pt_fp x, pt_fp y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
PT_SIMD pt_ip ip_set1(uint32_t x) { return _mm256_set1_epi32((int32_t)x); }
PT_SIMD pt_ip ip_load(const uint32_t *p) { return _mm256_loadu_si256((const __m256i_u *)p); }
PT_SIMD void ip_store(uint32_t *p, pt_ip a) { _mm256_storeu_si256((__m256i_u *)p, a); }
PT_SIMD pt_ip ip_load_u16(const uint16_t *p)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i_u *)p));
}
PT_SIMD void ip_store_u16(uint16_t *p, pt_ip a)
{
    __m128i low = _mm256_castsi256_si128(a), high = _mm256_extracti128_si256(a, 1);
    _mm_storeu_si128((__m128i_u *)p, _mm_packus_epi32(low, high));
}
PT_SIMD pt_ip ip_add(pt_ip a, pt_ip b) { return _mm256_add_epi32(a, b); }
PT_SIMD pt_ip ip_sub(pt_ip a, pt_ip b) { return _mm256_sub_epi32(a, b); }
PT_SIMD pt_ip ip_and(pt_ip a, pt_ip b) { return _mm256_and_si256(a, b); }
PT_SIMD pt_ip ip_or(pt_ip a, pt_ip b) { return _mm256_or_si256(a, b); }
PT_SIMD pt_ip ip_xor(pt_ip a, pt_ip b) { return _mm256_xor_si256(a, b); }
PT_SIMD pt_ip ip_shl(pt_ip a, uint32_t n) { return _mm256_sllv_epi32(a, ip_set1(n)); }
PT_SIMD pt_ip ip_shr(pt_ip a, uint32_t n) { return _mm256_srlv_epi32(a, ip_set1(n)); }
PT_SIMD pt_ip ip_sar(pt_ip a, uint32_t n) { return _mm256_srav_epi32(a, ip_set1(n)); }
PT_SIMD pt_ip ip_mul_lo(pt_ip a, pt_ip b) { return _mm256_mullo_epi32(a, b); }
PT_SIMD pt_ip ip_mul_hi(pt_ip a, pt_ip b)
{
    pt_ip even = _mm256_mul_epu32(a, b);
    pt_ip odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
}
PT_SIMD pt_fp fp_select_lt_u32(pt_ip a, pt_ip b, pt_fp x, pt_fp y)
{
    pt_ip top = ip_set1(0x80000000u); /* only signed compares: shift both ranges down by 2^31 */
    pt_ip lt = _mm256_cmpgt_epi32(ip_xor(b, top), ip_xor(a, top));
    return _mm256_blendv_ps(y, x, fp_from_bits(lt));
}
PT_SIMD void ip_transpose4(pt_ip *a, pt_ip *b, pt_ip *c, pt_ip *d)
{
    pt_ip ab_lo = _mm256_unpacklo_epi32(*a, *b), ab_hi = _mm256_unpackhi_epi32(*a, *b);
    pt_ip cd_lo = _mm256_unpacklo_epi32(*c, *d), cd_hi = _mm256_unpackhi_epi32(*c, *d);
    *a = _mm256_unpacklo_epi64(ab_lo, cd_lo);
    *b = _mm256_unpackhi_epi64(ab_lo, cd_lo);
    *c = _mm256_unpacklo_epi64(ab_hi, cd_hi);
    *d = _mm256_unpackhi_epi64(ab_hi, cd_hi);
}

#elif defined(PT_ISA_neon)
/* ---- NEON (AArch64): https://arm-software.github.io/acle/neon_intrinsics/advsimd.html ---- */
#include <arm_neon.h>
#define PT_PART_LANES 4
typedef float32x4_t pt_fp;
typedef uint32x4_t pt_ip;

PT_SIMD pt_fp fp_set1(float x) { return vdupq_n_f32(x); }
PT_SIMD pt_fp fp_load(const float *p) { return vld1q_f32(p); }
PT_SIMD void fp_store(float *p, pt_fp a) { vst1q_f32(p, a); }
PT_SIMD pt_fp fp_add(pt_fp a, pt_fp b) { return vaddq_f32(a, b); }
PT_SIMD pt_fp fp_sub(pt_fp a, pt_fp b) { return vsubq_f32(a, b); }
PT_SIMD pt_fp fp_mul(pt_fp a, pt_fp b) { return vmulq_f32(a, b); }
PT_SIMD pt_fp fp_div(pt_fp a, pt_fp b) { return vdivq_f32(a, b); }
/* vminq and vmaxq treat NaN otherwise */
PT_SIMD pt_fp fp_min(pt_fp a, pt_fp b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
PT_SIMD pt_fp fp_max(pt_fp a, pt_fp b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
PT_SIMD pt_fp fp_sqrt(pt_fp a) { return vsqrtq_f32(a); }
PT_SIMD pt_fp fp_fused(pt_fp a, pt_fp b, pt_fp c) { return vfmaq_f32(c, a, b); }
PT_SIMD pt_fp fp_round(pt_fp a) { return vrndnq_f32(a); }
PT_SIMD pt_ip ip_bits(pt_fp a) { return vreinterpretq_u32_f32(a); }
PT_SIMD pt_fp fp_from_bits(pt_ip a) { return vreinterpretq_f32_u32(a); }
PT_SIMD pt_ip ip_to_int(pt_fp a) { return vreinterpretq_u32_s32(vcvtq_s32_f32(a)); }
PT_SIMD pt_fp fp_from_int(pt_ip a) { return vcvtq_f32_s32(vreinterpretq_s32_u32(a)); }
PT_SIMD pt_fp fp_select_lt(pt_fp a, pt_fp b, pt_fp x, pt_fp y)
{
    return vbslq_f32(vcltq_f32(a, b), x, y);
}
PT_SIMD pt_fp fp_select_lt_u32(pt_ip a, pt_ip b, pt_fp x, pt_fp y)
{
    return vbslq_f32(vcltq_u32(a, b), x, y);
}
PT_SIMD pt_ip ip_set1(uint32_t x) { return vdupq_n_u32(x); }
PT_SIMD pt_ip ip_load(const uint32_t *p) { return vld1q_u32(p); }
PT_SIMD void ip_store(uint32_t *p, pt_ip a) { vst1q_u32(p, a); }
PT_SIMD pt_ip ip_load_u16(const uint16_t *p) { return vmovl_u16(vld1_u16(p)); }
PT_SIMD void ip_store_u16(uint16_t *p, pt_ip a) { vst1_u16(p, vmovn_u32(a)); }
PT_SIMD pt_ip ip_add(pt_ip a, pt_ip b) { return vaddq_u32(a, b); }
PT_SIMD pt_ip ip_sub(pt_ip a, pt_ip b) { return vsubq_u32(a, b); }
PT_SIMD pt_ip ip_and(pt_ip a, pt_ip b) { return vandq_u32(a, b); }
PT_SIMD pt_ip ip_or(pt_ip a, pt_ip b) { return vorrq_u32(a, b); }
PT_SIMD pt_ip ip_xor(pt_ip a, pt_ip b) { return veorq_u32(a, b); }
PT_SIMD pt_ip ip_shl(pt_ip a, uint32_t n) { return vshlq_u32(a, vdupq_n_s32((int32_t)n)); }
/* a right shift is a left shift by a negative count */
PT_SIMD pt_ip ip_shr(pt_ip a, uint32_t n) { return vshlq_u32(a, vdupq_n_s32(-(int32_t)n)); }
PT_SIMD pt_ip ip_sar(pt_ip a, uint32_t n)
{
    return vreinterpretq_u32_s32(vshlq_s32(vreinterpretq_s32_u32(a), vdupq_n_s32(-(int32_t)n)));
}
PT_SIMD pt_ip ip_mul_lo(pt_ip a, pt_ip b) { return vmulq_u32(a, b); }
PT_SIMD pt_ip ip_mul_hi(pt_ip a, pt_ip b)
{
    uint64x2_t low = vmull_u32(vget_low_u32(a), vget_low_u32(b)), high = vmull_high_u32(a, b);
    return vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
}
PT_SIMD pt_ip ip_zip_low64(pt_ip a, pt_ip b)
{
    return vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b)));
}
PT_SIMD pt_ip ip_zip_high64(pt_ip a, pt_ip b)
{
    return vreinterpretq_u32_u64(vzip2q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b)));
}
PT_SIMD void ip_transpose4(pt_ip *a, pt_ip *b, pt_ip *c, pt_ip *d)
{
    pt_ip ab_lo = vzip1q_u32(*a, *b), ab_hi = vzip2q_u32(*a, *b);
    pt_ip cd_lo = vzip1q_u32(*c, *d), cd_hi = vzip2q_u32(*c, *d);
    *a = ip_zip_low64(ab_lo, cd_lo);
    *b = ip_zip_high64(ab_lo, cd_lo);
    *c = ip_zip_low64(ab_hi, cd_hi);
    *d = ip_zip_high64(ab_hi, cd_hi);
}

#elif defined(PT_ISA_wasm)
/* ---- WebAssembly SIMD: https://github.com/WebAssembly/simd/blob/main/proposals/simd/SIMD.md ---- */
#include <wasm_simd128.h>
#define PT_PART_LANES 4
typedef v128_t pt_fp;
typedef v128_t pt_ip;

PT_SIMD pt_fp fp_set1(float x) { return wasm_f32x4_splat(x); }
PT_SIMD pt_fp fp_load(const float *p) { return wasm_v128_load(p); }
PT_SIMD void fp_store(float *p, pt_fp a) { wasm_v128_store(p, a); }
PT_SIMD pt_fp fp_add(pt_fp a, pt_fp b) { return wasm_f32x4_add(a, b); }
PT_SIMD pt_fp fp_sub(pt_fp a, pt_fp b) { return wasm_f32x4_sub(a, b); }
PT_SIMD pt_fp fp_mul(pt_fp a, pt_fp b) { return wasm_f32x4_mul(a, b); }
PT_SIMD pt_fp fp_div(pt_fp a, pt_fp b) { return wasm_f32x4_div(a, b); }
/* pmin(b, a) is a<b ? a : b, and one instruction on x86; f32x4.min is neither */
PT_SIMD pt_fp fp_min(pt_fp a, pt_fp b) { return wasm_f32x4_pmin(b, a); }
PT_SIMD pt_fp fp_max(pt_fp a, pt_fp b) { return wasm_f32x4_pmax(b, a); }
PT_SIMD pt_fp fp_sqrt(pt_fp a) { return wasm_f32x4_sqrt(a); }
PT_SIMD pt_fp fp_fused(pt_fp a, pt_fp b, pt_fp c)
{
#if defined(__wasm_relaxed_simd__) /* rounds once or twice, as the host's machine does */
    return wasm_f32x4_relaxed_madd(a, b, c);
#else
    return fp_add(fp_mul(a, b), c);
#endif
}
PT_SIMD pt_fp fp_round(pt_fp a) { return wasm_f32x4_nearest(a); }
PT_SIMD pt_ip ip_bits(pt_fp a) { return a; }
PT_SIMD pt_fp fp_from_bits(pt_ip a) { return a; }
PT_SIMD pt_ip ip_to_int(pt_fp a) { return wasm_i32x4_trunc_sat_f32x4(a); }
PT_SIMD pt_fp fp_from_int(pt_ip a) { return wasm_f32x4_convert_i32x4(a); }
PT_SIMD pt_fp fp_select_lt(pt_fp a, pt_fp b, pt_fp x, pt_fp y)
{
    return wasm_v128_bitselect(x, y, wasm_f32x4_lt(a, b));
}
PT_SIMD pt_fp fp_select_lt_u32(pt_ip a, pt_ip b, pt_fp x, pt_fp y)
{
    return wasm_v128_bitselect(x, y, wasm_u32x4_lt(a, b));
}
PT_SIMD pt_ip ip_set1(uint32_t x) { return wasm_u32x4_splat(x); }
PT_SIMD pt_ip ip_load(const uint32_t *p) { return wasm_v128_load(p); }
PT_SIMD void ip_store(uint32_t *p, pt_ip a) { wasm_v128_store(p, a); }
PT_SIMD pt_ip ip_load_u16(const uint16_t *p) { return wasm_u32x4_load16x4(p); }
PT_SIMD void ip_store_u16(uint16_t *p, pt_ip a)
{
    wasm_v128_store64_lane(p, wasm_u16x8_narrow_i32x4(a, a), 0);
}
PT_SIMD pt_ip ip_add(pt_ip a, pt_ip b) { return wasm_i32x4_add(a, b); }
PT_SIMD pt_ip ip_sub(pt_ip a, pt_ip b) { return wasm_i32x4_sub(a, b); }
PT_SIMD pt_ip ip_and(pt_ip a, pt_ip b) { return wasm_v128_and(a, b); }
PT_SIMD pt_ip ip_or(pt_ip a, pt_ip b) { return wasm_v128_or(a, b); }
PT_SIMD pt_ip ip_xor(pt_ip a, pt_ip b) { return wasm_v128_xor(a, b); }
PT_SIMD pt_ip ip_shl(pt_ip a, uint32_t n) { return wasm_i32x4_shl(a, n); }
PT_SIMD pt_ip ip_shr(pt_ip a, uint32_t n) { return wasm_u32x4_shr(a, n); }
PT_SIMD pt_ip ip_sar(pt_ip a, uint32_t n) { return wasm_i32x4_shr(a, n); }
PT_SIMD pt_ip ip_mul_lo(pt_ip a, pt_ip b) { return wasm_i32x4_mul(a, b); }
PT_SIMD pt_ip ip_mul_hi(pt_ip a, pt_ip b)
{
    pt_ip low = wasm_u64x2_extmul_low_u32x4(a, b), high = wasm_u64x2_extmul_high_u32x4(a, b);
    return wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
}
PT_SIMD void ip_transpose4(pt_ip *a, pt_ip *b, pt_ip *c, pt_ip *d)
{
    pt_ip ab_lo = wasm_i32x4_shuffle(*a, *b, 0, 4, 1, 5);
    pt_ip ab_hi = wasm_i32x4_shuffle(*a, *b, 2, 6, 3, 7);
    pt_ip cd_lo = wasm_i32x4_shuffle(*c, *d, 0, 4, 1, 5);
    pt_ip cd_hi = wasm_i32x4_shuffle(*c, *d, 2, 6, 3, 7);
    *a = wasm_i64x2_shuffle(ab_lo, cd_lo, 0, 2);
    *b = wasm_i64x2_shuffle(ab_lo, cd_lo, 1, 3);
    *c = wasm_i64x2_shuffle(ab_hi, cd_hi, 0, 2);
    *d = wasm_i64x2_shuffle(ab_hi, cd_hi, 1, 3);
}

#else
/* ---- plain C: https://gcc.gnu.org/onlinedocs/gcc/Vector-Extensions.html ----
 * Quads rather than arrays of 16: compilers keep them in registers (or split them into scalars). */
#define PT_PART_LANES 4
typedef float pt_fp __attribute__((vector_size(16)));
typedef uint32_t pt_ip __attribute__((vector_size(16)));
typedef int32_t pt_sp __attribute__((vector_size(16))); /* signed, for shifts and conversions */

PT_SIMD pt_fp fp_set1(float x) { return (pt_fp){x, x, x, x}; }
PT_SIMD pt_fp fp_load(const float *p)
{
    pt_fp a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
PT_SIMD void fp_store(float *p, pt_fp a) { __builtin_memcpy(p, &a, sizeof a); }
PT_SIMD pt_fp fp_add(pt_fp a, pt_fp b) { return a + b; }
PT_SIMD pt_fp fp_sub(pt_fp a, pt_fp b) { return a - b; }
PT_SIMD pt_fp fp_mul(pt_fp a, pt_fp b) { return a * b; }
PT_SIMD pt_fp fp_div(pt_fp a, pt_fp b) { return a / b; }
PT_SIMD pt_fp fp_fused(pt_fp a, pt_fp b, pt_fp c) { return a * b + c; }
PT_SIMD pt_ip ip_bits(pt_fp a) { return (pt_ip)a; }
PT_SIMD pt_fp fp_from_bits(pt_ip a) { return (pt_fp)a; }
PT_SIMD pt_fp fp_pick(pt_ip mask, pt_fp x, pt_fp y)
{
    return (pt_fp)((mask & (pt_ip)x) | (~mask & (pt_ip)y));
}
PT_SIMD pt_fp fp_select_lt(pt_fp a, pt_fp b, pt_fp x, pt_fp y)
{
    return fp_pick((pt_ip)(a < b), x, y);
}
PT_SIMD pt_fp fp_select_lt_u32(pt_ip a, pt_ip b, pt_fp x, pt_fp y)
{
    return fp_pick((pt_ip)(a < b), x, y);
}
PT_SIMD pt_fp fp_min(pt_fp a, pt_fp b) { return fp_select_lt(a, b, a, b); }
PT_SIMD pt_fp fp_max(pt_fp a, pt_fp b) { return fp_select_lt(b, a, a, b); }
PT_SIMD pt_fp fp_sqrt(pt_fp a)
{
    return (pt_fp){__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]),
                   __builtin_sqrtf(a[3])};
}
PT_SIMD pt_fp fp_round(pt_fp a)
{
    /* Adding 2^23 to |a| < 2^23 leaves no room for a fraction; the sign is put back for -0. */
    const pt_fp big = fp_set1(8388608.0f);
    pt_ip sign = (pt_ip)a & 0x80000000u;
    pt_fp size = (pt_fp)((pt_ip)a & 0x7fffffffu);
    pt_fp whole = (pt_fp)((pt_ip)((size + big) - big) | sign);
    return fp_select_lt(size, big, whole, a);
}
PT_SIMD pt_ip ip_to_int(pt_fp a) { return (pt_ip) __builtin_convertvector(a, pt_sp); }
PT_SIMD pt_fp fp_from_int(pt_ip a) { return __builtin_convertvector((pt_sp)a, pt_fp); }
PT_SIMD pt_ip ip_set1(uint32_t x) { return (pt_ip){x, x, x, x}; }
PT_SIMD pt_ip ip_load(const uint32_t *p)
{
    pt_ip a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
PT_SIMD void ip_store(uint32_t *p, pt_ip a) { __builtin_memcpy(p, &a, sizeof a); }
PT_SIMD pt_ip ip_load_u16(const uint16_t *p) { return (pt_ip){p[0], p[1], p[2], p[3]}; }
PT_SIMD void ip_store_u16(uint16_t *p, pt_ip a)
{
    for (int i = 0; i < 4; i++) p[i] = (uint16_t)a[i];
}
PT_SIMD pt_ip ip_add(pt_ip a, pt_ip b) { return a + b; }
PT_SIMD pt_ip ip_sub(pt_ip a, pt_ip b) { return a - b; }
PT_SIMD pt_ip ip_and(pt_ip a, pt_ip b) { return a & b; }
PT_SIMD pt_ip ip_or(pt_ip a, pt_ip b) { return a | b; }
PT_SIMD pt_ip ip_xor(pt_ip a, pt_ip b) { return a ^ b; }
PT_SIMD pt_ip ip_shl(pt_ip a, uint32_t n) { return a << n; }
PT_SIMD pt_ip ip_shr(pt_ip a, uint32_t n) { return a >> n; }
PT_SIMD pt_ip ip_sar(pt_ip a, uint32_t n) { return (pt_ip)((pt_sp)a >> (int32_t)n); }
PT_SIMD pt_ip ip_mul_lo(pt_ip a, pt_ip b) { return a * b; }
PT_SIMD pt_ip ip_mul_hi(pt_ip a, pt_ip b)
{
    return (pt_ip){(uint32_t)((uint64_t)a[0] * b[0] >> 32), (uint32_t)((uint64_t)a[1] * b[1] >> 32),
                   (uint32_t)((uint64_t)a[2] * b[2] >> 32),
                   (uint32_t)((uint64_t)a[3] * b[3] >> 32)};
}
PT_SIMD void ip_transpose4(pt_ip *a, pt_ip *b, pt_ip *c, pt_ip *d)
{
    pt_ip w = *a, x = *b, y = *c, z = *d;
    *a = (pt_ip){w[0], x[0], y[0], z[0]};
    *b = (pt_ip){w[1], x[1], y[1], z[1]};
    *c = (pt_ip){w[2], x[2], y[2], z[2]};
    *d = (pt_ip){w[3], x[3], y[3], z[3]};
}
#endif

/* ---- sixteen lanes from parts ----
 * PT_EACHn applies f to each part of n vectors; with a scalar: PT_EACH_BY, PT_SPREAD, PT_LOAD, PT_STORE. */
#if PT_PART_LANES == 16
typedef pt_fp pt_vf;
typedef pt_ip pt_vi;
#define PT_EACH1(type, f, a) (f(a))
#define PT_EACH2(type, f, a, b) (f(a, b))
#define PT_EACH3(type, f, a, b, c) (f(a, b, c))
#define PT_EACH4(type, f, a, b, c, d) (f(a, b, c, d))
#define PT_EACH_BY(type, f, a, n) (f(a, n))
#define PT_SPREAD(type, f, x) (f(x))
#define PT_LOAD(type, f, p) (f(p))
#define PT_STORE(f, p, a) f(p, a)
#elif PT_PART_LANES == 8
typedef struct pt_vf {
    pt_fp p0, p1;
} pt_vf;
typedef struct pt_vi {
    pt_ip p0, p1;
} pt_vi;
#define PT_EACH1(type, f, a) ((type){f((a).p0), f((a).p1)})
#define PT_EACH2(type, f, a, b) ((type){f((a).p0, (b).p0), f((a).p1, (b).p1)})
#define PT_EACH3(type, f, a, b, c) ((type){f((a).p0, (b).p0, (c).p0), f((a).p1, (b).p1, (c).p1)})
#define PT_EACH4(type, f, a, b, c, d) \
    ((type){f((a).p0, (b).p0, (c).p0, (d).p0), f((a).p1, (b).p1, (c).p1, (d).p1)})
#define PT_EACH_BY(type, f, a, n) ((type){f((a).p0, n), f((a).p1, n)})
#define PT_SPREAD(type, f, x) ((type){f(x), f(x)})
#define PT_LOAD(type, f, p) ((type){f(p), f((p) + 8)})
#define PT_STORE(f, p, a) (f(p, (a).p0), f((p) + 8, (a).p1))
#else
typedef struct pt_vf {
    pt_fp p0, p1, p2, p3;
} pt_vf;
typedef struct pt_vi {
    pt_ip p0, p1, p2, p3;
} pt_vi;
#define PT_EACH1(type, f, a) ((type){f((a).p0), f((a).p1), f((a).p2), f((a).p3)})
#define PT_EACH2(type, f, a, b) \
    ((type){f((a).p0, (b).p0), f((a).p1, (b).p1), f((a).p2, (b).p2), f((a).p3, (b).p3)})
#define PT_EACH3(type, f, a, b, c)                                                           \
    ((type){f((a).p0, (b).p0, (c).p0), f((a).p1, (b).p1, (c).p1), f((a).p2, (b).p2, (c).p2), \
            f((a).p3, (b).p3, (c).p3)})
#define PT_EACH4(type, f, a, b, c, d)                                             \
    ((type){f((a).p0, (b).p0, (c).p0, (d).p0), f((a).p1, (b).p1, (c).p1, (d).p1), \
            f((a).p2, (b).p2, (c).p2, (d).p2), f((a).p3, (b).p3, (c).p3, (d).p3)})
#define PT_EACH_BY(type, f, a, n) ((type){f((a).p0, n), f((a).p1, n), f((a).p2, n), f((a).p3, n)})
#define PT_SPREAD(type, f, x) ((type){f(x), f(x), f(x), f(x)})
#define PT_LOAD(type, f, p) ((type){f(p), f((p) + 4), f((p) + 8), f((p) + 12)})
#define PT_STORE(f, p, a) \
    (f(p, (a).p0), f((p) + 4, (a).p1), f((p) + 8, (a).p2), f((p) + 12, (a).p3))
#endif

/* ---- integers: 16 lanes of 32 bits, wrapping ---- */
PT_SIMD pt_vi pt_vi_set1(uint32_t x) { return PT_SPREAD(pt_vi, ip_set1, x); }
PT_SIMD pt_vi pt_vi_load(const uint32_t *p) { return PT_LOAD(pt_vi, ip_load, p); }
PT_SIMD void pt_vi_store(uint32_t *p, pt_vi a) { PT_STORE(ip_store, p, a); }
/* Sixteen bits a lane: filled up with zeros; stored lanes must be below 2^16. */
PT_SIMD pt_vi pt_vi_load_u16(const uint16_t *p) { return PT_LOAD(pt_vi, ip_load_u16, p); }
PT_SIMD void pt_vi_store_u16(uint16_t *p, pt_vi a) { PT_STORE(ip_store_u16, p, a); }
PT_SIMD pt_vi pt_vi_add(pt_vi a, pt_vi b) { return PT_EACH2(pt_vi, ip_add, a, b); }
PT_SIMD pt_vi pt_vi_sub(pt_vi a, pt_vi b) { return PT_EACH2(pt_vi, ip_sub, a, b); }
PT_SIMD pt_vi pt_vi_and(pt_vi a, pt_vi b) { return PT_EACH2(pt_vi, ip_and, a, b); }
PT_SIMD pt_vi pt_vi_or(pt_vi a, pt_vi b) { return PT_EACH2(pt_vi, ip_or, a, b); }
PT_SIMD pt_vi pt_vi_xor(pt_vi a, pt_vi b) { return PT_EACH2(pt_vi, ip_xor, a, b); }
/* Low and high word of the 64-bit product of unsigned lanes. */
PT_SIMD pt_vi pt_vi_mul_lo(pt_vi a, pt_vi b) { return PT_EACH2(pt_vi, ip_mul_lo, a, b); }
PT_SIMD pt_vi pt_vi_mul_hi(pt_vi a, pt_vi b) { return PT_EACH2(pt_vi, ip_mul_hi, a, b); }
/* Shifts by 0 … 31: left, right filling with 0, right filling with the sign. */
PT_SIMD pt_vi pt_vi_shl(pt_vi a, uint32_t n) { return PT_EACH_BY(pt_vi, ip_shl, a, n); }
PT_SIMD pt_vi pt_vi_shr(pt_vi a, uint32_t n) { return PT_EACH_BY(pt_vi, ip_shr, a, n); }
PT_SIMD pt_vi pt_vi_sar(pt_vi a, uint32_t n) { return PT_EACH_BY(pt_vi, ip_sar, a, n); }
/* The quads of 16 bytes at p, p + step, p + 2 step, p + 3 step; p of any alignment, step in bytes. */
PT_SIMD pt_vi pt_vi_load_quads_at(const void *p, int64_t step)
{
    const char *at = (const char *)p;
#if PT_PART_LANES == 16
    __m512i a = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i_u *)at));
    a = _mm512_inserti32x4(a, _mm_loadu_si128((const __m128i_u *)(at + step)), 1);
    a = _mm512_inserti32x4(a, _mm_loadu_si128((const __m128i_u *)(at + 2 * step)), 2);
    return _mm512_inserti32x4(a, _mm_loadu_si128((const __m128i_u *)(at + 3 * step)), 3);
#elif PT_PART_LANES == 8
    return (pt_vi){_mm256_loadu2_m128i((const __m128i_u *)(at + step), (const __m128i_u *)at),
                   _mm256_loadu2_m128i((const __m128i_u *)(at + 3 * step),
                                       (const __m128i_u *)(at + 2 * step))};
#else
    pt_ip q[4];
    for (int i = 0; i < 4; i++) __builtin_memcpy(&q[i], at + i * step, sizeof q[i]);
    return (pt_vi){q[0], q[1], q[2], q[3]};
#endif
}
/* The quads p[0…3], p[step…], p[2*step…], p[3*step…]. */
PT_SIMD pt_vi pt_vi_load_quads(const uint32_t *p, int64_t step)
{
    return pt_vi_load_quads_at(p, 4 * step);
}
/* The reverse of load_quads_at. */
PT_SIMD void pt_vi_store_quads_at(void *p, int64_t step, pt_vi a)
{
    char *at = (char *)p;
#if PT_PART_LANES == 16
    _mm_storeu_si128((__m128i_u *)at, _mm512_castsi512_si128(a));
    _mm_storeu_si128((__m128i_u *)(at + step), _mm512_extracti32x4_epi32(a, 1));
    _mm_storeu_si128((__m128i_u *)(at + 2 * step), _mm512_extracti32x4_epi32(a, 2));
    _mm_storeu_si128((__m128i_u *)(at + 3 * step), _mm512_extracti32x4_epi32(a, 3));
#elif PT_PART_LANES == 8
    _mm256_storeu2_m128i((__m128i_u *)(at + step), (__m128i_u *)at, a.p0);
    _mm256_storeu2_m128i((__m128i_u *)(at + 3 * step), (__m128i_u *)(at + 2 * step), a.p1);
#else
    pt_ip q[4] = {a.p0, a.p1, a.p2, a.p3};
    for (int i = 0; i < 4; i++) __builtin_memcpy(at + i * step, &q[i], sizeof q[i]);
#endif
}
/* Transposes the 4 by 4 matrices that lanes 4k … 4k+3 of w[0] … w[3] make: afterwards lane 4k+i of w[j] is what
 * lane 4k+j of w[i] was. */
PT_SIMD void pt_vi_transpose4(pt_vi w[4])
{
#if PT_PART_LANES == 16
    ip_transpose4(&w[0], &w[1], &w[2], &w[3]);
#else
    ip_transpose4(&w[0].p0, &w[1].p0, &w[2].p0, &w[3].p0);
    ip_transpose4(&w[0].p1, &w[1].p1, &w[2].p1, &w[3].p1);
#if PT_PART_LANES == 4
    ip_transpose4(&w[0].p2, &w[1].p2, &w[2].p2, &w[3].p2);
    ip_transpose4(&w[0].p3, &w[1].p3, &w[2].p3, &w[3].p3);
#endif
#endif
}

/* ---- between floats and integers ---- */
PT_SIMD pt_vi pt_vf_bits(pt_vf a) { return PT_EACH1(pt_vi, ip_bits, a); }
PT_SIMD pt_vf pt_vf_from_bits(pt_vi a) { return PT_EACH1(pt_vf, fp_from_bits, a); }
/* Signed integers; to_int cuts the fraction off and wants |a| < 2^31. */
PT_SIMD pt_vi pt_vf_to_int(pt_vf a) { return PT_EACH1(pt_vi, ip_to_int, a); }
PT_SIMD pt_vf pt_vf_from_int(pt_vi a) { return PT_EACH1(pt_vf, fp_from_int, a); }

/* ---- floats ---- */
PT_SIMD pt_vf pt_vf_set1(float x) { return PT_SPREAD(pt_vf, fp_set1, x); }
PT_SIMD pt_vf pt_vf_zero(void) { return pt_vf_set1(0.0f); }
PT_SIMD pt_vf pt_vf_load(const float *p) { return PT_LOAD(pt_vf, fp_load, p); }
PT_SIMD void pt_vf_store(float *p, pt_vf a) { PT_STORE(fp_store, p, a); }
/* The first n lanes, 0 <= n <= 16; the others load as 0 and are not stored. Memory beyond is not touched. */
PT_SIMD pt_vf pt_vf_load_n(const float *p, int64_t n)
{
#if defined(PT_ISA_avx512)
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
    float lanes[PT_LANES] = {0};
    for (int64_t i = 0; i < n; i++) lanes[i] = p[i];
    return pt_vf_load(lanes);
#endif
}
PT_SIMD void pt_vf_store_n(float *p, pt_vf a, int64_t n)
{
#if defined(PT_ISA_avx512)
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), a);
#else
    float lanes[PT_LANES];
    pt_vf_store(lanes, a);
    for (int64_t i = 0; i < n; i++) p[i] = lanes[i];
#endif
}

PT_SIMD pt_vf pt_vf_add(pt_vf a, pt_vf b) { return PT_EACH2(pt_vf, fp_add, a, b); }
PT_SIMD pt_vf pt_vf_sub(pt_vf a, pt_vf b) { return PT_EACH2(pt_vf, fp_sub, a, b); }
PT_SIMD pt_vf pt_vf_mul(pt_vf a, pt_vf b) { return PT_EACH2(pt_vf, fp_mul, a, b); }
PT_SIMD pt_vf pt_vf_div(pt_vf a, pt_vf b) { return PT_EACH2(pt_vf, fp_div, a, b); }
/* a<b ? a : b and a>b ? a : b: b where either is NaN. */
PT_SIMD pt_vf pt_vf_min(pt_vf a, pt_vf b) { return PT_EACH2(pt_vf, fp_min, a, b); }
PT_SIMD pt_vf pt_vf_max(pt_vf a, pt_vf b) { return PT_EACH2(pt_vf, fp_max, a, b); }
PT_SIMD pt_vf pt_vf_sqrt(pt_vf a) { return PT_EACH1(pt_vf, fp_sqrt, a); }
/* a*b + c: one rounding where the instruction set has it and PT_STRICT is not 1, else two. */
PT_SIMD pt_vf pt_vf_fma(pt_vf a, pt_vf b, pt_vf c)
{
#if PT_SIMD_FUSED
    return PT_EACH3(pt_vf, fp_fused, a, b, c);
#else
    return pt_vf_add(pt_vf_mul(a, b), c);
#endif
}
PT_SIMD pt_vf pt_vf_neg(pt_vf a)
{
    return pt_vf_from_bits(pt_vi_xor(pt_vf_bits(a), pt_vi_set1(0x80000000u)));
}
PT_SIMD pt_vf pt_vf_abs(pt_vf a)
{
    return pt_vf_from_bits(pt_vi_and(pt_vf_bits(a), pt_vi_set1(0x7fffffffu)));
}
/* The size of a with the sign of b. */
PT_SIMD pt_vf pt_vf_copysign(pt_vf a, pt_vf b)
{
    pt_vi sign = pt_vi_and(pt_vf_bits(b), pt_vi_set1(0x80000000u));
    return pt_vf_from_bits(pt_vi_or(pt_vf_bits(pt_vf_abs(a)), sign));
}
/* a<b ? x : y and a>b ? x : y: y where a or b is NaN. */
PT_SIMD pt_vf pt_vf_select_lt(pt_vf a, pt_vf b, pt_vf x, pt_vf y)
{
    return PT_EACH4(pt_vf, fp_select_lt, a, b, x, y);
}
PT_SIMD pt_vf pt_vf_select_gt(pt_vf a, pt_vf b, pt_vf x, pt_vf y)
{
    return PT_EACH4(pt_vf, fp_select_lt, b, a, x, y);
}
/* The same for unsigned integers a, b. */
PT_SIMD pt_vf pt_vf_select_lt_u32(pt_vi a, pt_vi b, pt_vf x, pt_vf y)
{
    return PT_EACH4(pt_vf, fp_select_lt_u32, a, b, x, y);
}
/* To the nearest integer, ties to even; keeps the sign of zero. */
PT_SIMD pt_vf pt_vf_round(pt_vf a) { return PT_EACH1(pt_vf, fp_round, a); }

/* ---- bfloat16: the upper half of a float ----
 * Rounded to nearest, ties to even, as pt_bf16_from_float does (base/maths.h). Integer arithmetic on every
 * instruction set: the conversions of AVX512_BF16 take subnormals for zero. */
PT_SIMD pt_vf pt_vf_load_bf16(const uint16_t *p)
{
    return pt_vf_from_bits(pt_vi_shl(pt_vi_load_u16(p), 16));
}
PT_SIMD pt_vi pt_vf_to_bf16(pt_vf a)
{
    pt_vi bits = pt_vf_bits(a), top = pt_vi_shr(bits, 16);
    pt_vi half = pt_vi_add(pt_vi_and(top, pt_vi_set1(1)), pt_vi_set1(0x7fff));
    pt_vi near = pt_vi_shr(pt_vi_add(bits, half), 16), quiet = pt_vi_or(top, pt_vi_set1(0x40));
    pt_vi size = pt_vi_and(bits, pt_vi_set1(0x7fffffffu));
    return pt_vf_bits(pt_vf_select_lt_u32(pt_vi_set1(0x7f800000u), size, pt_vf_from_bits(quiet),
                                          pt_vf_from_bits(near)));
}
PT_SIMD void pt_vf_store_bf16(uint16_t *p, pt_vf a) { pt_vi_store_u16(p, pt_vf_to_bf16(a)); }
/* The first n lanes, as pt_vf_load_n and pt_vf_store_n. */
PT_SIMD pt_vi pt_vi_load_u16_n(const uint16_t *p, int64_t n)
{
#if defined(PT_ISA_avx512)
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), p));
#else
    uint16_t lanes[PT_LANES] = {0};
    for (int64_t i = 0; i < n; i++) lanes[i] = p[i];
    return pt_vi_load_u16(lanes);
#endif
}
PT_SIMD pt_vf pt_vf_load_bf16_n(const uint16_t *p, int64_t n)
{
    return pt_vf_from_bits(pt_vi_shl(pt_vi_load_u16_n(p, n), 16));
}
PT_SIMD void pt_vf_store_bf16_n(uint16_t *p, pt_vf a, int64_t n)
{
#if defined(PT_ISA_avx512)
    _mm256_mask_storeu_epi16(p, (__mmask16)((1u << n) - 1),
                             _mm512_cvtepi32_epi16(pt_vf_to_bf16(a)));
#else
    uint16_t lanes[PT_LANES];
    pt_vf_store_bf16(lanes, a);
    for (int64_t i = 0; i < n; i++) p[i] = lanes[i];
#endif
}
/* a * 2^n, rounded once, for finite integral n (any size) and a that is 0, inf, NaN or 2^-24 <= |a| <= 2^24. */
PT_SIMD pt_vf pt_vf_scale2(pt_vf a, pt_vf n)
{
#if defined(PT_ISA_avx512)
    return _mm512_scalef_ps(a, n);
#else
    /* In two factors, so that each is a normal float: beyond +-252 every such a is 0 or inf already. The first
     * product is exact when the second is not 0 or inf, as its exponent lies half way. */
    n = pt_vf_min(pt_vf_max(n, pt_vf_set1(-252.0f)), pt_vf_set1(252.0f));
    pt_vi whole = pt_vf_to_int(n), half = pt_vi_sar(whole, 1), bias = pt_vi_set1(127);
    pt_vi first = pt_vi_shl(pt_vi_add(half, bias), 23);
    pt_vi second = pt_vi_shl(pt_vi_add(pt_vi_sub(whole, half), bias), 23);
    return pt_vf_mul(pt_vf_mul(a, pt_vf_from_bits(first)), pt_vf_from_bits(second));
#endif
}

/* ---- half a vector: eight floats, for register tiles where a whole one would take too many registers ---- */
#if PT_PART_LANES == 4
typedef struct pt_hf {
    pt_fp p0, p1;
} pt_hf;
PT_SIMD pt_hf pt_hf_set1(float x) { return (pt_hf){fp_set1(x), fp_set1(x)}; }
PT_SIMD pt_hf pt_hf_zero(void) { return pt_hf_set1(0.0f); }
PT_SIMD pt_hf pt_hf_load(const float *p) { return (pt_hf){fp_load(p), fp_load(p + 4)}; }
PT_SIMD void pt_hf_store(float *p, pt_hf a) { (fp_store(p, a.p0), fp_store(p + 4, a.p1)); }
PT_SIMD pt_hf pt_hf_fma(pt_hf a, pt_hf b, pt_hf c)
{
    return (pt_hf){fp_fused(a.p0, b.p0, c.p0), fp_fused(a.p1, b.p1, c.p1)};
}
#endif

/* A hint that the cache line at p (any address) will be wanted soon. */
PT_SIMD void pt_prefetch(const void *p) { __builtin_prefetch(p, 0, 3); }

/* ---- across lanes, by one fixed tree on every instruction set ----
 * lane i with i+8 (i<8), then i with i+4 (i<4), i with i+2 (i<2), 0 with 1. */
PT_SIMD float pt_vf_sum(pt_vf a)
{
#if defined(PT_ISA_avx512) || defined(PT_ISA_avx2)
#if defined(PT_ISA_avx512)
    __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), high);
#else
    __m256 eight = _mm256_add_ps(a.p0, a.p1);
#endif
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
#else
    float q[4];
    fp_store(q, fp_add(fp_add(a.p0, a.p2), fp_add(a.p1, a.p3)));
    return (q[0] + q[2]) + (q[1] + q[3]);
#endif
}
/* The largest lane; unspecified (but no trap) when a lane is NaN. */
PT_SIMD float pt_vf_max_all(pt_vf a)
{
#if defined(PT_ISA_avx512) || defined(PT_ISA_avx2)
#if defined(PT_ISA_avx512)
    __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
    __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a), high);
#else
    __m256 eight = _mm256_max_ps(a.p0, a.p1);
#endif
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
#else
    float q[4];
    fp_store(q, fp_max(fp_max(a.p0, a.p2), fp_max(a.p1, a.p3)));
    float even = q[0] > q[2] ? q[0] : q[2], odd = q[1] > q[3] ? q[1] : q[3];
    return even > odd ? even : odd;
#endif
}

#endif
