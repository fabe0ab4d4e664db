/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TID.dat files in order of time: see pack_sources.h. */
#include "calls/repair/pack_sources.h"

#include "base/bytes.h"
#include "calls/read/calls.h"
#include "calls/read/record_specs.h"
#include "recording/directory/dir.h"
#include "recording/directory/skipped.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a source: where values end, and what they are. */
struct gt_repair_pack_values {
    struct gt_uftrace_skipped open;
    struct gt_calls_record_specs *specs;
};

/* ---- which comes first --------------------------------------------------------------------- */

static bool has_record(const struct gt_repair_pack_source *s)
{
    return s->size - s->at >= GT_UFTRACE_RECORD_SIZE;
}

uint64_t gt_repair_pack_source_time(const struct gt_repair_pack_source *s)
{
    return has_record(s) ? gt_bytes_le64(s->data + s->at) : UINT64_MAX;
}

static uint64_t word_of(const struct gt_repair_pack_source *s)
{
    return gt_bytes_le64(s->data + s->at + 8);
}

static void sift_down(struct gt_repair_pack_sources *s, size_t i)
{
    struct gt_repair_pack_source *heap = s->source;
    for (size_t child; (child = 2 * i + 1) < s->n; i = child) {
        if (child + 1 < s->n &&
            gt_repair_pack_source_time(&heap[child + 1]) < gt_repair_pack_source_time(&heap[child]))
            child++;
        if (gt_repair_pack_source_time(&heap[i]) <= gt_repair_pack_source_time(&heap[child]))
            return;
        struct gt_repair_pack_source swapped = heap[i];
        heap[i] = heap[child];
        heap[child] = swapped;
    }
}

uint64_t gt_repair_pack_sources_others(const struct gt_repair_pack_sources *s)
{
    uint64_t time = UINT64_MAX;
    for (size_t i = 1; i < 3 && i < s->n; i++)
        time = MIN(time, gt_repair_pack_source_time(&s->source[i]));
    return time;
}

static void close_source(struct gt_repair_pack_source *s)
{
    munmap((void *)(uintptr_t)s->data, s->size);
    if (s->values)
        gt_calls_record_specs_destroy(s->values->specs);
    g_free(s->values);
}

static int refuse_cut(const struct gt_repair_pack_sources *s,
                      const struct gt_repair_pack_source *from, struct gt_error *err)
{
    return gt_error_set(err, GT_E_FORMAT,
                        "%s/%u.dat: offset %zu: a record is incomplete; run guesttrace repair",
                        s->dir, from->tid, from->at);
}

int gt_repair_pack_sources_order(struct gt_repair_pack_sources *s, struct gt_error *err)
{
    const struct gt_repair_pack_source *first = s->source;
    if (!has_record(first)) {
        if (first->at < first->size)
            return refuse_cut(s, first, err);
        close_source(s->source);
        *s->source = s->source[--s->n];
    }
    sift_down(s, 0);
    return 0;
}

/* ---- files --------------------------------------------------------------------------------- */

static int map_source(struct gt_repair_pack_sources *s, uint32_t tid, struct gt_error *err)
{
    struct stat st;
    g_autofree char *path = g_strdup_printf("%s/%u.dat", s->dir, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
    void *data = MAP_FAILED;
    if (fd < 0 || fstat(fd, &st) != 0)
        status = gt_error_errno(err, errno, "%s", path);
    else if (st.st_size > 0 &&
             (data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
        status = gt_error_errno(err, errno, "%s", path);
    if (fd >= 0)
        close(fd);
    if (status < 0 || st.st_size == 0)
        return status;
    struct gt_repair_pack_source from = {.tid = tid, .data = data, .size = (size_t)st.st_size};
    if (!has_record(&from)) {
        status = refuse_cut(s, &from, err);
        close_source(&from);
        return status;
    }
    s->source[s->n++] = from;
    return 0;
}

int gt_repair_pack_sources_open(struct gt_repair_pack_sources *s, const char *dir,
                                struct gt_error *err)
{
    g_autofree uint32_t *tids = NULL;
    *s = (struct gt_repair_pack_sources){.dir = dir};
    int64_t n = gt_uftrace_dat_list(dir, &tids, err);
    s->source = n < 0 ? NULL : g_new(struct gt_repair_pack_source, (gsize)n + 1);
    int status = n < 0 ? (int)n : 0;
    for (int64_t i = 0; i < n && status == 0; i++)
        status = map_source(s, tids[i], err);
    for (size_t i = s->n / 2; i-- > 0;)
        sift_down(s, i);
    return status;
}

void gt_repair_pack_sources_close(struct gt_repair_pack_sources *s)
{
    for (size_t i = 0; i < s->n; i++)
        close_source(&s->source[i]);
    g_free(s->source);
    gt_calls_close(s->calls);
}

/* ---- records ------------------------------------------------------------------------------- */

bool gt_repair_pack_sources_valued(const struct gt_repair_pack_sources *s)
{
    return has_record(s->source) && gt_uftrace_skipped_follow(word_of(s->source));
}

void gt_repair_pack_sources_leave_out(struct gt_repair_pack_sources *s, size_t at)
{
    if (s->left_out++ > 0)
        return;
    s->left_out_tid = s->source->tid;
    s->left_out_at = at;
}

/* The first values of the recording, or of the source. */
static int begin_values(struct gt_repair_pack_sources *s, struct gt_error *err)
{
    struct gt_repair_pack_source *from = s->source;
    int status = s->calls ? 0 : gt_calls_open(s->dir, NULL, &s->calls, err);
    if (status < 0 || from->values)
        return status;
    from->values = g_new0(struct gt_repair_pack_values, 1);
    from->values->specs = gt_calls_record_specs_create(s->calls, from->tid);
    for (size_t at = 0; at < from->at; at += GT_UFTRACE_RECORD_SIZE)
        gt_uftrace_skipped_note(&from->values->open, gt_bytes_le64(from->data + at + 8));
    return 0;
}

static int take_values(struct gt_repair_pack_sources *s, const struct gt_compact_record *r,
                       struct gt_value_list *list, struct gt_error *err)
{
    struct gt_repair_pack_source *from = s->source;
    const size_t at = from->at + GT_UFTRACE_RECORD_SIZE;
    const struct gt_uftrace_record record = gt_uftrace_record_of(r->time, r->word);
    size_t size = gt_uftrace_skipped_take(
        &from->values->open, gt_calls_record_specs_at(from->values->specs, r->time, r->word),
        &record, from->data + at, from->size - at, list);
    if (size == SIZE_MAX)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s/%u.dat: offset %zu: no record follows the values of this one",
                            s->dir, from->tid, from->at);
    if (list->n == 0)
        gt_repair_pack_sources_leave_out(s, from->at);
    from->at = at + size;
    return 1;
}

int gt_repair_pack_sources_take(struct gt_repair_pack_sources *s, struct gt_compact_record *r,
                                struct gt_value_list *list, struct gt_error *err)
{
    struct gt_repair_pack_source *from = s->source;
    int status = 0;
    list->n = 0;
    if (!has_record(from))
        return 0;
    *r = (struct gt_compact_record){gt_repair_pack_source_time(from), word_of(from)};
    if (gt_uftrace_skipped_follow(r->word) && (status = begin_values(s, err)) < 0)
        return status;
    if (from->values)
        gt_uftrace_skipped_note(&from->values->open, r->word);
    if (gt_uftrace_skipped_follow(r->word)) {
        status = take_values(s, r, list, err);
        r->word &= ~(uint64_t)GT_UFTRACE_MORE;
        return status;
    }
    from->at += GT_UFTRACE_RECORD_SIZE;
    return 1;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static const struct gt_value_spec *no_spec(void *self, uint64_t time, uint64_t word)
{
    (void)self;
    (void)time;
    (void)word;
    return NULL;
}

void gt_repair_pack_sources_try(const struct gt_repair_pack_sources *s,
                                int (*put)(void *self, uint64_t time, uint64_t word), void *self)
{
    const struct gt_uftrace_skipped_known known = {no_spec, put, self};
    const struct gt_repair_pack_source *longest = NULL;
    struct gt_uftrace_skipped_scan scan;
    for (size_t i = 0; i < s->n; i++)
        if (!longest || s->source[i].size > longest->size)
            longest = &s->source[i];
    if (longest)
        gt_uftrace_skipped_scan(longest->data, longest->size, &known, &scan);
}

void gt_repair_pack_sources_report(const struct gt_repair_pack_sources *s,
                                   const struct gt_error_notices *notices)
{
    if (s->left_out)
        gt_error_notice(
            notices,
            "%s/%u.dat: offset %zu: what values this record has is not known; values are left "
            "out, of %" PRIu64 " record%s",
            s->dir, s->left_out_tid, s->left_out_at, s->left_out, s->left_out == 1 ? "" : "s");
}
