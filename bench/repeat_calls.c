/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a long recording of a short one: its calls again and again, in a compact file.
 *
 *   repeat_calls DIR FILE RECORDS
 *
 * DIR is a uftrace directory in which every call ends. FILE gets its text files, and about RECORDS
 * records: two packers, each on a thread, write half of them; the second one's tasks are those of
 * the first, plus 1000. Prints how many records there are and how long that took.
 */
#include "calls/file/file.h"
#include "calls/repair/compact.h"
#include "recording/directory/dir.h"
#include "recording/directory/uftrace.h"

#include <glib.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKERS = 2, PIECE = 1024, TASKS_APART = 1000 };

/* Some records of a task that come one after the other. */
struct piece {
    uint32_t tid;
    const struct gt_compact_record *record;
    size_t n;
};

struct pattern {
    GArray *pieces; /* in order of time */
    uint64_t records, span;
};

struct packer {
    const struct pattern *pattern;
    const char *path;
    uint32_t number;
    uint64_t times; /* of the pattern */
    pthread_t thread;
    struct gt_error err;
    int status;
};

static gint compare_pieces(gconstpointer a, gconstpointer b)
{
    const struct piece *x = a, *y = b;
    return x->record->time < y->record->time ? -1 : x->record->time > y->record->time;
}

static int read_pattern(const char *dir, struct pattern *out, struct gt_error *err)
{
    g_autofree uint32_t *tids = NULL;
    uint64_t first = UINT64_MAX, last = 0;
    int64_t n = gt_uftrace_dat_list(dir, &tids, err);
    out->pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
    for (int64_t i = 0; i < n; i++) {
        g_autofree char *path = g_strdup_printf("%s/%u.dat", dir, tids[i]);
        char *data;
        size_t size;
        int status = gt_file_read(path, 1u << 30, &data, &size, err);
        if (status < 0)
            return status;
        const struct gt_compact_record *record = (const struct gt_compact_record *)(void *)data;
        const size_t records = size / sizeof *record;
        for (size_t at = 0; at < records; at += PIECE) {
            const struct piece p = {tids[i], record + at, MIN(PIECE, records - at)};
            g_array_append_val(out->pieces, p);
        }
        if (records > 0) {
            first = MIN(first, record->time);
            last = MAX(last, record[records - 1].time);
        }
        out->records += records;
    }
    g_array_sort(out->pieces, compare_pieces);
    out->span = last - first + 1000;
    return n < 0 ? (int)n : out->records ? 0 : gt_error_set(err, GT_E_NOT_FOUND, "no records");
}

static int end_block(struct packer *p, struct gt_compact_packer *packer)
{
    const uint8_t *block;
    size_t size;
    int status = gt_compact_packer_end_block(packer, &block, &size);
    if (status < 0)
        return gt_error_set(&p->err, status, "out of memory");
    return size ? gt_compact_file_append(p->path, block, size, &p->err) : 0;
}

static int put_piece(const struct packer *p, struct gt_compact_packer *packer,
                     const struct piece *piece, uint64_t later)
{
    struct gt_compact_record record[PIECE];
    for (size_t i = 0; i < piece->n; i++)
        record[i] =
            (struct gt_compact_record){piece->record[i].time + later, piece->record[i].word};
    return gt_compact_packer_put(packer, piece->tid + (p->number - 1) * TASKS_APART, record,
                                 piece->n);
}

static void *pack(void *self)
{
    struct packer *p = self;
    const struct gt_compact_packer_options o = {.packer = p->number, .exact = true};
    const uint64_t begin = (p->number - 1) * p->times;
    struct gt_compact_packer *packer;
    p->status = gt_compact_packer_create(&o, &packer);
    for (uint64_t k = 0; k < p->times && p->status == 0; k++)
        for (guint i = 0; i < p->pattern->pieces->len && p->status == 0; i++) {
            p->status = put_piece(p, packer, &g_array_index(p->pattern->pieces, struct piece, i),
                                  (begin + k) * p->pattern->span);
            if (p->status == 0 && gt_compact_packer_is_full(packer))
                p->status = end_block(p, packer);
        }
    if (p->status == 0)
        p->status = end_block(p, packer);
    gt_compact_packer_destroy(packer);
    return NULL;
}

/* The text files; the recording's own records are not in the file. */
static int pack_texts(const char *dir, const char *path, struct gt_error *err)
{
    static const char *const names[] = {"info", "task.txt", "sid-00112233aabbccdd.map",
                                        "guest.sym"};
    int status = gt_compact_file_create(path, err);
    for (size_t i = 0; i < G_N_ELEMENTS(names) && status == 0; i++) {
        g_autofree char *from = g_build_filename(dir, names[i], NULL);
        uint8_t *block = NULL;
        char *data = NULL;
        size_t n, size;
        status = gt_file_read(from, GT_COMPACT_MAX_TEXT, &data, &n, err);
        if (status == 0)
            status = gt_compact_text_pack(names[i], data, n, &block, &size);
        if (status == 0)
            status = gt_compact_file_append(path, block, size, err);
        free(block);
        free(data);
    }
    return status;
}

static int repeat(const char *dir, const char *path, uint64_t records, struct gt_error *err)
{
    struct pattern pattern = {0};
    struct packer packer[PACKERS];
    int status = read_pattern(dir, &pattern, err);
    if (status == 0)
        status = pack_texts(dir, path, err);
    if (status < 0)
        return status;
    const uint64_t times = (records + PACKERS * pattern.records - 1) / (PACKERS * pattern.records);
    for (uint32_t i = 0; i < PACKERS; i++) {
        packer[i] =
            (struct packer){.pattern = &pattern, .path = path, .number = i + 1, .times = times};
        pthread_create(&packer[i].thread, NULL, pack, &packer[i]);
    }
    for (uint32_t i = 0; i < PACKERS; i++) {
        pthread_join(packer[i].thread, NULL);
        if (packer[i].status < 0 && status == 0) {
            *err = packer[i].err;
            status = packer[i].status;
        }
    }
    if (status == 0)
        printf("%" PRIu64 " %" PRIu64 "\n", times * PACKERS * pattern.records,
               times * PACKERS * pattern.span);
    return status < 0 ? status : gt_compact_index_append(path, err);
}

int main(int argc, char **argv)
{
    struct gt_error err = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: repeat_calls DIR FILE RECORDS\n");
        return 2;
    }
    if (repeat(argv[1], argv[2], strtoull(argv[3], NULL, 10), &err) < 0) {
        fprintf(stderr, "repeat_calls: %s\n", err.text);
        return 1;
    }
    return 0;
}
