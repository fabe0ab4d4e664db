/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call stacks from execution entries: see exec_stack.h. */
#include "etrace/dump/exec_stack.h"

#include "etrace/coverage/program.h"
#include "etrace/dump/names.h"
#include "guest/arch/insn_size.h"
#include "names/image/symbol_source.h"

#include <glib.h>
#include <inttypes.h>

enum { UNITS = 1 << 16 };

struct frame {
    const char *name;
    uint64_t back; /* where it returns to; 0: not known */
};

struct unit {
    uint16_t id;
    size_t depth, room;
    uint64_t time;
    struct gt_etrace_exec_code before; /* what ran last, where depth > 0 */
    struct frame *frame;               /* room for that many: streams may have 65536 units */
};

struct gt_etrace_exec_stacks {
    struct gt_etrace_exec_codes *codes;
    struct gt_etrace_exec_sink sink;
    struct unit *unit[UNITS]; /* NULL: not seen */
};

struct gt_etrace_exec_stacks *gt_etrace_exec_stacks_create(struct gt_etrace_exec_codes *codes,
                                                           const struct gt_etrace_exec_sink *sink)
{
    struct gt_etrace_exec_stacks *s = g_new0(struct gt_etrace_exec_stacks, 1);
    s->codes = codes;
    s->sink = *sink;
    return s;
}

/* ---- the stack ----------------------------------------------------------------------------- */

static void pop_to(struct gt_etrace_exec_stacks *s, struct unit *u, size_t depth)
{
    for (; u->depth > depth; u->depth--)
        s->sink.leave(s->sink.self, u->id, u->frame[u->depth - 1].name, u->time);
}

static void push(struct gt_etrace_exec_stacks *s, struct unit *u, const char *name, uint64_t back)
{
    if (u->depth == GT_EXEC_STACK_DEPTH)
        pop_to(s, u, 0);
    if (u->depth == u->room) {
        u->room = u->room ? 2 * u->room : 16;
        u->frame = g_renew(struct frame, u->frame, u->room);
    }
    u->frame[u->depth++] = (struct frame){name, back};
    s->sink.enter(s->sink.self, u->id, name, u->time);
}

static const struct frame *top(const struct unit *u)
{
    return &u->frame[u->depth - 1];
}

/* The function in the place of the innermost one. */
static void replace(struct gt_etrace_exec_stacks *s, struct unit *u, const char *name)
{
    uint64_t back = top(u)->back;
    if (top(u)->name == name)
        return;
    pop_to(s, u, u->depth - 1);
    push(s, u, name, back);
}

/* The frames above the innermost one of the name among the first n are left: true; or there is
 * none. */
static bool back_to_name(struct gt_etrace_exec_stacks *s, struct unit *u, size_t n,
                         const char *name)
{
    for (; n > 0; n--) {
        if (u->frame[n - 1].name == name) {
            pop_to(s, u, n);
            return true;
        }
    }
    return false;
}

/* The frame that was to return to the address is left. */
static bool back_to_address(struct gt_etrace_exec_stacks *s, struct unit *u, uint64_t addr,
                            const char *name)
{
    for (size_t n = u->depth; n > 1; n--) {
        if (u->frame[n - 1].back == addr) {
            pop_to(s, u, n - 1);
            replace(s, u, name);
            return true;
        }
    }
    return false;
}

/* ---- what followed what -------------------------------------------------------------------- */

static void after_call(struct gt_etrace_exec_stacks *s, struct unit *u,
                       const struct gt_etrace_exec_code *now)
{
    uint64_t target = u->before.last.target, back = u->before.end;
    if (now->start == back) /* reads its own address */
        return;
    if (u->before.last.kind == GT_INSN_CALL && now->start != target) {
        push(s, u, gt_etrace_exec_codes_name(s->codes, target),
             back); /* interrupted where it begins */
        back = target;
    }
    push(s, u, now->name, back);
}

static void after_return(struct gt_etrace_exec_stacks *s, struct unit *u,
                         const struct gt_etrace_exec_code *now)
{
    if (back_to_address(s, u, now->start, now->name))
        return;
    if (u->depth == 1)
        replace(s, u, now->name);
    else if (!back_to_name(s, u, u->depth - 1, now->name))
        push(s, u, now->name, 0);
}

static void after_exception_return(struct gt_etrace_exec_stacks *s, struct unit *u,
                                   const struct gt_etrace_exec_code *now)
{
    if (back_to_address(s, u, now->start, now->name) || back_to_name(s, u, u->depth, now->name))
        return;
    pop_to(s, u, 0);
    push(s, u, now->name, 0);
}

/* Any other instruction: it goes to its target, if it has one, or on to the next one. */
static void after_step(struct gt_etrace_exec_stacks *s, struct unit *u,
                       const struct gt_etrace_exec_code *now)
{
    const struct gt_arch_insn *last = &u->before.last;
    bool goes_on = last->kind != GT_INSN_JUMP && now->start == u->before.end;
    bool jumps =
        (last->kind == GT_INSN_JUMP || last->kind == GT_INSN_BRANCH) && now->start == last->target;
    if (now->name == top(u)->name)
        return;
    if (goes_on || jumps)
        replace(s, u, now->name);
    else if (now->at_entry || !back_to_name(s, u, u->depth, now->name))
        push(s, u, now->name, 0);
}

static void after_jump_indirect(struct gt_etrace_exec_stacks *s, struct unit *u,
                                const struct gt_etrace_exec_code *now)
{
    if (now->name == top(u)->name)
        return;
    if (now->at_entry || !back_to_name(s, u, u->depth, now->name))
        replace(s, u, now->name);
}

/* Nothing is known of the instruction. */
static void after_any(struct gt_etrace_exec_stacks *s, struct unit *u,
                      const struct gt_etrace_exec_code *now)
{
    if (now->name == top(u)->name)
        return;
    if (now->at_entry)
        push(s, u, now->name, u->before.end);
    else if (!back_to_address(s, u, now->start, now->name) &&
             !back_to_name(s, u, u->depth, now->name))
        push(s, u, now->name, 0);
}

static void follow(struct gt_etrace_exec_stacks *s, struct unit *u,
                   const struct gt_etrace_exec_code *now)
{
    if (!u->before.known) {
        after_any(s, u, now);
        return;
    }
    switch (u->before.last.kind) {
    case GT_INSN_CALL:
    case GT_INSN_CALL_INDIRECT:
        after_call(s, u, now);
        break;
    case GT_INSN_RETURN:
        after_return(s, u, now);
        break;
    case GT_INSN_EXCEPTION_RETURN:
        after_exception_return(s, u, now);
        break;
    case GT_INSN_JUMP_INDIRECT:
        after_jump_indirect(s, u, now);
        break;
    default:
        after_step(s, u, now);
        break;
    }
}

/* ---- entries ------------------------------------------------------------------------------- */

static void add_entry(struct gt_etrace_exec_stacks *s, struct unit *u,
                      const struct gt_etrace_entry *e)
{
    if (e->start != e->end || !u->depth) {
        const struct gt_etrace_exec_code *now = gt_etrace_exec_codes_at(s->codes, e->start, e->end);
        if (!u->depth)
            push(s, u, now->name, 0);
        else if (gt_etrace_exec_codes_named(s->codes))
            follow(s, u, now);
        else
            replace(s, u, now->name);
        u->before = *now;
    }
    if (s->sink.spend)
        s->sink.spend(s->sink.self, u->id, e->duration);
    u->time += e->duration;
}

void gt_etrace_exec_stacks_add(struct gt_etrace_exec_stacks *s, uint16_t unit,
                               const struct gt_etrace_exec *x)
{
    struct unit *u = s->unit[unit];
    if (!u) {
        u = g_new0(struct unit, 1);
        u->id = unit;
        s->unit[unit] = u;
    }
    u->time = x->start_time;
    for (size_t i = 0; i < x->n; i++) {
        const struct gt_etrace_entry e = gt_etrace_entry_at(x, i);
        add_entry(s, u, &e);
    }
}

void gt_etrace_exec_stacks_destroy(struct gt_etrace_exec_stacks *s)
{
    for (size_t i = 0; s && i < UNITS; i++) {
        if (!s->unit[i])
            continue;
        pop_to(s, s->unit[i], 0);
        g_free(s->unit[i]->frame);
        g_free(s->unit[i]);
    }
    g_free(s);
}

enum {
    CACHE = 1 << 14,
    LONGEST = 1 << 14, /* bytes of an entry whose end is looked for: the writer merges in a page */
};

struct gt_etrace_exec_codes {
    struct gt_etrace_names *names;
    /* Of each of names->places: its instructions, where it is an ELF program. */
    struct gt_coverage_program *program;
    size_t n;
    struct gt_coverage regions;
    GHashTable *by_address; /* without files: names of addresses */
    struct gt_etrace_exec_code cache[CACHE];
};

static const char unknown[] = "[unknown]";

int gt_etrace_exec_codes_create(struct gt_etrace_names *names, struct gt_etrace_exec_codes **out,
                                struct gt_error *err)
{
    struct gt_etrace_exec_codes *c = g_new0(struct gt_etrace_exec_codes, 1);
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
        gt_etrace_exec_codes_destroy(c);
    else
        *out = c;
    return status;
}

void gt_etrace_exec_codes_destroy(struct gt_etrace_exec_codes *c)
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

bool gt_etrace_exec_codes_named(const struct gt_etrace_exec_codes *c)
{
    return c->names->n > 0;
}

const char *gt_etrace_exec_codes_name(const struct gt_etrace_exec_codes *c, uint64_t addr)
{
    bool begins;
    const char *name = gt_etrace_names_find(c->names, addr, &begins);
    return name ? name : unknown;
}

/* Without files: the address is the name, one text for each. */
static const char *name_of_address(const struct gt_etrace_exec_codes *c, uint64_t addr)
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
static const uint8_t *bytes_at(const struct gt_etrace_exec_codes *c, uint64_t start, size_t n,
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
static bool find_last(const struct gt_etrace_exec_codes *c, uint64_t start, uint64_t end,
                      struct gt_arch_insn *out)
{
    const struct gt_arch *arch = NULL;
    size_t left;
    if (start >= end || end - start > LONGEST)
        return false;
    const uint8_t *bytes = bytes_at(c, start, (size_t)(end - start), &left, &arch);
    return bytes && gt_arch_last_insn(arch, bytes, (size_t)(end - start), left, start, out);
}

const struct gt_etrace_exec_code *gt_etrace_exec_codes_at(struct gt_etrace_exec_codes *c,
                                                          uint64_t start, uint64_t end)
{
    uint64_t slot = (start * 3 + end) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct gt_etrace_exec_code *kept = &c->cache[slot % CACHE];
    if (kept->name && kept->start == start && kept->end == end)
        return kept;
    bool begins = false;
    const char *name = gt_etrace_names_find(c->names, start, &begins);
    *kept = (struct gt_etrace_exec_code){
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
