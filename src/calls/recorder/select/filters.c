/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters of a recording: see filters.h. */
#include "calls/recorder/select/filters.h"
#include "calls/recorder/output/source.h"
#include "calls/recorder/recorder.h"
#include "guest/arch/privilege.h"
#include "qemu/support/code_modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the set ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *shown;
    enum gt_filter_option option;
    bool is_switch;
    char letter; /* of the option; 0: none */
} arguments[] = {
    {"filter", "-F (filter=)", GT_FILTER_ONLY, false, 'F'},
    {"notrace", "-N (notrace=)", GT_FILTER_NOT, false, 'N'},
    {"trigger", "-T (trigger=)", GT_FILTER_TRIGGER, false, 'T'},
    {"caller-filter", "-C (caller-filter=)", GT_FILTER_CALLERS, false, 'C'},
    {"hide", "-H (hide=)", GT_FILTER_HIDE, false, 'H'},
    {"loc-filter", "-L (loc-filter=)", GT_FILTER_PLACE, false, 'L'},
    {"time-filter", "-t (time-filter=)", GT_FILTER_TIME, false, 't'},
    {"size-filter", "-Z (size-filter=)", GT_FILTER_SIZE, false, 'Z'},
    {"task", "--task (task=)", GT_FILTER_TASK, false, 0},
    {"vcpu", "--vcpu (vcpu=)", GT_FILTER_VCPU, false, 0},
    {"privilege", "--privilege (privilege=)", GT_FILTER_PRIVILEGE, false, 0},
    {"kernel-only", "--kernel-only (kernel-only=on)", GT_FILTER_KERNEL_ONLY, true, 0},
    {"user-only", "--user-only (user-only=on)", GT_FILTER_USER_ONLY, true, 0},
    {"no-handlers", "--no-handlers (no-handlers=on)", GT_FILTER_NO_HANDLERS, true, 0},
    {"depth", "-D (depth=)", GT_FILTER_DEPTH, false, 'D'},
};

/* The last one is an option of the recording itself (uftrace.c). */
enum { N_OPTIONS = G_N_ELEMENTS(arguments), N_ARGUMENTS = N_OPTIONS - 1 };
_Static_assert((int)N_ARGUMENTS + 2 <= (int)GT_FILTER_ARGUMENTS, "the table has room");

static void free_word(void *word)
{
    g_free(((struct gt_select_filter_word *)word)->value);
}

static GArray *new_words(void)
{
    GArray *words = g_array_new(FALSE, FALSE, sizeof(struct gt_select_filter_word));
    g_array_set_clear_func(words, free_word);
    return words;
}

static void add_word(GArray *words, enum gt_filter_option option, const char *name,
                     const char *value)
{
    const struct gt_select_filter_word word = {option, name, g_strdup(value)};
    g_array_append_val(words, word);
}

static int take_word(void *self, const char *value, struct gt_error *err)
{
    const struct gt_select_filter_argument *a = self;
    size_t kind = a->kind;
    if (!arguments[kind].is_switch) {
        add_word(a->words, arguments[kind].option, arguments[kind].shown, value);
        return 0;
    }
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return gt_error_set(err, GT_E_USAGE, "argument %s=%s: expected on or off",
                            arguments[kind].name, value);
    if (strcmp(value, "on") == 0)
        add_word(a->words, arguments[kind].option, arguments[kind].shown, NULL);
    return 0;
}

size_t gt_select_filters_arguments(struct gt_select_filters *f, struct gt_support_arg *table)
{
    static const char *const states[] = {"on", "off", NULL};
    f->words = new_words();
    for (size_t i = 0; i < N_ARGUMENTS; i++) {
        f->argument[i] = (struct gt_select_filter_argument){f->words, i};
        table[i] = (struct gt_support_arg){.name = arguments[i].name,
                                           .kind = GT_ARG_EACH,
                                           .value = &f->argument[i],
                                           .each = take_word};
    }
    table[N_ARGUMENTS] = (struct gt_support_arg){"match", GT_ARG_CHOICE, &f->match,
                                                 .choices = gt_filter_match_names};
    table[N_ARGUMENTS + 1] =
        (struct gt_support_arg){"recording", GT_ARG_CHOICE, &f->state, .choices = states};
    return N_ARGUMENTS + 2;
}

/* What this recording does not know. */
static uint32_t missing(const struct gt_recorder *r)
{
    bool registers = gt_host_can(GT_HOST_REGISTERS);
    uint32_t needs = (registers ? 0 : GT_FILTER_NEEDS_REGISTERS | GT_FILTER_NEEDS_VALUES) |
                     (r->arguments.file ? 0 : GT_FILTER_NEEDS_NAMES) |
                     (r->options.console ? 0 : GT_FILTER_NEEDS_CONSOLE) |
                     (r->options.qmp ? 0 : GT_FILTER_NEEDS_QMP);
    if (r->guest.user)
        needs |= GT_FILTER_NEEDS_LEVEL | GT_FILTER_NEEDS_HANDLERS | GT_FILTER_NEEDS_KERNEL;
    else
        needs |= GT_FILTER_NEEDS_EXIT | GT_FILTER_NEEDS_SIGNAL;
    if (!registers || !gt_arch_privilege_by_arch(r->guest.arch->name))
        needs |= GT_FILTER_NEEDS_LEVEL;
    needs |= r->options.last ? 0 : GT_FILTER_NEEDS_SNAPSHOTS;
    if (r->options.clock == GT_CLOCK_HOST || r->hot.host_clock)
        needs |= GT_FILTER_NEEDS_INSNS;
    return needs;
}

static int add_words(struct gt_filter_set *set, const GArray *words, struct gt_error *err)
{
    int status = 0;
    for (guint i = 0; i < words->len && status == 0; i++) {
        const struct gt_select_filter_word *w =
            &g_array_index(words, struct gt_select_filter_word, i);
        status = gt_filter_set_add(set, w->option, w->name, w->value, err);
    }
    return status;
}

static bool has_option(const GArray *words, enum gt_filter_option option)
{
    for (guint i = 0; i < words->len; i++)
        if (g_array_index(words, struct gt_select_filter_word, i).option == option)
            return true;
    return false;
}

/* A depth counts from where filters begin. */
static int add_limits(const struct gt_recorder *r, const GArray *words, struct gt_filter_set *set,
                      struct gt_error *err)
{
    char depth[24];
    snprintf(depth, sizeof depth, "%" PRIu64, r->options.depth);
    int status = r->filters.state
                     ? gt_filter_set_add(set, GT_FILTER_OFF, "argument recording=off", NULL, err)
                     : 0;
    bool plain = gt_filter_set_only_watches(set) && !r->options.control;
    if (status < 0 || !r->options.has_depth || plain || has_option(words, GT_FILTER_DEPTH))
        return status;
    return gt_filter_set_add(set, GT_FILTER_DEPTH, "-D (depth=)", depth, err);
}

static int make_set(const struct gt_recorder *r, const GArray *words, struct gt_filter_set **out,
                    struct gt_error *err)
{
    const struct gt_filter_settings settings = {.match = (enum gt_filter_match)r->filters.match,
                                                .needs = missing(r)};
    *out = gt_filter_set_new(&settings);
    if (!*out)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    int status = add_words(*out, words, err);
    return status == 0 ? add_limits(r, words, *out, err) : status;
}

int gt_select_filters_init(struct gt_recorder *r, struct gt_error *err)
{
    struct gt_select_filters *f = &r->filters;
    struct gt_filter_set *set;
    pthread_mutex_init(&f->lock, NULL);
    int status = make_set(r, f->words, &set, err);
    if (status < 0) {
        gt_filter_set_free(set);
        return status;
    }
    f->values = set;
    if (gt_filter_set_is_empty(set) && !r->options.control)
        return 0;
    if (gt_filter_set_only_watches(set) && !r->options.control) { /* calls need not know of it */
        f->watching = gt_select_filters_new(r, set, err);
        return f->watching ? 0 : GT_E_NOMEM;
    }
    f->functions = g_ptr_array_new();
    struct gt_select_filter_current *first = gt_select_filters_new(r, set, err);
    if (!first)
        return GT_E_NOMEM;
    f->levels = first->uses & (GT_FILTER_NEEDS_LEVEL | GT_FILTER_NEEDS_KERNEL);
    f->reads = first->uses & GT_FILTER_NEEDS_REGISTERS;
    r->options.srcline |= (first->uses & GT_FILTER_NEEDS_LINES) != 0;
    gt_select_filters_use(f, first);
    return 0;
}

/* Lines of a program are read when it is known which files it maps. */
static int check_lines(const struct gt_recorder *r, const struct gt_filter_set *set,
                       struct gt_error *err)
{
    const struct gt_support_code_modules *code = r->code.modules.code;
    if (r->guest.user || !(gt_filter_set_uses(set) & GT_FILTER_NEEDS_LINES) ||
        (code && gt_support_code_modules_have_lines(code)))
        return 0;
    return gt_error_set(err, GT_E_UNSUPPORTED,
                        "a filter is about source lines, and %s; record a machine's kernel or "
                        "firmware that was compiled with -g, with --srcline",
                        code ? "the code map has none" : "there is no code map");
}

static int check_set(const struct gt_recorder *r, const struct gt_filter_set *set,
                     struct gt_error *err)
{
    int status = check_lines(r, set, err);
    return status == 0 ? gt_select_filters_check_names(r, set, err) : status;
}

int gt_select_filters_check(const struct gt_recorder *r, struct gt_error *err)
{
    const struct gt_select_filter_current *current = gt_select_filters_current(&r->filters);
    return current ? check_set(r, current->set, err) : 0;
}

uint64_t gt_select_filters_recorded(const struct gt_recorder *r)
{
    if (gt_select_filters_current(&r->filters))
        return __atomic_load_n(&r->totals.selected.recorded, __ATOMIC_RELAXED);
    return r->totals.calls - r->totals.unrecorded +
           __atomic_load_n(&r->tracker.again, __ATOMIC_RELAXED);
}

void gt_select_filters_end_recording(struct gt_select_filters *f, struct gt_filter_live *live,
                                     uint64_t time)
{
    uint64_t none = 0;
    gt_filter_live_finish(live);
    __atomic_compare_exchange_n(&f->ended, &none, time, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ---- while the guest runs ------------------------------------------------------------------ */

static int check_switchable(const struct gt_recorder *r, struct gt_error *err)
{
    if (!gt_select_filters_current(&r->filters))
        return gt_error_set(err, GT_E_UNSUPPORTED, "not in this recording");
    if (__atomic_load_n(&r->filters.ended, __ATOMIC_ACQUIRE))
        return gt_error_set(err, GT_E_UNSUPPORTED, "a trigger has ended the recording");
    return 0;
}

int gt_select_filter_switch(struct gt_recorder *r, bool on, struct gt_error *err)
{
    int status = check_switchable(r, err);
    if (status == 0)
        gt_filter_live_switch(gt_select_filters_current(&r->filters)->live, on);
    return status;
}

/* True: the word names the option, as -F, -FVALUE, --filter or --filter=VALUE. Sets the name's
 * length. */
static bool names_option(const char *word, size_t option, size_t *n)
{
    if (word[0] != '-' || word[1] != '-') {
        *n = 2;
        return word[0] == '-' && word[1] && word[1] == arguments[option].letter;
    }
    *n = strcspn(word, "=");
    return strlen(arguments[option].name) == *n - 2 &&
           strncmp(arguments[option].name, word + 2, *n - 2) == 0;
}

/* The value in the word itself, after n bytes; NULL: there is none. */
static const char *value_in(const char *word, size_t n)
{
    return word[n] == '=' && n > 2 ? word + n + 1 : word[n] ? word + n : NULL;
}

/* Takes options until a NULL. */
static int take_options(GArray *words, char **option, struct gt_error *err)
{
    while (*option) {
        const char *word = *option++;
        size_t i = 0, n = 0;
        while (i < N_OPTIONS && !names_option(word, i, &n))
            i++;
        if (i == N_OPTIONS)
            return gt_error_set(err, GT_E_USAGE, "%s: not an option of filters and triggers", word);
        const char *value = value_in(word, n);
        if (arguments[i].is_switch && value)
            return gt_error_set(err, GT_E_USAGE, "%s: takes no value", word);
        if (!arguments[i].is_switch && !value && !(value = *option++))
            return gt_error_set(err, GT_E_USAGE, "%s: expected a value", word);
        g_autofree char *name = g_strndup(word, n);
        add_word(words, arguments[i].option, g_intern_string(name), value);
    }
    return 0;
}

static int take_triggers(GArray *words, char **trigger, struct gt_error *err)
{
    (void)err;
    for (; *trigger; trigger++)
        add_word(words, GT_FILTER_TRIGGER, "-T", *trigger);
    return 0;
}

/* Makes the set of the words, which replaces the present one. */
static int use_words(struct gt_recorder *r, GArray *words, struct gt_error *err)
{
    struct gt_select_filters *f = &r->filters;
    struct gt_filter_set *set;
    int status = make_set(r, words, &set, err);
    if (status == 0)
        status = check_set(r, set, err);
    if (status == 0 && gt_filter_set_uses(set) & GT_FILTER_NEEDS_LINES)
        status = gt_recorder_source_begin(r, err);
    struct gt_select_filter_current *next = status == 0 ? gt_select_filters_new(r, set, err) : NULL;
    if (!next) {
        gt_filter_set_free(set);
        return status < 0 ? status : GT_E_NOMEM;
    }
    gt_filter_live_switch(next->live, gt_filter_live_is_on(f->current->live));
    gt_select_filters_use(f, next);
    g_array_unref(f->words);
    f->words = words;
    return 0;
}

/* Registers can be read where code was translated for that; conditions compare recorded values. */
static int check_added(const struct gt_recorder *r, const GArray *words, struct gt_error *err)
{
    struct gt_filter_set *set;
    int status = make_set(r, words, &set, err);
    if (status == 0 && gt_filter_set_uses(set) & GT_FILTER_NEEDS_REGISTERS)
        status = gt_error_set(err, GT_E_UNSUPPORTED,
                              "read= must be given before the guest runs, to record");
    struct gt_filter_value value;
    for (size_t i = 0; status == 0 && gt_filter_set_value(set, i, &value); i++)
        if (!value.implied || !r->arguments.on)
            status =
                gt_error_set(err, GT_E_UNSUPPORTED,
                             "%.200s: which values calls have is decided before the guest runs, by "
                             "record -A, -R or -T",
                             value.text);
    gt_filter_set_free(set);
    return status;
}

/* All words of both, in that order; before: NULL: none. */
static GArray *join_words(const GArray *before, const GArray *words)
{
    GArray *all = new_words();
    for (int i = 0; i < 2; i++) {
        const GArray *from = i == 0 ? before : words;
        for (guint k = 0; from && k < from->len; k++) {
            const struct gt_select_filter_word *w =
                &g_array_index(from, struct gt_select_filter_word, k);
            add_word(all, w->option, w->name, w->value);
        }
    }
    return all;
}

/* The words become options after the options of `before`. */
static int replace(struct gt_recorder *r, const char *text, const GArray *before,
                   int (*take)(GArray *words, char **word, struct gt_error *err),
                   struct gt_error *err)
{
    g_auto(GStrv) word = NULL;
    int status = check_switchable(r, err);
    if (status < 0)
        return status;
    if (text[strspn(text, " \t")] && !g_shell_parse_argv(text, NULL, &word, NULL))
        return gt_error_set(err, GT_E_USAGE, "a quote has no end, or nothing follows a backslash");
    g_autoptr(GArray) words = new_words();
    if (word)
        status = take(words, word, err);
    if (status == 0)
        status = check_added(r, words, err);
    if (status < 0)
        return status;
    GArray *all = join_words(before, words);
    status = use_words(r, all, err);
    if (status < 0)
        g_array_unref(all);
    return status;
}

int gt_select_filter_replace(struct gt_recorder *r, const char *words, struct gt_error *err)
{
    return replace(r, words, NULL, take_options, err);
}

int gt_select_filter_add_triggers(struct gt_recorder *r, const char *words, struct gt_error *err)
{
    return replace(r, words, r->filters.words, take_triggers, err);
}
