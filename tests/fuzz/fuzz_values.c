/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A values file, written and read again it stays as it is; the same bytes as a list of a user, as
 * words and as uftrace's payload. */
#include "recording/values/payload.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
    if (!good)
        abort();
}

static void check_file(const char *text, size_t size)
{
    struct gt_values v;
    struct gt_text t = {0}, again = {0};
    struct gt_error err;
    if (gt_values_read(text, size, &v, &err))
        return;
    require(gt_values_write(&t, &v, true, NULL) == 0);
    gt_values_free(&v);
    require(gt_values_read(t.data, t.len, &v, NULL) == 0);
    require(gt_values_write(&again, &v, true, NULL) == 0);
    require(t.len == again.len && !memcmp(t.data, again.data, t.len));
    gt_values_free(&v);
    gt_text_free(&t);
    gt_text_free(&again);
}

static const struct gt_value_item items[] = {
    {.format = 's'},
    {.format = 't', .size = 12},
    {.format = 'd', .size = 2},
    {.format = 'C', .size = 3},
    {.format = 'f', .size = 10},
    {.format = 'e', .size = 4},
};

static void show(const struct gt_value_list *list)
{
    struct gt_value_item item[GT_VALUES_MOST];
    struct gt_text t = {0};
    for (size_t i = 0; i < list->n; i++)
        item[i] = items[i % (sizeof items / sizeof *items)];
    gt_values_show(&t, NULL, item, list, true, NULL, NULL);
    gt_text_free(&t);
}

/* What was read is written as bytes that are read as the same again. */
static void check_uftrace(const struct gt_value_list *list)
{
    enum { MOST = 4096, ROOM = GT_VALUES_MOST * (MOST + 16) };
    static uint8_t once[ROOM], twice[ROOM];
    struct gt_value_list again;
    struct gt_bytes_reader r;
    size_t n = gt_values_put_uftrace(once, items, list, MOST);
    require(n % 8 == 0 && n <= ROOM);
    gt_bytes_reader_init(&r, once, n);
    require(gt_values_get_uftrace(&r, items, list->n, &again) == 0 && r.left == 0);
    require(gt_values_put_uftrace(twice, items, &again, MOST) == n && !memcmp(once, twice, n));
}

static void check_payload(const uint8_t *data, size_t size)
{
    struct gt_value_list list;
    struct gt_bytes_reader r;
    uint64_t *words = malloc(size + 8), put[GT_VALUES_BYTES / 8];
    require(words != NULL);
    memcpy(words, data, size);
    size_t n = gt_values_get_words(words, size / 8, &list);
    require(n <= size / 8);
    if (n) {
        require(gt_values_put_words(put, &list) == n && !memcmp(put, words, n * 8));
        show(&list);
    }
    free(words);
    gt_bytes_reader_init(&r, data, size);
    if (gt_values_get_uftrace(&r, items, sizeof items / sizeof *items, &list) == 0) {
        require((size - r.left) % 8 == 0);
        check_uftrace(&list);
        show(&list);
    }
}

static void check_list(const uint8_t *data, size_t size)
{
    struct gt_value_request request[2 * GT_VALUES_MOST];
    char *text = malloc(size + 1);
    void *storage;
    size_t n;
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    gt_value_is_item(text, size);
    if (gt_value_parse(text, request, &n, &storage, NULL) == 0) {
        require(n > 0 && n <= 2 * GT_VALUES_MOST);
        free(storage);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_file((const char *)data, size);
    check_payload(data, size);
    check_list(data, size);
    return 0;
}
