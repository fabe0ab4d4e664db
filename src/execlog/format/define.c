/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions that translations make: see writer.h. They wait until the next buffer is packed, and
 * precede it in the log. */
#include "base/array.h"
#include "execlog/format/writer.h"

#include <stdlib.h>

enum { MOST_BLOCKS = 1 << 30 };

/* ---- bytes --------------------------------------------------------------------------------- */

uint8_t *gt_execlog_bytes_room(struct gt_execlog_bytes *b, size_t n)
{
    void *data = b->data;
    b->failed |= !gt_base_array_grow(&data, &b->cap, b->n + n, 1);
    b->data = data;
    return b->failed ? NULL : b->data + b->n;
}

void gt_execlog_bytes_add(struct gt_execlog_bytes *b, const void *data, size_t n)
{
    uint8_t *p = gt_execlog_bytes_room(b, n);
    if (!p)
        return;
    memcpy(p, data, n);
    b->n += n;
}

void gt_execlog_bytes_number(struct gt_execlog_bytes *b, uint64_t v)
{
    uint8_t *p = gt_execlog_bytes_room(b, 10);
    if (p)
        b->n = (size_t)(gt_execlog_put_number(p, v) - b->data);
}

static void add_text(struct gt_execlog_bytes *b, const char *text)
{
    size_t n = strnlen(text, GT_EXECLOG_MAX_TEXT);
    gt_execlog_bytes_number(b, n);
    gt_execlog_bytes_add(b, text, n);
}

/* ---- the writer ---------------------------------------------------------------------------- */

int gt_execlog_writer_create(const struct gt_execlog_setup *setup, struct gt_execlog_writer **out,
                             struct gt_error *err)
{
    struct gt_execlog_writer *w = calloc(1, sizeof *w);
    if (!w)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    pthread_mutex_init(&w->lock, NULL);
    w->flags = (setup->system ? GT_EXECLOG_SYSTEM : 0) | (setup->values ? GT_EXECLOG_VALUES : 0);
    memcpy(w->target, setup->target, strnlen(setup->target, sizeof w->target - 1));
    w->line = w->index_line = 1;
    w->zstd = ZSTD_createCCtx();
    w->waiting = calloc(GT_EXECLOG_MAX_VCPUS, 1);
    if (!w->zstd || !w->waiting) {
        gt_execlog_writer_destroy(w);
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
    *out = w;
    return 0;
}

static void free_pending(struct gt_execlog_pending *n)
{
    free(n->names.data);
    free(n->code.data);
    free(n->blocks);
}

void gt_execlog_writer_destroy(struct gt_execlog_writer *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->n_devices; i++)
        free(w->devices[i]);
    for (uint32_t i = 0; i < w->n_registers; i++)
        free(w->registers[i].name);
    free(w->devices);
    free(w->registers);
    free_pending(&w->pending);
    free_pending(&w->taken);
    free(w->blocks);
    free(w->out.data);
    free(w->index.data);
    free(w->waiting);
    ZSTD_freeCCtx(w->zstd);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void gt_execlog_writer_lock(struct gt_execlog_writer *w)
{
    pthread_mutex_lock(&w->lock);
}

void gt_execlog_writer_unlock(struct gt_execlog_writer *w)
{
    pthread_mutex_unlock(&w->lock);
}

/* ---- definitions; all with the lock -------------------------------------------------------- */

static void add_code(struct gt_execlog_pending *pending, const struct gt_execlog_insn *insns,
                     size_t n)
{
    struct gt_execlog_bytes *b = &pending->code;
    uint64_t before = 0;
    gt_execlog_bytes_number(b, GT_EXECLOG_D_BLOCK);
    gt_execlog_bytes_number(b, n);
    for (size_t i = 0; i < n; i++) {
        gt_execlog_bytes_number(b, gt_execlog_fold(insns[i].address - before));
        gt_execlog_bytes_number(b, insns[i].opcode);
        add_text(b, insns[i].text);
        before = insns[i].address;
    }
}

static struct gt_execlog_known known_of(const struct gt_execlog_insn *insns, size_t n)
{
    struct gt_execlog_known k = {.lo = insns[0].address, .hi = insns[0].address};
    for (size_t i = 1; i < n; i++) {
        k.lo = insns[i].address < k.lo ? insns[i].address : k.lo;
        k.hi = insns[i].address > k.hi ? insns[i].address : k.hi;
    }
    return k;
}

static int define(struct gt_execlog_writer *w, const struct gt_execlog_insn *insns, size_t n,
                  struct gt_execlog_block *out)
{
    struct gt_execlog_pending *pending = &w->pending;
    void *blocks = pending->blocks;
    size_t before = pending->code.n;
    if (w->n_blocks >= MOST_BLOCKS || w->n_insns > UINT32_MAX - n)
        return GT_E_RANGE;
    bool room = gt_base_array_grow(&blocks, &pending->cap, pending->n + 1, sizeof *pending->blocks);
    pending->blocks = blocks;
    if (room)
        add_code(pending, insns, n);
    if (!room || pending->code.failed) {
        pending->code.failed = false;
        pending->code.n = before;
        return GT_E_NOMEM;
    }
    struct gt_execlog_known known = known_of(insns, n);
    known.block = (struct gt_execlog_block){w->n_blocks + 1, (uint32_t)n, w->n_insns};
    known.end = pending->code.n;
    pending->blocks[pending->n++] = known;
    w->n_blocks++;
    w->n_insns += (uint32_t)n;
    *out = known.block;
    return 0;
}

int gt_execlog_define(struct gt_execlog_writer *w, const struct gt_execlog_insn *insns, size_t n,
                      struct gt_execlog_block *out)
{
    if (n == 0 || n > GT_EXECLOG_MAX_INSNS)
        return GT_E_RANGE;
    pthread_mutex_lock(&w->lock);
    int status = define(w, insns, n, out);
    pthread_mutex_unlock(&w->lock);
    return status;
}

static uint32_t find_device(const struct gt_execlog_writer *w, const char *name)
{
    for (uint32_t i = 0; i < w->n_devices; i++)
        if (strcmp(w->devices[i], name) == 0)
            return i + 1;
    return 0;
}

/* A vector of pointers or pairs has grown by one. */
static bool one_more(void **items, uint32_t n, size_t size)
{
    void *more = realloc(*items, (n + 1) * size);
    if (more)
        *items = more;
    return more;
}

static uint32_t new_device(struct gt_execlog_writer *w, const char *name)
{
    char *copy = strdup(name);
    void *devices = w->devices;
    bool good =
        copy && w->n_devices < UINT16_MAX && one_more(&devices, w->n_devices, sizeof *w->devices);
    w->devices = devices;
    if (!good) {
        free(copy);
        return 0;
    }
    w->devices[w->n_devices++] = copy;
    gt_execlog_bytes_number(&w->pending.names, GT_EXECLOG_D_DEVICE);
    gt_execlog_bytes_number(&w->pending.names, w->n_devices);
    add_text(&w->pending.names, name);
    w->pending.n_names++;
    return w->n_devices;
}

uint32_t gt_execlog_define_device(struct gt_execlog_writer *w, const char *name)
{
    pthread_mutex_lock(&w->lock);
    uint32_t number = find_device(w, name);
    if (!number)
        number = new_device(w, name);
    pthread_mutex_unlock(&w->lock);
    return number;
}

static uint32_t find_register(const struct gt_execlog_writer *w, const char *name, size_t size)
{
    uint32_t i = 0;
    while (i < w->n_registers &&
           (strcmp(w->registers[i].name, name) != 0 || w->registers[i].size != size))
        i++;
    return i;
}

static uint32_t new_register(struct gt_execlog_writer *w, const char *name, size_t size)
{
    char *copy = strdup(name);
    void *registers = w->registers;
    bool good = copy && size && size <= GT_EXECLOG_MAX_VALUE &&
                w->n_registers < GT_EXECLOG_MAX_REGISTERS &&
                one_more(&registers, w->n_registers, sizeof *w->registers);
    w->registers = registers;
    if (!good) {
        free(copy);
        return GT_EXECLOG_MAX_REGISTERS;
    }
    w->registers[w->n_registers] = (struct gt_execlog_register){copy, size};
    gt_execlog_bytes_number(&w->pending.names, GT_EXECLOG_D_REGISTER);
    gt_execlog_bytes_number(&w->pending.names, w->n_registers);
    gt_execlog_bytes_number(&w->pending.names, size);
    add_text(&w->pending.names, name);
    w->pending.n_names++;
    return w->n_registers++;
}

uint32_t gt_execlog_define_register(struct gt_execlog_writer *w, const char *name, size_t size)
{
    pthread_mutex_lock(&w->lock);
    uint32_t number = find_register(w, name, size);
    if (number == w->n_registers)
        number = new_register(w, name, size);
    pthread_mutex_unlock(&w->lock);
    return number;
}
