/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks load offsets against the code that ran: see evidence.h. */
#include "names/placement/evidence.h"

#include "guest/arch/insn_size.h"
#include "names/image/symbol_source.h"

#include <glib.h>

enum {
    MOST = 1 << 18,    /* stretches that are kept */
    LONGEST = 1 << 14, /* bytes of one */
    AHEAD = 16,        /* bytes after it that an instruction may have */
    SURE = 3,          /* jumps that go where they say */
    LIKELY = 8,        /* stretches that end in a jump, where there are no others to compare with */
    WRONG = 8,         /* one in so many may be ended by an interrupt */
};

struct stretch {
    uint64_t start, end, next;
};

struct opened {
    const struct gt_image_symbol_source *source;
    const struct gt_arch *arch;
    struct gt_image_code_bytes *bytes;
};

struct gt_place_evidence {
    GHashTable *stretches; /* by start and end */
    GArray *opened;
};

static guint hash(gconstpointer p)
{
    const struct stretch *s = p;
    return (guint)((s->start * 3 + s->end) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static gboolean equal(gconstpointer a, gconstpointer b)
{
    const struct stretch *x = a, *y = b;
    return x->start == y->start && x->end == y->end;
}

struct gt_place_evidence *gt_place_evidence_create(void)
{
    struct gt_place_evidence *e = g_new0(struct gt_place_evidence, 1);
    e->stretches = g_hash_table_new_full(hash, equal, g_free, NULL);
    e->opened = g_array_new(FALSE, FALSE, sizeof(struct opened));
    return e;
}

void gt_place_evidence_add(struct gt_place_evidence *e, uint64_t start, uint64_t end, uint64_t next)
{
    const struct stretch s = {start, end, next};
    if (start >= end || end - start > LONGEST || g_hash_table_size(e->stretches) >= MOST ||
        g_hash_table_contains(e->stretches, &s))
        return;
    g_hash_table_add(e->stretches, g_memdup2(&s, sizeof s));
}

void gt_place_evidence_open(struct gt_place_evidence *e,
                            const struct gt_image_symbol_source *source)
{
    struct opened o = {.source = source, .bytes = gt_image_code_bytes_open(source)};
    if (source->symbols)
        o.arch = gt_arch_by_elf(source->symbols->e_machine, source->symbols->bits);
    if (source->kernel)
        o.arch = gt_arch_by_elf(source->kernel->e_machine, source->kernel->bits);
    g_array_append_val(e->opened, o);
}

static const struct opened *find_opened(const struct gt_place_evidence *e,
                                        const struct gt_image_source_part *part)
{
    for (guint i = 0; i < e->opened->len; i++) {
        const struct opened *o = &g_array_index(e->opened, struct opened, i);
        if (o->source->part == part && o->bytes && gt_arch_insn_size_known(o->arch))
            return o;
    }
    return NULL;
}

struct weights {
    size_t sure, likely, wrong;
};

/* link: where it is linked. */
static void weigh(const struct opened *o, const struct stretch *s, uint64_t link, struct weights *w)
{
    const size_t n = (size_t)(s->end - s->start);
    struct gt_arch_insn last;
    size_t left = n + AHEAD;
    const uint8_t *bytes = gt_image_code_bytes_at(o->bytes, link, left);
    if (!bytes)
        bytes = gt_image_code_bytes_at(o->bytes, link, left = n);
    if (!bytes || !gt_arch_last_insn(o->arch, bytes, n, left, s->start, &last) ||
        last.kind == GT_INSN_OTHER)
        w->wrong++;
    else if (!last.target || !s->next)
        w->likely++;
    else if (last.target == s->next)
        w->sure++;
    else
        w->wrong++;
}

int gt_place_evidence_weigh(void *self, const struct gt_image_source_part *part, uint64_t offset)
{
    const struct gt_place_evidence *e = self;
    const struct opened *o = find_opened(e, part);
    struct weights w = {0};
    GHashTableIter iter;
    gpointer key;
    if (!o)
        return -1;
    g_hash_table_iter_init(&iter, e->stretches);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const struct stretch *s = key;
        uint64_t in_part = (s->start - offset - part->lo) & GT_UFTRACE_ADDR_MASK;
        if (in_part < part->hi - part->lo)
            weigh(o, s, part->lo + in_part, &w);
    }
    size_t right = w.sure + w.likely;
    return (w.sure >= SURE || right >= LIKELY) && w.wrong * WRONG <= right;
}

void gt_place_evidence_destroy(struct gt_place_evidence *e)
{
    for (guint i = 0; i < e->opened->len; i++)
        gt_image_code_bytes_close(g_array_index(e->opened, struct opened, i).bytes);
    g_array_free(e->opened, TRUE);
    g_hash_table_destroy(e->stretches);
    g_free(e);
}
