/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks compressed kernels and modules; the first bytes select the method.
 *
 * Only the first stream of the input is unpacked; bytes after it are ignored (an x86_64 payload is
 * followed by its unpacked size). The output buffer doubles as needed, up to GT_KERNEL_SIZE_MAX.
 */
#include "base/bytes.h"
#include "guest/kernel/private.h"

#include <bzlib.h>
#include <lz4.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

struct packed {
    const uint8_t *at;
    size_t left;
};

struct unpacked {
    uint8_t *data;
    size_t size, cap, limit;
};

/* Room for at least one more byte. */
static int grow(struct unpacked *out)
{
    size_t cap = out->cap ? out->cap * 2 : 1u << 20;
    uint8_t *data;

    if (out->size < out->cap)
        return GT_OK;
    if (out->cap == out->limit)
        return GT_E_RANGE;
    if (cap > out->limit)
        cap = out->limit;
    data = realloc(out->data, cap);
    if (!data)
        return GT_E_NOMEM;
    out->data = data;
    out->cap = cap;
    return GT_OK;
}

static int unpack_gzip(struct packed *in, struct unpacked *out)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)in->at, .avail_in = (uInt)in->left};
    int status = GT_OK, r = Z_OK;

    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return GT_E_NOMEM;
    while (r == Z_OK && (status = grow(out)) == GT_OK) {
        z.next_out = out->data + out->size;
        z.avail_out = (uInt)(out->cap - out->size);
        r = inflate(&z, Z_NO_FLUSH);
        out->size = out->cap - z.avail_out;
    }
    inflateEnd(&z);
    if (status != GT_OK || r == Z_STREAM_END)
        return status;
    return r == Z_BUF_ERROR ? GT_E_TRUNC : r == Z_MEM_ERROR ? GT_E_NOMEM : GT_E_FORMAT;
}

/* What a dictionary may take; that of kernels is at most 128 MiB. */
#define DICTIONARY_MAX (300u << 20)

static int run_lzma(lzma_stream *z, struct packed *in, struct unpacked *out)
{
    lzma_ret r = LZMA_OK;
    int status = GT_OK;

    z->next_in = in->at;
    z->avail_in = in->left;
    while (r == LZMA_OK && (status = grow(out)) == GT_OK) {
        z->next_out = out->data + out->size;
        z->avail_out = out->cap - out->size;
        r = lzma_code(z, LZMA_FINISH);
        out->size = out->cap - z->avail_out;
    }
    lzma_end(z);
    if (status != GT_OK || r == LZMA_STREAM_END)
        return status;
    if (r == LZMA_MEM_ERROR)
        return GT_E_NOMEM;
    return r == LZMA_BUF_ERROR ? GT_E_TRUNC : r == LZMA_MEMLIMIT_ERROR ? GT_E_RANGE : GT_E_FORMAT;
}

static int unpack_xz(struct packed *in, struct unpacked *out)
{
    lzma_stream z = LZMA_STREAM_INIT;

    if (lzma_stream_decoder(&z, DICTIONARY_MAX, 0) != LZMA_OK)
        return GT_E_NOMEM;
    return run_lzma(&z, in, out);
}

static int unpack_lzma(struct packed *in, struct unpacked *out)
{
    lzma_stream z = LZMA_STREAM_INIT;

    if (lzma_alone_decoder(&z, DICTIONARY_MAX) != LZMA_OK)
        return GT_E_NOMEM;
    return run_lzma(&z, in, out);
}

static int unpack_zstd(struct packed *in, struct unpacked *out)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    ZSTD_inBuffer from = {in->at, in->left, 0};
    size_t r = 1;
    int status = GT_OK;

    if (!z)
        return GT_E_NOMEM;
    while (r != 0 && !ZSTD_isError(r) && (status = grow(out)) == GT_OK) {
        ZSTD_outBuffer to = {out->data, out->cap, out->size};
        r = ZSTD_decompressStream(z, &to, &from);
        /* input at its end and room in the output: nothing more can come */
        if (from.pos == from.size && to.pos < to.size && r != 0 && !ZSTD_isError(r))
            status = GT_E_TRUNC;
        out->size = to.pos;
        if (status != GT_OK)
            break;
    }
    ZSTD_freeDStream(z);
    if (status != GT_OK || r == 0)
        return status;
    return GT_E_FORMAT;
}

static int unpack_bzip2(struct packed *in, struct unpacked *out)
{
    bz_stream z = {.next_in = (char *)(uintptr_t)in->at, .avail_in = (unsigned)in->left};
    int status = GT_OK, r = BZ_OK;

    if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK)
        return GT_E_NOMEM;
    while (r == BZ_OK && (status = grow(out)) == GT_OK) {
        z.next_out = (char *)out->data + out->size;
        z.avail_out = (unsigned)(out->cap - out->size);
        r = BZ2_bzDecompress(&z);
        if (r == BZ_OK && z.avail_in == 0 && z.avail_out > 0)
            status = GT_E_TRUNC;
        out->size = out->cap - z.avail_out;
        if (status != GT_OK)
            break;
    }
    BZ2_bzDecompressEnd(&z);
    if (status != GT_OK || r == BZ_STREAM_END)
        return status;
    return r == BZ_MEM_ERROR ? GT_E_NOMEM : GT_E_FORMAT;
}

static int unpack_lz4(struct packed *in, struct unpacked *out)
{
    LZ4F_dctx *z;
    size_t r = 1;
    int status = GT_OK;

    if (LZ4F_isError(LZ4F_createDecompressionContext(&z, LZ4F_VERSION)))
        return GT_E_NOMEM;
    while (r != 0 && !LZ4F_isError(r) && (status = grow(out)) == GT_OK) {
        size_t room = out->cap - out->size, taken = in->left;
        r = LZ4F_decompress(z, out->data + out->size, &room, in->at, &taken, NULL);
        if (LZ4F_isError(r))
            break;
        out->size += room;
        in->at += taken;
        in->left -= taken;
        if (r != 0 && taken == 0 && room == 0) {
            status = GT_E_TRUNC;
            break;
        }
    }
    LZ4F_freeDecompressionContext(z);
    if (status != GT_OK || r == 0)
        return status;
    return GT_E_FORMAT;
}

#define LZ4_BLOCK (8u << 20)

/* lz4 -l, which kernels are compressed with: the magic, then blocks of a length and its bytes, each
 * unpacking to at most 8 MiB, without an end mark. */
static int unpack_lz4_legacy(struct packed *in, struct unpacked *out)
{
    struct gt_bytes_reader r;
    uint8_t *block = malloc(LZ4_BLOCK);
    int status = block ? GT_OK : GT_E_NOMEM, n = 0;

    gt_bytes_reader_init(&r, in->at, in->left);
    gt_bytes_read_u32(&r);
    while (status == GT_OK && r.left >= 4) {
        uint32_t length = gt_bytes_read_u32(&r);
        if (length > r.left) {
            /* the unpacked size after the payload of an x86_64 image */
            status = r.left == 0 && out->size ? GT_OK : GT_E_TRUNC;
            break;
        }
        n = length <= (uint32_t)LZ4_compressBound(LZ4_BLOCK)
                ? LZ4_decompress_safe((const char *)gt_bytes_read_bytes(&r, length), (char *)block,
                                      (int)length, LZ4_BLOCK)
                : -1;
        if (n < 0)
            status = GT_E_FORMAT;
        while (status == GT_OK && out->cap - out->size < (size_t)n) {
            size_t size = out->size;
            out->size = out->cap;
            status = grow(out);
            out->size = size;
        }
        if (status == GT_OK && n > 0) {
            memcpy(out->data + out->size, block, (size_t)n);
            out->size += (size_t)n;
        }
    }
    free(block);
    return status;
}

static const struct form {
    const char *name, *magic;
    unsigned size;
    int (*unpack)(struct packed *in, struct unpacked *out); /* NULL: known, not possible */
} forms[] = {
    {"gzip", "\x1f\x8b\x08", 3, unpack_gzip},
    {"xz",
     "\xfd"
     "7zXZ\0",
     6, unpack_xz},
    {"lzma", "\x5d\0\0", 3, unpack_lzma},
    {"zstd", "\x28\xb5\x2f\xfd", 4, unpack_zstd},
    {"lz4", "\x04\x22\x4d\x18", 4, unpack_lz4},
    {"lz4", "\x02\x21\x4c\x18", 4, unpack_lz4_legacy},
    {"bzip2", "BZh", 3, unpack_bzip2},
    {"lzo", "\x89LZO", 4, NULL},
};

int gt_kernel_unpack(const char *path, const uint8_t *data, size_t size, size_t limit,
                     struct gt_kernel_unpacked *out, struct gt_error *err)
{
    struct packed in = {data, size};
    struct unpacked to = {.limit = limit};
    const struct form *f = forms, *end = forms + sizeof forms / sizeof forms[0];
    int status;

    while (f < end && (size < f->size || memcmp(data, f->magic, f->size) != 0))
        f++;
    if (f == end)
        return 0;
    if (!f->unpack)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%s: compressed with %s, expected gzip, xz, lzma, zstd, lz4 or bzip2",
                            path, f->name);
    status = f->unpack(&in, &to);
    if (status == GT_OK && to.size == 0)
        status = GT_E_TRUNC;
    if (status != GT_OK) {
        free(to.data);
        return gt_error_set(err, status, "%s: %s of %zu bytes cannot be unpacked after %zu: %s",
                            path, f->name, size, to.size, gt_error_status_text(status));
    }
    *out = (struct gt_kernel_unpacked){to.data, to.size, f->name};
    return 1;
}
