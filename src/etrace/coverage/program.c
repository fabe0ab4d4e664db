/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose coverage is computed: see program.h. */
#include "etrace/coverage/program.h"

#include <gelf.h>
#include <glib.h>
#include <inttypes.h>
#include <limits.h>

/* Counts are kept for every address that an instruction may have. */
static unsigned shift_of(const struct gt_arch *arch)
{
    return arch && arch->insn_min >= 4 ? 2 : arch && arch->insn_min >= 2 ? 1 : 0;
}

static int add_code(struct gt_coverage_program *p, const GElf_Phdr *ph, uint64_t offset,
                    struct gt_coverage *c, struct gt_error *err)
{
    uint64_t lo = ph->p_vaddr + offset;
    Elf_Data *data =
        elf_getdata_rawchunk(p->elf.elf, (int64_t)ph->p_offset, ph->p_filesz, ELF_T_BYTE);
    if (!data || !data->d_buf || data->d_size != ph->p_filesz)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: %" PRIu64 " bytes of code at offset %" PRIu64
                            " lie outside the file",
                            p->path, ph->p_filesz, ph->p_offset);
    if (ph->p_filesz > UINT64_MAX - lo)
        return gt_error_set(err, GT_E_RANGE,
                            "%s: %" PRIu64 " bytes of code do not fit at 0x%" PRIx64, p->path,
                            ph->p_filesz, lo);
    p->code = g_renew(struct gt_coverage_code, p->code, p->n + 1);
    p->code[p->n++] = (struct gt_coverage_code){lo, ph->p_filesz, data->d_buf};
    return gt_coverage_add_region(c, p->path, lo, ph->p_filesz, shift_of(p->arch), err);
}

static int add_segments(struct gt_coverage_program *p, uint64_t offset, struct gt_coverage *c,
                        struct gt_error *err)
{
    GElf_Phdr ph;
    size_t n;
    int status = elf_getphdrnum(p->elf.elf, &n) == 0 ? GT_OK : GT_E_FORMAT;
    for (size_t i = 0; status == 0 && i < n && i < INT_MAX; i++)
        if (gelf_getphdr(p->elf.elf, (int)i, &ph) && ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
            ph.p_filesz)
            status = add_code(p, &ph, offset, c, err);
    if (status == 0 && p->n == 0)
        return gt_error_set(err, GT_E_FORMAT, "%s has no code", p->path);
    return status;
}

/* No ELF file: firmware's image, a vmlinuz. */
static int refuse_image(const char *path, struct gt_error *err)
{
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return gt_error_set(err, GT_E_FORMAT, "%s: not a regular file, expected an ELF file", path);
    return gt_error_set(err, GT_E_FORMAT,
                        "%s: not an ELF file; an image has no functions and lines: give the ELF"
                        " file that it was made from (a kernel's is its vmlinux)",
                        path);
}

int gt_coverage_program_check(const char *path, struct gt_error *err)
{
    struct gt_elf elf;
    int status = gt_elf_open(path, &elf, err);
    if (status == GT_E_FORMAT)
        return refuse_image(path, err);
    if (status == 0)
        gt_elf_close(&elf);
    return status;
}

int gt_coverage_program_open(const char *path, uint64_t offset, struct gt_coverage_program *p,
                             struct gt_coverage *c, struct gt_error *err)
{
    *p = (struct gt_coverage_program){.elf.fd = -1, .path = g_strdup(path)};
    int status = gt_elf_open(p->path, &p->elf, err);
    if (status == GT_E_FORMAT)
        return refuse_image(p->path, err);
    if (status == 0)
        status = gt_elf_symbols_load(p->path, &p->symbols, err);
    if (status < 0)
        return status;
    p->base = p->symbols->load_base + offset;
    p->arch = gt_arch_by_elf(p->symbols->e_machine, p->symbols->bits);
    status = gt_elf_lines_open(p->path, NULL, &p->lines, err);
    if (status == GT_E_NOT_FOUND)
        status = GT_OK;
    return status < 0 ? status : add_segments(p, offset, c, err);
}

void gt_coverage_program_close(struct gt_coverage_program *p)
{
    gt_elf_lines_close(p->lines);
    gt_elf_symbols_free(p->symbols);
    if (p->elf.fd >= 0)
        gt_elf_close(&p->elf);
    g_free(p->code);
    g_free(p->path);
}

const uint8_t *gt_coverage_program_bytes(const struct gt_coverage_program *p, uint64_t addr,
                                         size_t *left)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct gt_coverage_code *code = &p->code[i];
        if (addr < code->lo || addr - code->lo >= code->size)
            continue;
        *left = code->size - (addr - code->lo);
        return code->bytes + (addr - code->lo);
    }
    return NULL;
}
