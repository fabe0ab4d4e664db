/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of packed records that a test makes, in a folder of its own. */
#ifndef TESTS_UNIT_FORMAT_COMPACT_FILE_UTIL_H
#define TESTS_UNIT_FORMAT_COMPACT_FILE_UTIL_H

#include "compact_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int set_up(void **state)
{
    return make_folder(state) < 0 ? -1 : gt_compact_file_create(path, &err);
}

static inline void append_raw(const void *data, size_t size)
{
    assert_int_equal(gt_compact_file_append(path, data, size, &err), 0);
}

/* n blocks of two packers in turn, with some segments each; words from 1 to 2 n and 1000 more. */
static inline void add_records(unsigned n, uint64_t time)
{
    struct gt_compact_packer *p[2];
    const uint8_t *block;
    size_t size;
    for (uint32_t i = 0; i < 2; i++) {
        const struct gt_compact_packer_options o = {.packer = 7 + i, .exact = true, .segment = 5};
        assert_int_equal(gt_compact_packer_create(&o, &p[i]), 0);
    }
    for (unsigned i = 0; i < n; i++) {
        const struct gt_compact_record r[] = {{time + i, i + 1}, {time + i + 3, 1000 + i}};
        assert_int_equal(gt_compact_packer_put(p[i % 2], 5, r, 2), 0);
        assert_int_equal(gt_compact_packer_end_block(p[i % 2], &block, &size), 0);
        append_raw(block, size);
    }
    gt_compact_packer_destroy(p[0]);
    gt_compact_packer_destroy(p[1]);
}

static inline off_t size_now(void)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static inline void append_index(void)
{
    assert_int_equal(gt_compact_index_append(path, &err), 0);
}

static inline uint8_t *read_all(size_t *size)
{
    int fd = open(path, O_RDONLY);
    *size = (size_t)size_now();
    uint8_t *data = malloc(*size);
    assert_int_equal(read(fd, data, *size), *size);
    close(fd);
    return data;
}

static inline void write_all(const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

#endif
