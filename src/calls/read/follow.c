/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows a recording that is being written: see follow.h. The readers of passes (reader.h) feed
 * each task's stack; blocks that an earlier look has read are skipped. */
#include "calls/read/follow.h"

#include "calls/file/work.h"
#include "calls/read/follow_sums.h"
#include "calls/read/pass.h"
#include "calls/read/reader.h"
#include "recording/texts/files.h"
#include "recording/texts/stats.h"

#include <inttypes.h>
#include <string.h>

/* How far a row was read. */
struct progress {
    uint64_t done; /* file: records; directory: bytes */
    bool gap;      /* records were missing */
};

struct gt_calls_follow {
    char *path;
    uint64_t most;
    bool is_begun, is_part;
    struct gt_calls_follow_facts facts;
    struct gt_error_notices notices;
    GHashTable *told; /* lines that went there */
    uint64_t unknown; /* records of tasks that task.txt does not name */
    struct gt_calls_follow_calls calls;
    GHashTable *rows; /* struct progress, by id */
    /* the present look */
    struct gt_calls *c;
    bool written;
    GPtrArray *lines; /* of notices, until it is known whether the look has been good */
    struct gt_calls_rules rules;
    struct gt_calls_out out;
    struct gt_calls_feed feed;
    void *reader;
    bool skips; /* the block was read in an earlier look */
    bool gap;   /* of the row */
};

static const struct gt_calls_reader_kind *kind_of(const struct gt_calls_follow *f)
{
    return gt_calls_reader_kind_of(f->c);
}

/* ---- notices ------------------------------------------------------------------------------- */

static void hold_line(void *self, const char *line)
{
    const struct gt_calls_follow *f = self;
    g_ptr_array_add(f->lines, g_strdup(line));
}

/* What a look has met that failed while others write may be of a file that was just replaced. */
static void tell(struct gt_calls_follow *f, bool good)
{
    for (guint i = 0; i < f->lines->len && (good || !f->written); i++)
        if (g_hash_table_add(f->told, g_strdup(f->lines->pdata[i])))
            gt_error_notice(&f->notices, "%s", (const char *)f->lines->pdata[i]);
    g_ptr_array_set_size(f->lines, 0);
}

/* ---- stacks -------------------------------------------------------------------------------- */

static uint32_t number(void *self, const struct gt_calls_feed *feed, uint64_t address,
                       uint32_t function)
{
    struct gt_calls_follow *f = self;
    const struct gt_calls_follow_place at = {gt_calls_tasks_at(&f->c->tasks, feed->task)->public.id,
                                             feed->time, address};
    return gt_calls_follow_number(&f->calls, gt_calls_function(f->c, function), &at);
}

static bool begin_stack(struct gt_calls_follow *f, struct gt_calls_follow_open_task *t,
                        const struct gt_calls_opening *o)
{
    gt_calls_stack_init(&t->stack, o->task);
    t->stack.forked = o->forked;
    t->since = o->n ? o->time : 0;
    t->is_begun = true;
    return gt_calls_stack_begin(&t->stack, &f->rules, o->frame, o->n, o->time, true);
}

static struct gt_calls_stack *open_stack(void *self, const struct gt_calls_opening *o)
{
    struct gt_calls_follow *f = self;
    const struct gt_calls_task *task = gt_calls_task(f->c, o->task);
    struct gt_calls_follow_open_task *t = gt_calls_follow_task_of(&f->calls, task->id);
    bool room = true;
    if (!t->is_begun) {
        gt_calls_follow_name_task(&f->calls, t, task->name);
        room = begin_stack(f, t, o);
    } else if (f->gap && !f->skips)
        room = gt_calls_stack_align(&t->stack, &f->rules, &f->out, o->frame, o->n, o->first);
    gt_calls_out_flush(&f->out, &t->stack);
    t->stack.task = o->task;
    t->stack.ended = f->skips;
    return room ? &t->stack : NULL;
}

/* Records of blocks that were read go to stacks that have ended: they take none. */
static void skip(struct gt_calls_follow *f, bool skips)
{
    for (guint i = 0; i < f->calls.task->len && f->skips != skips; i++)
        ((struct gt_calls_follow_open_task *)f->calls.task->pdata[i])->stack.ended = skips;
    f->skips = skips;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static const struct gt_compact_head *head_of(const struct gt_calls_follow *f, size_t block)
{
    return &f->c->file.block[f->c->block[block].number].head;
}

/* Reads the part from record `done` of its packer on. *next: how many of its blocks were tried. */
static int read_part(struct gt_calls_follow *f, const struct gt_calls_part *part,
                     struct progress *p, size_t *next, struct gt_error *err)
{
    int status = kind_of(f)->begin(f->reader, part, err);
    for (*next = 0; *next < part->n_blocks && status == 0; ++*next) {
        const struct gt_compact_head *h = head_of(f, part->block + *next);
        skip(f, h->before < p->done);
        const uint64_t unknown = f->feed.unknown;
        status = kind_of(f)->block(f->reader, part->block + *next, err);
        if (f->skips)
            f->feed.unknown = unknown;
        else if (status == 0)
            p->done = h->before + h->records;
    }
    skip(f, false);
    return status;
}

static uint64_t end_of(const struct gt_calls_follow *f, const struct gt_calls_part *part)
{
    const struct gt_compact_head *h = head_of(f, part->block + part->n_blocks - 1);
    return h->before + h->records;
}

/* Of the block before number `next` of the part, which is damaged, and of those after it. */
static void leave_out(struct gt_calls_follow *f, const struct gt_calls_part *part, size_t next,
                      struct progress *p, const struct gt_error *why)
{
    const uint64_t begin = head_of(f, part->block + next - 1)->before, end = end_of(f, part);
    if (begin >= p->done) { /* else what follows is of a segment that is reported */
        gt_calls_pass_report_damage(f->c, part, next, why);
        f->calls.lost++;
    }
    p->gap = true;
    p->done = end;
}

/* Of a recording that is too long for the first look the last part of each row is read, for the
 * calls that are open. */
static int read_file_row(struct gt_calls_follow *f, uint32_t row, struct progress *p,
                         struct gt_error *err)
{
    struct gt_error why = {0};
    int status = 0;
    for (guint i = 0; i < f->c->parts->len && status == 0; i++) {
        const struct gt_calls_part *part = &g_array_index(f->c->parts, struct gt_calls_part, i);
        size_t next;
        const bool is_last = i + 1 == f->c->parts->len || (part + 1)->row != row;
        if (part->row != row || end_of(f, part) <= p->done || (!f->calls.counts && !is_last))
            continue;
        f->gap = p->gap |= part->gap;
        status = read_part(f, part, p, &next, &why);
        if (status != GT_E_FORMAT || f->out.status != 0 || next == 0)
            continue;
        status = 0;
        if (!f->written || !is_last || next < part->n_blocks) /* else it may be being written */
            leave_out(f, part, next, p, &why);
    }
    return status < 0 ? gt_error_set(err, status, "%s", why.text) : 0;
}

static int read_directory_row(struct gt_calls_follow *f, uint32_t number, struct progress *p,
                              struct gt_error *err)
{
    struct gt_calls_row *row = &g_array_index(f->c->rows, struct gt_calls_row, number);
    const struct gt_calls_part *part = &g_array_index(f->c->parts, struct gt_calls_part, number);
    if (row->size <= p->done)
        return 0;
    row->from = f->calls.counts ? p->done : 0;
    f->c->block[part->block].records = (row->size - row->from) / GT_UFTRACE_RECORD_SIZE;
    f->gap = false;
    int status = kind_of(f)->begin(f->reader, part, err);
    if (status == 0)
        status = kind_of(f)->block(f->reader, part->block, err);
    p->done = row->size;
    return status;
}

static struct progress *progress_of(struct gt_calls_follow *f, uint32_t row)
{
    struct progress *p = g_hash_table_lookup(f->rows, GUINT_TO_POINTER(row));
    if (!p) {
        p = g_new0(struct progress, 1);
        g_hash_table_insert(f->rows, GUINT_TO_POINTER(row), p);
    }
    return p;
}

static int read_rows(struct gt_calls_follow *f, struct gt_error *err)
{
    const bool is_file = gt_calls_is_file(f->c);
    int status = kind_of(f)->create(&f->feed, &f->reader, err);
    for (guint i = 0; i < f->c->rows->len && status == 0; i++) {
        const struct gt_calls_row *row = &g_array_index(f->c->rows, struct gt_calls_row, i);
        struct progress *p = progress_of(f, row->id);
        status = (is_file ? read_file_row : read_directory_row)(f, i, p, err);
        if (status == 0)
            status = f->out.status;
    }
    kind_of(f)->destroy(f->reader);
    f->reader = NULL;
    return status;
}

/* ---- looks --------------------------------------------------------------------------------- */

static void name_tasks(struct gt_calls_follow *f)
{
    for (size_t i = 0; i < gt_calls_n_tasks(f->c); i++) {
        const struct gt_calls_task *of = gt_calls_task(f->c, (uint32_t)i);
        struct gt_calls_follow_open_task *t =
            g_hash_table_lookup(f->calls.tasks, GUINT_TO_POINTER(of->id));
        if (t)
            gt_calls_follow_name_task(&f->calls, t, of->name);
    }
}

/* True where that is all that is known of function `i` already. */
static bool says_nothing_new(const struct gt_calls_follow *f, uint32_t i,
                             const struct gt_calls_function *found)
{
    return gt_calls_follow_is_address(found) &&
           strcmp(gt_calls_follow_function(f, i)->module, found->module) == 0;
}

/* Modules and symbols may come later than calls: a machine's kernel has them when it was found. */
static void name_functions(struct gt_calls_follow *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->calls.function->len; i++) {
        const struct gt_calls_follow_place *at = gt_calls_follow_unnamed(&f->calls, i);
        const uint32_t task = at ? gt_calls_tasks_find(&f->c->tasks, at->task) : UINT32_MAX;
        uint64_t until;
        if (task == UINT32_MAX)
            continue;
        const uint32_t space =
            gt_calls_tasks_space(&f->c->tasks, f->c->spaces, task, at->time, &until);
        const uint32_t found = gt_calls_spaces_resolve(f->c->spaces, space, at->address);
        if (found == UINT32_MAX || says_nothing_new(f, i, gt_calls_function(f->c, found)))
            continue;
        gt_calls_follow_rename(&f->calls, i, gt_calls_function(f->c, found));
        any = true;
    }
    if (any)
        gt_calls_follow_renumber(&f->calls);
}

/* Text files beside a compact file go into it when the recording ends: what a look reads of them it
 * reads before its first record. */
static int read_symbols(struct gt_calls_follow *f, struct gt_error *err)
{
    const struct gt_calls_texts *t = &f->c->texts;
    gt_calls_spaces_read_symbols(f->c->spaces);
    for (guint i = 0; t->beside && i < t->names->len; i++) {
        g_autofree char *path = g_build_filename(t->beside, t->names->pdata[i], NULL);
        if (!g_file_test(path, G_FILE_TEST_EXISTS))
            return gt_error_set(err, GT_E_NOT_FOUND, "%s: it was removed meanwhile", path);
    }
    return 0;
}

static int begin_look(struct gt_calls_follow *f, struct gt_error *err)
{
    int status = read_symbols(f, err);
    if (status < 0)
        return status;
    const struct gt_uftrace_info *info = &f->c->info;
    if (!gt_calls_is_file(f->c) &&
        info->feat_mask &
            (GT_UFTRACE_FEAT_ARGUMENT | GT_UFTRACE_FEAT_RETVAL | GT_UFTRACE_FEAT_AUTO_ARGS))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%s: a directory with arguments cannot be followed; record a compact "
                            "file",
                            f->path);
    f->c->inherited = NULL; /* only uftrace's own recordings need it */
    gt_calls_pass_rules(f->c, NULL, &f->rules);
    for (uint32_t i = GT_CALLS_SCHEDULE; i <= GT_CALLS_PREEMPTED; i++)
        gt_calls_follow_number(&f->calls, gt_calls_function(f->c, i),
                               &(struct gt_calls_follow_place){0});
    f->is_part |= !f->is_begun && gt_calls_facts(f->c)->records > f->most;
    f->calls.counts = f->is_begun || !f->is_part;
    f->out = (struct gt_calls_out){.take = gt_calls_follow_take, .self = &f->calls};
    f->feed = (struct gt_calls_feed){.c = f->c,
                                     .rules = &f->rules,
                                     .out = &f->out,
                                     .open = open_stack,
                                     .number = number,
                                     .self = f};
    return gt_calls_feed_init(&f->feed)
               ? 0
               : gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->path);
}

/* A recording has its tasks from its first record on. */
static bool has_begun(const struct gt_calls_follow *f)
{
    g_autofree char *beside = g_strconcat(f->path, GT_COMPACT_WORK_ENDING, NULL);
    const char *dir = g_file_test(f->path, G_FILE_TEST_IS_DIR) ? f->path : beside;
    g_autofree char *tasks = g_build_filename(dir, "task.txt", NULL);
    return !g_file_test(dir, G_FILE_TEST_IS_DIR) || g_file_test(tasks, G_FILE_TEST_EXISTS);
}

/* As a pass does it at its end. */
static void report_records(struct gt_calls_follow *f)
{
    uint64_t odd = 0;
    for (guint i = 0; i < f->calls.task->len; i++)
        odd += ((const struct gt_calls_follow_open_task *)f->calls.task->pdata[i])->stack.odd;
    f->unknown += f->feed.unknown;
    if (!f->written)
        gt_calls_pass_report(f->c, odd, f->unknown);
}

static void take_anomalies(struct gt_calls_follow *f)
{
    size_t size;
    struct gt_recording_stats s;
    f->facts.anomalies = 0;
    f->facts.is_counted = gt_calls_texts_have(&f->c->texts, GT_STATS_FILE);
    if (!f->facts.is_counted ||
        gt_recording_stats_parse(&s, gt_calls_text(f->c, GT_STATS_FILE, &size)) < 0)
        return;
    for (size_t i = 0; i < s.n; i++)
        if (g_str_has_prefix(s.item[i].key, GT_STATS_ANOMALY))
            f->facts.anomalies += gt_recording_stats_number(&s, s.item[i].key);
    gt_recording_stats_clear(&s);
}

static void take_facts(struct gt_calls_follow *f)
{
    const struct gt_calls_facts *facts = gt_calls_facts(f->c);
    f->facts.records = facts->records;
    f->facts.bytes = facts->bytes;
    f->facts.vcpus = f->c->n_vcpus;
    take_anomalies(f);
}

static int look(struct gt_calls_follow *f, struct gt_error *err)
{
    int status = begin_look(f, err);
    if (status == 0) {
        name_functions(f);
        name_tasks(f);
        status = read_rows(f, err);
        report_records(f);
        gt_calls_follow_sum_up(&f->calls, !f->calls.counts);
        f->is_begun = true;
        take_facts(f);
    }
    gt_calls_feed_finish(&f->feed);
    f->feed = (struct gt_calls_feed){0};
    return status;
}

int gt_calls_follow_read(struct gt_calls_follow *f, bool written, struct gt_error *err)
{
    const struct gt_calls_options how = {.notices = {hold_line, f}, .written = written};
    if (!f->is_begun && !has_begun(f))
        return 0;
    f->written = written;
    int status = gt_calls_open(f->path, &how, &f->c, err);
    if (status == 0)
        status = look(f, err);
    tell(f, status == 0);
    gt_calls_close(f->c);
    f->c = NULL;
    return status;
}

void gt_calls_follow_only(struct gt_calls_follow *f,
                          bool (*wants)(void *self, const struct gt_calls_follow_task *t),
                          void *self)
{
    f->calls.wants = wants;
    f->calls.wants_self = self;
    gt_calls_follow_choose(&f->calls);
    if (f->is_begun)
        gt_calls_follow_sum_up(&f->calls, true);
    f->is_part |= f->is_begun;
}

void gt_calls_follow_name(struct gt_calls_follow *f,
                          bool (*name)(void *self, uint64_t address, const char **module,
                                       const char **name),
                          void *self)
{
    bool any = false;
    for (uint32_t i = 0; i < f->calls.function->len; i++) {
        const struct gt_calls_follow_place *at = gt_calls_follow_unnamed(&f->calls, i);
        struct gt_calls_function of = {0};
        if (!at || !name(self, at->address, &of.module, &of.name))
            continue;
        gt_calls_follow_rename(&f->calls, i, &of);
        any = true;
    }
    if (any)
        gt_calls_follow_renumber(&f->calls);
}

/* ---- all ----------------------------------------------------------------------------------- */

struct gt_calls_follow *gt_calls_follow_create(const char *path, uint64_t most,
                                               const struct gt_error_notices *notices)
{
    struct gt_calls_follow *f = g_new0(struct gt_calls_follow, 1);
    f->path = g_strdup(path);
    f->most = most;
    f->notices = *notices;
    f->told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    f->lines = g_ptr_array_new_with_free_func(g_free);
    f->rows = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    gt_calls_follow_calls_init(&f->calls);
    return f;
}

void gt_calls_follow_destroy(struct gt_calls_follow *f)
{
    if (!f)
        return;
    g_hash_table_destroy(f->rows);
    g_hash_table_destroy(f->told);
    g_ptr_array_free(f->lines, TRUE);
    gt_calls_follow_calls_finish(&f->calls);
    g_free(f->path);
    g_free(f);
}

size_t gt_calls_follow_n_functions(const struct gt_calls_follow *f)
{
    return f->calls.function->len;
}

const struct gt_calls_follow_function *gt_calls_follow_function(const struct gt_calls_follow *f,
                                                                size_t index)
{
    return f->calls.function->pdata[index];
}

size_t gt_calls_follow_n_tasks(const struct gt_calls_follow *f)
{
    return f->calls.task->len;
}

const struct gt_calls_follow_task *gt_calls_follow_task(const struct gt_calls_follow *f,
                                                        size_t index)
{
    return f->calls.task->pdata[index];
}

bool gt_calls_follow_is_part(const struct gt_calls_follow *f)
{
    return f->is_part;
}

const struct gt_calls_follow_facts *gt_calls_follow_facts(const struct gt_calls_follow *f)
{
    return &f->facts;
}

uint64_t gt_calls_follow_lost(const struct gt_calls_follow *f)
{
    return f->calls.lost;
}
