/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The function and the last instruction of code that ran: see exec_code.h. */
#include "etrace/dump/exec_code.h"

#include "etrace/coverage/program.h"
#include "etrace/dump/names.h"
#include "guest/arch/insn_size.h"
#include "names/image/symbol_source.h"

#include <glib.h>
#include <inttypes.h>

enum {
    CACHE = 1 << 14,
    LONGEST = 1 << 14, /* bytes of an entry whose end is looked for: the writer merges in a page */
};

struct gt_exec_codes {
    struct gt_etrace_names *names;
    /* Of each of names->places: its instructions, where it is an ELF program. */
    struct gt_coverage_program *program;
    size_t n;
    struct gt_coverage regions;
    GHashTable *by_address; /* without files: names of addresses */
    struct gt_exec_code cache[CACHE];
};

static const char unknown[] = "[unknown]";

int gt_exec_codes_create(struct gt_etrace_names *names, struct gt_exec_codes **out,
                         struct gt_error *err)
{
    struct gt_exec_codes *c = g_new0(struct gt_exec_codes, 1);
    c->names = names;
    c->program = g_new0(struct gt_coverage_program, names->places.n + 1);
    c->by_address = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    int status = 0;
    for (; c->n < names->places.n && status == 0; c->n++) {
        const struct gt_place *p = &names->places.place[c->n];
        c->program[c->n].elf.fd = -1;
        if (p->source->kind == GT_SOURCE_ELF)
            status = gt_coverage_program_open(p->source->opened, p->offset, &c->program[c->n],
                                              &c->regions, err);
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
    return c->names->n > 0;
}

const char *gt_exec_codes_name(const struct gt_exec_codes *c, uint64_t addr)
{
    bool begins;
    const char *name = gt_etrace_names_find(c->names, addr, &begins);
    return name ? name : unknown;
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

/* *left bytes from start on, n at least, and whose they are; NULL: no file has them. */
static const uint8_t *bytes_at(const struct gt_exec_codes *c, uint64_t start, size_t n,
                               size_t *left, const struct gt_arch **arch)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct gt_place *p = &c->names->places.place[i];
        const struct gt_kernel *kernel = p->source->kernel;
        const uint8_t *bytes;
        if (kernel) {
            *arch = gt_arch_by_elf(kernel->e_machine, kernel->bits);
            *left = n;
            bytes = gt_kernel_bytes(kernel, start - p->offset, n);
        } else {
            *arch = c->program[i].arch;
            bytes = gt_coverage_program_bytes(&c->program[i], start, left);
        }
        if (bytes && *left >= n)
            return bytes;
    }
    return NULL;
}

/* The last instruction of [start, end), found by going through all of them. */
static bool find_last(const struct gt_exec_codes *c, uint64_t start, uint64_t end,
                      struct gt_insn *out)
{
    const struct gt_arch *arch = NULL;
    size_t left;
    if (start >= end || end - start > LONGEST)
        return false;
    const uint8_t *bytes = bytes_at(c, start, (size_t)(end - start), &left, &arch);
    return bytes && gt_arch_last_insn(arch, bytes, (size_t)(end - start), left, start, out);
}

const struct gt_exec_code *gt_exec_codes_at(struct gt_exec_codes *c, uint64_t start, uint64_t end)
{
    uint64_t slot = (start * 3 + end) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct gt_exec_code *kept = &c->cache[slot % CACHE];
    if (kept->name && kept->start == start && kept->end == end)
        return kept;
    bool begins = false;
    const char *name = gt_etrace_names_find(c->names, start, &begins);
    *kept = (struct gt_exec_code){
        .start = start,
        .end = end,
        .name = name          ? name
                : c->names->n ? unknown
                              : name_of_address(c, start),
        .at_entry = begins,
    };
    kept->known = find_last(c, start, end, &kept->last);
    return kept;
}
