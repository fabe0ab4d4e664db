/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each form of PLT stub, from its bytes: where it starts and which GOT slot it jumps through. */
#include "guest/elf/symbols_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct form {
    uint16_t machine;
    uint8_t bits;
    const char *hex; /* in memory order */
    uint64_t offset, slot;
    bool lazy;
};

enum { ADDR = 0x10000, GOT_BASE = 0x30000 };

static const struct form forms[] = {
    /* x86_64: jmp *0x100(%rip); bnd; endbr64; mov $n,%r11d; mov 0x100(%rip),%r11; after a header */
    {EM_X86_64, 64, "ff2500010000 6800000000 e900000000", 0, ADDR + 6 + 0x100, false},
    {EM_X86_64, 64, "f2ff2500010000", 0, ADDR + 7 + 0x100, false},
    {EM_X86_64, 64, "f30f1efa f2ff2500010000 90", 0, ADDR + 11 + 0x100, false},
    {EM_X86_64, 64, "f30f1efa 41bb05000000 ff2500010000", 0, ADDR + 16 + 0x100, false},
    {EM_X86_64, 64, "4c8b1d00010000 e800000000", 0, ADDR + 7 + 0x100, false},
    {EM_X86_64, 64, "ff25fcffffff 6690", 0, ADDR + 2, false},
    {EM_X86_64, 64, "ff3500000000 ff2500000000 0f1f4000 ff2500010000", 16, ADDR + 22 + 0x100,
     false},
    {EM_X86_64, 64, "f30f1efa 6807000000 f2e900000000", 0, 7, true},
    {EM_X86_64, 64, "6807000000 e900000000", 0, 7, true},
    /* i386: jmp *0x20100; jmp *0x10(%ebx); push of an offset */
    {EM_386, 32, "ff2500010200", 0, 0x20100, false},
    {EM_386, 32, "f30f1efb ffa310000000", 0, GOT_BASE + 0x10, false},
    {EM_386, 32, "f30f1efb 6818000000 e900000000", 0, 3, true},
    /* adrp x16, +0x1f000; ldr x17, [x16, #0x18]; backwards; bti c; after stp x16, x30 */
    {EM_AARCH64, 64, "f00000f0 110e40f9", 0, ADDR + 0x1f000 + 0x18, false},
    {EM_AARCH64, 64, "f0fffff0 110e40f9", 0, ADDR - 0x1000 + 0x18, false},
    {EM_AARCH64, 64, "5f2403d5 f00000f0 110e40f9", 0, ADDR + 0x1f000 + 0x18, false},
    {EM_AARCH64, 64, "f07bbfa9 f00000f0 110e40f9", 4, ADDR + 0x1f000 + 0x18, false},
    /* auipc t3, 2; ld t3, -8(t3); lpad; rv32 with lw */
    {EM_RISCV, 64, "172e0000 033e8eff", 0, ADDR + 0x2000 - 8, false},
    {EM_RISCV, 64, "17000000 172e0000 033e8eff", 0, ADDR + 4 + 0x2000 - 8, false},
    {EM_RISCV, 32, "172e0000 032e8eff", 0, ADDR + 0x2000 - 8, false},
    /* add ip, pc, #0x100000; add ip, ip, #0x2000; ldr pc, [ip, #8]!; behind bx pc; nop */
    {EM_ARM, 32, "01c68fe2 02ca8ce2 08f0bce5", 0, ADDR + 8 + 0x100000 + 0x2000 + 8, false},
    {EM_ARM, 32, "7847c046 01c68fe2 02ca8ce2 08f0bce5", 0, ADDR + 12 + 0x100000 + 0x2000 + 8,
     false},
};

static size_t bytes_of(const char *hex, uint8_t *out)
{
    size_t n = 0;

    for (; *hex; hex++)
        if (*hex != ' ') {
            char pair[3] = {hex[0], hex[1], 0};
            out[n++] = (uint8_t)strtoul(pair, NULL, 16);
            hex++;
        }
    return n;
}

static bool first_stub(const struct form *f, const uint8_t *bytes, size_t size,
                       struct plt_stub *out)
{
    struct plt_code code = {bytes, size, ADDR, GOT_BASE, f->machine, f->bits};

    return gt_elf_plt_next_stub(&code, 0, out);
}

static void test_forms(void **state)
{
    uint8_t bytes[64];
    struct plt_stub stub;

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct form *f = &forms[i];
        if (!first_stub(f, bytes, bytes_of(f->hex, bytes), &stub))
            fail_msg("no stub in %s", f->hex);
        if (stub.offset != f->offset || stub.slot != f->slot || stub.lazy != f->lazy)
            fail_msg("%s: at %llx, slot %llx, expected %llx", f->hex,
                     (unsigned long long)stub.offset, (unsigned long long)stub.slot,
                     (unsigned long long)f->slot);
    }
}

/* A copy of just the bytes, so that a sanitizer sees each read beyond. */
static void test_every_cut(void **state)
{
    uint8_t bytes[64];
    struct plt_stub stub;

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        for (size_t n = bytes_of(forms[i].hex, bytes); n > 0; n--) {
            uint8_t *copy = malloc(n);
            assert_non_null(copy);
            memcpy(copy, bytes, n);
            if (first_stub(&forms[i], copy, n, &stub))
                assert_true(stub.size > 0 && stub.offset + stub.size <= n);
            free(copy);
        }
}

static void test_no_stub(void **state)
{
    static const struct form none[] = {
        {EM_X86_64, 64, "ff3500000000 ff2500000000 0f1f4000", 0, 0, false}, /* a header */
        {EM_X86_64, 64, "ffa310000000 9090", 0, 0, false},
        {EM_AARCH64, 64, "f00000f0 310e40f9", 0, 0, false},        /* other base register */
        {EM_AARCH64, 64, "f0000010 110e40f9", 0, 0, false},        /* adr */
        {EM_RISCV, 64, "97230000 33031e41 03be0300", 0, 0, false}, /* a header */
        {EM_RISCV, 64, "172e0000 032e8eff", 0, 0, false},          /* lw */
        {EM_PPC64, 64, "00000000 00000000", 0, 0, false},
    };
    uint8_t bytes[64];
    struct plt_stub stub;

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (first_stub(&none[i], bytes, bytes_of(none[i].hex, bytes), &stub))
            fail_msg("a stub in %s", none[i].hex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_no_stub),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
