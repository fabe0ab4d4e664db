/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events files: what has no errors is generated in every format. */
#include "events/tracetool/backends/backend.h"
#include "events/tracetool/formats/format.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void generate(const struct gt_tracetool_event_list *events,
                     const struct gt_tracetool_format *format)
{
    static const struct gt_tracetool_backend *const backends[] = {
        &gt_tracetool_backend_log, &gt_tracetool_backend_simple, &gt_tracetool_backend_ust,
        &gt_tracetool_backend_dtrace, NULL};
    static const char *const includes[] = {NULL};
    const struct gt_tracetool_options options = {
        .format = format,
        .backends = backends,
        .group = "fuzz",
        .binary = "fuzz",
        .probe_prefix = "fuzz",
        .provider = "fuzz",
        .header = "h",
        .ust_header = "u",
        .runtime_header = "r",
        .includes = includes,
        .output = "out",
    };
    struct gt_tracetool_generator g;
    gt_tracetool_generator_init(&g, &options, events);
    format->generate(&g);
    if (g.out.failed || !g.out.len)
        abort();
    gt_tracetool_generator_free(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gt_tracetool_parser p;
    struct gt_text text = {0};
    const struct gt_tracetool_format *format;
    gt_tracetool_parser_init(&p, size ? data[0] % 3 : GT_GRAMMAR_ANY);
    gt_tracetool_parser_read(&p, "fuzz", (const char *)data, size);
    gt_tracetool_parser_read(&p, "twice", (const char *)data, size / 2);
    gt_tracetool_diagnostics_show(&p.errors, &text);
    for (size_t i = 0; (format = gt_tracetool_format_at(i)); i++)
        generate(&p.events, format);
    gt_text_free(&text);
    gt_tracetool_parser_free(&p);
    return 0;
}
