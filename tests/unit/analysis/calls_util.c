/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of calls made by hand: see calls_util.h. */
#include "calls_util.h"

static char scratch[] = "/tmp/gt-calls-XXXXXX";

int make_scratch(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}

int remove_scratch(void **state)
{
    (void)state;
    GDir *dir = g_dir_open(scratch, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(scratch, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            gt_file_remove_dir(path, NULL);
        else
            remove(path);
    }
    if (dir)
        g_dir_close(dir);
    return rmdir(scratch);
}

/* A path in the scratch folder, in one of some buffers. */
const char *in_scratch(const char *name)
{
    static char path[8][300];
    static unsigned next;
    char *out = path[next++ % 8];
    snprintf(out, sizeof *path, "%s/%s", scratch, name);
    return out;
}

struct gt_uftrace_dir make_dir(const char *name)
{
    struct gt_uftrace_dir d;
    gt_file_remove_dir(in_scratch(name), NULL);
    assert_int_equal(gt_uftrace_dir_create(&d, in_scratch(name), NULL), 0);
    return d;
}

void put_text(const struct gt_uftrace_dir *d, const char *name, const char *text)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", d->path, name);
    assert_int_equal(gt_file_replace(path, text, strlen(text), NULL), 0);
}

void put_info(const struct gt_uftrace_dir *d)
{
    const struct gt_uftrace_info info = {
        .exename = PROGRAM, .cmdline = "prog 1 2", .cpus_possible = 1, .cpu_desc = "a CPU"};
    assert_int_equal(gt_uftrace_dir_put_info(d, &info, NULL), 0);
}

/* The map and the symbols of PROGRAM. */
void put_program(const struct gt_uftrace_dir *d)
{
    static char name[FUNCTIONS][8];
    struct gt_uftrace_symbol symbol[FUNCTIONS];
    const struct gt_uftrace_module module = {PROGRAM, NULL};
    const struct gt_uftrace_mapping map = {BASE, BASE + FUNCTION * FUNCTIONS, PROGRAM, NULL};
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        snprintf(name[i], sizeof *name, "f%u", i);
        symbol[i] = (struct gt_uftrace_symbol){(uint64_t)FUNCTION * i, FUNCTION, name[i], 'T'};
    }
    assert_int_equal(gt_uftrace_dir_put_map(d, SID, &map, 1, NULL), 0);
    assert_int_equal(gt_uftrace_dir_put_symbols(d, &module, symbol, FUNCTIONS, NULL), 0);
}

void put_records(const struct gt_uftrace_dir *d, uint32_t tid, const struct gt_compact_record *r,
                 size_t n)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%u.dat", d->path, tid);
    assert_int_equal(gt_file_append(path, r, n * sizeof *r, NULL), 0);
}

void append_file(const char *file, const char *name, const char *data, size_t n)
{
    uint8_t *block;
    size_t size;
    assert_int_equal(gt_compact_text_pack(name, data, n, &block, &size), 0);
    assert_int_equal(gt_compact_file_append(file, block, size, NULL), 0);
    free(block);
}

/* The directory's text files into a compact file. */
void append_texts(const char *file, const struct gt_uftrace_dir *d)
{
    GDir *dir = g_dir_open(d->path, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        char path[4400], *data;
        size_t n;
        if (g_ascii_isdigit(*name))
            continue;
        snprintf(path, sizeof path, "%s/%s", d->path, name);
        assert_int_equal(gt_file_read(path, 1 << 20, &data, &n, NULL), 0);
        append_file(file, name, data, n);
        free(data);
    }
    g_dir_close(dir);
}

void end_block(const char *file, struct gt_compact_packer *p)
{
    const uint8_t *data;
    size_t size;
    assert_int_equal(gt_compact_packer_end_block(p, &data, &size), 0);
    if (size)
        assert_int_equal(gt_compact_file_append(file, data, size, NULL), 0);
}

/* ---- what a recording says ------------------------------------------------------------------ */

GString *notices;

static void take_notice(void *self, const char *line)
{
    (void)self;
    g_string_append_printf(notices, "%s\n", line);
}

struct gt_calls *open_calls(const char *path)
{
    struct gt_calls *c = NULL;
    struct gt_error err = {0};
    const struct gt_calls_options o = {.notices = {take_notice, NULL}};
    if (!notices)
        notices = g_string_new(NULL);
    g_string_truncate(notices, 0);
    if (gt_calls_open(path, &o, &c, &err) < 0)
        fail_msg("%s", err.text);
    return c;
}
