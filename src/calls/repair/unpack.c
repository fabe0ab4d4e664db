/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compact file into a uftrace directory: see compact.h. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "calls/file/compact.h"
#include "calls/file/file.h"
#include "calls/file/gather.h"
#include "calls/file/set.h"
#include "calls/file/work.h"
#include "calls/read/calls.h"
#include "calls/read/record_specs.h"
#include "calls/repair/compact.h"
#include "recording/directory/dir.h"
#include "recording/directory/uftrace.h"
#include "recording/file_kind.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that the values of a record have at most. */
enum { GT_UNPACK_VALUES_MOST = GT_VALUES_MOST * (GT_COMPACT_MAX_VALUE + 16) };

struct gt_calls;

struct gt_repair_unpack_values {
    const char *path;       /* of the recording; the caller's */
    struct gt_calls *calls; /* what values are; NULL: none have come, or it cannot be read */
    struct gt_error why;    /* that it cannot */
    GHashTable *specs;      /* struct gt_calls_record_specs by tid; NULL: none have come */
    uint64_t left_out;      /* records whose values are left out */
};

/* ---- values --------------------------------------------------------------------------------- */

/* Values of a compact file's records in the form that a directory has. */

static void free_specs(void *specs)
{
    gt_calls_record_specs_destroy(specs);
}

static void open_recording(struct gt_repair_unpack_values *v)
{
    if (v->specs)
        return;
    v->specs = g_hash_table_new_full(NULL, NULL, NULL, free_specs);
    gt_calls_open(v->path, NULL, &v->calls, &v->why);
}

/* only `path` set is fine */
static void clear_values(struct gt_repair_unpack_values *v)
{
    if (v->specs)
        g_hash_table_destroy(v->specs);
    gt_calls_close(v->calls);
}

static const struct gt_value_spec *spec_of(struct gt_repair_unpack_values *v, uint32_t tid,
                                           const struct gt_compact_record *r)
{
    open_recording(v);
    if (!v->calls)
        return NULL;
    struct gt_calls_record_specs *specs = g_hash_table_lookup(v->specs, GUINT_TO_POINTER(tid));
    if (!specs) {
        specs = gt_calls_record_specs_create(v->calls, tid);
        g_hash_table_insert(v->specs, GUINT_TO_POINTER(tid), specs);
    }
    return gt_calls_record_specs_at(specs, r->time, r->word);
}

/* A text where the spec has one, a word or as many bytes as it says elsewhere. */
static bool fits(const struct gt_value_item *item, const struct gt_value *v)
{
    if (v->kind == GT_VALUE_ABSENT)
        return true;
    if (gt_value_is_text(item->format))
        return v->kind != GT_VALUE_WORD;
    return item->size <= 8 ? v->kind == GT_VALUE_WORD
                           : v->kind == GT_VALUE_BYTES && v->size == item->size;
}

/* Writes the values of a record into `out`; how many bytes. 0: nothing says what they are, or
 * something else than these; they are left out. */
static size_t put_values(struct gt_repair_unpack_values *v, uint32_t tid,
                         const struct gt_compact_record *r, const struct gt_value_list *list,
                         uint8_t out[GT_UNPACK_VALUES_MOST])
{
    const struct gt_value_spec *spec = spec_of(v, tid, r);
    const bool entry = (r->word & 3) == GT_UFTRACE_ENTRY;
    bool good = spec && list->n > 0 && list->n == (entry ? spec->n_arguments : spec->n_returns);
    const struct gt_value_item *item = good && !entry ? spec->item + spec->n_arguments
                                       : good         ? spec->item
                                                      : NULL;
    for (size_t i = 0; good && i < list->n; i++)
        good = fits(&item[i], &list->value[i]);
    v->left_out += !good;
    return good ? gt_values_put_uftrace(out, item, list, GT_COMPACT_MAX_VALUE) : 0;
}

/* Reports the omissions. */
static void report_values(const struct gt_repair_unpack_values *v,
                          const struct gt_error_notices *notices)
{
    const char *s = v->left_out == 1 ? "" : "s";
    if (v->left_out && v->specs && !v->calls)
        gt_error_notice(notices, "%s; the values of %" PRIu64 " record%s are left out", v->why.text,
                        v->left_out, s);
    else if (v->left_out)
        gt_error_notice(notices,
                        "%s: %" PRIu64 " record%s with values of which " GT_VALUES_FILE
                        " says nothing, or something else; they are left out",
                        v->path, v->left_out, s);
}

/* ---- records -------------------------------------------------------------------------------- */

enum { BUFFER = 16 << 10 };

/* A task's records on their way to its file. */
struct task {
    uint32_t tid;
    unsigned holes; /* of struct unpack, when it had its last record */
    size_t n;
    uint8_t data[BUFFER];
};

struct unpack {
    struct gt_compact_file file;
    struct gt_uftrace_dir dir;
    GHashTable *tasks; /* by tid */
    struct gt_compact_unpacker *unpacker;
    unsigned holes;   /* places where records are missing, so far */
    GHashTable *ends; /* by packer: uint64_t, records up to the end of its last segment */
    uint64_t records; /* of the segment that were put */
    struct gt_repair_unpack_values values;
    const struct gt_error_notices *notices;
    struct gt_error *err;
};

static char *path_of(const struct unpack *u, const struct task *t)
{
    return g_strdup_printf("%s/%u.dat", u->dir.path, t->tid);
}

static int flush(const struct unpack *u, struct task *t)
{
    g_autofree char *path = path_of(u, t);
    int status = t->n ? gt_file_append(path, t->data, t->n, u->err) : 0;
    t->n = 0;
    return status;
}

static int put(const struct unpack *u, struct task *t, uint64_t time, uint64_t word)
{
    int status = BUFFER - t->n < GT_UFTRACE_RECORD_SIZE ? flush(u, t) : 0;
    gt_bytes_put64(gt_bytes_put64(t->data + t->n, time), word);
    t->n += GT_UFTRACE_RECORD_SIZE;
    return status;
}

/* A record with its values. */
static int put_valued(struct unpack *u, struct task *t, struct gt_compact_record r,
                      const struct gt_value_list *list)
{
    uint8_t data[GT_UNPACK_VALUES_MOST];
    size_t size = put_values(&u->values, t->tid, &r, list, data);
    int status = put(u, t, r.time, r.word | (size ? GT_UFTRACE_MORE : 0));
    if (status == 0 && size > BUFFER - t->n)
        status = flush(u, t);
    if (status < 0 || size == 0)
        return status;
    if (size >= BUFFER) {
        g_autofree char *path = path_of(u, t);
        return gt_file_append(path, data, size, u->err);
    }
    memcpy(t->data + t->n, data, size);
    t->n += size;
    return 0;
}

static struct task *task_of(const struct unpack *u, uint32_t tid, bool *is_new)
{
    struct task *t = g_hash_table_lookup(u->tasks, GUINT_TO_POINTER(tid));
    *is_new = !t;
    if (!t) {
        t = g_new(struct task, 1);
        t->tid = tid;
        t->holes = 0;
        t->n = 0;
        g_hash_table_insert(u->tasks, GUINT_TO_POINTER(tid), t);
    }
    return t;
}

/* ---- after damage -------------------------------------------------------------------------- */

/* What the task's file has open at its end; nothing where it is not a file of calls that match. */
static int scan(struct unpack *u, struct task *t, struct gt_uftrace_scan *out)
{
    g_autofree char *path = path_of(u, t);
    g_autoptr(GMappedFile) map = NULL;
    int status = flush(u, t);
    if (status == 0)
        map = g_mapped_file_new(path, FALSE, NULL);
    if (map)
        gt_uftrace_scan(g_mapped_file_get_contents(map), g_mapped_file_get_length(map), out, NULL);
    return status;
}

static bool resumes(const struct unpack *u, const struct gt_compact_piece *p)
{
    return gt_compact_unpacker_is_event(u->unpacker, p->event, GT_UFTRACE_EV_SCHED_IN);
}

static uint64_t open_at(const struct unpack *u, const struct gt_compact_piece *p, size_t i)
{
    return gt_compact_unpacker_word(u->unpacker, p->open[i].number);
}

/* The recording begins where the task has functions open, or its beginning is missing: then it
 * begins with these. */
static int open_calls(const struct unpack *u, struct task *t, const struct gt_compact_piece *p)
{
    int status = 0;
    for (size_t i = 0; i < p->n_open && status == 0; i++)
        status = put(u, t, p->open[i].begin, gt_uftrace_entry((uint32_t)i, open_at(u, p, i)));
    if (status == 0 && p->time > 0 && resumes(u, p))
        status = put(u, t, p->time, gt_uftrace_event((uint32_t)p->n_open, GT_UFTRACE_EV_SCHED_OUT));
    return status;
}

/* Leaves functions of the task's file until the first `same` are open, and enters those that the
 * segment says. */
static int change_stack(struct unpack *u, struct task *t, const struct gt_compact_piece *p,
                        const struct gt_uftrace_scan *s, size_t same)
{
    const uint64_t time = p->event->time;
    int status = 0;
    for (size_t i = s->n_open; i > same && status == 0; i--)
        status = put(u, t, time, s->open[i - 1]);
    for (size_t i = same; i < p->n_open && status == 0; i++)
        status = put(u, t, time, gt_uftrace_entry((uint32_t)i, open_at(u, p, i)));
    return status;
}

/* Records are missing before the segment: the task's file goes on with what the segment says. */
static int join(struct unpack *u, struct task *t, const struct gt_compact_piece *p)
{
    struct gt_uftrace_scan s = {0};
    const uint64_t time = p->event->time;
    size_t same = 0;
    int status = scan(u, t, &s);
    while (same < s.n_open && same < p->n_open &&
           s.open[same] == gt_uftrace_exit((uint32_t)same, open_at(u, p, same)))
        same++;
    bool changes = same < s.n_open || same < p->n_open;
    bool resumed = s.scheduled_out && (changes || !resumes(u, p));
    if (status == 0 && resumed)
        status = put(u, t, time, gt_uftrace_event(s.n_open, GT_UFTRACE_EV_SCHED_IN));
    if (status == 0)
        status = change_stack(u, t, p, &s, same);
    if (status == 0 && resumes(u, p) && (resumed || !s.scheduled_out))
        status = put(u, t, time, gt_uftrace_event((uint32_t)p->n_open, GT_UFTRACE_EV_SCHED_OUT));
    free(s.open);
    return status;
}

static bool is_damage(int status)
{
    return status == GT_E_FORMAT || status == GT_E_TRUNC;
}

static void report_gaps(const struct unpack *u)
{
    for (size_t i = 0; i < u->file.n_gaps; i++) {
        uint64_t at;
        const char *path = gt_compact_file_place(&u->file, u->file.gap[i].at, &at);
        gt_error_notice(u->notices, GT_COMPACT_GAP_NOTICE, path, at, u->file.gap[i].size);
    }
}

/* ---- records ------------------------------------------------------------------------------- */

static int put_piece(void *self, const struct gt_compact_piece *p)
{
    struct unpack *u = self;
    bool is_new;
    struct task *t = task_of(u, p->task, &is_new);
    int status = is_new                             ? open_calls(u, t, p)
                 : p->first && t->holes != u->holes ? join(u, t, p)
                                                    : 0;
    t->holes = u->holes;
    u->records += p->n;
    for (size_t i = 0; i < p->n && status == 0; i++) {
        struct gt_compact_record r = gt_compact_unpacker_record(u->unpacker, &p->event[i]);
        status = p->values ? put_valued(u, t, r, p->values) : put(u, t, r.time, r.word);
    }
    return status;
}

/* Blocks before the segment may be missing, as its packer counts. */
static void note_begin(struct unpack *u, const struct gt_compact_segment *s)
{
    uint64_t before = u->file.block[*s->block].head.before;
    uint64_t *end = g_hash_table_lookup(u->ends, GUINT_TO_POINTER(s->packer));
    if (!end) {
        end = g_new0(uint64_t, 1);
        g_hash_table_insert(u->ends, GUINT_TO_POINTER(s->packer), end);
    }
    u->holes += before != *end;
    *end = before + s->records;
}

/* A damaged one up to the damage. */
static int put_segment(struct unpack *u, const struct gt_compact_segment *s)
{
    struct gt_error why = {0};
    u->records = 0;
    note_begin(u, s);
    int status = gt_compact_segment_unpack(&u->file, s, u->unpacker, put_piece, u, &why);
    if (is_damage(status)) {
        u->holes++;
        gt_error_notice(u->notices, "%s; it and what needs it are left out, %" PRIu64 " records",
                        why.text, s->records - u->records);
        return 0;
    }
    if (status < 0 && why.status == status)
        gt_error_set(u->err, status, "%s", why.text);
    return status;
}

static int put_segments(struct unpack *u, const struct gt_compact_segments *s)
{
    report_gaps(u);
    if (s->orphans > 0)
        gt_error_notice(u->notices,
                        "%s: %zu blocks with %" PRIu64
                        " records are left out: blocks before them, which they need, are missing",
                        u->file.path, s->orphans, s->orphan_records);
    int status = gt_compact_unpacker_create(&u->unpacker);
    for (size_t i = 0; i < s->n && status == 0; i++)
        status = put_segment(u, &s->segment[i]);
    gt_compact_unpacker_destroy(u->unpacker);
    return status;
}

static int put_records(struct unpack *u)
{
    struct gt_compact_segments s = {0};
    GHashTableIter it;
    gpointer task;
    int status = gt_compact_segments_find(&u->file, &s);
    if (status == 0)
        status = put_segments(u, &s);
    if (status == GT_E_NOMEM)
        gt_error_set(u->err, status, "%s: out of memory", u->file.path);
    g_hash_table_iter_init(&it, u->tasks);
    while (status == 0 && g_hash_table_iter_next(&it, NULL, &task))
        status = flush(u, task);
    gt_compact_segments_free(&s);
    return status;
}

/* Text files and records are whole only when the last process that records has ended. */
static int check_complete(const char *path, struct gt_error *err)
{
    struct gt_compact_work work;
    if (gt_compact_work_name(path, &work, NULL) < 0 || !gt_compact_work_exists(&work) ||
        gt_compact_flight_is(work.dir.path)) /* then it is a snapshot */
        return 0;
    return gt_error_set(err, GT_E_FORMAT,
                        "%s is being recorded, or was interrupted; then run guesttrace repair %s",
                        path, path);
}

static int put_texts(struct unpack *u)
{
    const char *newest =
        u->file.n_members ? u->file.member[u->file.n_members - 1].path : u->file.path;
    return gt_compact_scatter(newest, u->dir.path, false, u->notices, u->err);
}

int gt_repair_unpack(const char *path, const char *dir, const struct gt_error_notices *notices,
                     struct gt_error *err)
{
    struct unpack u = {.notices = notices, .err = err, .values.path = path};
    struct gt_uftrace_dir final;
    int status = gt_compact_set_open(path, &u.file, err);
    if (status < 0)
        return status == GT_E_FORMAT
                   ? gt_recording_kind_refuse(path, GT_FILE_IS(GT_FILE_CALLS),
                                              "a recording of calls in one file", err)
                   : status;
    g_autofree char *folder = g_path_get_dirname(dir);
    g_autofree char *base = g_path_get_basename(dir);
    g_autofree char *tmp = g_strdup_printf("%s/.%s.%d.tmp", folder, base, (int)getpid());
    gt_file_remove_left_beside(dir);
    u.tasks = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    u.ends = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    status = check_complete(path, err);
    if (status == 0)
        status = gt_uftrace_dir_check(dir, err);
    if (status == 0 && (status = gt_uftrace_dir_create(&u.dir, tmp, err)) == 0) {
        status = put_texts(&u);
        if (status == 0)
            status = put_records(&u);
        if (status == 0)
            report_values(&u.values, notices);
        if (status == 0 && (status = gt_uftrace_dir_create(&final, dir, err)) == 0)
            status = gt_file_move_dir(u.dir.path, final.path, err);
        if (status < 0)
            gt_file_remove_dir(u.dir.path, NULL);
    }
    g_hash_table_destroy(u.tasks);
    g_hash_table_destroy(u.ends);
    clear_values(&u.values);
    gt_compact_file_close(&u.file);
    return status;
}

bool gt_repair_is_compact(const char *path)
{
    return gt_compact_file_check(path, NULL) == 0;
}
