/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repairing records: see mend.h. */
#include "calls/file/mend.h"

#include "base/array.h"
#include "calls/file/file.h"
#include "calls/file/set.h"
#include "calls/file/words.h"
#include "calls/file/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PUT_AT_ONCE = 512 };

struct task {
    uint32_t id;     /* 0: a free slot; no task has it */
    uint32_t packer; /* of its last record */
    struct gt_uftrace_scan scan;
    size_t room;
    const char *expected; /* where the scan has failed */
    int status;
};

/* Records of one time that are due. */
struct due {
    uint32_t packer, task;
    uint64_t time, *words;
    size_t n, at; /* at: in order of gt_uftrace_repair_records.add */
};

struct gt_compact_mend {
    char *file, *dir;
    struct task *task; /* by id: open addressing, a power of two */
    size_t n, room;
    struct due *due;
    size_t n_due, due_room;
    /* while records are read */
    struct gt_compact_unpacker *unpacker;
    uint32_t packer;
    uint64_t records; /* of the segment */
    const struct gt_error_notices *notices;
};

/* ---- tasks --------------------------------------------------------------------------------- */

static struct task *find(const struct gt_compact_mend *m, uint32_t id)
{
    size_t i = gt_compact_words_hash(id) & (m->room - 1);
    while (m->task[i].id && m->task[i].id != id)
        i = (i + 1) & (m->room - 1);
    return &m->task[i];
}

static bool grow(struct gt_compact_mend *m)
{
    struct task *old = m->task;
    size_t n = m->room;
    if (2 * m->n < m->room)
        return true;
    struct task *task = calloc(n ? 2 * n : 64, sizeof *task);
    if (!task)
        return false;
    m->task = task;
    m->room = n ? 2 * n : 64;
    for (size_t i = 0; i < n; i++)
        if (old[i].id)
            *find(m, old[i].id) = old[i];
    free(old);
    return true;
}

static struct task *task_of(struct gt_compact_mend *m, uint32_t id)
{
    if (!grow(m))
        return NULL;
    struct task *t = find(m, id);
    m->n += !t->id;
    t->id = id;
    t->packer = m->packer;
    return t;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* A file may begin where a task has functions open. */
static void open_calls(const struct gt_compact_mend *m, struct task *t,
                       const struct gt_compact_piece *p)
{
    for (size_t i = 0; i < p->n_open && t->status == 0; i++) {
        const struct gt_uftrace_record rec = gt_uftrace_record_of(
            p->open[i].begin, gt_uftrace_entry((uint32_t)i, gt_compact_unpacker_word(
                                                                m->unpacker, p->open[i].number)));
        t->status = gt_uftrace_scan_step(&t->scan, &t->room, &rec, &t->expected);
    }
    t->scan.records = 0;
}

static int scan_piece(void *self, const struct gt_compact_piece *p)
{
    struct gt_compact_mend *m = self;
    struct task *t = task_of(m, p->task);
    if (!t)
        return GT_E_NOMEM;
    if (p->first && !t->scan.records)
        open_calls(m, t, p);
    m->records += p->n;
    for (size_t i = 0; i < p->n && t->status == 0; i++) {
        struct gt_compact_record r = gt_compact_unpacker_record(m->unpacker, &p->event[i]);
        const struct gt_uftrace_record rec = gt_uftrace_record_of(r.time, r.word);
        t->status = gt_uftrace_scan_step(&t->scan, &t->room, &rec, &t->expected);
    }
    return t->status == GT_E_NOMEM ? GT_E_NOMEM : 0;
}

static bool is_damage(int status)
{
    return status == GT_E_FORMAT || status == GT_E_TRUNC || status == GT_E_USAGE;
}

static void note_damage(const struct gt_compact_mend *m, uint64_t lost, const struct gt_error *why,
                        struct gt_error *damage)
{
    struct gt_error all;
    gt_error_set(&all, why->status, "%s; it and what needs it are left out, %" PRIu64 " records",
                 why->text, lost);
    if (damage->status)
        gt_error_notice(m->notices, "%s", all.text);
    else
        *damage = all;
}

static int read_segments(struct gt_compact_mend *m, const struct gt_compact_file *f,
                         const struct gt_compact_segments *s, uint32_t packer,
                         struct gt_error *damage, struct gt_error *err)
{
    int status = gt_compact_unpacker_create(&m->unpacker);
    for (size_t i = 0; i < s->n && status == 0; i++) {
        struct gt_error why = {0};
        m->packer = s->segment[i].packer;
        m->records = 0;
        if (packer && m->packer != packer)
            continue;
        status = gt_compact_segment_unpack(f, &s->segment[i], m->unpacker, scan_piece, m, &why);
        if (is_damage(status)) {
            note_damage(m, s->segment[i].records - m->records, &why, damage);
            status = 0;
        } else if (status < 0 && err) {
            *err = why;
        }
    }
    gt_compact_unpacker_destroy(m->unpacker);
    m->unpacker = NULL;
    return status;
}

static int read_file(struct gt_compact_mend *m, uint32_t packer, struct gt_error *damage,
                     struct gt_error *err)
{
    struct gt_compact_file f;
    struct gt_compact_segments s = {0};
    int status = gt_compact_set_open(m->file, &f, err);
    if (status < 0)
        return status;
    status = gt_compact_segments_find(&f, &s);
    if (status == 0 && s.orphans)
        gt_error_set(damage, GT_E_FORMAT,
                     "%s: %zu blocks with %" PRIu64
                     " records cannot be unpacked: one before them is damaged",
                     m->file, s.orphans, s.orphan_records);
    if (status == 0)
        status = read_segments(m, &f, &s, packer, damage, err);
    gt_compact_segments_free(&s);
    gt_compact_file_close(&f);
    return status;
}

static void destroy(struct gt_compact_mend *m)
{
    for (size_t i = 0; i < m->room; i++)
        free(m->task[i].scan.open);
    for (size_t i = 0; i < m->n_due; i++)
        free(m->due[i].words);
    free(m->task);
    free(m->due);
    free(m->file);
    free(m->dir);
    free(m);
}

int gt_compact_mend_open(const char *file, const char *dir, uint32_t packer,
                         const struct gt_error_notices *notices, struct gt_compact_mend **out,
                         struct gt_error *damage, struct gt_error *err)
{
    struct gt_compact_mend *m = calloc(1, sizeof *m);
    *damage = (struct gt_error){0};
    *out = m;
    int status =
        m && (m->file = strdup(file)) && (m->dir = strdup(dir)) && grow(m) ? 0 : GT_E_NOMEM;
    if (status == 0) {
        m->notices = notices;
        status = read_file(m, packer, damage, err);
    }
    if (status == GT_E_NOMEM)
        gt_error_set(err, status, "%s: out of memory", file);
    if (status < 0 && m)
        destroy(m);
    return status;
}

/* ---- for the repair ------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t list(void *self, uint32_t **tids, struct gt_error *err)
{
    const struct gt_compact_mend *m = self;
    uint32_t *list = calloc(m->n + 1, sizeof *list);
    size_t n = 0;
    if (!list)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", m->file);
    for (size_t i = 0; i < m->room; i++)
        if (m->task[i].id)
            list[n++] = m->task[i].id;
    qsort(list, n, sizeof *list, by_number);
    *tids = list;
    return (int64_t)n;
}

static int scan(void *self, uint32_t tid, struct gt_uftrace_scan *out, struct gt_error *err)
{
    const struct gt_compact_mend *m = self;
    struct task *t = find(m, tid);
    *out = t->scan; /* with the stack, which is given away */
    t->scan.open = NULL;
    if (t->status == 0)
        return 0;
    return gt_error_set(err, t->status, "%s: task %" PRIu32 " record %" PRIu64 ": %s, expected %s",
                        m->file, tid, out->records, gt_error_status_text(t->status), t->expected);
}

static int add(void *self, uint32_t tid, uint64_t time, const uint64_t *words, size_t n,
               struct gt_error *err)
{
    struct gt_compact_mend *m = self;
    if (!GT_ARRAY_GROW(&m->due, &m->due_room, m->n_due + 1))
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", m->file);
    struct due *d = &m->due[m->n_due];
    *d =
        (struct due){find(m, tid)->packer, tid, time, malloc((n + 1) * sizeof *words), n, m->n_due};
    if (!d->words)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", m->file);
    memcpy(d->words, words, n * sizeof *words);
    m->n_due++;
    return 0;
}

struct gt_uftrace_repair_records gt_compact_mend_records(struct gt_compact_mend *m)
{
    return (struct gt_uftrace_repair_records){list, scan, add, m};
}

/* ---- writing ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct due *x = a, *y = b;
    if (x->packer != y->packer)
        return x->packer < y->packer ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* 0 or an errno value. */
static int put(struct gt_compact_writer *w, const struct due *d)
{
    uint64_t record[2 * PUT_AT_ONCE];
    int e = 0;
    for (size_t at = 0, n; at < d->n && !e; at += n) {
        n = d->n - at < PUT_AT_ONCE ? d->n - at : PUT_AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            record[2 * i] = d->time;
            record[2 * i + 1] = d->words[at + i];
        }
        e = gt_compact_packing.put(w, d->task, record, 2 * n);
    }
    return e;
}

/* The records of one packer: 0 or an errno value. */
static int put_packer(struct gt_compact_writer *w, const struct due *d, size_t n)
{
    uint64_t records, bytes;
    int e = gt_compact_packing.open(w, d->packer, true, &records);
    for (size_t i = 0; i < n && !e; i++) {
        e = put(w, &d[i]);
        if (!e && (i + 1 == n || gt_compact_packing.is_full(w)))
            e = gt_compact_packing.end(w, &bytes);
    }
    gt_compact_packing.close(w, true);
    return e;
}

static int put_all(struct gt_compact_mend *m, struct gt_error *err)
{
    const struct gt_compact_writer_options o = {.path = m->file, .dir = m->dir};
    struct gt_compact_writer *w;
    int status = gt_compact_writer_create(&o, &w), e = 0;
    if (status < 0)
        return gt_error_set(err, status, "%s: out of memory", m->file);
    qsort(m->due, m->n_due, sizeof *m->due, compare);
    for (size_t i = 0, next; i < m->n_due && !e; i = next) {
        for (next = i; next < m->n_due && m->due[next].packer == m->due[i].packer; next++)
            continue;
        e = put_packer(w, &m->due[i], next - i);
    }
    gt_compact_writer_destroy(w);
    return e ? gt_error_errno(err, e, "%s: cannot be written", m->file) : 0;
}

int gt_compact_mend_close(struct gt_compact_mend *m, struct gt_error *err)
{
    int status = m->n_due ? put_all(m, err) : 0;
    destroy(m);
    return status;
}
