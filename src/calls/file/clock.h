/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: steps in time of a clock that does not repeat them.
 *
 * What follows a context takes about as long as it did before: the table has an average of that,
 * in place of the step. A step is a byte, and for longer ones more, in one of some columns, chosen
 * by the average: so zstd finds in each column bytes of a few values.
 *
 * A byte's level is about 64 times the binary logarithm of the step; the average is one of levels,
 * times 4. 0: nothing is known.
 */
#ifndef GT_CALLS_FILE_CLOCK_H
#define GT_CALLS_FILE_CLOCK_H

#include <stdint.h>

enum {
    /* Levels start with that of 15 ns, and end with that of 1023 ns. */
    GT_CLOCK_LEVELS = 6 * 64,
    GT_CLOCK_SHIFT = 3, /* at least: levels of one column */
    GT_CLOCK_MOST_SHIFT = 9,
    GT_CLOCK_COLUMNS = ((GT_CLOCK_LEVELS - 1) >> GT_CLOCK_SHIFT) + 1,
    /* Bytes of a step: itself; from LONG on: how often 256 it is longer, and a byte in LOW; ESCAPE:
     * a signed number in FAR. */
    GT_CLOCK_LONG = 240,
    GT_CLOCK_ESCAPE = 255,
    GT_CLOCK_BYTES = 256,
};

/* Of each byte. */
struct gt_compact_clock_levels {
    uint16_t of[GT_CLOCK_BYTES];
};

static inline void gt_compact_clock_init(struct gt_compact_clock_levels *l)
{
    for (unsigned byte = 0; byte < GT_CLOCK_BYTES; byte++) {
        unsigned above = byte < GT_CLOCK_LONG ? 0 : byte - GT_CLOCK_LONG;
        unsigned v = 1 + (byte < GT_CLOCK_LONG ? byte : GT_CLOCK_LONG + 256 * above + 128);
        unsigned octave = 31u - (unsigned)__builtin_clz(v);
        unsigned level = 64 * octave + (v << 6 >> octave) - 64;
        level = level < 4 * 64 ? 0 : level - 4 * 64;
        l->of[byte] = (uint16_t)(level < GT_CLOCK_LEVELS ? level : GT_CLOCK_LEVELS - 1);
    }
}

/* The average, with one more byte. */
static inline uint32_t gt_compact_clock_learn(const struct gt_compact_clock_levels *l,
                                              uint32_t average, unsigned byte)
{
    uint32_t level = l->of[byte];
    return average ? average - (average >> 2) + level : 4 * level;
}

/* How many columns there are; the column of a step is average >> shift >> 2. */
static inline unsigned gt_compact_clock_columns(unsigned shift)
{
    return ((GT_CLOCK_LEVELS - 1) >> shift) + 1;
}

#endif
