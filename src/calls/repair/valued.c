/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a directory with values: see valued.h. */
#include "calls/repair/valued.h"

#include "base/file.h"
#include "recording/directory/skipped.h"
#include "recording/values/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1024, FILE_MOST = 256 << 20 };

struct gt_repair_valued {
    char *dir;
    struct gt_values values;
    GHashTable *specs; /* address -> struct gt_value_spec; NULL: several claim it */
    /* of the file that is read */
    const struct gt_recording_records_reader *reader;
    uint32_t tid;
    struct gt_uftrace_record piece[PIECE];
    size_t n;
    int status;
};

/* Files of two processes may have been at one address. */
static void add_place(struct gt_repair_valued *v, const struct gt_value_function *f, uint64_t base)
{
    void *at = (void *)((base + f->addr) & GT_UFTRACE_ADDR_MASK);
    bool twice = g_hash_table_contains(v->specs, at);
    g_hash_table_insert(v->specs, at, twice ? NULL : (void *)&f->spec);
}

struct gt_repair_valued *gt_repair_valued_open(const char *dir)
{
    g_autofree char *path = g_build_filename(dir, GT_VALUES_FILE, NULL);
    struct gt_values values;
    char *text;
    size_t size;
    if (gt_file_read(path, FILE_MOST, &text, &size, NULL) < 0)
        return NULL;
    int status = gt_values_read(text, size, &values, NULL);
    free(text);
    if (status < 0)
        return NULL;
    struct gt_repair_valued *v = g_new0(struct gt_repair_valued, 1);
    v->dir = g_strdup(dir);
    v->values = values;
    v->specs = g_hash_table_new(NULL, NULL);
    for (size_t i = 0; i < values.n_modules; i++)
        for (size_t k = 0; k < values.module[i].n_bases; k++)
            for (size_t f = 0; f < values.module[i].n; f++)
                add_place(v, &values.module[i].function[f], values.module[i].base[k]);
    return v;
}

void gt_repair_valued_close(struct gt_repair_valued *v)
{
    if (!v)
        return;
    g_hash_table_destroy(v->specs);
    gt_values_free(&v->values);
    g_free(v->dir);
    g_free(v);
}

static const struct gt_value_spec *spec_at(void *self, uint64_t time, uint64_t word)
{
    (void)time;
    return g_hash_table_lookup(((const struct gt_repair_valued *)self)->specs,
                               (void *)(word >> 16));
}

static int flush(struct gt_repair_valued *v)
{
    if (v->n && v->status >= 0)
        v->status = v->reader->piece(v->reader->self, v->tid, v->piece, v->n);
    v->n = 0;
    return v->status;
}

static int take_record(void *self, uint64_t time, uint64_t word)
{
    struct gt_repair_valued *v = self;
    v->piece[v->n++] = gt_uftrace_record_of(time, word);
    return v->n == PIECE ? flush(v) : 0;
}

int gt_repair_valued_read(struct gt_repair_valued *v, uint32_t tid,
                          const struct gt_recording_records_reader *reader, struct gt_error *err)
{
    const struct gt_uftrace_skipped_known known = {spec_at, take_record, v};
    g_autofree char *path = g_strdup_printf("%s/%u.dat", v->dir, tid);
    struct gt_uftrace_skipped_scan scan;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int e = errno;
        if (fd >= 0)
            close(fd);
        return gt_error_errno(err, e, "%s", path);
    }
    void *data = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    int e = errno;
    close(fd);
    if (data == MAP_FAILED)
        return gt_error_errno(err, e, "%s", path);
    v->reader = reader;
    v->tid = tid;
    v->status = 0;
    gt_uftrace_skipped_scan(data, (size_t)st.st_size, &known, &scan);
    if (data)
        munmap(data, (size_t)st.st_size);
    return flush(v);
}
