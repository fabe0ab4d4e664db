/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug sections: see debug_section.h. */
#include "guest/elf/debug_section.h"

#include <string.h>
#include <unistd.h>

#define MOST_UNCOMPRESSED (UINT64_C(512) << 20)

/* Deflate and zstd make at most so much of a byte; what says more does not say the truth. */
#define MOST_RATIO 2000

static void uncompress(Elf_Scn *section, const GElf_Shdr *header, struct gt_elf_debug_section *out)
{
    GElf_Chdr compressed;
    if (!gelf_getchdr(section, &compressed) || compressed.ch_size > MOST_UNCOMPRESSED ||
        compressed.ch_size / MOST_RATIO > header->sh_size || elf_compress(section, 0, 0) < 0)
        return;
    const Elf_Data *data = elf_rawdata(section, NULL);
    if (!data || !data->d_buf)
        return;
    out->data = data->d_buf;
    out->size = data->d_size;
}

void gt_elf_debug_section_find(const struct gt_elf *e, const char *name,
                               struct gt_elf_debug_section *out)
{
    GElf_Shdr header;
    Elf_Scn *section = gt_elf_find_section(e->elf, name, &header);
    *out = (struct gt_elf_debug_section){.fd = e->fd};
    if (section && header.sh_flags & SHF_COMPRESSED) {
        uncompress(section, &header, out);
    } else if (section && header.sh_offset <= INT64_MAX && header.sh_size <= INT64_MAX) {
        out->at = header.sh_offset;
        out->size = header.sh_size;
    }
}

size_t gt_elf_debug_section_copy(const struct gt_elf_debug_section *s, uint64_t at, void *to,
                                 size_t n)
{
    if (at >= s->size)
        return 0;
    n = n < s->size - at ? n : (size_t)(s->size - at);
    if (s->data) {
        memcpy(to, s->data + at, n);
        return n;
    }
    size_t done = 0;
    for (ssize_t got = 1; done < n && got > 0; done += got > 0 ? (size_t)got : 0)
        got = pread(s->fd, (char *)to + done, n - done, (off_t)(s->at + at + done));
    return done;
}

bool gt_elf_debug_section_text(const struct gt_elf_debug_section *s, uint64_t at,
                               char text[GT_DEBUG_TEXT_MAX])
{
    size_t n = gt_elf_debug_section_copy(s, at, text, GT_DEBUG_TEXT_MAX);
    return memchr(text, 0, n) != NULL;
}
