/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Protocol buffers, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calls/export/protobuf.h"

#define ASSERT_BYTES(p, ...)                                                                       \
    do {                                                                                           \
        const uint8_t wanted[] = {__VA_ARGS__};                                                    \
        assert_int_equal((p).len, sizeof wanted);                                                  \
        assert_memory_equal((p).data, wanted, sizeof wanted);                                      \
    } while (0)

static void puts_numbers(void **state)
{
    (void)state;
    struct gt_export_protobuf p = {0};
    gt_export_protobuf_u64(&p, 1, 150);
    gt_export_protobuf_u64(&p, 16, 0);
    gt_export_protobuf_varint(&p, 127);
    gt_export_protobuf_varint(&p, 128);
    ASSERT_BYTES(p, 0x08, 0x96, 0x01, 0x80, 0x01, 0x00, 0x7f, 0x80, 0x01);
    p.len = 0;
    gt_export_protobuf_varint(&p, UINT64_MAX);
    ASSERT_BYTES(p, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    gt_export_protobuf_free(&p);
}

static void puts_texts(void **state)
{
    (void)state;
    struct gt_export_protobuf p = {0};
    gt_export_protobuf_text(&p, 2, "testing");
    ASSERT_BYTES(p, 0x12, 7, 't', 'e', 's', 't', 'i', 'n', 'g');
    p.len = 0;
    gt_export_protobuf_text(&p, 2, "a\xff\xc3\xa9\xe2\x82"); /* the last character is cut */
    ASSERT_BYTES(p, 0x12, 12, 'a', 0xef, 0xbf, 0xbd, 0xc3, 0xa9, 0xef, 0xbf, 0xbd, 0xef, 0xbf,
                 0xbd);
    p.len = 0;
    gt_export_protobuf_text(&p, 2, "");
    gt_export_protobuf_bytes(&p, 2, "\xff", 1);
    ASSERT_BYTES(p, 0x12, 0, 0x12, 1, 0xff);
    gt_export_protobuf_free(&p);
}

/* Messages in messages whose lengths take one byte and more. */
static void nests_messages(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40000; n += n / 8 + 1) {
        struct gt_export_protobuf p = {0};
        size_t outer = gt_export_protobuf_begin(&p, 1);
        size_t inner = gt_export_protobuf_begin(&p, 2);
        for (size_t i = 0; i < n; i++)
            gt_export_protobuf_varint(&p, i & 0x7f);
        gt_export_protobuf_end(&p, inner);
        gt_export_protobuf_end(&p, outer);
        gt_export_protobuf_varint(&p, 5);

        uint8_t head[24], length[GT_PROTOBUF_VARINT], *at = head;
        size_t inner_length = (size_t)(gt_export_protobuf_put(length, n) - length);
        *at++ = 0x0a;
        at = gt_export_protobuf_put(at, 1 + inner_length + n);
        *at++ = 0x12;
        at = gt_export_protobuf_put(at, n);
        assert_int_equal(p.len, (size_t)(at - head) + n + 1);
        assert_memory_equal(p.data, head, (size_t)(at - head));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p.data[(size_t)(at - head) + i], i & 0x7f);
        assert_int_equal(p.data[p.len - 1], 5);
        gt_export_protobuf_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_numbers),
        cmocka_unit_test(puts_texts),
        cmocka_unit_test(nests_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
