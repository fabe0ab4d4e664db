/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading values from registers and memory, and whose call they are: see arguments.h. */
#include "base/page.h"
#include "plugin/uftrace/arguments.h"
#include "plugin/uftrace/guest_read.h"
#include "plugin/uftrace/installed.h"
#include "plugin/uftrace/recorder.h"
#include "track/tail_calls.h"

#include <string.h>

enum { REGISTER_MOST = 256 }; /* bytes of a register that are looked at */

/* ---- reading ------------------------------------------------------------------------------- */

/* What reading one call's values needs. */
struct reading {
    struct gt_uftrace_recorder *r;
    const struct gt_argument_function *of;
    uint8_t bytes[GT_VALUES_MOST][GT_VALUE_STRING_MOST]; /* of each value */
};

/* Missing pages are not loaded. QEMU reads a machine's device memory as its debugger does, with
 * side effects: nothing says beforehand what is at an address. */
static bool read_memory(const struct reading *in, uint64_t addr, void *out, size_t n)
{
    if (gt_host_can(GT_HOST_MEMORY))
        return gt_memory_read(addr, out, n);
    return in->r->guest.user && gt_guest_read(in->r, addr, out, n);
}

static bool read_address(const struct reading *in, uint64_t addr, uint64_t *out)
{
    *out = 0;
    return read_memory(in, addr, out, in->r->guest.arch->bits / 8);
}

static bool read_register(struct gt_argument_register *reg, const struct gt_value_piece *p,
                          void *out, size_t n)
{
    uint8_t bytes[REGISTER_MOST];
    if (!gt_register_exists(&reg->own, p->reg) && !gt_register_exists(&reg->wide, reg->wide_name))
        return false;
    void *handle = reg->own.exists ? reg->own.handle : reg->wide.handle;
    size_t size = gt_register_bytes(handle, bytes, sizeof bytes);
    size_t have = size < sizeof bytes ? size : sizeof bytes;
    if ((size_t)p->offset >= have)
        return false;
    have -= (size_t)p->offset;
    memset(out, 0, n);
    memcpy(out, bytes + p->offset, have < n ? have : n);
    return true;
}

static bool stack_address(const struct reading *in, const struct gt_value_piece *p, uint64_t *addr)
{
    static struct gt_register sp; /* of this process's one guest */
    if (!gt_register_read(&sp, in->r->guest.arch->sp_register, addr))
        return false;
    *addr += (uint64_t)(int64_t)p->offset;
    return true;
}

static uint64_t truncated(const struct reading *in, uint64_t addr)
{
    return in->r->guest.arch->bits == 32 ? (uint32_t)addr : addr;
}

/* The address of the last step. */
static bool follow(const struct reading *in, struct gt_argument_register *reg,
                   const struct gt_value_piece *p, uint64_t *addr)
{
    unsigned word = in->r->guest.arch->bits / 8;
    uint64_t at = 0;
    if (p->reg ? !read_register(reg, p, &at, word) : !stack_address(in, p, &at))
        return false;
    if (!p->reg && p->n_steps && !read_address(in, truncated(in, at), &at))
        return false;
    for (unsigned i = 0; i < p->n_steps; i++) {
        at = truncated(in, at + (uint64_t)(int64_t)p->step[i]);
        if (i + 1u < p->n_steps && !read_address(in, at, &at))
            return false;
    }
    *addr = truncated(in, at);
    return true;
}

static bool read_piece(const struct reading *in, struct gt_argument_register *reg,
                       const struct gt_value_piece *p, void *out, size_t n)
{
    uint64_t addr;
    if (p->reg && !p->n_steps)
        return read_register(reg, p, out, n);
    return follow(in, reg, p, &addr) && read_memory(in, addr, out, n);
}

/* Bytes up to a NUL, at most `most`; those before memory that cannot be read count. False: the
 * first one cannot be read. */
static bool read_text(const struct reading *in, uint64_t addr, size_t most, uint8_t *out,
                      struct gt_value *v)
{
    enum { FIRST = 64 };
    size_t n = 0;
    while (n < most) {
        size_t part = GT_PAGE - (size_t)((addr + n) % GT_PAGE);
        part = MIN(MIN(part, most - n), (size_t)FIRST);
        if (!read_memory(in, addr + n, out + n, part)) {
            *v = (struct gt_value){.kind = GT_VALUE_CUT, .size = (uint16_t)n, .bytes = out};
            return n > 0;
        }
        const uint8_t *end = memchr(out + n, 0, part);
        if (end) {
            *v = (struct gt_value){
                .kind = GT_VALUE_BYTES, .size = (uint16_t)(end - out), .bytes = out};
            return true;
        }
        n += part;
    }
    *v = (struct gt_value){.kind = GT_VALUE_CUT, .size = (uint16_t)n, .bytes = out};
    return true;
}

/* libstdc++'s and libc++'s layouts differ; this is the first one's: address, length. */
static bool read_cxx_string(const struct reading *in, uint64_t addr, uint8_t *out,
                            struct gt_value *v)
{
    uint64_t at, size, word = in->r->guest.arch->bits / 8;
    if (!read_address(in, addr, &at) || !read_address(in, addr + word, &size))
        return false;
    size_t n = size < GT_VALUE_STRING_MOST ? (size_t)size : GT_VALUE_STRING_MOST;
    *v = (struct gt_value){
        .kind = size > n ? GT_VALUE_CUT : GT_VALUE_BYTES, .size = (uint16_t)n, .bytes = out};
    return !n || read_memory(in, at, out, n);
}

static void read_string(const struct reading *in, const struct gt_value_item *item,
                        struct gt_argument_register *reg, uint8_t *out, struct gt_value *v)
{
    uint64_t addr = 0;
    const struct gt_value_piece *p = &item->piece[0];
    bool known = item->format == GT_VALUE_CHARS
                     ? follow(in, reg, p, &addr)
                     : read_piece(in, reg, p, &addr, in->r->guest.arch->bits / 8);
    if (!known)
        return;
    size_t most = item->format == GT_VALUE_CHARS ? item->size : GT_VALUE_STRING_MOST;
    bool good = addr && (item->format == GT_VALUE_CXX_STRING ? read_cxx_string(in, addr, out, v)
                                                             : read_text(in, addr, most, out, v));
    if (good && item->format == GT_VALUE_CHARS)
        v->kind = GT_VALUE_BYTES;
    if (!good)
        *v = (struct gt_value){.kind = GT_VALUE_BAD_ADDRESS, .word = addr};
}

static void read_value(struct reading *in, size_t i, uint8_t *out, struct gt_value *v)
{
    const struct gt_value_item *item = &in->of->spec.item[i];
    struct gt_argument_register *const *reg = in->of->reg[i];
    *v = (struct gt_value){.kind = GT_VALUE_ABSENT};
    if (!item->n_pieces)
        return;
    if (gt_value_is_text(item->format)) {
        read_string(in, item, reg[0], out, v);
        return;
    }
    size_t at = 0;
    for (unsigned k = 0; k < item->n_pieces && at < item->size; k++) {
        const struct gt_value_piece *p = &item->piece[k];
        size_t left = item->size - at, n = p->size && p->size < left ? p->size : left;
        if (!read_piece(in, reg[k], p, out + at, n))
            return;
        at += n;
    }
    gt_value_set(v, item, out, item->size);
}

/* The values [from, from + n) of the function, as they are stored. */
static void read_values(struct gt_uftrace_recorder *r, const struct gt_code *code,
                        const struct gt_argument_function *of, size_t from, size_t n,
                        struct gt_argument_slot *slot)
{
    struct reading in;
    struct gt_value_list list = {.n = n};
    in.r = r;
    in.of = of;
    for (size_t i = 0; i < n; i++)
        read_value(&in, from + i, in.bytes[i], &list.value[i]);
    slot->n = gt_packed_is_on(&r->output.packed)
                  ? gt_values_put_words(slot->words, &list)
                  : gt_values_put_uftrace((uint8_t *)slot->words, of->spec.item + from, &list,
                                          GT_VALUE_STRING_MOST) /
                        8;
    slot->code = code;
    slot->of = of;
}

bool gt_arguments_value(const struct gt_uftrace_recorder *r, const struct gt_argument_function *of,
                        const uint64_t *words, size_t n, const struct gt_call_value_name *name,
                        struct gt_call_value *out)
{
    const bool result = name->place == GT_CALL_RESULT;
    const struct gt_value_spec *spec = &of->spec;
    const struct gt_value_item *item = spec->item + (result ? spec->n_arguments : 0);
    struct gt_reader bytes;
    struct gt_value_list list;
    gt_reader_init(&bytes, words, n * sizeof *words);
    bool good = gt_packed_is_on(&r->output.packed)
                    ? gt_values_get_words(words, n, &list) > 0
                    : gt_values_get_uftrace(
                          &bytes, item, result ? spec->n_returns : spec->n_arguments, &list) == 0;
    return good && gt_values_get(item, &list, name, out);
}

/* ---- whose they are ------------------------------------------------------------------------ */

/* The vCPU of the transfer that this thread makes, if values wait for it. */
static __thread struct gt_argument_slots *waiting;

static struct gt_argument_slots *slots_of(struct gt_vcpu *v)
{
    if (!v->arguments)
        v->arguments = g_new0(struct gt_argument_slots, 1); /* once a vCPU */
    return v->arguments;
}

void gt_arguments_read(struct gt_vcpu *v, const struct gt_argument_point *p)
{
    struct gt_argument_slots *slots = slots_of(v);
    if (p->of->spec.n_arguments)
        read_values(v->rec, p->code, p->of, 0, p->of->spec.n_arguments, &slots->entry);
    v->thread.slow_flags |= GT_SLOW_VALUES;
}

void gt_arguments_drop(struct gt_vcpu *v)
{
    v->arguments->entry.code = NULL;
    v->thread.slow_flags &= ~(uint32_t)GT_SLOW_VALUES;
}

void gt_on_valued_return(unsigned vcpu, void *data)
{
    struct gt_vcpu *v = gt_vcpu_at(gt_recorder_installed(), vcpu);
    const struct gt_argument_point *p = data;
    const struct gt_value_spec *spec = &p->of->spec;
    if (!gt_vcpu_is_recorded(v) || v->thread.stack->top->fn != p->of->fn ||
        v->thread.stack->top->kind == GT_FRAME_TAIL)
        return;
    read_values(v->rec, p->code, p->of, spec->n_arguments, spec->n_returns, &slots_of(v)->result);
    v->thread.slow_flags |= GT_SLOW_VALUES;
}

static const struct gt_argument_function *function_of(struct gt_uftrace_recorder *r,
                                                      const struct gt_func *fn)
{
    pthread_mutex_lock(&r->lock);
    const struct gt_argument_function *of = g_hash_table_lookup(r->arguments.functions, fn);
    pthread_mutex_unlock(&r->lock);
    return of;
}

/* A return out of a tail call has arrived: each frame that it ends has its own result of the same
 * registers. */
static void read_tail(struct gt_vcpu *v, const struct gt_code *code)
{
    const struct gt_stack *s = v->thread.stack;
    struct gt_argument_slots *slots = slots_of(v);
    const struct gt_frame *last = gt_tail_called(s);
    if (last->ret != code->pc)
        return;
    if (!slots->tail)
        slots->tail = g_new0(struct gt_argument_slot, GT_TAIL_MOST + 1); /* once a vCPU */
    struct gt_argument_slot *to = slots->tail;
    for (const struct gt_frame *f = s->top; f >= last; f--, to++) {
        const struct gt_argument_function *of =
            f->fn->flags & GT_FUNC_RESULT && f->addr == f->fn->lo ? function_of(v->rec, f->fn)
                                                                  : NULL;
        to->code = NULL;
        if (of)
            read_values(v->rec, code, of, of->spec.n_arguments, of->spec.n_returns, to);
    }
    slots->tail_top = gt_stack_depth(s);
}

void gt_arguments_before(struct gt_vcpu *v, const struct gt_code *code, uint64_t last_exit)
{
    const struct gt_frame *top = v->thread.stack ? v->thread.stack->top : NULL;
    if (top && top->kind == GT_FRAME_TAIL && gt_last_exit_is_of(last_exit, GT_EXIT_RETURN))
        read_tail(v, code);
    struct gt_argument_slots *slots = v->arguments;
    if (!slots || !top)
        return;
    const struct gt_argument_slot *result = &slots->result;
    slots->matches = result->code && last_exit == gt_code_last_exit(result->code) &&
                     top->fn == result->of->fn && top->addr == top->fn->lo && top->ret == code->pc;
    waiting = slots;
}

void gt_arguments_after(struct gt_vcpu *v)
{
    if (!waiting)
        return;
    waiting->result.code = NULL;
    waiting->matches = false;
    waiting->tail_top = 0;
    if (!waiting->entry.code)
        v->thread.slow_flags &= ~(uint32_t)GT_SLOW_VALUES;
    waiting = NULL;
}

const struct gt_argument_slot *gt_arguments_entering(const struct gt_stack *s, uint64_t addr)
{
    struct gt_argument_slot *slot = waiting ? &waiting->entry : NULL;
    if (!slot || !slot->code || addr != slot->code->pc || s->top->fn != slot->of->fn)
        return NULL;
    slot->code = NULL; /* of one frame */
    return slot;
}

static const struct gt_argument_slot *tail_result(const struct gt_argument_slots *slots,
                                                  const struct gt_stack *s)
{
    uint32_t i = slots->tail_top - gt_stack_depth(s);
    bool known = i <= GT_TAIL_MOST && slots->tail[i].code && slots->tail[i].of->fn == s->top->fn;
    return known ? &slots->tail[i] : NULL;
}

const struct gt_argument_slot *gt_arguments_leaving(const struct gt_stack *s, uint64_t addr)
{
    const struct gt_argument_slots *slots = waiting;
    if (slots && slots->tail_top)
        return tail_result(slots, s);
    return slots && slots->matches && s->top->fn == slots->result.of->fn
               ? gt_arguments_returned(addr)
               : NULL;
}

const struct gt_argument_slot *gt_arguments_returned(uint64_t addr)
{
    struct gt_argument_slots *slots = waiting;
    if (!slots || !slots->matches || addr != slots->result.of->fn->lo)
        return NULL;
    slots->matches = false;
    return &slots->result;
}
