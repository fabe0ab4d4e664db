/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rescue after a kill: see rescue.h. */
#include "cli/rescue.h"

#include "base/stream.h"

#include <glib.h>
#include <inttypes.h>

int gt_rescue_dir(const char *dir, struct gt_rescue *done, struct gt_error *err)
{
    *done = (struct gt_rescue){0};
    struct gt_error second = {0};
    int64_t recovered = gt_streams_recover(dir, err);
    int repaired = gt_uftrace_dir_repair(dir, NULL, &done->repair, recovered < 0 ? &second : err);
    if (recovered < 0)
        return (int)recovered;
    done->recovered = recovered;
    return repaired;
}

char *gt_rescue_text(const struct gt_rescue *done)
{
    const struct gt_uftrace_repair_stats *r = &done->repair;
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%" PRIu64 " task file%s, %" PRIu64 " records", r->files,
                           r->files == 1 ? "" : "s", r->records);
    if (!done->recovered && !r->cut && !r->closed && !r->events) {
        g_string_append(s, ", nothing to repair");
        return g_string_free(s, FALSE);
    }
    const char *separator = ": ";
    if (done->recovered) {
        g_string_append_printf(s, "%s%" PRId64 " records brought in", separator, done->recovered);
        separator = ", ";
    }
    if (r->cut) {
        g_string_append_printf(s, "%s%" PRIu64 " bytes of half-written records cut off", separator,
                               r->cut);
        separator = ", ";
    }
    if (r->closed) {
        g_string_append_printf(s, "%s%" PRIu64 " running functions ended", separator, r->closed);
        separator = ", ";
    }
    if (r->events)
        g_string_append_printf(s, "%s%" PRIu64 " losses marked", separator, r->events);
    return g_string_free(s, FALSE);
}
