/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The info file, written and read: a header of 40 bytes,
 *   "Ftrace!\0", u32 version 4, u16 header size, u8 endian, u8 ELF class, u64 feat_mask,
 *   u64 info_mask, u16 max_stack, u16 0, u32 0
 * and one section of text for each bit of info_mask, in the order of the bits.
 */
#include "recording/directory/info.h"

#include "base/cursor.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Readers keep a line in 4096 bytes; this leaves room for the name before it. */
enum { VALUE_MAX = 4000 };

static void add_line(struct gt_text *t, const char *name, const char *value)
{
    gt_text_printf(t, "%s", name);
    gt_text_add_value(t, value ? value : "", VALUE_MAX);
    gt_text_add(t, "\n", 1);
}

/* As the inside of a JSON string, so that it can be copied into Chrome's format. */
static void add_cmdline(struct gt_text *t, const char *s)
{
    size_t left = strlen(s), start = t->len;
    gt_text_printf(t, "cmdline:");
    while (left && t->len - start < VALUE_MAX) {
        unsigned char c = (unsigned char)*s;
        size_t n = gt_text_utf8_length(s, left);
        if (c == '"' || c == '\\')
            gt_text_printf(t, "\\%c", c);
        else if (c == '\n' || c == '\t')
            gt_text_printf(t, "\\%c", c == '\n' ? 'n' : 't');
        else if (c < ' ' || c == 0x7f)
            gt_text_printf(t, "\\u%04x", c);
        else
            gt_text_add(t, n ? s : "?", n ? n : 1);
        s += n ? n : 1;
        left -= n ? n : 1;
    }
    if (left)
        gt_text_printf(t, "...");
    gt_text_add(t, "\n", 1);
}

static void add_machine(struct gt_text *t, const struct gt_uftrace_info *i, uint64_t mask)
{
    if (mask & 1 << GT_UFTRACE_INFO_CPUINFO) {
        gt_text_printf(t, "cpuinfo:lines=2\ncpuinfo:nr_cpus=%u / %u (online/possible)\n",
                       i->cpus_online, i->cpus_possible);
        add_line(t, "cpuinfo:desc=", i->cpu_desc ? i->cpu_desc : "unknown");
    }
    if (mask & 1 << GT_UFTRACE_INFO_MEMINFO)
        add_line(t, "meminfo:", i->meminfo);
    if (mask & 1 << GT_UFTRACE_INFO_OSINFO) {
        gt_text_printf(t, "osinfo:lines=3\n");
        add_line(t, "osinfo:kernel=", i->os_kernel);
        add_line(t, "osinfo:hostname=", i->os_hostname);
        add_line(t, "osinfo:distro=", i->os_distro);
    }
}

static void add_tasks(struct gt_text *t, const struct gt_uftrace_info *i)
{
    gt_text_printf(t, "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", i->n_tids);
    for (size_t k = 0; k < i->n_tids; k++)
        gt_text_printf(t, "%s%" PRIu32, k ? "," : "", i->tids[k]);
    gt_text_add(t, "\n", 1);
}

static void add_argspec(struct gt_text *t, const char *spec)
{
    gt_text_printf(t, "argspec:lines=%zu\n", gt_text_count_lines(spec, strlen(spec)));
    struct gt_text_cursor all = {spec, strlen(spec)}, line;
    bool whole;
    while (gt_text_take_line(&all, &line, &whole)) {
        gt_text_add(t, line.at, line.left < VALUE_MAX ? line.left : VALUE_MAX);
        gt_text_add(t, "\n", 1);
    }
}

static void add_sections(struct gt_text *t, const struct gt_uftrace_info *i, uint64_t mask)
{
    char path[GT_UFTRACE_PATH_MAX];
    gt_uftrace_path(i->exename, path, sizeof path);
    gt_text_printf(t, "exename:%s\n", path);
    if (mask & 1 << GT_UFTRACE_INFO_BUILD_ID)
        add_line(t, "build_id:", i->build_id);
    if (mask & 1 << GT_UFTRACE_INFO_EXIT_STATUS)
        gt_text_printf(t, "exit_status:%d\n", i->exit_status);
    add_cmdline(t, i->cmdline ? i->cmdline : i->exename);
    add_machine(t, i, mask);
    if (mask & 1 << GT_UFTRACE_INFO_TASKINFO)
        add_tasks(t, i);
    if (mask & 1 << GT_UFTRACE_INFO_LOADINFO)
        add_line(t, "loadinfo:", i->loadinfo);
    if (mask & 1 << GT_UFTRACE_INFO_ARGSPEC)
        add_argspec(t, i->argspec);
    if (mask & 1 << GT_UFTRACE_INFO_RECORD_DATE) {
        add_line(t, "record_date:", i->record_date);
        gt_text_printf(t, "elapsed_time:%.9f sec\n", i->elapsed_time);
    }
    if (mask & 1 << GT_UFTRACE_INFO_PATTERN_TYPE)
        add_line(t, "pattern_type:", i->pattern_type);
    add_line(t, "uftrace_version:", i->version ? i->version : "guesttrace " GT_VERSION);
    if (mask & 1 << GT_UFTRACE_INFO_UTC_OFFSET)
        gt_text_printf(t, "utc_offset:%" PRId64 "\n", i->utc_offset);
}

static uint64_t known(const struct gt_uftrace_info *i)
{
    uint64_t mask =
        1 << GT_UFTRACE_INFO_EXENAME | 1 << GT_UFTRACE_INFO_CMDLINE | 1 << GT_UFTRACE_INFO_VERSION;
    const struct {
        bool set;
        int bit;
    } optional[] = {
        {i->build_id && strlen(i->build_id) == 40 && gt_text_is_hex(i->build_id, 40),
         GT_UFTRACE_INFO_BUILD_ID},
        {i->has_exit_status, GT_UFTRACE_INFO_EXIT_STATUS},
        {i->cpus_possible > 0, GT_UFTRACE_INFO_CPUINFO},
        {i->meminfo, GT_UFTRACE_INFO_MEMINFO},
        {i->os_kernel, GT_UFTRACE_INFO_OSINFO},
        {i->n_tids > 0, GT_UFTRACE_INFO_TASKINFO},
        {i->loadinfo, GT_UFTRACE_INFO_LOADINFO},
        {i->argspec && *i->argspec, GT_UFTRACE_INFO_ARGSPEC},
        {i->record_date, GT_UFTRACE_INFO_RECORD_DATE},
        {i->pattern_type, GT_UFTRACE_INFO_PATTERN_TYPE},
        {i->has_utc_offset, GT_UFTRACE_INFO_UTC_OFFSET},
    };
    for (size_t k = 0; k < sizeof optional / sizeof *optional; k++)
        if (optional[k].set)
            mask |= UINT64_C(1) << optional[k].bit;
    return mask;
}

int gt_uftrace_info_write(struct gt_text *t, const struct gt_uftrace_info *info,
                          struct gt_error *err)
{
    if (!info->exename || !*info->exename)
        return gt_error_set(err, GT_E_USAGE, "info: no exename");
    for (size_t k = 0; k < info->n_tids; k++)
        if (!info->tids[k] || info->tids[k] > INT32_MAX)
            return gt_error_set(err, GT_E_RANGE, "info: task id %" PRIu32 " is not 1..2147483647",
                                info->tids[k]);
    uint64_t mask = known(info);
    uint8_t header[GT_UFTRACE_INFO_HEADER];
    struct gt_bytes_writer w;
    gt_bytes_writer_init(&w, header, sizeof header);
    gt_bytes_write_bytes(&w, GT_UFTRACE_INFO_MAGIC, 8);
    gt_bytes_write_u32(&w, GT_UFTRACE_INFO_VERSION_4);
    gt_bytes_write_u16(&w, GT_UFTRACE_INFO_HEADER);
    gt_bytes_write_u8(&w, 1);
    gt_bytes_write_u8(&w, 2);
    gt_bytes_write_u64(&w, info->feat_mask | GT_UFTRACE_FEAT_MIN);
    gt_bytes_write_u64(&w, mask);
    gt_bytes_write_u16(&w, info->max_stack ? info->max_stack : 1024);
    gt_bytes_write_u16(&w, 0);
    gt_bytes_write_u32(&w, 0);
    gt_text_add(t, header, sizeof header);
    add_sections(t, info, mask);
    return t->failed ? gt_error_set(err, GT_E_NOMEM, "info: out of memory") : 0;
}

struct info_reader {
    struct gt_text_cursor text;
    size_t number; /* of the line taken last, from 1 */
    char *at;      /* where in the storage the next string goes */
    struct gt_uftrace_info *info;
    struct gt_error *err;
};

static int bad(struct info_reader *r, const struct gt_text_cursor *line, const char *expected)
{
    char show[64];
    return gt_error_set(r->err, GT_E_FORMAT, "info line %zu: '%s': expected %s", r->number,
                        gt_text_cursor_show(line, show), expected);
}

/* The rest of a line that begins with name. */
static int take_value(struct info_reader *r, const char *name, struct gt_text_cursor *value)
{
    bool whole;
    r->number++;
    if (!gt_text_take_line(&r->text, value, &whole) || !whole)
        return gt_error_set(r->err, GT_E_TRUNC, "info line %zu: the file ends, expected %s",
                            r->number, name);
    if (!gt_text_take(value, name) || memchr(value->at, 0, value->left))
        return bad(r, value, name);
    return 0;
}

/* The storage is as long as the text: each string is shorter than its line. */
static const char *keep(struct info_reader *r, const struct gt_text_cursor *value)
{
    char *s = r->at;
    memcpy(s, value->at, value->left);
    s[value->left] = 0;
    r->at += value->left + 1;
    return s;
}

static int take_string(struct info_reader *r, const char *name, const char **out)
{
    struct gt_text_cursor v;
    int status = take_value(r, name, &v);
    if (!status)
        *out = keep(r, &v);
    return status;
}

static int take_uint(struct info_reader *r, const char *name, uint64_t max, uint64_t *out)
{
    struct gt_text_cursor v;
    int status = take_value(r, name, &v);
    if (!status && (!gt_text_take_dec(&v, max, out) || v.left))
        status = bad(r, &v, "a number");
    return status;
}

static int take_int(struct info_reader *r, const char *name, uint64_t max, int64_t *out)
{
    struct gt_text_cursor v;
    uint64_t u = 0;
    int status = take_value(r, name, &v);
    bool minus = !status && gt_text_take(&v, "-");
    if (!status && (!gt_text_take_dec(&v, max, &u) || v.left))
        status = bad(r, &v, "a number");
    *out = minus ? -(int64_t)u : (int64_t)u;
    return status;
}

static int take_exename(struct info_reader *r)
{
    return take_string(r, "exename:", &r->info->exename);
}

static int take_build_id(struct info_reader *r)
{
    return take_string(r, "build_id:", &r->info->build_id);
}

static int take_exit_status(struct info_reader *r)
{
    int64_t v = 0;
    int status = take_int(r, "exit_status:", INT32_MAX, &v);
    r->info->has_exit_status = !status;
    r->info->exit_status = (int)v;
    return status;
}

/* One character of a JSON string, which is not empty; its UTF-16 escapes only as far as the writer
 * makes them. */
static char unescape(struct gt_text_cursor *c)
{
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    struct gt_text_cursor hex = *c;
    uint64_t v = 0;
    if (gt_text_take(&hex, "\\u00") && hex.left >= 2) {
        c->at = hex.at + 2;
        c->left = hex.left - 2;
        hex.left = 2;
        return gt_text_take_hex(&hex, 0xff, &v) && !hex.left && v ? (char)v : '?';
    }
    bool escaped = *c->at == '\\' && c->left > 1;
    char ch = c->at[escaped];
    c->at += 1 + escaped;
    c->left -= 1 + (size_t)escaped;
    const char *p = escaped && ch ? strchr(from, ch) : NULL;
    return p ? to[p - from] : ch;
}

static int take_cmdline(struct info_reader *r)
{
    struct gt_text_cursor v;
    int status = take_value(r, "cmdline:", &v);
    if (status)
        return status;
    char *s = r->at;
    while (v.left)
        *r->at++ = unescape(&v);
    *r->at++ = 0;
    r->info->cmdline = s;
    return 0;
}

static int take_cpuinfo(struct info_reader *r)
{
    uint64_t n, online, possible;
    struct gt_text_cursor v;
    int status = take_uint(r, "cpuinfo:lines=", 1000, &n);
    if (!status)
        status = take_value(r, "cpuinfo:nr_cpus=", &v);
    if (status)
        return status;
    if (n != 2 || !gt_text_take_dec(&v, UINT32_MAX, &online) || !gt_text_take(&v, " / ") ||
        !gt_text_take_dec(&v, UINT32_MAX, &possible))
        return bad(r, &v, "ONLINE / POSSIBLE in two lines of cpuinfo");
    r->info->cpus_online = (unsigned)online;
    r->info->cpus_possible = (unsigned)possible;
    return take_string(r, "cpuinfo:desc=", &r->info->cpu_desc);
}

static int take_meminfo(struct info_reader *r)
{
    return take_string(r, "meminfo:", &r->info->meminfo);
}

static int take_osinfo(struct info_reader *r)
{
    uint64_t n;
    int status = take_uint(r, "osinfo:lines=", 1000, &n);
    if (!status)
        status = take_string(r, "osinfo:kernel=", &r->info->os_kernel);
    if (!status)
        status = take_string(r, "osinfo:hostname=", &r->info->os_hostname);
    if (!status)
        status = take_string(r, "osinfo:distro=", &r->info->os_distro);
    return status;
}

static int take_taskinfo(struct info_reader *r)
{
    uint64_t lines, n, tid;
    struct gt_text_cursor v;
    int status = take_uint(r, "taskinfo:lines=", 1000, &lines);
    if (!status)
        status = take_uint(r, "taskinfo:nr_tid=", r->text.left, &n);
    if (!status)
        status = take_value(r, "taskinfo:tids=", &v);
    if (status)
        return status;
    uint32_t *tids = calloc(n + 1, sizeof *tids);
    r->info->tids = tids;
    if (!tids)
        return gt_error_set(r->err, GT_E_NOMEM, "info: out of memory");
    for (size_t i = 0; i < n; i++) {
        if ((i && !gt_text_take(&v, ",")) || !gt_text_take_dec(&v, INT32_MAX, &tid))
            return bad(r, &v, "as many task ids as nr_tid says");
        tids[r->info->n_tids++] = (uint32_t)tid;
    }
    return v.left ? bad(r, &v, "no more task ids than nr_tid says") : 0;
}

static int take_usageinfo(struct info_reader *r)
{
    uint64_t n;
    struct gt_text_cursor v;
    int status = take_uint(r, "usageinfo:lines=", 1000, &n);
    for (uint64_t i = 0; !status && i < n; i++)
        status = take_value(r, "usageinfo:", &v);
    return status;
}

static int take_loadinfo(struct info_reader *r)
{
    return take_string(r, "loadinfo:", &r->info->loadinfo);
}

static int take_argspec(struct info_reader *r)
{
    uint64_t n;
    struct gt_text_cursor v;
    int status = take_uint(r, "argspec:lines=", r->text.left, &n);
    char *s = r->at;
    for (uint64_t i = 0; !status && i < n; i++) {
        status = take_value(r, "", &v);
        if (!status) {
            keep(r, &v);
            r->at[-1] = '\n';
        }
    }
    if (r->at > s)
        r->at[-1] = 0; /* in place of the last newline */
    else
        *r->at++ = 0; /* lines=0: the "argspec:" of its line paid for this byte */
    r->info->argspec = s;
    return status;
}

static int take_record_date(struct info_reader *r)
{
    struct gt_text_cursor v;
    int status = take_string(r, "record_date:", &r->info->record_date);
    if (!status)
        status = take_value(r, "elapsed_time:", &v);
    uint64_t sec = 0, frac = 0;
    if (!status && !gt_text_take_dec(&v, INT32_MAX, &sec))
        status = bad(r, &v, "seconds");
    size_t before = 0;
    if (!status && gt_text_take(&v, ".")) {
        before = v.left;
        if (!gt_text_take_dec(&v, UINT64_MAX, &frac))
            status = bad(r, &v, "a fraction of a second");
    }
    double f = (double)frac;
    for (size_t i = v.left; !status && i < before; i++)
        f /= 10;
    r->info->elapsed_time = (double)sec + f;
    return status;
}

static int take_pattern_type(struct info_reader *r)
{
    return take_string(r, "pattern_type:", &r->info->pattern_type);
}

static int take_version(struct info_reader *r)
{
    return take_string(r, "uftrace_version:", &r->info->version);
}

static int take_utc_offset(struct info_reader *r)
{
    int status = take_int(r, "utc_offset:", INT64_MAX, &r->info->utc_offset);
    r->info->has_utc_offset = !status;
    return status;
}

static int (*const take_section[GT_UFTRACE_INFO_BITS])(struct info_reader *) = {
    [GT_UFTRACE_INFO_EXENAME] = take_exename,
    [GT_UFTRACE_INFO_BUILD_ID] = take_build_id,
    [GT_UFTRACE_INFO_EXIT_STATUS] = take_exit_status,
    [GT_UFTRACE_INFO_CMDLINE] = take_cmdline,
    [GT_UFTRACE_INFO_CPUINFO] = take_cpuinfo,
    [GT_UFTRACE_INFO_MEMINFO] = take_meminfo,
    [GT_UFTRACE_INFO_OSINFO] = take_osinfo,
    [GT_UFTRACE_INFO_TASKINFO] = take_taskinfo,
    [GT_UFTRACE_INFO_USAGEINFO] = take_usageinfo,
    [GT_UFTRACE_INFO_LOADINFO] = take_loadinfo,
    [GT_UFTRACE_INFO_ARGSPEC] = take_argspec,
    [GT_UFTRACE_INFO_RECORD_DATE] = take_record_date,
    [GT_UFTRACE_INFO_PATTERN_TYPE] = take_pattern_type,
    [GT_UFTRACE_INFO_VERSION] = take_version,
    [GT_UFTRACE_INFO_UTC_OFFSET] = take_utc_offset,
};

static int take_header(struct gt_bytes_reader *r, struct gt_uftrace_info *info, uint64_t *mask,
                       struct gt_error *err)
{
    const uint8_t *magic = gt_bytes_read_bytes(r, 8);
    uint32_t version = gt_bytes_read_u32(r);
    uint16_t header = gt_bytes_read_u16(r);
    uint8_t endian = gt_bytes_read_u8(r), class = gt_bytes_read_u8(r);
    info->feat_mask = gt_bytes_read_u64(r);
    *mask = gt_bytes_read_u64(r);
    info->max_stack = gt_bytes_read_u16(r);
    gt_bytes_read_bytes(r, 6);
    if (r->short_of)
        return gt_error_set(err, GT_E_TRUNC, "info: shorter than its header of 40 bytes");
    if (memcmp(magic, GT_UFTRACE_INFO_MAGIC, 8) != 0)
        return gt_error_set(err, GT_E_FORMAT, "info offset 0: not a uftrace info file");
    if (version != GT_UFTRACE_INFO_VERSION_4 || endian != 1 || (class != 1 && class != 2))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "info: version %" PRIu32 ", endian %u, class %u: expected 4, 1, 1 or 2",
                            version, endian, class);
    if (header != GT_UFTRACE_INFO_HEADER || *mask >> GT_UFTRACE_INFO_BITS)
        return gt_error_set(err, GT_E_FORMAT, "info: header size %u, info_mask %" PRIx64, header,
                            *mask);
    return 0;
}

int gt_uftrace_info_read(const void *data, size_t size, struct gt_uftrace_info *out,
                         struct gt_error *err)
{
    struct gt_uftrace_info info = {0};
    struct gt_bytes_reader bytes;
    uint64_t mask;
    gt_bytes_reader_init(&bytes, data, size);
    int status = take_header(&bytes, &info, &mask, err);
    if (status)
        return status;
    info.storage = malloc(bytes.left + 1);
    if (!info.storage)
        return gt_error_set(err, GT_E_NOMEM, "info: out of memory");
    struct info_reader r = {{(const char *)bytes.at, bytes.left}, 0, info.storage, &info, err};
    for (int bit = 0; !status && bit < GT_UFTRACE_INFO_BITS; bit++)
        if (mask >> bit & 1)
            status = take_section[bit](&r);
    if (!status && r.text.left)
        status = gt_error_set(err, GT_E_FORMAT, "info line %zu: more text than info_mask says",
                              r.number + 1);
    if (status)
        gt_uftrace_info_free(&info);
    else
        *out = info;
    return status;
}

void gt_uftrace_info_free(struct gt_uftrace_info *info)
{
    if (info->storage) {
        free((void *)(uintptr_t)info->tids);
        free(info->storage);
    }
    *info = (struct gt_uftrace_info){0};
}
