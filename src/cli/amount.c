/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Amounts: see amount.h. */
#include "cli/amount.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

char *gt_cli_amount_short(uint64_t n)
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

char *gt_cli_amount_exact(uint64_t n)
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

/* Each unit in the one before it. */
static const struct {
    uint64_t ns;
    char name[3];
} times[] = {{1000, "us"},
             {1000000, "ms"},
             {1000000000, " s"},
             {UINT64_C(60) * 1000000000, " m"},
             {UINT64_C(3600) * 1000000000, " h"}};

char *gt_cli_amount_put_time(char *p, uint64_t ns)
{
    size_t unit = 0;
    while (unit + 1 < G_N_ELEMENTS(times) && ns / times[unit].ns > 999)
        unit++;
    uint64_t whole = ns / times[unit].ns, rest = ns % times[unit].ns;
    unsigned thousandths = (unsigned)(rest / (times[unit].ns / 1000));
    if (whole > 999) { /* more than 41 days */
        whole = 999;
        thousandths = 999;
    }
    unsigned w = (unsigned)whole;
    *p++ = w < 100 ? ' ' : (char)('0' + w / 100);
    *p++ = w < 10 ? ' ' : (char)('0' + w / 10 % 10);
    *p++ = (char)('0' + w % 10);
    *p++ = '.';
    *p++ = (char)('0' + thousandths / 100);
    *p++ = (char)('0' + thousandths / 10 % 10);
    *p++ = (char)('0' + thousandths % 10);
    *p++ = ' ';
    *p++ = times[unit].name[0];
    *p++ = times[unit].name[1];
    return p;
}

char *gt_cli_amount_time(uint64_t ns)
{
    char text[GT_AMOUNT_TIME_WIDTH + 1];
    *gt_cli_amount_put_time(text, ns) = '\0';
    g_autoptr(GString) s = g_string_new(text + strspn(text, " "));
    char *twice = strstr(s->str, "  "); /* "1.234  s" */
    if (twice)
        g_string_erase(s, twice - s->str, 1);
    return g_strdup(s->str);
}
