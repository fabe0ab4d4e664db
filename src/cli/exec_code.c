/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of code that ran: see exec_code.h. */
#include "cli/exec_code.h"

#include "cli/coverage_program.h"
#include "guest/insn_size.h"

#include <glib.h>
#include <inttypes.h>

enum {
    CACHE = 1 << 14,
    LONGEST = 1 << 14, /* bytes of an entry whose end is looked for: the writer merges in a page */
};

struct gt_exec_codes {
    struct gt_coverage_program *program;
    size_t n;
    struct gt_coverage regions;
    GHashTable *by_address; /* without files: names of addresses */
    struct gt_exec_code cache[CACHE];
};

static const char unknown[] = "[unknown]";

int gt_exec_codes_create(size_t n, const char *const *elf, struct gt_exec_codes **out,
                         struct gt_error *err)
{
    struct gt_exec_codes *c = g_new0(struct gt_exec_codes, 1);
    int status = 0;
    c->program = g_new0(struct gt_coverage_program, n ? n : 1);
    c->by_address = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    while (c->n < n && status == 0) {
        status = gt_coverage_program_open(elf[c->n], &c->program[c->n], &c->regions, err);
        c->n++;
    }
    if (status < 0)
        gt_exec_codes_destroy(c);
    else
        *out = c;
    return status;
}

void gt_exec_codes_destroy(struct gt_exec_codes *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        gt_coverage_program_close(&c->program[i]);
    gt_coverage_free(&c->regions);
    g_hash_table_destroy(c->by_address);
    g_free(c->program);
    g_free(c);
}

bool gt_exec_codes_named(const struct gt_exec_codes *c)
{
    return c->n > 0;
}

static const struct gt_symbol *find(const struct gt_exec_codes *c, uint64_t addr,
                                    const struct gt_coverage_program **in)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct gt_coverage_program *p = &c->program[i];
        if (addr - p->base >= p->symbols->load_size)
            continue;
        *in = p;
        const struct gt_symbol *s = gt_symbols_find(p->symbols, addr - p->base);
        if (s)
            return s;
    }
    return NULL;
}

const char *gt_exec_codes_name(const struct gt_exec_codes *c, uint64_t addr)
{
    const struct gt_coverage_program *in = NULL;
    const struct gt_symbol *s = find(c, addr, &in);
    return s ? s->name : unknown;
}

/* Without files: the address is the name, one text for each. */
static const char *name_of_address(const struct gt_exec_codes *c, uint64_t addr)
{
    char *name = g_hash_table_lookup(c->by_address, &addr);
    if (!name) {
        name = g_strdup_printf("0x%" PRIx64, addr);
        uint64_t *key = g_new(uint64_t, 1);
        *key = addr;
        g_hash_table_insert(c->by_address, key, name);
    }
    return name;
}

/* The last instruction of [start, end), found by going through all of them. */
static bool find_last(const struct gt_coverage_program *p, uint64_t start, uint64_t end,
                      struct gt_insn *out)
{
    size_t left;
    const uint8_t *bytes = gt_coverage_program_bytes(p, start, &left);
    if (!bytes || start >= end || end - start > left || end - start > LONGEST ||
        !gt_insn_size_known(p->arch))
        return false;
    uint64_t at = start;
    for (;;) {
        size_t size = gt_insn_size(p->arch, bytes, left);
        if (end - at <= size) {
            p->arch->classify(bytes, (size_t)(end - at), at, out);
            return end - at == size;
        }
        at += size;
        bytes += size;
        left -= size;
    }
}

const struct gt_exec_code *gt_exec_codes_at(struct gt_exec_codes *c, uint64_t start, uint64_t end)
{
    uint64_t slot = (start * 3 + end) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct gt_exec_code *kept = &c->cache[slot % CACHE];
    if (kept->name && kept->start == start && kept->end == end)
        return kept;
    const struct gt_coverage_program *in = NULL;
    const struct gt_symbol *s = find(c, start, &in);
    *kept = (struct gt_exec_code){
        .start = start,
        .end = end,
        .name = s      ? s->name
                : c->n ? unknown
                       : name_of_address(c, start),
        .at_entry = s && s->addr == start - in->base,
    };
    kept->known = in && find_last(in, start, end, &kept->last);
    return kept;
}
