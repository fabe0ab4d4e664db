/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code in a header. */
struct ring {
    int item[8];
    unsigned head, tail;
};

static inline int ring_put(struct ring *r, int x)
{
    if (r->head - r->tail == 8)
        return 0;
    r->item[r->head++ % 8] = x;
    return 1;
}

static inline int ring_get(struct ring *r)
{
    return r->item[r->tail++ % 8];
}
