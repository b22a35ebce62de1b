/* Runs a fuzz target over files without libFuzzer, so that any compiler can replay a corpus.
 *
 * Each file is fed as it is, then cut short at up to 256 lengths, then with one byte changed at up to
 * 256 places. A target that must not crash on hostile bytes shows it here in a second; searching
 * for new inputs is libFuzzer's work (`make fuzz`).
 * Usage: fuzz_NAME FILE|FOLDER…      SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIANTS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int n_files, n_unreadable;

/* A copy of exactly the right size, so that the sanitizer sees one byte too far. */
static void feed(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) exit(3);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void feed_variants(uint8_t *data, size_t size)
{
    feed(data, size);
    size_t n = size < VARIANTS ? size : VARIANTS;
    for (size_t i = 0; i < n; i++) feed(data, size * i / n);
    for (size_t i = 0; i < n; i++) {
        uint8_t *byte = &data[size * i / n], kept = *byte;
        *byte = (uint8_t)(kept ^ (i % 3 == 0 ? 0xff : i % 3 == 1 ? 0x01 : 0x80));
        feed(data, size);
        *byte = kept;
    }
}

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    uint8_t *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (!data || fseek(f, 0, SEEK_SET) || fread(data, 1, (size_t)size, f) != (size_t)size) {
        printf("cannot read %s\n", path);
        n_unreadable++;
    } else {
        n_files++;
        feed_variants(data, (size_t)size);
    }
    free(data);
    if (f) fclose(f);
}

static void replay(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        replay_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char inside[1024];
        if (entry->d_name[0] == '.') continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        replay(inside);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    feed((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) replay(argv[i]);
    if (n_files == 0) {
        printf("no corpus files\n");
        n_unreadable++;
    }
    printf("%d passed, %d failed\n", n_files, n_unreadable);
    return n_unreadable ? 1 : 0;
}
