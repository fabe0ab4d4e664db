/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An etrace stream as a recording of calls: see etrace_calls.h. Functions have names only: each
 * name gets an address of its own in one module, that of the first program. */
#include "cli/etrace_calls.h"

#include "calls/file/file.h"
#include "etrace/dump/exec_stack.h"
#include "etrace/dump/names.h"
#include "etrace/dump/walk.h"
#include "recording/directory/uftrace.h"
#include "recording/file_kind.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SID "0000000000000001"
enum { UNITS = 1 << 16, AT_ONCE = 1024, BASE = 0x1000, EACH = 16 };

struct reading {
    const char *where, *program;
    char path[40]; /* of the file in memory */
    struct gt_compact_packer *packer;
    struct gt_etrace_names names;
    struct gt_etrace_exec_stacks *stacks;
    GHashTable *numbers; /* names to their numbers, from 1 */
    GPtrArray *list;     /* names, by number - 1 */
    GArray *open[UNITS]; /* addresses (uint64_t) of open calls; NULL: the unit did not come */
    /* records of one unit that are not packed yet */
    uint16_t unit;
    size_t n;
    struct gt_compact_record record[AT_ONCE];
    bool exec;  /* there was an entry */
    int status; /* of packing */
    struct gt_error *err;
};

bool gt_cli_etrace_calls_are(const char *path, const char *const *elf)
{
    unsigned char first[GT_FILE_KIND_BYTES];
    if (strcmp(path, "-") == 0 || g_str_has_prefix(path, "unix:"))
        return true;
    if (g_file_test(path, G_FILE_TEST_IS_DIR) || gt_compact_file_check(path, NULL) != GT_E_FORMAT)
        return false;
    if (elf && *elf)
        return true;
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(first, 1, sizeof first, f) : 0;
    if (f)
        fclose(f);
    return gt_recording_kind(first, n) == GT_FILE_ETRACE;
}

/* ---- calls --------------------------------------------------------------------------------- */

static void append(struct reading *r)
{
    const uint8_t *block;
    size_t size;
    if (r->status < 0)
        return;
    r->status = gt_compact_packer_end_block(r->packer, &block, &size);
    if (r->status < 0)
        gt_error_set(r->err, r->status, "%s: out of memory", r->where);
    else if (size > 0)
        r->status = gt_compact_file_append(r->path, block, size, r->err);
}

static void pack(struct reading *r)
{
    if (r->status == 0 && r->n > 0 &&
        gt_compact_packer_put(r->packer, r->unit + 1u, r->record, r->n) < 0)
        r->status = gt_error_set(r->err, GT_E_NOMEM, "%s: out of memory", r->where);
    r->n = 0;
    if (gt_compact_packer_is_full(r->packer))
        append(r);
}

static void put(struct reading *r, uint16_t unit, uint64_t time, uint64_t word)
{
    if (r->unit != unit || r->n == AT_ONCE)
        pack(r);
    r->unit = unit;
    r->record[r->n++] = (struct gt_compact_record){time + 1, word}; /* uftrace's are at least 1 */
}

static uint64_t address_of(struct reading *r, const char *name)
{
    size_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(r->numbers, name));
    if (!number) {
        g_ptr_array_add(r->list, g_strdup(name)); /* codes do not live as long */
        number = r->list->len;
        g_hash_table_insert(r->numbers, r->list->pdata[number - 1], GSIZE_TO_POINTER(number));
    }
    return BASE + (number - 1) * EACH;
}

static void enter(void *self, uint16_t unit, const char *name, uint64_t time)
{
    struct reading *r = self;
    const uint64_t address = address_of(r, name);
    if (!r->open[unit])
        r->open[unit] = g_array_new(FALSE, FALSE, sizeof address);
    put(r, unit, time, gt_uftrace_entry(r->open[unit]->len, address));
    g_array_append_val(r->open[unit], address);
}

static void leave(void *self, uint16_t unit, const char *name, uint64_t time)
{
    struct reading *r = self;
    GArray *open = r->open[unit];
    const guint depth = open->len - 1;
    (void)name;
    put(r, unit, time, gt_uftrace_exit(depth, g_array_index(open, uint64_t, depth)));
    g_array_set_size(open, depth);
}

static int take(void *user, const struct gt_etrace_reader *reader, const struct gt_etrace_packet *p,
                struct gt_error *err)
{
    struct reading *r = user;
    struct gt_etrace_exec exec;
    if (p->type != GT_ETRACE_EXEC)
        return 0;
    int status = gt_etrace_get_exec(reader, p, &exec, err);
    if (status == 0)
        gt_etrace_exec_stacks_add(r->stacks, p->unit, &exec);
    r->exec |= status == 0 && exec.n;
    return status < 0 ? status : r->status < 0;
}

/* ---- texts --------------------------------------------------------------------------------- */

static void put_text(struct reading *r, const char *name, struct gt_text *t)
{
    uint8_t *block = NULL;
    size_t size;
    if (r->status == 0 && (t->failed || gt_compact_text_pack(name, t->data, t->len, &block, &size)))
        r->status = gt_error_set(r->err, GT_E_NOMEM, "%s: out of memory", r->where);
    if (r->status == 0)
        r->status = gt_compact_file_append(r->path, block, size, r->err);
    free(block);
    gt_text_free(t);
}

static void put_tasks(struct reading *r)
{
    struct gt_text t = {0};
    struct gt_uftrace_task line = {.kind = GT_UFTRACE_SESS, .time = 1, .pid = 1, .sid = SID};
    g_strlcpy(line.path, r->program, sizeof line.path);
    gt_uftrace_task_write(&t, &line, NULL);
    line.kind = GT_UFTRACE_TASK;
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        line.tid = unit + 1;
        if (r->open[unit])
            gt_uftrace_task_write(&t, &line, NULL);
    }
    put_text(r, "task.txt", &t);
}

static void put_symbols(struct reading *r)
{
    const struct gt_uftrace_module module = {r->program, NULL};
    const uint64_t end = BASE + (uint64_t)(r->list->len + 1) * EACH;
    const struct gt_uftrace_mapping map = {BASE, end, r->program, NULL};
    g_autofree struct gt_uftrace_symbol *symbol =
        g_new0(struct gt_uftrace_symbol, r->list->len + 1);
    g_autofree char *base = g_path_get_basename(r->program);
    g_autofree char *name = g_strconcat(base, ".sym", NULL);
    struct gt_text t = {0}, lines = {0};
    for (guint i = 0; i < r->list->len; i++)
        symbol[i] = (struct gt_uftrace_symbol){(uint64_t)i * EACH, EACH, r->list->pdata[i], 'T'};
    gt_uftrace_sym_write(&t, &module, symbol, r->list->len, NULL);
    put_text(r, name, &t);
    gt_uftrace_map_write(&lines, &map, 1, NULL);
    put_text(r, "sid-" SID ".map", &lines);
}

static void put_texts(struct reading *r)
{
    const struct gt_uftrace_info info = {.exename = r->program, .cmdline = r->where};
    struct gt_text t = {0};
    put_tasks(r);
    put_symbols(r);
    gt_uftrace_info_write(&t, &info, NULL);
    put_text(r, "info", &t);
}

/* ---- all ----------------------------------------------------------------------------------- */

static int walk(struct reading *r, const struct gt_error_notices *notices,
                struct gt_recording_input *in)
{
    const struct gt_etrace_walk how = {notices, r->where, r, take, NULL, NULL};
    const struct gt_etrace_exec_sink sink = {r, enter, leave, NULL};
    struct gt_etrace_exec_codes *codes = NULL;
    int status = gt_etrace_names_locate(&r->names, notices, in, false, r->err);
    if (status == 0)
        status = gt_etrace_exec_codes_create(&r->names, &codes, r->err);
    if (status < 0)
        return status;
    r->stacks = gt_etrace_exec_stacks_create(codes, &sink);
    status = gt_etrace_walk_in(&how, in, r->err);
    gt_etrace_exec_stacks_destroy(r->stacks);
    gt_etrace_exec_codes_destroy(codes);
    if (status == 0 && r->exec)
        status = gt_etrace_names_check(&r->names, r->where, r->err);
    return status;
}

static int read_stream(struct reading *r, const char *const *elf,
                       const struct gt_error_notices *notices)
{
    struct gt_recording_input in = {.fd = -1, .listener.fd = -1};
    g_autoptr(GPtrArray) files = g_ptr_array_new();
    for (; elf && *elf; elf++)
        g_ptr_array_add(files, (void *)(uintptr_t)*elf);
    int status = gt_etrace_names_load(&r->names, files->len ? files : NULL, false, r->err);
    if (status == 0)
        status = gt_recording_input_start(notices, r->where, &in, r->err);
    if (status == 0)
        status = walk(r, notices, &in);
    gt_recording_input_close(&in);
    gt_etrace_names_free(&r->names);
    return status;
}

static int make(struct reading *r, const char *const *elf, const struct gt_error_notices *notices,
                int fd)
{
    static const uint8_t head[GT_COMPACT_FILE_HEAD] = {
        'g', 't', 'r', 'a', 'c', 'e', '\r', '\n', GT_COMPACT_MAJOR};
    const struct gt_compact_packer_options o = {.packer = 1, .exact = true};
    snprintf(r->path, sizeof r->path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, head, sizeof head) != sizeof head ||
        gt_compact_packer_create(&o, &r->packer) < 0)
        return gt_error_set(r->err, GT_E_NOMEM, "%s: out of memory", r->where);
    int status = read_stream(r, elf, notices);
    pack(r);
    append(r);
    if (status == 0 && r->status == 0)
        put_texts(r);
    gt_compact_packer_destroy(r->packer);
    return status < 0 ? status : r->status;
}

int gt_cli_etrace_calls_make(const char *path, const char *const *elf,
                             const struct gt_error_notices *notices, struct gt_error *err)
{
    struct reading *r = g_new0(struct reading, 1);
    g_autofree char *program = g_strdup(elf && *elf ? *elf : "unknown");
    char *colon = strrchr(program, ':'); /* ELF:OFFSET */
    int fd = memfd_create("calls", MFD_CLOEXEC);
    if (colon)
        *colon = '\0';
    r->where = path;
    r->program = program;
    r->err = err;
    r->numbers = g_hash_table_new(g_str_hash, g_str_equal);
    r->list = g_ptr_array_new_with_free_func(g_free);
    int status = make(r, elf, notices, fd);
    for (size_t i = 0; i < UNITS; i++)
        if (r->open[i])
            g_array_free(r->open[i], TRUE);
    g_hash_table_destroy(r->numbers);
    g_ptr_array_free(r->list, TRUE);
    g_free(r);
    if (status < 0 && fd >= 0)
        close(fd);
    return status < 0 ? status : fd;
}
