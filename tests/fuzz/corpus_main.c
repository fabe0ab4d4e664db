/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds every file of the directories named, and every beginning of each, to a fuzz target: what
 * fuzzing has found stays found, with any compiler.
 */
#include <dirent.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A block of just that size, so that a memory checker sees a read past its end. */
static void feed(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        exit(1);
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int feed_file(const char *dir, const char *name)
{
    static uint8_t data[1 << 16];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    size_t step = size / 2000 + 1;
    for (size_t n = 0; n < size; n += step)
        feed(data, n);
    feed(data, size);
    return 1;
}

int main(int argc, char **argv)
{
    int files = 0;
    mallopt(M_TRIM_THRESHOLD, 64 << 20); /* new pages would take longer than the rest */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        const struct dirent *e;
        while (dir && (e = readdir(dir)))
            if (e->d_name[0] != '.')
                files += feed_file(argv[i], e->d_name);
        if (dir)
            closedir(dir);
    }
    printf("%d files\n", files);
    return files ? 0 : 1;
}
