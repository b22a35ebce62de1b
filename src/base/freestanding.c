/* The libc memory and string functions where there is no libc (WASM); see base/mem.h.
 *
 * With -mbulk-memory the copying builtins become single instructions, not calls to themselves.
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"

#if !defined(__wasm_bulk_memory__)
#error "compile with -mbulk-memory: otherwise memcpy would call itself"
#endif

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    return __builtin_memcpy(dst, src, n);
}

void *memmove(void *dst, const void *src, size_t n) { return __builtin_memmove(dst, src, n); }
void *memset(void *dst, int c, size_t n) { return __builtin_memset(dst, c, n); }

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* The standard takes const away here; an integer in between keeps -Wcast-qual quiet. */
static void *without_const(const void *p) { return (void *)(uintptr_t)p; }

void *memchr(const void *s, int c, size_t n)
{
    const unsigned char *bytes = s;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == (unsigned char)c) return without_const(bytes + i);
    return NULL;
}

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) return (unsigned char)a[i] - (unsigned char)b[i];
        if (!a[i]) return 0;
    }
    return 0;
}

char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c) return without_const(s);
        if (!*s) return NULL;
    }
}

char *strrchr(const char *s, int c)
{
    const char *found = NULL;
    for (;; s++) {
        if (*s == (char)c) found = s;
        if (!*s) return found ? without_const(found) : NULL;
    }
}
