/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the end of a symbol without a size in a file without .symtab.
 *
 * If all symbols are known it ends at the next one, as nm -S and gdb assume. In a stripped file
 * functions without names may follow a symbol of .dynsym. There a symbol ends where its control
 * flow does.
 */
#include "guest/arch/arch.h"
#include "guest/arch/insn_size.h"
#include "guest/elf/symbols_private.h"

/* Control goes elsewhere after it, always. */
static bool leaves(const struct gt_arch_insn *insn)
{
    switch (insn->kind) {
    case GT_INSN_RETURN:
    case GT_INSN_JUMP:
    case GT_INSN_JUMP_INDIRECT:
    case GT_INSN_EXCEPTION_RETURN:
        return !insn->conditional;
    default:
        return false;
    }
}

/* Bytes up to the first instruction that leaves and that no branch before it goes beyond. */
static uint64_t flow_size(const struct gt_arch *arch, const uint8_t *bytes, uint64_t size)
{
    uint64_t reached = 0;
    struct gt_arch_insn insn = {0};

    if (!gt_arch_insn_size_known(arch))
        return arch && arch->insn_min < size ? arch->insn_min : 1;
    for (uint64_t at = 0; at < size;) {
        size_t n = gt_arch_insn_size(arch, bytes + at, size - at);
        arch->classify(bytes + at, n, at, &insn);
        at += n;
        if (insn.kind == GT_INSN_BRANCH && insn.target > reached && insn.target < size)
            reached = insn.target;
        if (leaves(&insn) && at > reached)
            return at;
    }
    return size;
}

/* The symbols of a section, `lo` being its relative address. */
static void end_guesses_in(struct gt_elf_symbols *s, const struct gt_arch *arch, uint64_t lo,
                           const Elf_Data *data)
{
    size_t first = lo ? gt_elf_sym_count_to(s, lo - 1) : 0;
    for (size_t i = first; i < s->n_sym && s->sym[i].addr - lo < data->d_size; i++) {
        struct gt_elf_symbol *sym = &s->sym[i];
        uint64_t at = sym->addr - lo, left = data->d_size - at;
        if (sym->guessed)
            sym->size = flow_size(arch, (const uint8_t *)data->d_buf + at,
                                  sym->size < left ? sym->size : left);
    }
}

void gt_elf_sym_end_guesses(struct sym_reader *r, Elf *elf)
{
    const struct gt_arch *arch = gt_arch_by_elf(r->s->e_machine, r->s->bits);
    GElf_Shdr sh;

    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        Elf_Data *data;
        if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
            sh.sh_addr < r->s->load_base || !(data = elf_rawdata(scn, NULL)) || !data->d_buf)
            continue;
        end_guesses_in(r->s, arch, sh.sh_addr - r->s->load_base, data);
    }
}
