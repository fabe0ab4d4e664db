/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long it took from a call of one function to the next call of another one in the same task, as
 * a histogram: a row for each power of two.
 *
 *     cc -o latency latency.c $(pkg-config --cflags --libs gtrace)
 *     ./latency boot.gtrace do_sys_open vfs_read
 */
#include <gtrace/gtrace.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct latency {
    struct gtrace *t;
    const char *from, *to;
    uint64_t *since; /* by task: when `from` was called; 0: not since the last `to` */
    uint64_t bin[64];
};

static int is(struct gtrace *t, uint32_t index, const char *name)
{
    struct gtrace_function f = {.size = sizeof f};
    return gtrace_function(t, index, &f) == 0 && (!strcmp(f.name, name) || !strcmp(f.symbol, name));
}

static int take(void *user, const struct gtrace_event *e)
{
    struct latency *l = user;
    if (e->kind != GTRACE_ENTRY)
        return 0;
    uint64_t *since = &l->since[e->task];
    if (*since && is(l->t, e->function, l->to)) {
        unsigned bin = 0;
        for (uint64_t ns = e->time - *since; ns > 1; ns /= 2)
            bin++;
        l->bin[bin]++;
        *since = 0;
    }
    if (is(l->t, e->function, l->from))
        *since = e->time;
    return 0;
}

int main(int argc, char **argv)
{
    struct gtrace_error err = {.size = sizeof err};
    struct latency l = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: latency RECORDING FROM TO\n");
        return 2;
    }
    l.from = argv[2];
    l.to = argv[3];
    if (gtrace_open(argv[1], NULL, &l.t, &err) < 0 ||
        !(l.since = calloc(gtrace_n_tasks(l.t) + 1, sizeof *l.since)) ||
        gtrace_walk(l.t, NULL, take, &l, &err) < 0) {
        fprintf(stderr, "latency: %s\n", err.status ? err.text : "out of memory");
        return 1;
    }
    for (unsigned i = 0; i < 64; i++)
        if (l.bin[i])
            printf("%12" PRIu64 " ns and more %10" PRIu64 "\n", UINT64_C(1) << i, l.bin[i]);
    free(l.since);
    gtrace_close(l.t);
    return 0;
}
