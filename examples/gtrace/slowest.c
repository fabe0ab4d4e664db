/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ten slowest calls of a function, each with its callers:
 *     cc -o slowest slowest.c $(pkg-config --cflags --libs gtrace) && ./slowest boot.gtrace
 * vfs_read */
#include <gtrace/gtrace.h>
#include <stdio.h>
#include <string.h>

enum { SLOWEST = 10, PATH = 64 };
struct table {
    struct gtrace_call call[SLOWEST + 1]; /* the slowest first */
    uint32_t path[SLOWEST + 1][PATH];
    size_t n;
};

static uint64_t ran(const struct gtrace_call *c)
{
    return c->end - c->begin - c->slept;
}

static int take(void *user, const struct gtrace_call *call, size_t n, size_t stride)
{
    struct table *t = user;
    for (; n; n--, call = (const void *)((const char *)call + stride)) {
        size_t at = t->n;
        for (; at && ran(&t->call[at - 1]) < ran(call); at--) {
            t->call[at] = t->call[at - 1];
            memcpy(t->path[at], t->path[at - 1], sizeof t->path[at]);
        }
        t->call[at] = *call;
        t->call[at].n_path = call->n_path < PATH ? call->n_path : PATH;
        memcpy(t->path[at], call->path, t->call[at].n_path * sizeof call->path[0]);
        t->n += t->n < SLOWEST;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct table table;
    const char *functions[] = {argc == 3 ? argv[2] : "", NULL};
    const struct gtrace_window window = {
        .size = sizeof window, .functions = functions, .want = GTRACE_WANT_PATH};
    struct gtrace_error err = {.size = sizeof err};
    struct gtrace_function f = {.size = sizeof f};
    struct gtrace *t;
    if (argc != 3)
        return fprintf(stderr, "usage: slowest RECORDING FUNCTION\n"), 2;
    if (gtrace_open(argv[1], NULL, &t, &err) < 0 ||
        gtrace_calls(t, &window, take, &table, &err) < 0)
        return fprintf(stderr, "slowest: %s\n", err.text), 1;
    for (size_t i = 0; i < table.n; i++) {
        const struct gtrace_call *c = &table.call[i];
        printf("%12.6f ms at %.9f s:", (double)ran(c) / 1e6, (double)c->begin / 1e9);
        for (uint32_t k = 0; k < c->n_path && gtrace_function(t, table.path[i][k], &f) == 0; k++)
            printf(" %s >", f.name);
        printf(" %s\n", gtrace_function(t, c->function, &f) == 0 ? f.name : "?");
    }
    gtrace_close(t);
    return 0;
}
