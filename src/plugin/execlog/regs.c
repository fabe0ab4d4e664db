/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watched registers. Each vCPU has those whose names a glob matches, in the host's order, and one
 * as often as globs match it. What they hold is compared with what was seen before.
 *
 * Which registers there are is known when the first vCPU begins, not at load.
 */
#include "plugin/execlog/execlog.h"

#include "format/execlog/execlog.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 16 }; /* of one register */

struct gt_exlog_watched {
    void *handle;
    const struct gt_exlog_register *is;
    uint8_t *bytes, *now; /* seen last, and room for what is read */
    size_t size;
};

int gt_exlog_add_glob(const char *value, struct gt_error *err)
{
    if (!*value)
        return gt_error_set(err, GT_E_USAGE,
                            "argument reg=: expected a register's name, or a glob");
    if (!gt_host_can(GT_HOST_REGISTERS))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "argument reg=%.200s: this QEMU (plugin ABI %d) cannot read registers; "
                            "9.0 and later can",
                            value, gt_exlog.host.abi);
    if (!gt_exlog.register_globs)
        gt_exlog.register_globs = g_ptr_array_new();
    g_ptr_array_add(gt_exlog.register_globs, g_utf8_strdown(value, -1));
    return 0;
}

/* The register of this name. With the lock. */
static const struct gt_exlog_register *intern(const char *name)
{
    for (guint i = 0; i < gt_exlog.registers->len; i++) {
        const struct gt_exlog_register *r = gt_exlog.registers->pdata[i];
        if (strcmp(r->name, name) == 0)
            return r;
    }
    struct gt_exlog_register *r = g_new(struct gt_exlog_register, 1);
    *r = (struct gt_exlog_register){g_strdup(name), gt_exlog.registers->len};
    g_ptr_array_add(gt_exlog.registers, r);
    return r;
}

struct search {
    GArray *found; /* struct gt_exlog_watched */
    bool *matched; /* by glob */
};

static void look_at(void *self, const char *name, void *handle)
{
    struct search *s = self;
    g_autofree char *lower = g_utf8_strdown(name, -1);
    for (guint i = 0; i < gt_exlog.register_globs->len; i++) {
        if (!g_pattern_match_simple(gt_exlog.register_globs->pdata[i], lower))
            continue;
        s->matched[i] = true;
        struct gt_exlog_watched w = {.handle = handle, .is = intern(lower)};
        g_array_append_val(s->found, w);
    }
}

/* With the lock. */
static void check_size(const struct gt_exlog_watched *w)
{
    struct gt_exlog_register *r = gt_exlog.registers->pdata[w->is->number];
    if (!gt_exlog.sink->short_values || w->size <= GT_EXECLOG_MAX_VALUE || r->told)
        return;
    r->told = true;
    gt_host_message(
        "register %s has %zu bytes: a binary log has registers of at most %d, its changes "
        "are left out; format=text has them",
        r->name, w->size, GT_EXECLOG_MAX_VALUE);
}

static void read_first(struct gt_exlog_watched *w, uint8_t *room)
{
    w->size = gt_register_bytes(w->handle, room, MOST_BYTES);
    check_size(w);
    w->bytes = g_memdup2(room, w->size);
    w->now = g_malloc0(w->size);
}

/* Every CPU has a pc, but not under this name everywhere. */
static bool may_be_missing(const char *glob)
{
    return strcmp(glob, "pc") == 0 && gt_exlog.register_globs->len > 1;
}

bool gt_exlog_find_registers(struct gt_exlog_vcpu *v, struct gt_error *err)
{
    static uint8_t room[MOST_BYTES]; /* with the lock */
    guint n = gt_exlog.register_globs->len;
    g_autofree bool *matched = g_new0(bool, n);
    struct search s = {g_array_new(FALSE, FALSE, sizeof(struct gt_exlog_watched)), matched};
    pthread_mutex_lock(&gt_exlog.lock);
    gt_registers_each(look_at, &s);
    for (guint i = 0; i < s.found->len; i++)
        read_first(&g_array_index(s.found, struct gt_exlog_watched, i), room);
    pthread_mutex_unlock(&gt_exlog.lock);
    v->n_watched = s.found->len;
    v->watched = (struct gt_exlog_watched *)(void *)g_array_free(s.found, FALSE);
    for (guint i = 0; i < n; i++) {
        const char *glob = gt_exlog.register_globs->pdata[i];
        if (!matched[i] && (v->n_watched == 0 || !may_be_missing(glob))) {
            gt_error_set(err, GT_E_NOT_FOUND,
                         "argument reg=%.200s: the CPU has no register of such a name", glob);
            return false;
        }
    }
    return true;
}

void gt_exlog_check_registers(struct gt_exlog_vcpu *v)
{
    for (size_t i = 0; i < v->n_watched; i++) {
        struct gt_exlog_watched *w = &v->watched[i];
        size_t n = gt_register_bytes(w->handle, w->now, w->size);
        if (n != w->size || memcmp(w->now, w->bytes, n) == 0)
            continue;
        memcpy(w->bytes, w->now, n);
        gt_exlog.sink->change(v, w->is, w->now, n);
    }
}

bool gt_exlog_names_register(const char *text)
{
    const char *operands = strchr(text, ' ');
    for (guint i = 0; operands && i < gt_exlog.registers->len; i++) {
        const struct gt_exlog_register *r = gt_exlog.registers->pdata[i];
        if (strstr(operands, r->name))
            return true;
    }
    return false;
}
