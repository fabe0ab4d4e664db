/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A writer of protocol buffers: see protobuf.h. */
#include "calls/export/protobuf.h"

#include "base/text.h"

#include <glib.h>

void gt_export_protobuf_grow(struct gt_export_protobuf *p, size_t n)
{
    size_t want = p->len + MAX(n, p->cap);
    p->cap = MAX(want, 256);
    p->data = g_realloc(p->data, p->cap);
}

void gt_export_protobuf_free(struct gt_export_protobuf *p)
{
    g_free(p->data);
    *p = (struct gt_export_protobuf){0};
}

void gt_export_protobuf_end_long(struct gt_export_protobuf *p, size_t begin)
{
    uint8_t length[GT_PROTOBUF_VARINT];
    size_t n = p->len - begin;
    size_t more = (size_t)(gt_export_protobuf_put(length, n) - length) - 1;
    gt_export_protobuf_room(p, more);
    memmove(p->data + begin + more, p->data + begin, n);
    memcpy(p->data + begin - 1, length, more + 1);
    p->len += more;
}

static void add(struct gt_export_protobuf *p, const void *data, size_t n)
{
    uint8_t *at = gt_export_protobuf_room(p, n);
    if (n)
        memcpy(at, data, n);
    p->len += n;
}

void gt_export_protobuf_bytes(struct gt_export_protobuf *p, uint32_t field, const void *data,
                              size_t n)
{
    uint8_t *at = gt_export_protobuf_room(p, (size_t)2 * GT_PROTOBUF_VARINT);
    p->len =
        (size_t)(gt_export_protobuf_put(gt_export_protobuf_put(at, field << 3 | 2), n) - p->data);
    add(p, data, n);
}

void gt_export_protobuf_text(struct gt_export_protobuf *p, uint32_t field, const char *text)
{
    size_t left = strlen(text), begin = gt_export_protobuf_begin(p, field);
    while (left) {
        size_t good = 0, size;
        while ((size = gt_text_utf8_length(text + good, left - good)))
            good += size;
        add(p, text, good);
        text += good;
        left -= good;
        if (left) {
            add(p, "\xef\xbf\xbd", 3);
            text++;
            left--;
        }
    }
    gt_export_protobuf_end(p, begin);
}
