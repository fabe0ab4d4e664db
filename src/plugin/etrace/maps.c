/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files a user-mode guest has mapped where: a note (format/etrace/mapping.h) when code of one
 * is first translated, so that readers find the functions of programs and libraries that are loaded
 * where the guest's kernel likes.
 *
 * QEMU's /proc/self/maps is read on a worker, so that the guest's descriptors are left alone. What
 * it said of a range holds until the guest maps something else there.
 */
#include "base/search.h"
#include "plugin/etrace/etrace.h"

#include "base/worker.h"
#include "format/etrace/mapping.h"
#include "guest/elf/file.h"
#include "guest/process.h"

#include <string.h>

/* Guest addresses that were looked at. */
struct known {
    uint64_t lo, hi;
    char *note; /* NULL: no file */
    size_t n;   /* bytes of it */
};

static struct gt_worker *worker; /* NULL: a machine, or it is over */
/* With gt_etrace.lock: */
static GArray *known;             /* struct known, by lo; none overlap */
static unsigned told_streams = 1; /* what is told before the first reader comes, it gets */

static void clear_known(void *data)
{
    g_free(((struct known *)data)->note);
}

int gt_etrace_maps_start(struct gt_error *err)
{
    if (gt_etrace.host.system || gt_etrace.flags == 0)
        return 0;
    known = g_array_new(FALSE, FALSE, sizeof(struct known));
    g_array_set_clear_func(known, clear_known);
    return gt_worker_create(&worker, err);
}

void gt_etrace_maps_stop(void)
{
    pthread_mutex_lock(&gt_etrace.lock);
    struct gt_worker *w = worker;
    worker = NULL;
    pthread_mutex_unlock(&gt_etrace.lock);
    gt_worker_destroy(w);
}

/* The first range that ends behind the address. */
static guint index_of(uint64_t addr)
{
    return (guint)GT_SEARCH_UP_TO((struct known *)(void *)known->data, known->len, hi, addr);
}

static void forget(uint64_t lo, uint64_t hi)
{
    guint first = index_of(lo), last = first;
    while (last < known->len && g_array_index(known, struct known, last).lo < hi)
        last++;
    if (last > first)
        g_array_remove_range(known, first, last - first);
}

struct look {
    uint64_t pc;
    const void *host;
    struct known found;
};

/* On the worker. */
static void read_maps(void *arg)
{
    struct look *look = arg;
    struct gt_mapping map;
    struct gt_elf elf;
    struct gt_etrace_mapping out = {0};
    const uint64_t guest_base = (uint64_t)(uintptr_t)look->host - look->pc;
    const uint64_t page = look->pc & ~(uint64_t)(GT_PAGE - 1);
    look->found = (struct known){.lo = page, .hi = page + GT_PAGE};
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
    if (!map.deleted && gt_elf_open(map.path, &elf, NULL) == 0) {
        gt_elf_build_id(elf.elf, out.build_id);
        gt_elf_close(&elf);
    }
    char text[GT_ETRACE_MAPPING_MAX];
    look->found.n = gt_etrace_mapping_put(&out, text);
    look->found.note = g_memdup2(text, look->found.n);
}

static void append_note(GString *text, const struct known *k)
{
    if (k->note)
        g_string_append_len(text, k->note, (gssize)k->n);
}

/* What is to be told, lines; with the lock. */
static GString *find_news(uint64_t pc, const void *host)
{
    unsigned streams = MAX(1, __atomic_load_n(&gt_etrace.streams, __ATOMIC_RELAXED));
    bool again = streams != told_streams;
    guint at = index_of(pc);
    bool is_known = at < known->len && g_array_index(known, struct known, at).lo <= pc;
    if (is_known && !again)
        return NULL;
    GString *text = g_string_new(NULL);
    for (guint i = 0; again && i < known->len; i++)
        append_note(text, &g_array_index(known, struct known, i));
    told_streams = streams;
    struct look look = {.pc = pc, .host = host};
    if (is_known || gt_worker_call(worker, read_maps, &look) < 0)
        return text;
    forget(look.found.lo, look.found.hi);
    g_array_insert_val(known, index_of(look.found.lo), look.found);
    append_note(text, &look.found);
    return text;
}

/* A note for each line. */
static void put_notes(const GString *text)
{
    enum { HEADER = 64 };
    const struct gt_etrace_vcpu *v = gt_etrace_current();
    uint64_t time = gt_etrace_time_at(v, 0);
    for (const char *at = text->str, *end; (end = strchr(at, '\n')); at = end + 1) {
        uint32_t n = (uint32_t)(end + 1 - at);
        struct gt_writer *w = gt_etrace_put_begin(NULL, HEADER + n);
        if (!w)
            return;
        gt_etrace_put_note(w, v->unit,
                           &(struct gt_etrace_note){.time = time, .text = at, .len = n});
        gt_etrace_put_end();
    }
}

void gt_etrace_maps_look(const struct gt_block *block)
{
    const void *host = gt_insn_host_addr(gt_block_insn(block, 0));
    GString *news = NULL;
    if (gt_etrace.host.system || !host)
        return;
    pthread_mutex_lock(&gt_etrace.lock);
    if (worker)
        news = find_news(gt_block_pc(block), host);
    pthread_mutex_unlock(&gt_etrace.lock);
    if (!news)
        return;
    put_notes(news);
    g_string_free(news, TRUE);
}

/* ---- what the guest maps ------------------------------------------------------------------- */

void gt_etrace_maps_on_mmap(struct gt_etrace_vcpu *v, uint64_t size)
{
    v->mapping = size;
}

void gt_etrace_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result)
{
    (void)self, (void)number;
    if (vcpu >= GT_ETRACE_MAX_VCPUS || !gt_etrace.vcpus[vcpu].mapping)
        return;
    uint64_t lo = (uint64_t)result, size = gt_etrace.vcpus[vcpu].mapping;
    gt_etrace.vcpus[vcpu].mapping = 0;
    if (result < 0 && result > -4096)
        return;
    pthread_mutex_lock(&gt_etrace.lock);
    if (worker)
        forget(lo, size > UINT64_MAX - lo ? UINT64_MAX : lo + size);
    pthread_mutex_unlock(&gt_etrace.lock);
}

/* With the lock. */
void gt_etrace_maps_fork_prepare(void)
{
    if (worker)
        gt_worker_fork_prepare(worker);
}

void gt_etrace_maps_fork_parent(void)
{
    if (worker)
        gt_worker_fork_parent(worker);
}

void gt_etrace_maps_fork_child(void)
{
    if (worker)
        gt_worker_fork_child(worker);
    worker = NULL;
}
