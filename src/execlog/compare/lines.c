/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of text, many bytes at a time: see lines.h. Every host has vectors of 16 bytes. */
#include "execlog/compare/lines.h"

#include <stdbool.h>
#include <string.h>

typedef uint8_t bytes __attribute__((vector_size(16)));

enum {
    WIDTH = sizeof(bytes),
    BLOCK = 16 * WIDTH,
    MOST_STEPS = 255, /* what a byte can count */
};

static inline bytes load(const char *at)
{
    bytes v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline bytes all(char c)
{
    return (uint8_t)c - (bytes){0};
}

static inline bytes newlines(const char *at)
{
    return (bytes)(load(at) == all('\n'));
}

uint64_t gt_diff_lines_count(const char *text, size_t n)
{
    uint64_t lines = 0;
    const char *end = text + n;
    while (end - text >= WIDTH) {
        bytes sum = {0};
        for (int i = 0; i < MOST_STEPS && end - text >= WIDTH; i++, text += WIDTH)
            sum -= newlines(text);
        for (int i = 0; i < WIDTH; i++)
            lines += sum[i];
    }
    for (; text < end; text++)
        lines += *text == '\n';
    return lines;
}

static inline bool any(bytes v)
{
    uint64_t halves[2];
    memcpy(halves, &v, sizeof v);
    return halves[0] | halves[1];
}

/* Whole blocks in which no line begins that is another one. */
static inline __attribute__((always_inline)) size_t blocks_alike(const char *text, size_t n,
                                                                 size_t prefix)
{
    size_t at = 0;
    for (; n - at >= BLOCK + prefix; at += BLOCK) {
        bytes other = {0};
        for (const char *p = text + at; p < text + at + BLOCK; p += WIDTH) {
            bytes differs = {0};
            for (size_t i = 0; i < prefix; i++)
                differs |= load(p + 1 + i) ^ all(text[i]);
            other |= newlines(p) & (bytes)(differs != 0);
        }
        if (any(other))
            break;
    }
    return at;
}

size_t gt_diff_lines_alike(const char *text, size_t n, size_t prefix)
{
    const char *end = text + n, *at = text;
    if (prefix == 3) /* one digit, ", " */
        at += blocks_alike(text, n, 3);
    else if (prefix == 4)
        at += blocks_alike(text, n, 4);
    do {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    } while (prefix && (size_t)(end - at) >= prefix && memcmp(at, text, prefix) == 0);
    return (size_t)(at - text);
}
