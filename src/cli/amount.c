/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Amounts: see amount.h. */
#include "cli/amount.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

char *gt_amount_short(uint64_t n)
{
    static const char units[] = {' ', 'k', 'M', 'G', 'T', 'P', 'E'};
    double v = (double)n;
    size_t unit = 0;
    if (n < 1000)
        return g_strdup_printf("%" PRIu64 " ", n);
    /* 999.5 would be printed as 1000. */
    for (; v >= 999.5 && unit + 1 < sizeof units; unit++)
        v /= 1000;
    int decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
    return g_strdup_printf("%.*f %c", decimals, v, units[unit]);
}

char *gt_amount_exact(uint64_t n)
{
    g_autofree char *digits = g_strdup_printf("%" PRIu64, n);
    GString *s = g_string_new(NULL);
    for (const char *c = digits; *c; c++) {
        g_string_append_c(s, *c);
        size_t left = strlen(c) - 1;
        if (left && left % 3 == 0)
            g_string_append_c(s, ',');
    }
    return g_string_free(s, FALSE);
}
