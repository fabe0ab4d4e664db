/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .gnu_debugdata ("MiniDebugInfo"): an ELF file, packed by xz, whose .symtab has the functions that
 * .dynsym lacks. Distributions add it to programs that they strip. A damaged section, and one of
 * more than 64 MiB unpacked, counts as missing.
 */
#include "guest/elf/symbols_private.h"

#include <lzma.h>
#include <stdlib.h>

enum {
    UNPACKED_MOST = 64 << 20,
    MEMORY_MOST = 80 << 20, /* of the decoder; xz -9 asks for 65 MiB */
};

/* NULL: it is damaged or too large, or there is no memory. */
static char *unpack(const Elf_Data *packed, size_t *size)
{
    lzma_stream z = LZMA_STREAM_INIT;
    lzma_ret r = lzma_stream_decoder(&z, MEMORY_MOST, 0);
    size_t room = 1 << 16;
    char *data = NULL;
    z.next_in = packed->d_buf;
    z.avail_in = packed->d_size;
    while (r == LZMA_OK && room <= UNPACKED_MOST) {
        char *more = realloc(data, room);
        if (!more)
            break;
        data = more;
        z.next_out = (uint8_t *)data + z.total_out;
        z.avail_out = room - z.total_out;
        r = lzma_code(&z, LZMA_FINISH);
        if (z.avail_out == 0)
            room *= 2;
    }
    *size = z.total_out;
    lzma_end(&z);
    if (r == LZMA_STREAM_END)
        return data;
    free(data);
    return NULL;
}

int gt_elf_sym_read_debugdata(struct sym_reader *r, Elf *elf)
{
    GElf_Shdr sh;
    Elf_Scn *scn = gt_elf_find_section(elf, ".gnu_debugdata", &sh);
    const Elf_Data *packed = scn ? elf_rawdata(scn, NULL) : NULL;
    size_t size;
    char *data = packed && packed->d_buf ? unpack(packed, &size) : NULL;
    Elf *inner = data ? elf_memory(data, size) : NULL;
    int status = 0;
    if (inner && elf_kind(inner) == ELF_K_ELF)
        status = gt_elf_sym_read_table(r, inner, SHT_SYMTAB);
    elf_end(inner);
    free(data);
    return status;
}
