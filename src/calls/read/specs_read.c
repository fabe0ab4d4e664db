/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads GT_VALUES_FILE: what the values of calls are. What readers ask of it is in specs.c. */
#include "calls/read/recording.h"

int gt_specs_read(struct gt_calls *c, struct gt_error *err)
{
    char *text;
    size_t size;
    struct gt_error why = {0};
    if (!gt_texts_have(&c->texts, GT_VALUES_FILE))
        return 0;
    int status = gt_texts_read(&c->texts, GT_VALUES_FILE, &text, &size, err);
    if (status < 0)
        return status;
    status = gt_values_read(text, size, &c->values, &why);
    free(text);
    if (status < 0) {
        g_autofree char *place = gt_texts_place(&c->texts, GT_VALUES_FILE);
        return gt_error_set(err, status, "%s: %s", place, why.text);
    }
    return 0;
}
