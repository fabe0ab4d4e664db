/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "made_kernel.h"

#include <assert.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Tokens of several characters, from 0x80 on; all others are their own character. */
static const char *const long_tokens[] = {"sys_", "T__", "func", "t_", "_write", "Tfunc"};
enum { LONG_TOKENS = sizeof long_tokens / sizeof long_tokens[0], LONG_FIRST = 0x80 };

static void put(struct made_kernel *m, const void *data, size_t size)
{
    assert(size <= sizeof m->data - m->size);
    if (data)
        memcpy(m->data + m->size, data, size);
    else
        memset(m->data + m->size, 0, size);
    m->size += size;
}

static void put_number(struct made_kernel *m, uint64_t v, unsigned size)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(v >> 8 * i);
    put(m, bytes, size);
}

static void align(struct made_kernel *m, unsigned to)
{
    put(m, NULL, (to - m->size % to) % to);
}

static const char *token(unsigned i, char text[2])
{
    if (i >= LONG_FIRST && i < LONG_FIRST + LONG_TOKENS)
        return long_tokens[i - LONG_FIRST];
    text[0] = i > ' ' && i < 0x7f ? (char)i : '#';
    text[1] = '\0';
    return text;
}

/* The tokens that spell type and name, the long ones first; their number. */
static size_t compress(const struct made_entry *e, uint8_t out[512])
{
    char text[512];
    size_t n = 0;

    snprintf(text, sizeof text, "%c%s", e->type, e->name);
    for (const char *at = text; *at;) {
        unsigned best = (unsigned char)*at;
        size_t length = 1;
        for (unsigned i = 0; i < LONG_TOKENS; i++)
            if (!strncmp(at, long_tokens[i], strlen(long_tokens[i])) &&
                strlen(long_tokens[i]) > length) {
                best = LONG_FIRST + i;
                length = strlen(long_tokens[i]);
            }
        out[n++] = (uint8_t)best;
        at += length;
    }
    return n;
}

static void put_names(struct made_kernel *m, const struct made_layout *l,
                      const struct made_entry *entries, size_t n)
{
    uint32_t marker[64];
    uint8_t tokens[512];

    align(m, l->align);
    m->num_syms = m->size;
    put_number(m, n, l->wide ? l->word : 4);
    align(m, l->align);
    m->names = m->size;
    for (size_t i = 0; i < n; i++) {
        size_t length = compress(&entries[i], tokens);
        if (i % 256 == 0)
            marker[i / 256] = (uint32_t)(m->size - m->names);
        if (length < 0x80)
            put_number(m, length, 1);
        else
            put_number(m, (length & 0x7f) | 0x80 | length >> 7 << 8, 2);
        put(m, tokens, length);
    }
    align(m, l->align);
    m->markers = m->size;
    for (size_t i = 0; i < (n + 255) / 256; i++)
        put_number(m, marker[i], l->marker);
    align(m, l->align);
    for (size_t i = 0; i < n; i++)
        put_number(m, (uint32_t)(n - 1 - i) << 8 | 0xff, l->seqs);
}

static void put_tokens(struct made_kernel *m, const struct made_layout *l)
{
    unsigned index[256];
    char text[2];

    align(m, l->align);
    m->token_table = m->size;
    for (unsigned i = 0; i < 256; i++) {
        const char *t = token(i, text);
        index[i] = (unsigned)(m->size - m->token_table);
        put(m, t, strlen(t) + 1);
    }
    align(m, l->align);
    m->token_index = m->size;
    for (unsigned i = 0; i < 256; i++)
        put_number(m, index[i], 2);
}

static uint64_t value_of(const struct made_kernel *m, const struct made_layout *l,
                         const struct made_entry *e, uint64_t base)
{
    switch (l->values) {
    case MADE_OFFSETS:
        return e->addr - base;
    case MADE_PERCPU:
        return e->addr < 0x80000000 ? e->addr : base - 1 - e->addr;
    case MADE_PLACES:
        return e->addr - (m->link + m->size);
    default:
        return e->addr;
    }
}

static void put_values(struct made_kernel *m, const struct made_layout *l,
                       const struct made_entry *entries, size_t n)
{
    uint64_t base = 0;

    for (size_t i = 0; i < n && !base; i++)
        if (entries[i].addr >= 0x80000000)
            base = entries[i].addr;
    align(m, l->align);
    m->values = m->size;
    for (size_t i = 0; i < n; i++)
        put_number(m, value_of(m, l, &entries[i], base), l->values == MADE_ADDRESSES ? l->word : 4);
    if (l->values != MADE_OFFSETS && l->values != MADE_PERCPU)
        return;
    align(m, l->word);
    m->base = m->size;
    put_number(m, l->base == BASE_THERE ? base : 0, l->word);
}

/* The relocation of relative_base, behind others that look like it: their starts are no page, or
 * too far from what they put there. */
static void put_relocations(struct made_kernel *m, uint64_t base)
{
    uint64_t place = m->link + m->base;
    uint64_t record[] = {place + 0x100,   R_AARCH64_RELATIVE, base + 0x300,
                         place + 0x1000,  R_AARCH64_RELATIVE, base + (8 << 20),
                         place + 0x20000, R_AARCH64_RELATIVE, base + 0x20000,
                         place,           R_AARCH64_RELATIVE, base};

    align(m, 8);
    put(m, record, sizeof record);
}

static void put_tables(struct made_kernel *m, const struct made_layout *l,
                       const struct made_entry *entries, size_t n)
{
    for (unsigned i = (unsigned)m->size; i < MADE_CODE; i += 4)
        put_number(m, (i & 4 ? 0xc0de0000 : 0x1c0de000) | i, 4);
    if (!l->behind)
        put_values(m, l, entries, n);
    put_names(m, l, entries, n);
    put_tokens(m, l);
    if (l->behind)
        put_values(m, l, entries, n);
    if (l->base == BASE_RELOCATED)
        put_relocations(m, entries[0].addr);
    align(m, 8);
}

void made_kernel(struct made_kernel *m, const struct made_layout *layout,
                 const struct made_entry *entries, size_t n, unsigned machine)
{
    memset(m, 0, sizeof *m);
    m->link = MADE_LINK;
    m->size = 64;
    memcpy(m->data + 56, machine == EM_RISCV ? "RSC\x05" : "ARM\x64", 4);
    put_tables(m, layout, entries, n);
}

static void put_elf32(struct made_kernel *m, unsigned machine)
{
    Elf32_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = (uint16_t)machine,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof header,
                         .e_ehsize = sizeof header,
                         .e_phentsize = sizeof(Elf32_Phdr),
                         .e_phnum = 1};
    Elf32_Phdr segment = {.p_type = PT_LOAD,
                          .p_flags = PF_R | PF_X,
                          .p_vaddr = (uint32_t)m->link,
                          .p_filesz = (uint32_t)m->size,
                          .p_memsz = (uint32_t)m->size};

    memcpy(m->data, &header, sizeof header);
    memcpy(m->data + sizeof header, &segment, sizeof segment);
}

static void put_elf64(struct made_kernel *m, unsigned machine)
{
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = (uint16_t)machine,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof header,
                         .e_ehsize = sizeof header,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 1};
    Elf64_Phdr segment = {.p_type = PT_LOAD,
                          .p_flags = PF_R | PF_X,
                          .p_vaddr = m->link,
                          .p_filesz = m->size,
                          .p_memsz = m->size};

    memcpy(m->data, &header, sizeof header);
    memcpy(m->data + sizeof header, &segment, sizeof segment);
}

void made_kernel_elf(struct made_kernel *m, const struct made_layout *layout,
                     const struct made_entry *entries, size_t n, unsigned machine)
{
    memset(m, 0, sizeof *m);
    m->link = layout->word == 4 ? 0xc1000000 : MADE_LINK;
    m->size = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
    put_tables(m, layout, entries, n);
    if (layout->word == 4)
        put_elf32(m, machine);
    else
        put_elf64(m, machine);
}

size_t made_kernel_add(struct made_kernel *m, const void *data, size_t size)
{
    size_t at;

    align(m, 8);
    at = m->size;
    put(m, data, size);
    return at;
}

const char *made_file(const void *data, size_t size)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("made", MFD_CLOEXEC);
    assert(fd >= 0 && ftruncate(fd, 0) == 0);
    assert(pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}
