/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set, and tasks that play calls and log what their states do. */
#ifndef GT_TEST_FILTER_BENCH_H
#define GT_TEST_FILTER_BENCH_H

#include "filter/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A set, and tasks whose functions have the names a to z. */
struct bench {
    struct gt_filter_set *set;
    struct gt_filter_live *live;
    struct gt_filter_verdict v[26];
};

struct task {
    struct gt_filter_state s;
    char open[64]; /* the names of the open calls */
    char log[1000];
    int64_t arg1, retval;
    const char *path;
    uint32_t shown;
};

__attribute__((format(printf, 2, 3))) static inline void log_add(struct task *t, const char *format,
                                                                 ...)
{
    size_t n = strlen(t->log);
    va_list ap;
    va_start(ap, format);
    vsnprintf(t->log + n, sizeof t->log - n, format, ap);
    va_end(ap);
}

static inline void put_enter(void *self, const struct gt_filter_frame *f, uint32_t shown,
                             uint64_t time)
{
    struct task *t = self;
    assert_int_equal(shown, t->shown++);
    log_add(t, " %c%u@%u", t->open[f->depth % 64], f->depth, (unsigned)time);
}

static inline void put_leave(void *self, const struct gt_filter_frame *f, uint32_t shown,
                             uint64_t time)
{
    struct task *t = self;
    assert_int_equal(shown, --t->shown);
    log_add(t, " /%c%u@%u", t->open[f->depth % 64], f->depth, (unsigned)time);
}

static inline void put_suspended(void *self, uint32_t shown, uint64_t time)
{
    struct task *t = self;
    assert_int_equal(shown, t->shown);
    log_add(t, " ~%u@%u", shown, (unsigned)time);
}

static inline void put_resumed(void *self, uint32_t shown, uint64_t time)
{
    struct task *t = self;
    assert_int_equal(shown, t->shown);
    log_add(t, "-%u", (unsigned)time);
}

static inline void put_act(void *self, const struct gt_filter_act *a)
{
    static const char *const names[] = {"on",   "off",  "finish",  "backtrace",
                                        "read", "mark", "snapshot"};
    log_add(self, " [%s%s%s %s %u %u]", names[a->action->kind], a->action->text ? "=" : "",
            a->action->text ? a->action->text : "", a->trigger, a->depth, (unsigned)a->took);
}

/* arg1, retval, and a string. */
static inline bool value_of(void *self, uint32_t depth, const struct gt_base_call_value_name *name,
                            struct gt_base_call_value *out)
{
    const struct task *t = self;
    int64_t v = name->place == GT_CALL_RESULT ? t->retval : t->arg1;
    (void)depth;
    *out = (struct gt_base_call_value){.negative = v < 0, .bits = (uint64_t)v};
    if (name->place == GT_CALL_NAMED && t->path)
        *out = (struct gt_base_call_value){
            .kind = GT_CALL_VALUE_TEXT, .text = t->path, .size = strlen(t->path)};
    return v != INT64_MAX && (name->place != GT_CALL_NAMED || strcmp(name->name, "path") == 0);
}

static const struct gt_filter_sink sink = {.enter = put_enter,
                                           .leave = put_leave,
                                           .suspended = put_suspended,
                                           .resumed = put_resumed,
                                           .act = put_act,
                                           .value = value_of};

static const char *const names[] = {
    [GT_FILTER_ONLY] = "-F",
    [GT_FILTER_NOT] = "-N",
    [GT_FILTER_TRIGGER] = "-T",
    [GT_FILTER_CALLERS] = "-C",
    [GT_FILTER_HIDE] = "-H",
    [GT_FILTER_PLACE] = "-L",
    [GT_FILTER_DEPTH] = "-D",
    [GT_FILTER_TIME] = "-t",
    [GT_FILTER_SIZE] = "-Z",
    [GT_FILTER_TASK] = "task",
    [GT_FILTER_VCPU] = "vcpu",
    [GT_FILTER_PRIVILEGE] = "privilege",
    [GT_FILTER_OFF] = "off",
    [GT_FILTER_USER_ONLY] = "user",
    [GT_FILTER_NO_HANDLERS] = "no-handlers",
};

/* "-F a -T b@finish": words, without blanks in them. Functions of capital name are not there. */
static inline void begin(struct bench *b, const char *options)
{
    char text[400], *word, *at = text;
    snprintf(text, sizeof text, "%s", options);
    *b = (struct bench){.set = gt_filter_set_new(NULL)};
    while ((word = strsep(&at, " "))) {
        struct gt_error err;
        size_t i = 0;
        while (i < sizeof names / sizeof *names && (!names[i] || strcmp(names[i], word) != 0))
            i++;
        if (gt_filter_set_add(b->set, (enum gt_filter_option)i, word,
                              i < GT_FILTER_KERNEL_ONLY ? strsep(&at, " ") : NULL, &err) < 0)
            fail_msg("%s", err.text);
    }
    for (int i = 0; i < 26; i++) {
        const char name[] = {(char)('a' + i), 0};
        const struct gt_filter_function f = {.name = name, .size = 10, .kernel = i >= 13};
        assert_int_equal(gt_filter_verdict(b->set, &f, &b->v[i]), 0);
    }
    b->live = gt_filter_live_new(b->set);
}

static inline void end(struct bench *b)
{
    gt_filter_live_free(b->live);
    gt_filter_set_free(b->set);
}

static inline void start(struct task *t, struct bench *b)
{
    *t = (struct task){.arg1 = INT64_MAX, .retval = INT64_MAX};
    assert_int_equal(gt_filter_state_init(&t->s, b->set, b->live, &sink, t), 0);
}

/* Each letter calls, each point returns; a time unit each. A handler's letter is a capital. */
static inline void play(struct task *t, struct bench *b, const char *what, uint64_t time)
{
    for (; *what; what++, time++) {
        if (*what == '.') {
            gt_filter_leave(&t->s, time);
        } else if (*what != ' ') {
            bool handler = *what < 'a';
            char name = (char)(handler ? *what - 'A' + 'a' : *what);
            t->open[t->s.depth % 64] = name;
            gt_filter_enter(&t->s, &b->v[name - 'a'], 0, handler ? GT_FILTER_HANDLER : 0, time);
        }
    }
}

#endif
