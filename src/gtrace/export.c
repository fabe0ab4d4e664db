/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: recordings in the formats of other tools, and in the other one of ours. */
#include "calls/export/recording.h"
#include "calls/export/sums.h"
#include "calls/repair/compact.h"
#include "gtrace/private.h"

#include <errno.h>

/* By enum gtrace_format: one function each. */
static const struct {
    gt_export_fn *calls;
    gt_export_sums_fn *sums;
    bool counts;
    bool least; /* small paths can be left out */
} formats[] = {
    [GTRACE_FORMAT_PERFETTO] = {.calls = gt_export_perfetto},
    [GTRACE_FORMAT_CHROME] = {.calls = gt_export_chrome},
    [GTRACE_FORMAT_FOLDED] = {.sums = gt_export_folded, .least = true},
    [GTRACE_FORMAT_FOLDED_CALLS] = {.sums = gt_export_folded, .counts = true, .least = true},
    [GTRACE_FORMAT_SPEEDSCOPE] = {.sums = gt_export_speedscope, .least = true},
    [GTRACE_FORMAT_CALLGRIND] = {.sums = gt_export_callgrind},
    [GTRACE_FORMAT_PPROF] = {.sums = gt_export_pprof},
    [GTRACE_FORMAT_FIREFOX] = {.sums = gt_export_firefox, .least = true},
    [GTRACE_FORMAT_PERF] = {.sums = gt_export_perf, .least = true},
};

API int gtrace_export_with(struct gtrace *t, const struct gtrace_window *w,
                           enum gtrace_format format, const struct gtrace_export_options *o, int fd,
                           struct gtrace_error *err)
{
    struct gt_gtrace_pass pass;
    struct gtrace_export_options options;
    struct gt_error e = {0};
    gt_gtrace_get(&options, sizeof options, o);
    if ((size_t)format >= G_N_ELEMENTS(formats))
        return gt_gtrace_usage(err, "gtrace_export: no such format");
    if (!(options.least >= 0 && options.least <= 1))
        return gt_gtrace_usage(err, "gtrace_export: `least` is a share, 0 to 1");
    if (options.least > 0 && !formats[format].least)
        return gt_gtrace_usage(err, "gtrace_export: a format without `least`");
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    const struct gt_export_sums_options how = {
        &pass.window, formats[format].counts, options.least, {t->notice, t->user}};
    g_autofree struct gt_output *out = g_new(struct gt_output, 1);
    gt_output_init(out, fd);
    status = formats[format].sums ? formats[format].sums(t->calls, &how, out, &e)
                                  : formats[format].calls(t->calls, &pass.window, out, &e);
    gt_gtrace_pass_finish(&pass);
    status = gt_gtrace_written(out, status, &e);
    errno = out->failed;
    return status < 0 ? gt_gtrace_fail(err, status, &e) : gt_calls_gave(t->calls);
}

API int gtrace_export(struct gtrace *t, const struct gtrace_window *w, enum gtrace_format format,
                      int fd, struct gtrace_error *err)
{
    return gtrace_export_with(t, w, format, NULL, fd, err);
}

API int gtrace_export_ctf(struct gtrace *t, const struct gtrace_window *w, const char *to,
                          struct gtrace_error *err)
{
    struct gt_gtrace_pass pass;
    struct gt_error e = {0};
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    status = gt_export_ctf(t->calls, &pass.window, to, &e);
    gt_gtrace_pass_finish(&pass);
    errno = 0; /* the message has it */
    return status < 0 ? gt_gtrace_fail(err, status, &e) : gt_calls_gave(t->calls);
}

API int gtrace_convert(const char *from, const char *to, enum gtrace_form form,
                       const struct gtrace_options *o, struct gtrace_error *err)
{
    struct gtrace_options options;
    struct gt_error e = {0};
    gt_gtrace_get(&options, sizeof options, o);
    const struct gt_error_notices notices = {options.notice, options.user};
    if (form != GTRACE_FILE && form != GTRACE_DIRECTORY)
        return gt_gtrace_usage(err, "gtrace_convert: no such form");
    const int status =
        (form == GTRACE_FILE ? gt_repair_pack : gt_repair_unpack)(from, to, &notices, &e);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : 0;
}
