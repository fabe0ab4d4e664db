/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of filters, one a line, the first character says which: each is refused with a message,
 * or calls are recorded by it, with an exit for every entry. */
#include "filter/state.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUNCTIONS = 4 };

static int balance;

static void put_enter(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    (void)self, (void)f, (void)time;
    if (shown != (uint32_t)balance++)
        abort();
}

static void put_leave(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    (void)self, (void)f, (void)time;
    if (shown != (uint32_t)--balance)
        abort();
}

static void put_act(void *self, const struct gt_filter_act *a)
{
    (void)self;
    if (strlen(a->trigger) == 0)
        abort();
}

/* Numbers, texts, and values that are not known. */
static bool value(void *self, uint32_t depth, const struct gt_base_call_value_name *name,
                  struct gt_base_call_value *out)
{
    (void)self;
    *out = (struct gt_base_call_value){.bits = depth};
    if (name->place == GT_CALL_NAMED)
        *out = (struct gt_base_call_value){.kind = GT_CALL_VALUE_TEXT, .text = "x", .size = 1};
    if (name->place == GT_CALL_FLOAT_ARGUMENT)
        *out = (struct gt_base_call_value){.kind = GT_CALL_VALUE_REAL, .real = depth};
    return name->number < 9;
}

static const struct gt_filter_sink sink = {
    .enter = put_enter, .leave = put_leave, .act = put_act, .value = value};

static void add(struct gt_filter_set *set, const char *line)
{
    static const char letters[] = "FNTCHLDtZkvpKUhOW"; /* as enum gt_filter_option */
    const char *at = *line ? strchr(letters, *line) : NULL;
    struct gt_error err = {0};
    int status =
        at ? gt_filter_set_add(set, (enum gt_filter_option)(at - letters), "-x", line + 1, &err)
           : 0;
    if (status < 0 && (err.status != status || strncmp(err.text, "-x", 2) != 0))
        abort();
}

static void play(const struct gt_filter_set *set, struct gt_filter_live *live)
{
    static const char *const also[] = {"ns::f(int)", NULL};
    const struct gt_filter_function f[FUNCTIONS] = {
        {.name = "f", .size = 10, .module = "/lib/libc.so.6", .file = "a/b.c", .line = 3},
        {.name = "_Zf", .also = also, .address = 0x1000, .level = "U"},
        {.name = "sys_read", .kernel = true, .size = 100, .module = "vmlinux"},
        {.address = 0x2000, .size = 16},
    };
    struct gt_filter_verdict v[FUNCTIONS];
    struct gt_filter_state s;
    balance = 0;
    if (gt_filter_state_init(&s, set, live, &sink, NULL) < 0)
        return;
    gt_filter_state_task(&s, "init", 1, 1);
    gt_filter_state_cpu(&s, 0);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        if (gt_filter_verdict(set, &f[i], &v[i]) < 0)
            v[i] = (struct gt_filter_verdict){0};
    for (unsigned i = 0; i < 40; i++) {
        gt_filter_enter(&s, &v[(i * 7 + i / 3) % FUNCTIONS], 0, i % 11 == 0, i * i);
        if (i % 3 == 2)
            gt_filter_leave(&s, i * i + i);
    }
    while (s.depth)
        gt_filter_leave(&s, 2000);
    if (balance != 0)
        abort();
    gt_filter_said(set, live, GT_FILTER_CONSOLE, "Kernel panic", 2000, &sink, NULL);
    gt_filter_said(set, live, GT_FILTER_QMP, "RESET", 2000, &sink, NULL);
    gt_filter_ended(set, live, false, 1, 2000, &sink, NULL);
    gt_filter_state_finish(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct gt_filter_settings settings = {.match =
                                                    size ? data[0] % 2 : GT_FILTER_MATCH_REGEX};
    char *text = malloc(size + 1), *at = text, *line;
    struct gt_filter_set *set = gt_filter_set_new(&settings);
    if (!text || !set)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    while ((line = strsep(&at, "\n")))
        add(set, line);
    struct gt_filter_live *live = gt_filter_live_new(set);
    if (live)
        play(set, live);
    gt_filter_live_free(live);
    gt_filter_set_free(set);
    free(text);
    return 0;
}
