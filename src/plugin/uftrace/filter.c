/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters of a recording: see filter.h. */
#include "plugin/uftrace/filter.h"
#include "guest/arch/privilege.h"
#include "plugin/uftrace/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the set ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *shown;
    enum gt_filter_option option;
    bool is_switch;
} arguments[] = {
    {"filter", "argument filter", GT_FILTER_ONLY, false},
    {"notrace", "argument notrace", GT_FILTER_NOT, false},
    {"trigger", "argument trigger", GT_FILTER_TRIGGER, false},
    {"caller-filter", "argument caller-filter", GT_FILTER_CALLERS, false},
    {"hide", "argument hide", GT_FILTER_HIDE, false},
    {"loc-filter", "argument loc-filter", GT_FILTER_PLACE, false},
    {"time-filter", "argument time-filter", GT_FILTER_TIME, false},
    {"size-filter", "argument size-filter", GT_FILTER_SIZE, false},
    {"task", "argument task", GT_FILTER_TASK, false},
    {"vcpu", "argument vcpu", GT_FILTER_VCPU, false},
    {"privilege", "argument privilege", GT_FILTER_PRIVILEGE, false},
    {"kernel-only", "argument kernel-only=on", GT_FILTER_KERNEL_ONLY, true},
    {"user-only", "argument user-only=on", GT_FILTER_USER_ONLY, true},
    {"no-handlers", "argument no-handlers=on", GT_FILTER_NO_HANDLERS, true},
};

enum { N_ARGUMENTS = G_N_ELEMENTS(arguments) };
_Static_assert((int)N_ARGUMENTS + 2 <= (int)GT_FILTER_ARGUMENTS, "the table has room");

static void add_word(GArray *words, size_t kind, const char *value)
{
    const struct gt_filter_word word = {arguments[kind].option, arguments[kind].shown, value};
    g_array_append_val(words, word);
}

static size_t kind_of(enum gt_filter_option option)
{
    size_t i = 0;
    while (arguments[i].option != option)
        i++;
    return i;
}

static int take_word(void *self, const char *value, struct gt_error *err)
{
    const struct gt_filter_argument *a = self;
    size_t kind = kind_of(a->option);
    if (!arguments[kind].is_switch) {
        add_word(a->words, kind, value);
        return 0;
    }
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return gt_error_set(err, GT_E_USAGE, "argument %s=%s: expected on or off",
                            arguments[kind].name, value);
    if (strcmp(value, "on") == 0)
        add_word(a->words, kind, NULL);
    return 0;
}

size_t gt_filters_arguments(struct gt_filters *f, struct gt_arg *table)
{
    static const char *const matches[] = {"regex", "glob", NULL};
    static const char *const states[] = {"on", "off", NULL};
    f->words = g_array_new(FALSE, FALSE, sizeof(struct gt_filter_word));
    for (size_t i = 0; i < N_ARGUMENTS; i++) {
        f->argument[i] = (struct gt_filter_argument){f->words, arguments[i].option};
        table[i] = (struct gt_arg){.name = arguments[i].name,
                                   .kind = GT_ARG_EACH,
                                   .value = &f->argument[i],
                                   .each = take_word};
    }
    table[N_ARGUMENTS] = (struct gt_arg){"match", GT_ARG_CHOICE, &f->match, .choices = matches};
    table[N_ARGUMENTS + 1] =
        (struct gt_arg){"recording", GT_ARG_CHOICE, &f->state, .choices = states};
    return N_ARGUMENTS + 2;
}

/* What this recording does not know. */
static uint32_t missing(const struct gt_uftrace_recorder *r)
{
    bool registers = gt_host_can(GT_HOST_REGISTERS);
    uint32_t needs = GT_FILTER_NEEDS_LINES | (registers ? 0 : GT_FILTER_NEEDS_REGISTERS);
    if (r->guest.user)
        needs |= GT_FILTER_NEEDS_LEVEL | GT_FILTER_NEEDS_HANDLERS | GT_FILTER_NEEDS_KERNEL;
    else if (!registers || !gt_privilege_by_arch(r->guest.arch->name))
        needs |= GT_FILTER_NEEDS_LEVEL;
    if (r->options.clock == GT_CLOCK_HOST || r->hot.host_clock)
        needs |= GT_FILTER_NEEDS_INSNS;
    return needs;
}

static int add_words(struct gt_filter_set *set, const GArray *words, struct gt_error *err)
{
    int status = 0;
    for (guint i = 0; i < words->len && status == 0; i++) {
        const struct gt_filter_word *w = &g_array_index(words, struct gt_filter_word, i);
        status = gt_filter_set_add(set, w->option, w->name, w->value, err);
    }
    return status;
}

/* A depth counts from where filters begin. */
static int add_limits(const struct gt_uftrace_recorder *r, struct gt_filter_set *set,
                      struct gt_error *err)
{
    char depth[24];
    snprintf(depth, sizeof depth, "%" PRIu64, r->options.depth);
    int status = r->filters.state
                     ? gt_filter_set_add(set, GT_FILTER_OFF, "argument recording=off", NULL, err)
                     : 0;
    if (status < 0 || !r->options.has_depth || gt_filter_set_is_empty(set))
        return status;
    return gt_filter_set_add(set, GT_FILTER_DEPTH, "argument depth", depth, err);
}

static int make_set(const struct gt_uftrace_recorder *r, const GArray *words,
                    struct gt_filter_set **out, struct gt_error *err)
{
    const struct gt_filter_settings settings = {.match = (enum gt_filter_match)r->filters.match,
                                                .needs = missing(r)};
    *out = gt_filter_set_new(&settings);
    if (!*out)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    int status = add_words(*out, words, err);
    return status == 0 ? add_limits(r, *out, err) : status;
}

static struct gt_filter_current *current_of(struct gt_filter_set *set, struct gt_error *err)
{
    struct gt_filter_live *live = gt_filter_live_new(set);
    if (!live) {
        gt_error_set(err, GT_E_NOMEM, "out of memory");
        return NULL;
    }
    struct gt_filter_current *current = g_new(struct gt_filter_current, 1);
    *current = (struct gt_filter_current){set, live, gt_filter_set_uses(set)};
    return current;
}

int gt_filters_init(struct gt_uftrace_recorder *r, struct gt_error *err)
{
    struct gt_filters *f = &r->filters;
    struct gt_filter_set *set;
    pthread_mutex_init(&f->lock, NULL);
    int status = make_set(r, f->words, &set, err);
    if (status < 0 || gt_filter_set_is_empty(set)) {
        gt_filter_set_free(set);
        return status;
    }
    f->functions = g_ptr_array_new();
    f->depth = r->options.has_depth ? GT_TRACK_MAX_DEPTH : (uint32_t)r->options.depth;
    f->current = current_of(set, err);
    return f->current ? 0 : GT_E_NOMEM;
}

uint64_t gt_filters_recorded(const struct gt_uftrace_recorder *r)
{
    return gt_filters_current(&r->filters) ? __atomic_load_n(&r->filters.recorded, __ATOMIC_RELAXED)
                                           : r->totals.calls;
}
