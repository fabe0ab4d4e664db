/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From sources to a code map: see code_map.h. */
#include "names/placement/code_map.h"

#include "names/image/source_lines.h"
#include "names/image/symbol_source.h"
#include "recording/code_map/code_map.h"

#include <elf.h>
#include <glib.h>
#include <string.h>

/* ---- Linux --------------------------------------------------------------------------------- */

/* x86's word: a member of pcpu_hot (6.2 to 6.14), else a variable of its own. */
static bool find_gs_word(const struct gt_kernel *k, uint64_t *offset)
{
    uint32_t member = 0;
    if (!gt_kernel_address(k, "pcpu_hot", offset))
        return gt_kernel_address(k, "current_task", offset);
    if (gt_kernel_member(k, "pcpu_hot", "current_task", &member) < 0)
        return false;
    *offset += member;
    return true;
}

static bool find_current(const struct gt_kernel *k, struct gt_recording_code_linux *out)
{
    switch (k->e_machine) {
    case EM_AARCH64:
        out->current = GT_CODE_SP_EL0;
        return true;
    case EM_RISCV:
        out->current = GT_CODE_TP;
        return true;
    case EM_X86_64:
        out->current = GT_CODE_GS;
        return find_gs_word(k, &out->gs_offset);
    default:
        return false;
    }
}

static bool find_linux(const struct gt_kernel *k, struct gt_recording_code_linux *out)
{
    struct gt_recording_code_linux os = {0};
    if (!find_current(k, &os) || gt_kernel_member(k, "task_struct", "comm", &os.comm) < 0 ||
        gt_kernel_member(k, "task_struct", "pid", &os.pid) < 0 ||
        gt_kernel_member(k, "task_struct", "tgid", &os.tgid) < 0)
        return false;
    *out = os;
    return true;
}

/* ---- functions ----------------------------------------------------------------------------- */

struct build {
    GArray *modules;     /* struct gt_recording_code_module */
    GArray *functions;   /* struct gt_recording_code_function */
    GPtrArray *patterns; /* struct gt_recording_code_pattern, that functions point to */
    GPtrArray *lines;    /* struct gt_elf_function_lines, the same */
};

static bool add_function(struct build *b, const struct gt_image_source_function *from,
                         const struct gt_image_code_bytes *bytes,
                         const struct gt_elf_function_line *line)
{
    struct gt_recording_code_function f = {
        .addr = from->addr, .size = from->size, .name = from->name};
    if (line && line->file) {
        f.file = line->file;
        f.line = line->line;
        f.lines = line->all;
    }
    const uint8_t *start = from->size >= GT_CODE_HASHED
                               ? gt_image_code_bytes_at(bytes, from->addr, GT_CODE_HASHED)
                               : NULL;
    if (start) {
        f.hashed = true;
        f.hash = gt_recording_code_hash(start);
    }
    g_array_append_val(b->functions, f);
    return f.hashed;
}

static void free_lines(gpointer lines)
{
    gt_elf_function_lines_free(lines);
}

/* A pattern that says less would be found anywhere. */
#define LEAST_KNOWN 8
#define MOST_KNOWN  64

static bool add_pattern(struct build *b, const struct gt_image_source_function *from,
                        const struct gt_kernel_section *section)
{
    const uint64_t offset = from->addr - section->at;
    struct gt_recording_code_function f = {
        .addr = from->addr, .size = from->size, .name = from->name};
    struct gt_recording_code_pattern p = {0};
    unsigned known = 0;
    for (; p.n < GT_CODE_PATTERN && p.n < from->size && known < MOST_KNOWN; p.n++) {
        if (offset + p.n >= section->size || section->patched[offset + p.n])
            continue;
        gt_recording_code_pattern_set(&p, p.n, section->data[offset + p.n]);
        known++;
    }
    if (known >= LEAST_KNOWN) {
        f.pattern = g_memdup2(&p, sizeof p);
        g_ptr_array_add(b->patterns, (void *)f.pattern);
    }
    g_array_append_val(b->functions, f);
    return f.pattern != NULL;
}

/* The section of a module that the function is in. */
static const struct gt_kernel_section *section_of(const struct gt_kernel_ko *ko, bool init,
                                                  uint64_t addr)
{
    for (size_t i = 0; i < ko->n_section; i++) {
        const struct gt_kernel_section *s = &ko->section[i];
        if (s->init == init && s->placed && addr >= s->at && addr - s->at < s->size)
            return s;
    }
    return NULL;
}

static void add_module_part(struct build *b, const struct gt_image_source_part *p,
                            const struct gt_kernel_ko *ko)
{
    struct gt_recording_code_module m = {p->lo, p->hi, p->path, b->functions->len, 0};
    bool known = false;
    for (size_t i = 0; i < p->n; i++) {
        const struct gt_kernel_section *s = section_of(ko, p->init, p->function[i].addr);
        if (s)
            known |= add_pattern(b, &p->function[i], s);
    }
    m.n = b->functions->len - m.first;
    if (known)
        g_array_append_val(b->modules, m);
    else
        g_array_set_size(b->functions, (guint)m.first);
}

/* Takes the lines (NULL: none) over. */
static void add_part(struct build *b, const struct gt_image_source_part *p,
                     const struct gt_image_code_bytes *bytes, struct gt_elf_function_lines *lines)
{
    struct gt_recording_code_module m = {p->lo, p->hi, p->path, b->functions->len, p->n};
    bool known = false;
    for (size_t i = 0; i < p->n; i++)
        known |= add_function(b, &p->function[i], bytes, lines ? &lines->of[i] : NULL);
    if (lines)
        g_ptr_array_add(b->lines, lines);
    if (known)
        g_array_append_val(b->modules, m);
    else
        g_array_set_size(b->functions, (guint)m.first);
}

/* Two copies of the same code cannot be distinguished by their bytes: one file, or one kernel in
 * two forms.
 */
static bool is_first(const struct gt_image_symbol_source *source, size_t index)
{
    const struct gt_image_symbol_source *s = &source[index];
    for (size_t i = 0; i < index; i++)
        if (strcmp(source[i].file, s->file) == 0 ||
            (s->kernel && source[i].kernel && s->kernel->banner[0] &&
             strcmp(source[i].kernel->banner, s->kernel->banner) == 0))
            return false;
    return true;
}

bool gt_place_code_map(const struct gt_image_symbol_source *source, size_t n, bool lines,
                       struct gt_text *out)
{
    struct gt_recording_code_map map = {0};
    struct build b = {g_array_new(FALSE, FALSE, sizeof(struct gt_recording_code_module)),
                      g_array_new(FALSE, FALSE, sizeof(struct gt_recording_code_function)),
                      g_ptr_array_new_with_free_func(g_free),
                      g_ptr_array_new_with_free_func(free_lines)};
    for (size_t i = 0; i < n; i++) {
        struct gt_image_code_bytes *bytes =
            is_first(source, i) ? gt_image_code_bytes_open(&source[i]) : NULL;
        for (size_t k = 0; bytes && k < source[i].n_parts; k++)
            add_part(&b, &source[i].part[k], bytes,
                     lines ? gt_image_source_lines_load(&source[i], &source[i].part[k]) : NULL);
        gt_image_code_bytes_close(bytes);
        const struct gt_kernel_ko *ko = is_first(source, i) ? source[i].ko : NULL;
        for (size_t k = 0; ko && ko->bits == 64 && k < source[i].n_parts; k++)
            add_module_part(&b, &source[i].part[k], ko);
        if (source[i].kernel && map.os.current == GT_CODE_NO_LINUX)
            find_linux(source[i].kernel, &map.os);
    }
    map.module = (struct gt_recording_code_module *)(void *)b.modules->data;
    map.n_modules = b.modules->len;
    map.function = (struct gt_recording_code_function *)(void *)b.functions->data;
    map.n_functions = b.functions->len;
    bool any = map.n_modules && gt_recording_code_map_write(out, &map, NULL) == 0;
    g_array_free(b.modules, TRUE);
    g_array_free(b.functions, TRUE);
    g_ptr_array_free(b.patterns, TRUE);
    g_ptr_array_free(b.lines, TRUE);
    return any;
}
