/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code as bytes: see code_bytes.h. */
#include "names/image/code_bytes.h"

#include "guest/elf/file.h"

#include <gelf.h>
#include <glib.h>
#include <limits.h>

#define SIZE_LIMIT (UINT64_C(512) << 20) /* of the segments of a file */

struct segment {
    uint64_t addr, size;
    const uint8_t *data;
};

struct gt_code_bytes {
    const struct gt_kernel *kernel; /* or: */
    struct gt_elf elf;
    GArray *segments;
};

static void add_segment(struct gt_code_bytes *c, const GElf_Phdr *ph, uint64_t *total)
{
    if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || ph->p_filesz == 0 ||
        ph->p_offset > INT64_MAX || ph->p_filesz > SIZE_LIMIT - *total)
        return;
    const Elf_Data *data =
        elf_getdata_rawchunk(c->elf.elf, (int64_t)ph->p_offset, ph->p_filesz, ELF_T_BYTE);
    if (!data || !data->d_buf || data->d_size > UINT64_MAX - ph->p_vaddr)
        return;
    *total += data->d_size;
    const struct segment s = {ph->p_vaddr, data->d_size, data->d_buf};
    g_array_append_val(c->segments, s);
}

struct gt_code_bytes *gt_code_bytes_open(const struct gt_symbol_source *source)
{
    struct gt_code_bytes *c = g_new0(struct gt_code_bytes, 1);
    GElf_Phdr ph;
    size_t n;
    uint64_t total = 0;
    c->elf.fd = -1;
    c->kernel = source->kernel;
    if (source->kernel)
        return c;
    if (!source->symbols || gt_elf_open(source->opened, &c->elf, NULL) < 0) {
        g_free(c);
        return NULL;
    }
    c->segments = g_array_new(FALSE, FALSE, sizeof(struct segment));
    if (elf_getphdrnum(c->elf.elf, &n) == 0)
        for (size_t i = 0; i < n && i < INT_MAX && gelf_getphdr(c->elf.elf, (int)i, &ph); i++)
            add_segment(c, &ph, &total);
    return c;
}

const uint8_t *gt_code_bytes_at(const struct gt_code_bytes *c, uint64_t addr, size_t n)
{
    if (c->kernel)
        return gt_kernel_bytes(c->kernel, addr, n);
    for (guint i = 0; i < c->segments->len; i++) {
        const struct segment *s = &g_array_index(c->segments, struct segment, i);
        if (addr >= s->addr && addr - s->addr < s->size && n <= s->size - (addr - s->addr))
            return s->data + (addr - s->addr);
    }
    return NULL;
}

void gt_code_bytes_close(struct gt_code_bytes *c)
{
    if (!c)
        return;
    if (c->segments)
        g_array_free(c->segments, TRUE);
    gt_elf_close(&c->elf);
    g_free(c);
}
