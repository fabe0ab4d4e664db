/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gzip file (RFC 1952) written to an output, without a time or a name: equal data are equal
 * bytes. */
#ifndef GT_CALLS_EXPORT_GZIP_H
#define GT_CALLS_EXPORT_GZIP_H

#include "base/error.h"
#include "base/output.h"

#include <zlib.h>

struct gt_export_gzip {
    z_stream z;
    struct gt_output *out;
};

/* GT_E_NOMEM. After success gt_export_gzip_end is due. */
int gt_export_gzip_begin(struct gt_export_gzip *g, struct gt_output *out, struct gt_error *err);
void gt_export_gzip_add(struct gt_export_gzip *g, const void *data, size_t n);
void gt_export_gzip_end(struct gt_export_gzip *g);

#endif
