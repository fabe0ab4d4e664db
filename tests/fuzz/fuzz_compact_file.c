/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in one file. The input is taken as a file, as it is and with checksums that fit: what
 * its index says, its segments, words, text files and records are read. Then it gets an index,
 * after which it has the same blocks.
 */
#include "base/bytes.h"
#include "calls/file/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENOUGH = 1 << 18 /* records */, MOST = 1 << 20 /* bytes */ };

static volatile uint64_t seen;

static void require(bool good)
{
    if (!good)
        abort();
}

/* Makes the checksums of all blocks fit, and the version ours. */
static void fix(uint8_t *data, size_t size)
{
    const uint8_t magic[] = {'t', 'B', 'l', 'k'};
    size_t at = GT_COMPACT_FILE_HEAD;
    if (size < at)
        return;
    memcpy(data, "gtrace\r\n\1\0\0", 11);
    while (size - at >= GT_COMPACT_HEAD) {
        uint8_t *head = data + at;
        if (memcmp(head, magic, sizeof magic) != 0) {
            at++;
            continue;
        }
        uint32_t n = gt_bytes_le32(head + 8);
        if (n > size - at - GT_COMPACT_HEAD) {
            at++;
            continue;
        }
        gt_bytes_put32(head + 12, (uint32_t)crc32_z(0, head + GT_COMPACT_HEAD, n));
        gt_bytes_put32(head + 60, (uint32_t)crc32_z(0, head, 60));
        at += GT_COMPACT_HEAD + n;
    }
}

static int look(void *self, const struct gt_compact_piece *p)
{
    uint64_t *n = self;
    for (size_t i = 0; i < p->n_open; i++)
        seen += p->open[i].begin;
    seen += p->event[p->n - 1].time;
    *n += p->n;
    return *n > ENOUGH ? GT_E_RANGE : 0;
}

static void read_segment(const struct gt_compact_file *f, const struct gt_compact_segment *s,
                         uint64_t *records)
{
    struct gt_compact_buffer buffer = {0};
    struct gt_compact_unpacker *u;
    const uint8_t *payload;
    int status = gt_compact_unpacker_create(&u);
    require(status == 0);
    for (size_t i = 0; i < s->n && status == 0; i++) {
        require(s->block[i] < f->n);
        status = gt_compact_file_read(f, s->block[i], &buffer, &payload, NULL);
        if (status == 0)
            status = gt_compact_unpacker_block(u, &f->block[s->block[i]].head, payload, look,
                                               records, NULL);
    }
    gt_compact_unpacker_destroy(u);
    gt_compact_buffer_free(&buffer);
}

static int look_at_word(void *self, uint64_t word)
{
    uint64_t *n = self;
    seen += word;
    return ++*n > ENOUGH ? GT_E_RANGE : 0;
}

static void read_texts(const struct gt_compact_file *f)
{
    char name[GT_COMPACT_MAX_NAME + 1], *text;
    size_t size, texts = 0;
    for (size_t i = 0; i < f->n && texts < 3; i++)
        if (f->block[i].head.type == GT_COMPACT_FILE &&
            gt_compact_file_name(f, i, name, NULL) == 0 && ++texts &&
            gt_compact_file_text(f, name, &text, &size, NULL) == 0) {
            require(text[size] == 0);
            free(text);
        }
}

static void read_file(const struct gt_compact_file *f)
{
    struct gt_compact_segments s;
    uint64_t records = 0, words = 0;
    require(f->whole <= f->size);
    for (size_t i = 0; i < f->n; i++)
        require(f->block[i].head.size <= f->size - f->block[i].at - GT_COMPACT_HEAD);
    require(gt_compact_segments_find(f, &s) == 0);
    for (size_t i = 0; i < s.n && records <= ENOUGH; i++)
        read_segment(f, &s.segment[i], &records);
    gt_compact_segments_free(&s);
    gt_compact_file_words(f, look_at_word, &words, NULL);
    read_texts(f);
}

/* What the heads say, and no more. */
static void compare(const char *path, const struct gt_compact_file *heads)
{
    struct gt_compact_file f;
    require(gt_compact_file_open(path, &f, NULL) == 0);
    require(f.index_at == heads->size);
    require(f.n == heads->n + 1 && f.n_gaps == heads->n_gaps);
    for (size_t i = 0; i < heads->n; i++)
        require(f.block[i].at == heads->block[i].at &&
                f.block[i].head.before == heads->block[i].head.before &&
                f.block[i].head.last_time == heads->block[i].head.last_time);
    gt_compact_file_close(&f);
}

static void take(const uint8_t *data, size_t size)
{
    char path[64];
    struct gt_compact_file f;
    int fd = memfd_create("compact", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (gt_compact_file_open(path, &f, NULL) == 0) {
        bool indexed = f.index_at != 0;
        read_file(&f);
        gt_compact_file_close(&f);
        require(gt_compact_file_scan(path, &f, NULL) == 0);
        require(gt_compact_index_append(path, NULL) == 0);
        if (!indexed)
            compare(path, &f);
        gt_compact_file_close(&f);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy || size > MOST)
        return free(copy), 0;
    memcpy(copy, data, size);
    take(copy, size);
    fix(copy, size);
    take(copy, size);
    free(copy);
    return 0;
}
