/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repairing a directory after a kill: see dir.h. */
#include "recording/directory/dir_internal.h"

#include "base/cursor.h"
#include "base/text.h"
#include "recording/texts/files.h"
#include "recording/texts/open_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct repair {
    struct gt_uftrace_dir dir;
    const struct gt_uftrace_repair_options *opt;
    struct gt_uftrace_repair_stats stats;
    struct gt_error *err;
    int status; /* the first error */
};

/* Keeps the first error only. */
static void fail(struct repair *r, int status, const struct gt_error *why)
{
    if (!r->status) {
        r->status = status;
        if (r->err)
            *r->err = *why;
    }
}

static uint64_t lost_of(const struct repair *r, uint32_t tid)
{
    for (size_t i = 0; r->opt && i < r->opt->n_lost; i++)
        if (r->opt->lost[i].tid == tid)
            return r->opt->lost[i].records;
    return 0;
}

/* Reads the file to its end or to a record that is cut. */
static int scan_file(const char *dir, uint32_t tid, struct gt_uftrace_scan *s, struct gt_error *err)
{
    struct gt_uftrace_dat *dat;
    struct gt_uftrace_record rec;
    const char *expected = NULL;
    size_t room = 0;
    int status = gt_uftrace_dat_open(dir, tid, &dat, err);
    if (status)
        return status;
    while ((status = gt_uftrace_dat_next(dat, &rec, err)) == 1) {
        status = gt_uftrace_scan_step(s, &room, &rec, &expected);
        if (status) {
            gt_error_set(err, status, "%.300s offset %" PRIu64 ": %s, expected %s",
                         gt_uftrace_dat_path(dat), s->whole, gt_error_status_text(status),
                         expected);
            break;
        }
        s->whole = gt_uftrace_dat_offset(dat);
    }
    gt_uftrace_dat_close(dat);
    return status == GT_E_TRUNC ? 0 : status;
}

/* Writes n records of one time after the whole records; 0 or an errno. */
static int put_at(int fd, uint64_t at, uint64_t time, const uint64_t *words, size_t n)
{
    uint64_t buf[512];
    for (size_t done = 0; done < n;) {
        size_t k = n - done < 256 ? n - done : 256;
        for (size_t i = 0; i < k; i++) {
            buf[2 * i] = time;
            buf[2 * i + 1] = words[done + i];
        }
        const char *p = (const char *)buf;
        for (size_t left = k * GT_UFTRACE_RECORD_SIZE; left;) {
            ssize_t w = pwrite(fd, p, left, (off_t)at);
            if (w < 0 && errno == EINTR)
                continue;
            if (w <= 0)
                return w ? errno : ENOSPC;
            p += w;
            at += (uint64_t)w;
            left -= (size_t)w;
        }
        done += k;
    }
    return 0;
}

/* The words to add: events that are due, then the EXITs, innermost first. Reuses s->open. */
static size_t due(struct repair *r, uint32_t tid, struct gt_uftrace_scan *s, uint64_t *events)
{
    size_t n = 0;
    if (s->scheduled_out)
        events[n++] = gt_uftrace_event(0, GT_UFTRACE_EV_SCHED_IN);
    if (lost_of(r, tid) && !s->lost_event && s->records) {
        events[n++] = gt_uftrace_event(0, GT_UFTRACE_EV_LOST);
        r->stats.events++;
    }
    for (uint32_t i = 0; i < s->n_open / 2; i++) {
        uint64_t w = s->open[i];
        s->open[i] = s->open[s->n_open - 1 - i];
        s->open[s->n_open - 1 - i] = w;
    }
    return n;
}

/* Cuts the file after its last whole record and adds the records that are due. */
static int mend_file(struct repair *r, uint32_t tid, const struct gt_uftrace_scan *s,
                     const uint64_t *events, size_t n, struct gt_error *err)
{
    char name[32], file[GT_UFTRACE_FILE_MAX];
    snprintf(name, sizeof name, "%" PRIu32 ".dat", tid);
    gt_uftrace_dir_file(&r->dir, name, file);
    struct stat st;
    if (stat(file, &st))
        return gt_error_errno(err, errno, "%s: cannot be read", file);
    uint64_t cut = (uint64_t)st.st_size - s->whole;
    if (!n && !s->n_open && !cut)
        return 0;
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", file);
    int bad = cut && ftruncate(fd, (off_t)s->whole) ? errno : 0;
    if (!bad)
        bad = put_at(fd, s->whole, s->last_time, events, n);
    if (!bad)
        bad = put_at(fd, s->whole + n * GT_UFTRACE_RECORD_SIZE, s->last_time, s->open, s->n_open);
    if (bad && ftruncate(fd, (off_t)s->whole))
        bad = errno;
    if (close(fd) && !bad)
        bad = errno;
    if (bad)
        return gt_error_errno(err, bad, "%s: cannot be written", file);
    r->stats.cut += cut;
    return 0;
}

static int scan(const struct repair *r, uint32_t tid, struct gt_uftrace_scan *s,
                struct gt_error *err)
{
    const struct gt_uftrace_repair_records *records = r->opt ? r->opt->records : NULL;
    return records ? records->scan(records->self, tid, s, err)
                   : scan_file(r->dir.path, tid, s, err);
}

/* Says that the exits are not returns. */
static int note_open(const struct repair *r, uint32_t tid, uint64_t time, uint32_t depth,
                     struct gt_error *err)
{
    struct gt_text line = {0};
    gt_recording_open_calls_put(&line, tid, time, depth);
    int status = gt_uftrace_dir_add_text(&r->dir, GT_OPEN_CALLS_FILE, &line, err);
    gt_text_free(&line);
    return status;
}

/* Closes the open calls. */
static int mend(struct repair *r, uint32_t tid, struct gt_uftrace_scan *s, struct gt_error *err)
{
    const struct gt_uftrace_repair_records *records = r->opt ? r->opt->records : NULL;
    uint64_t events[2];
    size_t n = due(r, tid, s, events);
    int status = 0;
    if (!records)
        status = mend_file(r, tid, s, events, n, err);
    else if (n)
        status = records->add(records->self, tid, s->last_time, events, n, err);
    if (records && !status && s->n_open)
        status = records->add(records->self, tid, s->last_time, s->open, s->n_open, err);
    if (!status && s->n_open)
        status = note_open(r, tid, s->last_time, (uint32_t)s->n_open, err);
    if (!status)
        r->stats.closed += s->n_open;
    return status;
}

static uint64_t mend_one(struct repair *r, uint32_t tid)
{
    struct gt_uftrace_scan s = {0};
    struct gt_error why = {0};
    int status = scan(r, tid, &s, &why);
    r->stats.files++;
    r->stats.records += s.records;
    if (s.depth > r->stats.depth)
        r->stats.depth = s.depth;
    if (!status)
        status = mend(r, tid, &s, &why);
    if (status)
        fail(r, status, &why);
    free(s.open);
    return s.first_time;
}

static bool same_tids(const struct gt_uftrace_info *info, const uint32_t *tids, size_t n)
{
    return info->n_tids == n && (!n || !memcmp(info->tids, tids, n * sizeof *tids));
}

/* Leaves an info alone that says all there is. */
static int mend_info(struct repair *r, const char *program, struct gt_error *err)
{
    struct gt_uftrace_info info = {0};
    uint32_t *tids;
    size_t n;
    int status = gt_uftrace_dir_read_tids(&r->dir, &tids, &n, err);
    if (status)
        return status;
    uint16_t depth = r->stats.depth < UINT16_MAX ? (uint16_t)r->stats.depth : UINT16_MAX;
    uint64_t features = gt_uftrace_dir_features(&r->dir);
    bool good = gt_uftrace_dir_read_info(&r->dir, &info, NULL) == 0;
    char file[GT_UFTRACE_FILE_MAX];
    bool there = access(gt_uftrace_dir_file(&r->dir, "info", file), F_OK) == 0;
    if (!good || !info.exename)
        info.exename = r->opt && r->opt->exename ? r->opt->exename : program;
    if (!good)
        gt_uftrace_repair_report(r->opt, &r->stats, "info", "%s: written anew, without the command",
                                 there ? "it was not readable" : "it was missing");
    if (good && same_tids(&info, tids, n) && info.max_stack >= depth &&
        (info.feat_mask & features) == features) {
        status = 0;
    } else {
        uint16_t least = info.max_stack ? info.max_stack : 1024;
        info.max_stack = depth > least ? depth : least;
        status = gt_uftrace_dir_write_info(&r->dir, &info, err);
    }
    free(tids);
    if (good)
        gt_uftrace_info_free(&info);
    return status;
}

static void put_lost_name(struct repair *r)
{
    struct gt_error why = {0};
    int status = r->stats.events ? gt_uftrace_dir_add_event(&r->dir, GT_UFTRACE_EV_LOST,
                                                            GT_UFTRACE_EV_LOST_NAME, &why)
                                 : 0;
    if (status)
        fail(r, status, &why);
}

static void mend_all(struct repair *r, uint32_t *tids, size_t n)
{
    struct gt_error why = {0};
    struct gt_uftrace_task_repair tasks = {r->opt, &r->stats, .tids = tids, .n = n};
    uint64_t *first = calloc(n + 1, sizeof *first);
    tasks.first = first;
    if (!first) {
        fail(r, gt_error_set(&why, GT_E_NOMEM, "%.300s: out of memory", r->dir.path), &why);
        return;
    }
    for (size_t i = 0; i < n; i++)
        first[i] = mend_one(r, tids[i]);
    put_lost_name(r);
    int lock = gt_uftrace_dir_lock(&r->dir, &why);
    int status = lock < 0 ? lock : gt_uftrace_dir_repair_tasks(&r->dir, &tasks, &why);
    if (!status)
        status = mend_info(r, tasks.program, &why);
    if (lock >= 0)
        gt_uftrace_dir_unlock(lock);
    if (status)
        fail(r, status, &why);
    status = 0;
    if (r->opt && r->opt->names)
        status = gt_uftrace_dir_repair_names(&r->dir, r->opt, &r->stats, &why);
    if (status)
        fail(r, status, &why);
    r->stats.lines_dropped = tasks.dropped;
    r->stats.lines_added = tasks.added;
    free(first);
}

int gt_uftrace_dir_repair(const char *path, const struct gt_uftrace_repair_options *opt,
                          struct gt_uftrace_repair_stats *stats, struct gt_error *err)
{
    struct repair r = {.opt = opt, .err = err};
    const struct gt_uftrace_repair_records *records = opt ? opt->records : NULL;
    uint32_t *tids;
    int status = 0;
    if (records) /* whatever is left of the text files, the directory is ours */
        snprintf(r.dir.path, sizeof r.dir.path, "%s", path);
    else
        status = gt_uftrace_dir_open(&r.dir, path, err);
    if (status)
        return status;
    int64_t n = records ? records->list(records->self, &tids, err)
                        : gt_uftrace_dat_list(r.dir.path, &tids, err);
    if (n < 0)
        return (int)n;
    mend_all(&r, tids, (size_t)n);
    free(tids);
    if (stats)
        *stats = r.stats;
    return r.status;
}

int gt_uftrace_dir_end_task(const struct gt_uftrace_dir *d,
                            const struct gt_uftrace_repair_records *records, uint32_t tid,
                            struct gt_error *err)
{
    struct gt_uftrace_lost lost = {.tid = tid, .records = 1};
    struct gt_uftrace_repair_options opt = {.lost = &lost, .n_lost = 1, .records = records};
    struct repair r = {.dir = *d, .opt = &opt, .err = err};
    mend_one(&r, tid);
    put_lost_name(&r);
    return r.status;
}

/* Repairs task.txt and adds the missing maps of its sessions. */

struct tasks {
    const struct gt_uftrace_dir *dir;
    struct gt_uftrace_task_repair *want;
    struct gt_text out;
    bool *seen;                     /* of want->tids */
    struct gt_uftrace_task session; /* the first one; pid 0: none yet */
};

static int by_tid(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void note_tid(struct tasks *t, uint32_t tid)
{
    if (!t->want->n)
        return;
    const uint32_t *at = bsearch(&tid, t->want->tids, t->want->n, sizeof tid, by_tid);
    if (at)
        t->seen[at - t->want->tids] = true;
}

/* A session without a map would make every reader fail. */
static int need_map(struct tasks *t, const char *sid, struct gt_error *err)
{
    char name[64], file[GT_UFTRACE_FILE_MAX];
    snprintf(name, sizeof name, "sid-%s.map", sid);
    if (access(gt_uftrace_dir_file(t->dir, name, file), F_OK) == 0)
        return 0;
    gt_uftrace_repair_report(t->want->opt, t->want->stats, name,
                             "it was missing: written anew without modules; functions have no names"
                             " until 'guesttrace symbols' is given their files");
    return gt_uftrace_dir_put_map(t->dir, sid, NULL, 0, err);
}

static int keep_lines(struct tasks *t, const char *text, size_t size, struct gt_error *err)
{
    struct gt_text_cursor all = {text, size}, line;
    struct gt_uftrace_task task;
    bool whole;
    int status = 0;
    while (!status && gt_text_take_line(&all, &line, &whole)) {
        if (!whole || gt_uftrace_task_read(line.at, line.left, &task, NULL)) {
            t->want->dropped++;
            continue;
        }
        gt_text_add(&t->out, line.at, line.left + 1);
        if (task.kind == GT_UFTRACE_SESS)
            status = need_map(t, task.sid, err);
        if (task.kind == GT_UFTRACE_SESS && !t->session.pid)
            t->session = task;
        if (task.kind == GT_UFTRACE_TASK || task.kind == GT_UFTRACE_FORK)
            note_tid(t, task.tid);
    }
    return status;
}

/* The session that a map was written for, the first one by name; 0 where there is none. */
static void find_sid(const struct gt_uftrace_dir *d, char sid[GT_UFTRACE_SID_LEN + 1])
{
    struct dirent **list;
    int n = scandir(d->path, &list, NULL, alphasort);
    gt_uftrace_sid(0, sid);
    for (int i = n - 1; i >= 0; i--) {
        const char *name = list[i]->d_name;
        if (strlen(name) == 8 + GT_UFTRACE_SID_LEN && !memcmp(name, "sid-", 4) &&
            gt_text_is_hex(name + 4, GT_UFTRACE_SID_LEN) && !strcmp(name + 20, ".map"))
            memcpy(sid, name + 4, GT_UFTRACE_SID_LEN);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

static void find_program(const struct gt_uftrace_dir *d, char path[GT_UFTRACE_PATH_MAX])
{
    struct gt_uftrace_info info;
    if (gt_uftrace_dir_read_info(d, &info, NULL) < 0)
        return;
    gt_uftrace_path(info.exename, path, GT_UFTRACE_PATH_MAX);
    gt_uftrace_info_free(&info);
}

static int add_missing(struct tasks *t, struct gt_error *err)
{
    int status = 0;
    if (!t->session.pid && t->want->n) {
        t->session = (struct gt_uftrace_task){.kind = GT_UFTRACE_SESS, .pid = t->want->tids[0]};
        find_sid(t->dir, t->session.sid);
        find_program(t->dir, t->session.path);
        status = gt_uftrace_task_write(&t->out, &t->session, err);
        if (!status)
            status = need_map(t, t->session.sid, err);
        t->want->added++;
    }
    for (size_t i = 0; !status && i < t->want->n; i++) {
        if (t->seen[i])
            continue;
        uint64_t time = t->want->first[i];
        struct gt_uftrace_task task = {
            .kind = GT_UFTRACE_TASK,
            .time = time > t->session.time ? time : t->session.time,
            .tid = t->want->tids[i],
            .pid = t->session.pid,
        };
        status = gt_uftrace_task_write(&t->out, &task, err);
        t->want->added++;
    }
    return status;
}

int gt_uftrace_dir_repair_tasks(const struct gt_uftrace_dir *d, struct gt_uftrace_task_repair *r,
                                struct gt_error *err)
{
    char *text;
    size_t size = 0;
    struct tasks t = {.dir = d, .want = r, .seen = calloc(r->n + 1, 1)};
    if (!t.seen)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", d->path);
    int status = gt_uftrace_dir_read_text(d, "task.txt", GT_UFTRACE_TEXT_MAX, &text, &size, err);
    if (status == GT_E_NOT_FOUND)
        status = 0;
    if (!status)
        status = keep_lines(&t, text, size, err);
    if (!status)
        status = add_missing(&t, err);
    if (!status && (r->dropped || r->added || !text)) {
        status = gt_uftrace_dir_put_text(d, "task.txt", &t.out, err);
        gt_uftrace_repair_report(r->opt, r->stats, "task.txt",
                                 "%s: lines left out: %" PRIu64 ", added: %" PRIu64,
                                 !text        ? "it was missing"
                                 : !size      ? "it was empty"
                                 : r->dropped ? "lines were not readable"
                                              : "tasks were missing",
                                 r->dropped, r->added);
    }
    gt_uftrace_path(t.session.path, r->program, sizeof r->program);
    gt_text_free(&t.out);
    free(t.seen);
    free(text);
    return status;
}
