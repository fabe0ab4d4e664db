/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of the files that a user-mode guest has mapped: see maps.h. */
#include "etrace/plugin/maps.h"

#include "base/search.h"
#include "base/worker.h"
#include "etrace/format/mapping.h"
#include "etrace/plugin/buffer.h"
#include "etrace/plugin/recorder.h"
#include "guest/elf/file.h"
#include "guest/process.h"
#include "qemu/support/exec_calls.h"

#include <string.h>

/* Guest addresses whose mapping was read. */
struct range {
    uint64_t lo, hi;
    char *note; /* NULL: no file */
    size_t n;   /* bytes of it */
};

static void clear_range(void *data)
{
    g_free(((struct range *)data)->note);
}

int gt_etrace_maps_start(struct gt_etrace *e, struct gt_error *err)
{
    if (e->host.system || e->flags == 0)
        return 0;
    e->maps.ranges = g_array_new(FALSE, FALSE, sizeof(struct range));
    g_array_set_clear_func(e->maps.ranges, clear_range);
    return gt_thread_worker_create(&e->maps.worker, err);
}

void gt_etrace_maps_stop(struct gt_etrace *e)
{
    pthread_mutex_lock(&e->lock);
    struct gt_thread_worker *w = e->maps.worker;
    e->maps.worker = NULL;
    pthread_mutex_unlock(&e->lock);
    gt_thread_worker_destroy(w);
}

/* The first range that ends after the address. */
static guint index_of(const GArray *ranges, uint64_t addr)
{
    return (guint)GT_SEARCH_UP_TO((struct range *)(void *)ranges->data, ranges->len, hi, addr);
}

static void forget(GArray *ranges, uint64_t lo, uint64_t hi)
{
    guint first = index_of(ranges, lo), last = first;
    while (last < ranges->len && g_array_index(ranges, struct range, last).lo < hi)
        last++;
    if (last > first)
        g_array_remove_range(ranges, first, last - first);
}

struct lookup {
    const char *program;
    uint64_t pc;
    const void *host;
    struct range found;
};

/* On the worker. */
static void read_maps(void *arg)
{
    struct lookup *look = arg;
    struct gt_process_mapping map;
    struct gt_elf elf;
    struct gt_etrace_mapping out = {0};
    const uint64_t guest_base = (uint64_t)(uintptr_t)look->host - look->pc;
    const uint64_t page = gt_base_page_begin(look->pc);
    look->found = (struct range){.lo = page, .hi = page + GT_PAGE};
    int found = gt_process_mapping_at((uint64_t)(uintptr_t)look->host, &map);
    if (found < 0)
        return;
    look->found.lo = map.start - guest_base;
    look->found.hi = map.end - guest_base;
    if (found == 0 || !map.path[0] || look->found.lo >= look->found.hi)
        return;
    out.start = look->found.lo;
    out.end = look->found.hi;
    out.base = map.base - guest_base;
    g_strlcpy(out.path, map.path, sizeof out.path);
    const char *path = gt_process_readable_path(&map, look->program);
    if (path && gt_elf_open(path, &elf, NULL) == 0) {
        gt_elf_build_id(elf.elf, out.build_id);
        gt_elf_close(&elf);
    }
    char text[GT_ETRACE_MAPPING_MAX];
    look->found.n = gt_etrace_mapping_put(&out, text);
    look->found.note = g_memdup2(text, look->found.n);
}

static void append_note(GString *text, const struct range *k)
{
    if (k->note)
        g_string_append_len(text, k->note, (gssize)k->n);
}

/* The notes that are due, one a line; NULL: none. With the recorder's lock. */
static GString *take_due(struct gt_etrace *e, uint64_t pc, const void *host)
{
    unsigned streams = MAX(1, __atomic_load_n(&e->streams, __ATOMIC_RELAXED));
    GArray *ranges = e->maps.ranges;
    bool again = streams != e->maps.streams;
    guint at = index_of(ranges, pc);
    bool is_known = at < ranges->len && g_array_index(ranges, struct range, at).lo <= pc;
    if (is_known && !again)
        return NULL;
    GString *text = g_string_new(NULL);
    for (guint i = 0; again && i < ranges->len; i++)
        append_note(text, &g_array_index(ranges, struct range, i));
    e->maps.streams = streams;
    struct lookup look = {.program = e->maps.program, .pc = pc, .host = host};
    if (is_known || gt_thread_worker_call(e->maps.worker, read_maps, &look) < 0)
        return text;
    forget(ranges, look.found.lo, look.found.hi);
    g_array_insert_val(ranges, index_of(ranges, look.found.lo), look.found);
    append_note(text, &look.found);
    return text;
}

/* Puts a note for each line. */
static void put_notes(struct gt_etrace *e, const GString *text)
{
    enum { HEADER = 64 };
    const struct gt_etrace_vcpu *v = gt_etrace_current_vcpu(e);
    uint64_t time = gt_etrace_time_at(e, v, 0);
    for (const char *at = text->str, *end; (end = strchr(at, '\n')); at = end + 1) {
        uint32_t n = (uint32_t)(end + 1 - at);
        struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, NULL, HEADER + n);
        if (!buf)
            return;
        gt_etrace_put_note(&buf->w, v->unit,
                           &(struct gt_etrace_note){.time = time, .text = at, .len = n});
        gt_etrace_put_end(buf);
    }
}

void gt_etrace_maps_translate(struct gt_etrace *e, const struct gt_host_block *block)
{
    const void *host = gt_host_insn_host_addr(gt_host_block_insn(block, 0));
    GString *due = NULL;
    if (e->host.system || !host)
        return;
    pthread_mutex_lock(&e->lock);
    if (!e->maps.program) /* QEMU does not know it before */
        e->maps.program = gt_host_program();
    if (e->maps.worker)
        due = take_due(e, gt_host_block_pc(block), host);
    pthread_mutex_unlock(&e->lock);
    if (!due)
        return;
    put_notes(e, due);
    g_string_free(due, TRUE);
}

/* ---- what the guest maps ------------------------------------------------------------------- */

void gt_etrace_maps_on_mmap(struct gt_etrace *e, unsigned vcpu, uint64_t size)
{
    if (vcpu < GT_ETRACE_MAX_VCPUS)
        e->vcpus[vcpu].mapping = size;
}

void gt_etrace_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result)
{
    struct gt_etrace *e = self;
    (void)number;
    gt_exec_calls_on_return();
    if (vcpu >= GT_ETRACE_MAX_VCPUS || !e->vcpus[vcpu].mapping)
        return;
    uint64_t lo = (uint64_t)result, size = e->vcpus[vcpu].mapping;
    e->vcpus[vcpu].mapping = 0;
    if (result < 0 && result > -4096)
        return;
    pthread_mutex_lock(&e->lock);
    if (e->maps.worker)
        forget(e->maps.ranges, lo, size > UINT64_MAX - lo ? UINT64_MAX : lo + size);
    pthread_mutex_unlock(&e->lock);
}

void gt_etrace_maps_fork_prepare(struct gt_etrace *e)
{
    if (e->maps.worker)
        gt_thread_worker_fork_prepare(e->maps.worker);
}

void gt_etrace_maps_fork_parent(struct gt_etrace *e)
{
    if (e->maps.worker)
        gt_thread_worker_fork_parent(e->maps.worker);
}

void gt_etrace_maps_fork_child(struct gt_etrace *e)
{
    if (e->maps.worker)
        gt_thread_worker_fork_child(e->maps.worker);
    e->maps.worker = NULL;
}
