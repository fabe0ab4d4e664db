/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a recorder begins and ends: see recorder.h. */
#include "etrace/plugin/recorder.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/early_exit.h"
#include "etrace/plugin/target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int create_keys(struct gt_etrace *e, struct gt_error *err)
{
    int error = pthread_key_create(&e->own_buffer, NULL);
    if (error)
        return gt_error_errno(err, error, "cannot keep data of threads");
    error = pthread_key_create(&e->began_there, NULL);
    if (error)
        pthread_key_delete(e->own_buffer);
    return error ? gt_error_errno(err, error, "cannot keep data of threads") : 0;
}

int gt_etrace_init(struct gt_etrace *e, const struct gt_host_info *host, struct gt_error *err)
{
    memset(e, 0, sizeof *e);
    e->host = *host;
    e->count.streams = e->maps.streams = 1;
    if (!gt_etrace_arch_of(host->target, &e->arch))
        return gt_error_set(err, GT_E_UNSUPPORTED, "guests of target %s are not known",
                            host->target);
    e->insns = gt_arch_by_target(host->target);
    e->bits = e->arch.guest.bits;
    int status = create_keys(e, err);
    if (status < 0)
        return status;
    e->vcpus = mmap(NULL, GT_ETRACE_MAX_VCPUS * sizeof *e->vcpus, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (e->vcpus == MAP_FAILED) {
        pthread_key_delete(e->own_buffer);
        pthread_key_delete(e->began_there);
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    gt_gate_init(&e->gate);
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->count.lock, NULL);
    e->cache.ranges = g_ptr_array_new();
    e->counters.sets = g_ptr_array_new();
    e->counters.ended = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    e->count.delivered = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    e->devices = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return 0;
}

static void free_cold(struct gt_etrace *e)
{
    gt_etrace_early_exit_flush(e);
    for (guint i = 0; i < e->cache.ranges->len; i++)
        for (struct gt_etrace_block *b = e->cache.ranges->pdata[i], *next; b; b = next) {
            next = b->cold ? b->cold->same_range : NULL;
            g_free(b->cold);
        }
    GHashTableIter pages;
    gpointer page;
    if (!e->cache.pages.all)
        return;
    g_hash_table_iter_init(&pages, e->cache.pages.all);
    while (g_hash_table_iter_next(&pages, NULL, &page))
        gt_etrace_early_exit_free(page);
}

static void free_buffers(struct gt_etrace *e)
{
    for (struct gt_etrace_buffer *buf = e->buffers, *next; buf; buf = next) {
        next = buf->next;
        pthread_mutex_destroy(&buf->lock);
        free(buf);
    }
}

void gt_etrace_fini(struct gt_etrace *e)
{
    gt_packet_sink_destroy(e->sink);
    free_cold(e);
    gt_etrace_cache_clear(e);
    free_buffers(e);
    free(e->tail.data);
    g_ptr_array_free(e->cache.ranges, TRUE);
    g_ptr_array_free(e->counters.sets, TRUE);
    g_array_free(e->counters.ended, TRUE);
    g_array_free(e->count.delivered, TRUE);
    g_free(e->maps.program);
    if (e->maps.ranges)
        g_array_free(e->maps.ranges, TRUE);
    g_hash_table_destroy(e->devices);
    pthread_mutex_destroy(&e->count.lock);
    pthread_mutex_destroy(&e->lock);
    munmap(e->vcpus, GT_ETRACE_MAX_VCPUS * sizeof *e->vcpus);
    pthread_key_delete(e->own_buffer);
    pthread_key_delete(e->began_there);
}
