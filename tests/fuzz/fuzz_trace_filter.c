/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A filter: it is refused with a place inside it, or says of any record yes or no. */
#include "events/simpletrace/filter.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] = "io(uint64_t offset, int bytes, void *req, bool write)\n"
                           "name(const char *dev, const char *text, int bytes)\n"
                           "vcpu guest(unsigned level)\n";

static void match_all(struct gt_simpletrace_filter *f, const struct gt_trace_declarations *d)
{
    static struct gt_trace_value values[GT_TRACE_ARGUMENTS_MAX];
    const struct gt_trace_declaration *e;
    for (size_t i = 0; (e = gt_trace_declarations_at(d, i)); i++) {
        const struct gt_trace_record r = {.event = e,
                                          .timestamp = 1000,
                                          .pid = 7,
                                          .n_values = e->n_arguments,
                                          .arguments = e->arguments,
                                          .values = values};
        for (unsigned j = 0; j < e->n_arguments; j++)
            values[j] = e->arguments[j].kind == GT_TRACE_STRING
                            ? (struct gt_trace_value){3, "vda"}
                            : (struct gt_trace_value){(uint64_t)-3, NULL};
        gt_simpletrace_filter_match(f, &r, 999);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gt_trace_declarations *d;
    struct gt_trace_error trace_err;
    struct gt_error err;
    struct gt_simpletrace_filter *f;
    size_t at;
    if (!d && gt_trace_declarations_parse(&d, "events", text, sizeof text - 1, &trace_err) < 0)
        abort();
    char *expression = strndup((const char *)data, size);
    if (!expression)
        return 0;
    if (gt_simpletrace_filter_parse(&f, expression, d, &at, &err) == 0) {
        match_all(f, d);
        gt_simpletrace_filter_free(f);
    } else if (at > strlen(expression)) {
        abort();
    }
    free(expression);
    return 0;
}
