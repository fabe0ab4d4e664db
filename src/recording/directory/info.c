/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the info file: a header of 40 bytes,
 *   "Ftrace!\0", u32 version 4, u16 header size, u8 endian, u8 ELF class, u64 feat_mask,
 *   u64 info_mask, u16 max_stack, u16 0, u32 0
 * and one section of text for each bit of info_mask, in the order of the bits.
 */
#include "recording/directory/info.h"
#include "base/cursor.h"
#include "base/text.h"
#include "base/utf8.h"

#include <inttypes.h>
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
        size_t n = gt_utf8_length(s, left);
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
    struct gt_cursor all = {spec, strlen(spec)}, line;
    bool whole;
    while (gt_take_line(&all, &line, &whole)) {
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
        {i->build_id && strlen(i->build_id) == 40 && gt_is_hex(i->build_id, 40),
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
    struct gt_writer w;
    gt_writer_init(&w, header, sizeof header);
    gt_write_bytes(&w, GT_UFTRACE_INFO_MAGIC, 8);
    gt_write_u32(&w, GT_UFTRACE_INFO_VERSION_4);
    gt_write_u16(&w, GT_UFTRACE_INFO_HEADER);
    gt_write_u8(&w, 1);
    gt_write_u8(&w, 2);
    gt_write_u64(&w, info->feat_mask | GT_UFTRACE_FEAT_MIN);
    gt_write_u64(&w, mask);
    gt_write_u16(&w, info->max_stack ? info->max_stack : 1024);
    gt_write_u16(&w, 0);
    gt_write_u32(&w, 0);
    gt_text_add(t, header, sizeof header);
    add_sections(t, info, mask);
    return t->failed ? gt_error_set(err, GT_E_NOMEM, "info: out of memory") : 0;
}
