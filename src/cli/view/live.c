/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers about a recording that is being written: see live.h. */
#include "cli/view/live.h"

#include "cli/follow/follow.h"

#include <glib.h>
#include <string.h>

enum {
    PERIOD = G_USEC_PER_SEC,    /* of looks; longer where one takes longer */
    QUIET = 5 * G_USEC_PER_SEC, /* when no page has asked for so long, no look is made */
    ROWS = 500,
    MOST_ROWS = 2000,
    MISSING = 2, /* looks that find no file at the path: a part may be replaced just then */
};

enum what { RECORDING, INTERRUPTED, ENDED, REMOVED, FAILED };

struct gt_cli_view_live {
    struct gt_cli_view_live_options how;
    char *path;
    struct gtrace_page *page; /* NULL: not yet. Atomic */
    GThread *thread;
    GMutex lock; /* of all below */
    GCond changed;
    struct gt_cli_follow *follow;
    enum what what;
    char *error; /* why it has failed */
    unsigned missing;
    uint64_t looks;
    gint64 asked, due; /* when a page asked last, when a look is due */
    bool stop;
};

/* ---- looks --------------------------------------------------------------------------------- */

static void fail(struct gt_cli_view_live *l, const struct gt_error *err)
{
    l->what = FAILED;
    g_free(l->error);
    l->error = g_strdup(err->text);
}

/* With the lock. */
static int look(struct gt_cli_view_live *l, struct gt_error *err)
{
    const gint64 begin = g_get_monotonic_time();
    int status = gt_cli_follow_look(l->follow, err);
    const bool is_there = g_file_test(l->path, G_FILE_TEST_EXISTS);
    const enum gt_cli_follow_state state = gt_cli_follow_state(l->follow);
    const gint64 end = g_get_monotonic_time();
    l->looks++;
    l->due = end + MAX(PERIOD, end - begin);
    l->missing = is_there ? 0 : l->missing + 1;
    if (l->missing >= MISSING)
        l->what = REMOVED;
    if (!is_there)
        return 0;
    if (status == 0)
        l->what = state == GT_FOLLOW_ENDED         ? ENDED
                  : state == GT_FOLLOW_INTERRUPTED ? INTERRUPTED
                                                   : RECORDING;
    return status;
}

/* Until nothing more is to come. With the lock. */
static void watch(struct gt_cli_view_live *l)
{
    struct gt_error err = {0};
    while (!l->stop && (l->what == RECORDING || l->what == INTERRUPTED)) {
        const gint64 now = g_get_monotonic_time();
        if (now > l->asked + QUIET)
            g_cond_wait(&l->changed, &l->lock);
        else if (now < l->due)
            g_cond_wait_until(&l->changed, &l->lock, l->due);
        else if (look(l, &err) < 0)
            fail(l, &err);
    }
}

static void *run(void *self)
{
    struct gt_cli_view_live *l = self;
    struct gtrace_page *page = NULL;
    struct gt_error err = {0};
    g_mutex_lock(&l->lock);
    watch(l);
    bool goes_on = !l->stop && l->what == ENDED;
    g_mutex_unlock(&l->lock);
    int status = goes_on ? l->how.open(l->how.self, &page, &err) : 0;
    g_mutex_lock(&l->lock);
    goes_on = goes_on && !l->stop && status == 0;
    if (status < 0)
        fail(l, &err);
    if (goes_on)
        g_atomic_pointer_set(&l->page, page);
    g_mutex_unlock(&l->lock);
    if (goes_on)
        l->how.read(l->how.self);
    return NULL;
}

int gt_cli_view_live_open(const struct gt_cli_view_live_options *o, struct gt_cli_view_live **out,
                          struct gt_error *err)
{
    struct gt_cli_view_live *l = g_new0(struct gt_cli_view_live, 1);
    l->how = *o;
    l->path = g_strdup(o->path);
    g_mutex_init(&l->lock);
    g_cond_init(&l->changed);
    l->follow =
        gt_cli_follow_create(o->path, gt_cli_follow_from_begin, o->demangle, &l->how.notices);
    int status = look(l, err);
    if (status == 0) {
        l->thread = g_thread_try_new("follow", run, l, NULL);
        if (!l->thread)
            status = gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    *out = status == 0 ? l : NULL;
    if (status < 0)
        gt_cli_view_live_close(l);
    return status;
}

void gt_cli_view_live_stop(struct gt_cli_view_live *l)
{
    g_mutex_lock(&l->lock);
    l->stop = true;
    struct gtrace_page *page = g_atomic_pointer_get(&l->page);
    g_cond_signal(&l->changed);
    g_mutex_unlock(&l->lock);
    if (page)
        gtrace_page_stop(page);
    g_thread_join(l->thread);
    l->thread = NULL;
}

void gt_cli_view_live_close(struct gt_cli_view_live *l)
{
    if (!l)
        return;
    gt_cli_follow_destroy(l->follow);
    g_cond_clear(&l->changed);
    g_mutex_clear(&l->lock);
    g_free(l->error);
    g_free(l->path);
    g_free(l);
}

/* ---- answers ------------------------------------------------------------------------------- */

static const char *name_of(enum what what)
{
    static const char *const names[] = {[RECORDING] = "recording",
                                        [INTERRUPTED] = "interrupted",
                                        [ENDED] = "ended",
                                        [REMOVED] = "removed",
                                        [FAILED] = "failed"};
    return names[what];
}

/* What people are to know, or do; NULL: nothing. */
static char *note_of(const struct gt_cli_view_live *l)
{
    switch (l->what) {
    case INTERRUPTED:
        return g_strdup_printf(
            "its recorder was killed; run guesttrace repair %s, and this page shows all of it",
            l->path);
    case REMOVED:
        return g_strdup_printf("%s is gone; the table has all that had been read", l->path);
    case FAILED:
        return g_strdup(l->error);
    default:
        return NULL;
    }
}

static int refuse(struct gt_error *err, const char *key, const char *text)
{
    return gt_error_set(err, GT_E_USAGE, "parameter %s: '%.40s' is not one of its values", key,
                        text);
}

static int choose(const char *(*value)(void *user, const char *key), void *user,
                  struct gt_cli_follow_choice *out, struct gt_error *err)
{
    const char *by = value(user, "by"), *sort = value(user, "sort"), *limit = value(user, "limit");
    guint64 rows = ROWS;
    unsigned k = GT_FOLLOW_BY_ALL_SELF;
    if (by && strcmp(by, "functions") != 0 && strcmp(by, "tasks") != 0)
        return refuse(err, "by", by);
    for (k = sort ? 0 : k; sort && k < GT_FOLLOW_SORTS; k++)
        if (strcmp(gt_cli_follow_sort_names[k], sort) == 0)
            break;
    if (k == GT_FOLLOW_SORTS)
        return refuse(err, "sort", sort);
    if (limit && !g_ascii_string_to_unsigned(limit, 10, 1, MOST_ROWS, &rows, NULL))
        return refuse(err, "limit", limit);
    *out = (struct gt_cli_follow_choice){.by_task = by && strcmp(by, "tasks") == 0,
                                         .sort = (enum gt_cli_follow_sort)k,
                                         .match = value(user, "match"),
                                         .limit = rows};
    return 0;
}

static void put_live(struct gt_cli_view_live *l, const struct gt_cli_follow_choice *c,
                     struct gt_json *j)
{
    g_mutex_lock(&l->lock);
    g_autofree char *note = note_of(l);
    l->asked = g_get_monotonic_time();
    g_cond_signal(&l->changed);
    gt_json_member_u64(j, "look", l->looks);
    if (g_atomic_pointer_get(&l->page))
        gt_json_member_u64(j, "ready", 1);
    if (note)
        gt_json_member_text(j, "note", note);
    gt_cli_follow_answer(l->follow, c, name_of(l->what), j);
    g_mutex_unlock(&l->lock);
}

static void put_info(struct gt_cli_view_live *l, struct gt_json *j)
{
    g_autofree char *title = g_path_get_basename(l->path);
    gt_json_member_u64(j, "live", 1);
    gt_json_member_text(j, "title", title);
    gt_json_member_text(j, "path", l->path);
}

int gt_cli_view_live_answer(void *live, const char *question,
                            const char *(*value)(void *user, const char *key), void *user, int fd,
                            struct gtrace_page_answer *out, struct gtrace_error *err)
{
    struct gt_cli_view_live *l = live;
    struct gtrace_page *page = g_atomic_pointer_get(&l->page);
    const bool is_live = strcmp(question, "live") == 0;
    struct gt_cli_follow_choice c;
    struct gt_error e = {0};
    struct gt_json j;
    if (!is_live && (page || strcmp(question, "info") != 0))
        return gtrace_page_answer(page, question, value, user, fd, out, err);
    g_autofree struct gt_output *to = g_new(struct gt_output, 1);
    gt_output_init(to, fd);
    int status = is_live ? choose(value, user, &c, &e) : 0;
    if (status == 0) {
        gt_json_init(&j, to, GT_JSON_REPLACE);
        gt_json_resume(&j);
        gt_json_begin_object(&j);
        if (is_live)
            put_live(l, &c, &j);
        else
            put_info(l, &j);
        gt_json_end_object(&j);
        gt_json_commit(&j);
        status = gt_output_finish(to, "answer", &e);
    }
    *out = (struct gtrace_page_answer){.size = out->size, .type = "application/json"};
    if (status < 0) {
        err->status = status;
        g_strlcpy(err->text, e.text, sizeof err->text);
    }
    return status;
}
