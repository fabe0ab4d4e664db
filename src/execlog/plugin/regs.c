/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watched registers: see regs.h. */
#include "execlog/plugin/regs.h"

#include "execlog/format/execlog.h"
#include "execlog/plugin/recorder.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 16 /* of one register */ };

struct gt_exlog_watched {
    void *handle;
    const struct gt_exlog_register *is;
    uint8_t *bytes, *now; /* its bytes when it was checked last, and room for the new ones */
    size_t size;
};

int gt_exlog_add_glob(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog *e = self;
    if (!*value)
        return gt_error_set(err, GT_E_USAGE,
                            "argument reg=: expected a register's name, or a glob");
    if (!gt_host_can(GT_HOST_REGISTERS))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "argument reg=%.200s: this QEMU (plugin ABI %d) cannot read registers; "
                            "9.0 and later can",
                            value, e->host.abi);
    if (!e->registers.globs)
        e->registers.globs = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(e->registers.globs, g_utf8_strdown(value, -1));
    return 0;
}

/* The register of this name. With the lock. */
static const struct gt_exlog_register *intern(GPtrArray *all, const char *name)
{
    for (guint i = 0; i < all->len; i++) {
        const struct gt_exlog_register *r = all->pdata[i];
        if (strcmp(r->name, name) == 0)
            return r;
    }
    struct gt_exlog_register *r = g_new(struct gt_exlog_register, 1);
    *r = (struct gt_exlog_register){g_strdup(name), all->len, false};
    g_ptr_array_add(all, r);
    return r;
}

struct search {
    struct gt_exlog_registers *registers;
    GArray *found; /* struct gt_exlog_watched */
    bool *matched; /* of each glob */
};

static void match(void *self, const char *name, void *handle)
{
    struct search *s = self;
    g_autofree char *lower = g_utf8_strdown(name, -1);
    const GPtrArray *globs = s->registers->globs;
    for (guint i = 0; i < globs->len; i++) {
        if (!g_pattern_match_simple(globs->pdata[i], lower))
            continue;
        s->matched[i] = true;
        struct gt_exlog_watched w = {.handle = handle, .is = intern(s->registers->all, lower)};
        g_array_append_val(s->found, w);
    }
}

/* With the lock. */
static void check_size(struct gt_exlog *e, const struct gt_exlog_watched *w)
{
    struct gt_exlog_register *r = e->registers.all->pdata[w->is->number];
    if (!e->sink->short_values || w->size <= GT_EXECLOG_MAX_VALUE || r->reported)
        return;
    r->reported = true;
    gt_host_message(
        "register %s has %zu bytes: a binary log has registers of at most %d, its changes "
        "are left out; format=text has them",
        r->name, w->size, GT_EXECLOG_MAX_VALUE);
}

static void read_first(struct gt_exlog *e, struct gt_exlog_watched *w, uint8_t *room)
{
    w->size = gt_host_register_bytes(w->handle, room, MAX_BYTES);
    check_size(e, w);
    w->bytes = g_memdup2(room, w->size);
    w->now = g_malloc0(w->size);
}

/* Every CPU has a pc, but not under this name everywhere. */
static bool may_be_missing(const GPtrArray *globs, const char *glob)
{
    return strcmp(glob, "pc") == 0 && globs->len > 1;
}

int gt_exlog_find_registers(struct gt_exlog_vcpu *v, struct gt_error *err)
{
    struct gt_exlog *e = v->recorder;
    const GPtrArray *globs = e->registers.globs;
    g_autofree uint8_t *room = g_malloc(MAX_BYTES);
    g_autofree bool *matched = g_new0(bool, globs->len);
    struct search s = {&e->registers, g_array_new(FALSE, FALSE, sizeof(struct gt_exlog_watched)),
                       matched};
    pthread_mutex_lock(&e->lock);
    gt_host_registers_each(match, &s);
    for (guint i = 0; i < s.found->len; i++)
        read_first(e, &g_array_index(s.found, struct gt_exlog_watched, i), room);
    pthread_mutex_unlock(&e->lock);
    v->n_watched = s.found->len;
    v->watched = (struct gt_exlog_watched *)(void *)g_array_free(s.found, FALSE);
    for (guint i = 0; i < globs->len; i++) {
        const char *glob = globs->pdata[i];
        if (!matched[i] && (v->n_watched == 0 || !may_be_missing(globs, glob)))
            return gt_error_set(err, GT_E_NOT_FOUND,
                                "argument reg=%.200s: the CPU has no register of such a name",
                                glob);
    }
    return 0;
}

void gt_exlog_check_registers(struct gt_exlog_vcpu *v)
{
    for (size_t i = 0; i < v->n_watched; i++) {
        struct gt_exlog_watched *w = &v->watched[i];
        size_t n = gt_host_register_bytes(w->handle, w->now, w->size);
        if (n != w->size || memcmp(w->now, w->bytes, n) == 0)
            continue;
        memcpy(w->bytes, w->now, n);
        v->recorder->sink->change(v, w->is, w->now, n);
    }
}

bool gt_exlog_names_register(const struct gt_exlog *e, const char *disassembly)
{
    const GPtrArray *all = e->registers.all;
    const char *operands = strchr(disassembly, ' ');
    for (guint i = 0; operands && i < all->len; i++) {
        const struct gt_exlog_register *r = all->pdata[i];
        if (strstr(operands, r->name))
            return true;
    }
    return false;
}

static void free_watched(struct gt_exlog_vcpu *v)
{
    for (size_t i = 0; i < v->n_watched; i++) {
        g_free(v->watched[i].bytes);
        g_free(v->watched[i].now);
    }
    g_free(v->watched);
}

void gt_exlog_registers_fini(struct gt_exlog *e)
{
    for (unsigned i = 0; i < e->n_vcpus; i++)
        free_watched(&e->vcpus[i]);
    for (guint i = 0; i < e->registers.all->len; i++) {
        struct gt_exlog_register *r = e->registers.all->pdata[i];
        g_free((char *)r->name);
        g_free(r);
    }
    g_ptr_array_free(e->registers.all, TRUE);
    if (e->registers.globs)
        g_ptr_array_free(e->registers.globs, TRUE);
}
