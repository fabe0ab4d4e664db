/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts from a stream: see coverage_stream.h. */
#include "cli/coverage_stream.h"

#include "cli/etrace_input.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

static int count_exec(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                      struct gt_coverage *c, struct gt_error *err)
{
    struct gt_etrace_exec x;
    int status = gt_etrace_get_exec(r, p, &x, err);
    if (status < 0)
        return status;
    for (size_t i = 0; i < x.n; i++) {
        const struct gt_etrace_entry e = gt_etrace_entry_at(&x, i);
        gt_coverage_add(c, e.start, e.end);
    }
    return GT_OK;
}

static bool parse_range(const char *text, uint64_t *start, uint64_t *end)
{
    char *at;
    if (strncmp(text, "0x", 2) != 0 || !g_ascii_isxdigit(text[2]))
        return false;
    *start = g_ascii_strtoull(text + 2, &at, 16);
    if (strncmp(at, "-0x", 3) != 0 || !g_ascii_isxdigit(at[3]))
        return false;
    *end = g_ascii_strtoull(at + 3, &at, 16);
    return *at == '\0' && *start <= *end;
}

static int count_event(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       const char *path, struct gt_coverage *c, struct gt_error *err)
{
    struct gt_etrace_event e;
    uint64_t start, end;
    int status = gt_etrace_get_event(r, p, &e, err);
    if (status < 0 || strcmp(e.device, "coverage") != 0)
        return status < 0 ? status : GT_OK;
    if (!parse_range(e.name, &start, &end))
        return gt_error_set(err, GT_E_FORMAT,
                            "%s offset %" PRIu64 ": a count of \"%.80s\", expected a range of"
                            " addresses 0xSTART-0xEND",
                            path, p->offset, e.name);
    if (e.value < e.previous)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s offset %" PRIu64 ": %s ran %" PRIu64 " times, expected at least"
                            " the previous %" PRIu64,
                            path, p->offset, e.name, e.value, e.previous);
    if (gt_coverage_add_times(c, start, end, e.value - e.previous) < 0)
        return gt_error_set(err, GT_E_RANGE,
                            "%s offset %" PRIu64 ": %s ran %" PRIu64 " times, with the others"
                            " more than 2^63",
                            path, p->offset, e.name, e.value);
    return GT_OK;
}

static int count_packet(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                        const char *path, struct gt_coverage *c, struct gt_coverage_stream *out,
                        struct gt_error *err)
{
    struct gt_etrace_info info;
    struct gt_etrace_arch arch;
    int status;
    switch (p->type) {
    case GT_ETRACE_EXEC:
        out->has_exec = true;
        return count_exec(r, p, c, err);
    case GT_ETRACE_EVENT:
    case GT_ETRACE_EVENT_OLD:
        return out->has_exec ? GT_OK : count_event(r, p, path, c, err);
    case GT_ETRACE_INFO:
        status = gt_etrace_get_info(r, p, &info, err);
        out->chained |= status == 0 && (info.attr & 1);
        return status;
    case GT_ETRACE_ARCH:
        status = gt_etrace_get_arch(r, p, &arch, err);
        if (status == 0) {
            out->has_arch = true;
            out->machine = (uint16_t)arch.guest.id;
        }
        return status;
    default:
        return GT_OK;
    }
}

int gt_coverage_read(const char *path, struct gt_coverage *c, struct gt_coverage_stream *out,
                     struct gt_error *err)
{
    struct gt_etrace_input in;
    struct gt_etrace_reader *r;
    struct gt_etrace_packet p;
    *out = (struct gt_coverage_stream){0};
    int status = gt_etrace_input_open(&in, path, err);
    if (status == 0 && in.listener >= 0)
        status = gt_etrace_input_wait(&in, err);
    if (status == 0)
        status = gt_etrace_reader_create(gt_etrace_input_read, &in, in.name, &r, err);
    if (status == 0) {
        while ((status = gt_etrace_next(r, &p, err)) == 1)
            if ((status = count_packet(r, &p, in.name, c, out, err)) < 0)
                break;
        gt_etrace_reader_destroy(r);
    }
    gt_etrace_input_close(&in);
    return status;
}
