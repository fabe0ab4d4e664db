/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot images: every wrapping around every compression, cut and lying. */
#include "guest/kernel/private.h"

#include "made_kernel.h"

#include <bzlib.h>
#include <elf.h>
#include <lz4.h>
#include <lz4frame.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { SYMBOLS = 300, ROOM = 1 << 18 };

static const struct made_layout flat_layout = {"6.4", MADE_OFFSETS, 8, 8, 4, .behind = true};
static const struct made_layout elf_layout = {"6.12", MADE_PERCPU, 8, 8, 4, .behind = true};
static struct made_entry entries[SYMBOLS];
static char names[SYMBOLS][32];
static struct made_kernel made;
static uint8_t packed[2 * ROOM], image[2 * ROOM];

static void make(bool elf)
{
    for (unsigned i = 0; i < SYMBOLS; i++) {
        snprintf(names[i], sizeof names[i], "func_%u", i);
        entries[i] = (struct made_entry){MADE_LINK + i * 8, 'T', names[i]};
    }
    strcpy(names[0], "_text");
    if (elf)
        made_kernel_elf(&made, &elf_layout, entries, SYMBOLS, EM_X86_64);
    else
        made_kernel(&made, &flat_layout, entries, SYMBOLS, EM_AARCH64);
}

static size_t pack_gzip(const uint8_t *data, size_t size)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = packed,
                  .avail_out = ROOM};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static size_t pack_xz(const uint8_t *data, size_t size)
{
    size_t at = 0;

    assert_int_equal(
        lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, data, size, packed, &at, ROOM), LZMA_OK);
    return at;
}

static size_t pack_lzma(const uint8_t *data, size_t size)
{
    lzma_stream z = LZMA_STREAM_INIT;
    lzma_options_lzma options;

    assert_false(lzma_lzma_preset(&options, 6));
    assert_int_equal(lzma_alone_encoder(&z, &options), LZMA_OK);
    z.next_in = data;
    z.avail_in = size;
    z.next_out = packed;
    z.avail_out = ROOM;
    assert_int_equal(lzma_code(&z, LZMA_FINISH), LZMA_STREAM_END);
    lzma_end(&z);
    return ROOM - z.avail_out;
}

static size_t pack_zstd(const uint8_t *data, size_t size)
{
    return ZSTD_compress(packed, ROOM, data, size, 19);
}

static size_t pack_lz4(const uint8_t *data, size_t size)
{
    return LZ4F_compressFrame(packed, sizeof packed, data, size, NULL);
}

static void put_u32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

/* Two blocks, as of an image larger than one. */
static size_t pack_lz4_legacy(const uint8_t *data, size_t size)
{
    size_t half = size / 2, at = 4;

    put_u32(packed, 0x184c2102);
    for (int i = 0; i < 2; i++) {
        int n = LZ4_compress_default((const char *)data + (i ? half : 0), (char *)packed + at + 4,
                                     (int)(i ? size - half : half), (int)(ROOM - at - 4));
        assert_true(n > 0);
        put_u32(packed + at, (uint32_t)n);
        at += 4 + (size_t)n;
    }
    return at;
}

static size_t pack_bzip2(const uint8_t *data, size_t size)
{
    unsigned n = ROOM;

    assert_int_equal(BZ2_bzBuffToBuffCompress((char *)packed, &n, (char *)(uintptr_t)data,
                                              (unsigned)size, 9, 0, 0),
                     BZ_OK);
    return n;
}

static const struct {
    const char *name;
    size_t (*pack)(const uint8_t *data, size_t size);
} forms[] = {
    {"gzip", pack_gzip}, {"xz", pack_xz},          {"lzma", pack_lzma},   {"zstd", pack_zstd},
    {"lz4", pack_lz4},   {"lz4", pack_lz4_legacy}, {"bzip2", pack_bzip2},
};

/* The n bytes of packed as the payload of an x86 image, with what they unpack to in 4 bytes behind.
 */
static size_t wrap_bzimage(size_t n, size_t unpacked)
{
    size_t code = 3 * 512, at = 0x2c0;

    memset(image, 0, code + at);
    image[0x1f1] = 2;
    image[0x1fe] = 0x55;
    image[0x1ff] = 0xaa;
    memcpy(image + 0x202, "HdrS", 4);
    put_u32(image + 0x206, 0x20f);
    put_u32(image + 0x248, (uint32_t)at);
    put_u32(image + 0x24c, (uint32_t)n + 4);
    memcpy(image + code + at, packed, n);
    put_u32(image + code + at + n, (uint32_t)unpacked);
    return code + at + n + 4 + 64;
}

static size_t wrap_zboot(size_t n, const char *form)
{
    memset(image, 0, 1024);
    memcpy(image, "MZ\0\0zimg", 8);
    put_u32(image + 8, 1024);
    put_u32(image + 12, (uint32_t)n);
    memcpy(image + 24, form, strlen(form) + 1);
    memcpy(image + 56, "\xcd\x23\x82\x81", 4);
    memcpy(image + 1024, packed, n);
    return 1024 + n + 100;
}

static void expect_kernel(const void *data, size_t size, const char *form)
{
    struct gt_kernel *k = NULL;
    struct gt_error err = {0};

    if (gt_kernel_load(made_file(data, size), &k, &err) != GT_OK)
        fail_msg("%s: %s", form, err.text);
    assert_string_equal(k->form, form);
    assert_int_equal(k->n_all, SYMBOLS);
    assert_string_equal(k->all[7].name, "func_7");
    assert_int_equal(k->all[7].addr, MADE_LINK + 56);
    gt_kernel_free(k);
}

static void test_every_wrapping(void **state)
{
    char form[64];

    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        make(false);
        size_t n = forms[i].pack(made.data, made.size);
        snprintf(form, sizeof form, "%s, arm64 Image", forms[i].name);
        expect_kernel(packed, n, form);
        snprintf(form, sizeof form, "EFI zboot, %s, arm64 Image", forms[i].name);
        expect_kernel(image, wrap_zboot(n, forms[i].name), form);
        make(true);
        n = forms[i].pack(made.data, made.size);
        snprintf(form, sizeof form, "%s, ELF", forms[i].name);
        expect_kernel(packed, n, form);
        snprintf(form, sizeof form, "bzImage, %s, ELF", forms[i].name);
        expect_kernel(image, wrap_bzimage(n, made.size), form);
    }
}

static void test_wrapped_without_compression(void **state)
{
    (void)state;
    make(true);
    memcpy(packed, made.data, made.size);
    expect_kernel(image, wrap_bzimage(made.size, made.size), "bzImage, ELF");
    make(false);
    memcpy(packed, made.data, made.size);
    expect_kernel(image, wrap_zboot(made.size, ""), "EFI zboot, arm64 Image");
}

static void test_wrapped_in_layers(void **state)
{
    size_t n;

    (void)state;
    make(false);
    n = pack_gzip(made.data, made.size);
    n = wrap_zboot(n, "gzip");
    n = pack_xz(image, n);
    expect_kernel(packed, n, "xz, EFI zboot, gzip, arm64 Image");
}

static int status_of(const void *data, size_t size)
{
    struct gt_kernel *k = NULL;
    struct gt_error err = {0};
    int status = gt_kernel_load(made_file(data, size), &k, &err);

    assert_true((status == GT_OK) == (k != NULL));
    assert_int_equal(err.status, status);
    gt_kernel_free(k);
    return status;
}

static void test_endless_wrapping(void **state)
{
    size_t n;

    (void)state;
    make(false);
    n = pack_gzip(made.data, made.size);
    for (int i = 0; i < 9; i++) {
        memcpy(image, packed, n);
        n = pack_gzip(image, n);
    }
    assert_int_equal(status_of(packed, n), GT_E_FORMAT);
}

/* A cut stream unpacks to nothing; lz4's old form ends where the file ends. */
static void test_cut_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        make(false);
        size_t n = forms[i].pack(made.data, made.size), steps = n / 300 + 1;
        for (size_t cut = 0; cut < n; cut += cut + 32 < n && cut > 32 ? steps : 1)
            if (status_of(packed, cut) == GT_OK && cut + 16 < n)
                fail_msg("%s: loads when cut at %zu of %zu", forms[i].name, cut, n);
    }
    make(true);
    size_t n = wrap_bzimage(pack_gzip(made.data, made.size), made.size) - 64 - 4 - 8;
    for (size_t cut = 0; cut < n; cut += cut < 1024 ? 1 : 37)
        assert_true(status_of(image, cut) < 0);
}

static void test_damaged(void **state)
{
    (void)state;
    make(false);
    for (size_t i = 0; i < COUNT(forms); i++) {
        size_t n = forms[i].pack(made.data, made.size);
        for (size_t at = 0; at < n; at += n / 64) {
            packed[at] ^= 0x5a;
            status_of(packed, n);
            packed[at] ^= 0x5a;
        }
    }
}

static void test_headers_that_lie(void **state)
{
    size_t n;

    (void)state;
    make(true);
    n = wrap_bzimage(pack_gzip(made.data, made.size), made.size);
    put_u32(image + 0x248, 0xfffffff0);
    assert_int_equal(status_of(image, n), GT_E_TRUNC);
    put_u32(image + 0x248, 0x2c0);
    put_u32(image + 0x24c, 0xffffffff);
    assert_int_equal(status_of(image, n), GT_E_TRUNC);
    put_u32(image + 0x206, 0x207);
    assert_int_equal(status_of(image, n), GT_E_UNSUPPORTED);
    n = wrap_zboot(pack_gzip(made.data, made.size), "gzip");
    put_u32(image + 8, 0xffffffff);
    assert_int_equal(status_of(image, n), GT_E_TRUNC);
    put_u32(image + 8, (uint32_t)n);
    put_u32(image + 12, 1);
    assert_int_equal(status_of(image, n), GT_E_TRUNC);
    assert_int_equal(status_of("\x89LZO\0\r\n", 8), GT_E_UNSUPPORTED);
    assert_int_equal(status_of("\x02\x21\x4c\x18\0\0", 6), GT_E_TRUNC); /* lz4 of nothing */
    assert_int_equal(status_of("hello", 5), GT_E_FORMAT);
    assert_int_equal(status_of("", 0), GT_E_FORMAT);
    made.data[EI_DATA] = ELFDATA2MSB;
    assert_int_equal(status_of(made.data, made.size), GT_E_UNSUPPORTED);
}

/* However much it would unpack to. */
static void test_bound(void **state)
{
    static uint8_t zeros[ROOM];
    struct gt_kernel_unpacked out;
    struct gt_error err;

    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        size_t n = forms[i].pack(zeros, sizeof zeros);
        assert_int_equal(gt_kernel_unpack("f", packed, n, ROOM + 1, &out, &err), 1);
        assert_int_equal(out.size, ROOM);
        free(out.data);
        assert_int_equal(gt_kernel_unpack("f", packed, n, ROOM - 1, &out, &err), GT_E_RANGE);
        if (!strstr(err.text, forms[i].name))
            fail_msg("%s: %s", forms[i].name, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_wrapping),
        cmocka_unit_test(test_wrapped_without_compression),
        cmocka_unit_test(test_wrapped_in_layers),
        cmocka_unit_test(test_endless_wrapping),
        cmocka_unit_test(test_cut_everywhere),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_headers_that_lie),
        cmocka_unit_test(test_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
