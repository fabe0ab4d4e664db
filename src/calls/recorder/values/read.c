/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading values from registers and memory: see arguments.h. */
#include "base/page.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/values/arguments.h"
#include "qemu/support/guest_memory.h"

#include <string.h>

enum { REGISTER_MOST = 256 }; /* bytes of a register that are looked at */

bool gt_recorder_guest_read(const struct gt_recorder *r, uint64_t addr, void *out, size_t n)
{
    return gt_support_own_memory_read(addr + r->code.modules.guest_base, out, n) == 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* What reading one call's values needs. */
struct reading {
    struct gt_recorder *r;
    const struct gt_recorder_argument_function *of;
    const uint64_t *given; /* what registers have, by the host's word: 8, or a result; else NULL */
    bool result;
    uint8_t bytes[GT_VALUES_MOST][GT_VALUE_STRING_MOST]; /* of each value */
};

/* Missing pages are not loaded. QEMU reads a machine's device memory as its debugger does, with
 * side effects: whether an address is a device's cannot be asked. */
static bool read_memory(const struct reading *in, uint64_t addr, void *out, size_t n)
{
    const uint64_t *base = in->r->guest.user ? &in->r->code.modules.guest_base : NULL;
    return gt_support_guest_memory_read(in->r->guest.arch, base, addr, out, n);
}

static bool read_address(const struct reading *in, uint64_t addr, uint64_t *out)
{
    *out = 0;
    return read_memory(in, addr, out, in->r->guest.arch->bits / 8);
}

/* Of what the host has given. */
static bool read_given(const struct reading *in, const struct gt_value_piece *p, void *out,
                       size_t n)
{
    static const char name[] = "arg";
    unsigned i = 0;
    if (!in->result) {
        i = strncmp(p->reg, name, sizeof name - 1) == 0 ? (unsigned)p->reg[sizeof name - 1] - '1'
                                                        : 8;
        if (i >= 8)
            return false;
    }
    memset(out, 0, n);
    memcpy(out, &in->given[i], MIN(n, sizeof *in->given));
    return true;
}

/* n bytes; those that the register does not have are 0. False: it has fewer than `least`. */
static bool read_register(const struct reading *in, struct gt_recorder_argument_register *reg,
                          const struct gt_value_piece *p, void *out, size_t n, size_t least)
{
    if (in->given)
        return read_given(in, p, out, n);
    uint8_t bytes[REGISTER_MOST];
    if (!gt_host_register_exists(&reg->own, p->reg) &&
        !gt_host_register_exists(&reg->wide, reg->wide_name))
        return false;
    void *handle = reg->own.exists ? reg->own.handle : reg->wide.handle;
    size_t size = gt_host_register_bytes(handle, bytes, sizeof bytes);
    size_t have = size < sizeof bytes ? size : sizeof bytes;
    if ((size_t)p->offset >= have)
        return false;
    have -= (size_t)p->offset;
    if (n == sizeof(uint64_t) && have >= n) { /* most are: no calls for them */
        memcpy(out, bytes + p->offset, sizeof(uint64_t));
        return true;
    }
    if (have < least)
        return false;
    memset(out, 0, n);
    memcpy(out, bytes + p->offset, have < n ? have : n);
    return true;
}

static bool stack_address(const struct reading *in, const struct gt_value_piece *p, uint64_t *addr)
{
    static struct gt_host_register sp; /* of this process's one guest */
    if (!gt_host_register_read(&sp, in->r->guest.arch->sp_register, addr))
        return false;
    *addr += (uint64_t)(int64_t)p->offset;
    return true;
}

static uint64_t truncated(const struct reading *in, uint64_t addr)
{
    return in->r->guest.arch->bits == 32 ? (uint32_t)addr : addr;
}

/* The address of the last step. */
static bool follow(const struct reading *in, struct gt_recorder_argument_register *reg,
                   const struct gt_value_piece *p, uint64_t *addr)
{
    unsigned word = in->r->guest.arch->bits / 8;
    uint64_t at = 0;
    if (p->reg ? !read_register(in, reg, p, &at, word, 1) : !stack_address(in, p, &at))
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

static bool read_piece(const struct reading *in, struct gt_recorder_argument_register *reg,
                       const struct gt_value_piece *p, void *out, size_t n, size_t least)
{
    uint64_t addr;
    if (p->reg && !p->n_steps)
        return read_register(in, reg, p, out, n, least);
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

/* As many bytes as its second piece says. */
static void read_bytes(const struct reading *in, const struct gt_value_item *item,
                       struct gt_recorder_argument_register *const *reg, uint64_t addr,
                       uint8_t *out, struct gt_value *v)
{
    uint64_t size = 0;
    if (!read_piece(in, reg[1], &item->piece[1], &size, in->r->guest.arch->bits / 8, 1))
        return;
    size_t n = size < GT_VALUE_STRING_MOST ? (size_t)size : GT_VALUE_STRING_MOST;
    *v = (struct gt_value){
        .kind = size > n ? GT_VALUE_CUT : GT_VALUE_BYTES, .size = (uint16_t)n, .bytes = out};
    if (!addr || (n && !read_memory(in, addr, out, n)))
        *v = (struct gt_value){.kind = GT_VALUE_BAD_ADDRESS, .word = addr};
}

static void read_string(const struct reading *in, const struct gt_value_item *item,
                        struct gt_recorder_argument_register *const *reg, uint8_t *out,
                        struct gt_value *v)
{
    uint64_t addr = 0;
    const struct gt_value_piece *p = &item->piece[0];
    bool known = item->format == GT_VALUE_CHARS
                     ? follow(in, reg[0], p, &addr)
                     : read_piece(in, reg[0], p, &addr, in->r->guest.arch->bits / 8, 1);
    if (!known)
        return;
    if (item->n_pieces == 2) {
        read_bytes(in, item, reg, addr, out, v);
        return;
    }
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
    struct gt_recorder_argument_register *const *reg = in->of->reg[i];
    *v = (struct gt_value){.kind = GT_VALUE_ABSENT};
    if (!item->n_pieces)
        return;
    if (gt_value_is_text(item->format)) {
        read_string(in, item, reg, out, v);
        return;
    }
    size_t at = 0;
    for (unsigned k = 0; k < item->n_pieces && at < item->size; k++) {
        const struct gt_value_piece *p = &item->piece[k];
        size_t left = item->size - at, n = p->size && p->size < left ? p->size : left;
        if (!read_piece(in, reg[k], p, out + at, n, item->format == GT_VALUE_FLOAT ? n : 1))
            return;
        at += n;
    }
    for (size_t b = 0; item->mask && b < item->size; b++)
        out[b] &= item->mask[b];
    gt_value_set(v, item, out, item->size);
}

/* The values [from, from + n) of the function, as they are stored. */
static void read_into(struct reading *in, const struct gt_code *code, size_t from, size_t n,
                      struct gt_recorder_argument_slot *slot)
{
    struct gt_value_list list;
    const struct gt_recorder_argument_function *of = in->of;
    list.n = n; /* the others stay as they are: there are many */
    for (size_t i = 0; i < n; i++)
        read_value(in, from + i, in->bytes[i], &list.value[i]);
    slot->n = gt_recorder_packed_is_on(&in->r->output.packed)
                  ? gt_values_put_words(slot->words, &list)
                  : gt_values_put_uftrace((uint8_t *)slot->words, of->spec.item + from, &list,
                                          GT_VALUE_STRING_MOST) /
                        8;
    slot->code = code;
    slot->of = of;
}

void gt_recorder_arguments_read_values(struct gt_recorder *r, const struct gt_code *code,
                                       const struct gt_recorder_argument_function *of, bool result,
                                       const uint64_t *given,
                                       struct gt_recorder_argument_slot *slot)
{
    const struct gt_value_spec *spec = &of->spec;
    struct reading in;
    in.r = r;
    in.of = of;
    in.given = given;
    in.result = result;
    if (result)
        read_into(&in, code, spec->n_arguments, spec->n_returns, slot);
    else
        read_into(&in, code, 0, spec->n_arguments, slot);
}

bool gt_recorder_arguments_value(const struct gt_recorder *r,
                                 const struct gt_recorder_argument_function *of,
                                 const uint64_t *words, size_t n,
                                 const struct gt_base_call_value_name *name,
                                 struct gt_base_call_value *out)
{
    const bool result = name->place == GT_CALL_RESULT;
    const struct gt_value_spec *spec = &of->spec;
    const struct gt_value_item *item = spec->item + (result ? spec->n_arguments : 0);
    struct gt_bytes_reader bytes;
    struct gt_value_list list;
    gt_bytes_reader_init(&bytes, words, n * sizeof *words);
    bool good = gt_recorder_packed_is_on(&r->output.packed)
                    ? gt_values_get_words(words, n, &list) > 0
                    : gt_values_get_uftrace(
                          &bytes, item, result ? spec->n_returns : spec->n_arguments, &list) == 0;
    return good && gt_values_get(item, &list, name, out);
}
