/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies options to calls: usage: filter_tool [-F PAT] ... <CALLS. Lines of the input, in order of
 * time, fields separated by tabs:
 *
 *     f SIZE NAME MODULE FILE LINE     a function, numbered from 0; FILE "" and LINE 0: not known
 *     e TASK TIME FUNCTION             the task calls it
 *     x TASK TIME                      the task's innermost call returns
 *
 * Prints what is recorded: "TASK TIME { NAME", "TASK TIME } NAME", and with a * where a call is
 * entered or ends because recording was switched.
 */
#include "filter/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 5000, TASKS = 64, DEPTH = 5000 };

struct function {
    char *name;
    struct gt_filter_verdict v;
};

struct task {
    long id;
    struct gt_filter_state s;
    struct {
        const struct function *f;
        uint64_t begin;
    } open[DEPTH];
    bool returns; /* the innermost call, right now */
};

static struct function function[FUNCTIONS];
static struct task *task[TASKS];
static size_t n_functions, n_tasks;
static struct gt_filter_set *set;
static struct gt_filter_live *live;

static void put_enter(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    const struct task *t = self;
    (void)shown;
    printf("%ld\t%" PRIu64 "\t{%s\t%s\n", t->id, time, t->open[f->depth].begin == time ? "" : "*",
           t->open[f->depth].f->name);
}

static void put_leave(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    const struct task *t = self;
    (void)shown;
    bool own = t->returns && f->depth + 1 == t->s.depth && gt_filter_live_is_on(live);
    printf("%ld\t%" PRIu64 "\t}%s\t%s\n", t->id, time, own ? "" : "*", t->open[f->depth].f->name);
}

static const struct gt_filter_sink sink = {.enter = put_enter, .leave = put_leave};

static int die(const char *what)
{
    fprintf(stderr, "filter_tool: %s\n", what);
    exit(2);
}

static struct task *find_task(long id)
{
    size_t i = 0;
    while (i < n_tasks && task[i]->id != id)
        i++;
    if (i < n_tasks)
        return task[i];
    if (n_tasks == TASKS || !(task[n_tasks] = calloc(1, sizeof *task[0])))
        die("too many tasks");
    task[n_tasks]->id = id;
    if (gt_filter_state_init(&task[n_tasks]->s, set, live, &sink, task[n_tasks]) < 0)
        die("no memory");
    return task[n_tasks++];
}

static void add_function(char *fields)
{
    char *size = strsep(&fields, "\t"), *name = strsep(&fields, "\t"),
         *module = strsep(&fields, "\t"), *file = strsep(&fields, "\t");
    if (!fields || n_functions == FUNCTIONS)
        die("bad function");
    struct function *f = &function[n_functions++];
    const struct gt_filter_function what = {.name = name,
                                            .module = module,
                                            .size = strtoull(size, NULL, 10),
                                            .file = *file ? file : NULL,
                                            .line = (uint32_t)strtoul(fields, NULL, 10)};
    f->name = strdup(name);
    if (!f->name || gt_filter_verdict(set, &what, &f->v) < 0)
        die("no verdict");
}

static void enter(struct task *t, uint64_t time, size_t i)
{
    if (i >= n_functions || t->s.depth == DEPTH)
        die("bad call");
    t->open[t->s.depth].f = &function[i];
    t->open[t->s.depth].begin = time;
    gt_filter_enter(&t->s, &function[i].v, 0, 0, time);
}

static void leave(struct task *t, uint64_t time)
{
    t->returns = true;
    gt_filter_leave(&t->s, time);
    t->returns = false;
}

static void read_line(char *line)
{
    char kind = *line;
    char *fields = line + 2;
    line[strcspn(line, "\n")] = 0;
    if (kind == 'f') {
        add_function(fields);
        return;
    }
    struct task *t = find_task(strtol(fields, &fields, 10));
    uint64_t time = strtoull(fields, &fields, 10);
    if (kind == 'e')
        enter(t, time, strtoul(fields, NULL, 10));
    else
        leave(t, time);
}

static void add_option(const char *name, const char *value)
{
    static const char letters[] = "FNTCHLDtZ"; /* as enum gt_filter_option */
    struct gt_error err;
    const char *at = strchr(letters, name[1]);
    if (strcmp(name, "--trace=off") == 0)
        gt_filter_set_add(set, GT_FILTER_OFF, name, NULL, &err);
    else if (!at || !value)
        die("usage: filter_tool [--match=glob] [-F PAT] ... <CALLS");
    else if (gt_filter_set_add(set, (enum gt_filter_option)(at - letters), name, value, &err) < 0)
        die(err.text);
}

int main(int argc, char **argv)
{
    bool glob = argc > 1 && strcmp(argv[1], "--match=glob") == 0;
    const struct gt_filter_settings settings = {.match = glob ? GT_FILTER_MATCH_GLOB
                                                              : GT_FILTER_MATCH_REGEX};
    static char line[65536];
    if (!(set = gt_filter_set_new(&settings)))
        die("no memory");
    for (int i = 1 + glob; i < argc; i++) {
        bool alone = strncmp(argv[i], "--", 2) == 0;
        add_option(argv[i], alone ? NULL : argv[i + 1]);
        i += !alone;
    }
    if (!(live = gt_filter_live_new(set)))
        die("no memory");
    while (fgets(line, sizeof line, stdin))
        read_line(line);
    for (size_t i = 0; i < n_tasks; i++) {
        gt_filter_state_finish(&task[i]->s);
        free(task[i]);
    }
    for (size_t i = 0; i < n_functions; i++)
        free(function[i].name);
    gt_filter_live_free(live);
    gt_filter_set_free(set);
    return 0;
}
