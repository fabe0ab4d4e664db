/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gzip file: see gzip.h. */
#include "calls/export/gzip.h"

enum {
    WINDOW = 15 + 16, /* the largest; as gzip, not as zlib */
    MEMORY = 8,
    ROOM = 64 << 10, /* bytes of the output that are filled at a time */
};

int gt_export_gzip_begin(struct gt_export_gzip *g, struct gt_output *out, struct gt_error *err)
{
    *g = (struct gt_export_gzip){.out = out};
    if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    return 0;
}

/* Until all input is taken; `finish`: and all output is out. */
static void run(struct gt_export_gzip *g, bool finish)
{
    int status = Z_OK;
    do {
        char *room = gt_output_room(g->out, ROOM);
        g->z.next_out = (Bytef *)room;
        g->z.avail_out = ROOM;
        status = deflate(&g->z, finish ? Z_FINISH : Z_NO_FLUSH);
        gt_output_end(g->out, room + (ROOM - g->z.avail_out));
    } while (finish ? status == Z_OK || status == Z_BUF_ERROR : g->z.avail_out == 0);
}

void gt_export_gzip_add(struct gt_export_gzip *g, const void *data, size_t n)
{
    while (n) {
        uInt piece = n < ROOM ? (uInt)n : ROOM;
        g->z.next_in = (z_const Bytef *)data;
        g->z.avail_in = piece;
        run(g, false);
        data = (const char *)data + piece;
        n -= piece;
    }
}

void gt_export_gzip_end(struct gt_export_gzip *g)
{
    g->z.avail_in = 0;
    run(g, true);
    deflateEnd(&g->z);
}
