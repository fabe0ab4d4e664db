/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Macros, one-line functions, K&R braces, unsigned 64-bit and narrow arithmetic. */
/* clang-format off */
#include <inttypes.h>
#include <stdio.h>

#define EACH_BIT(i) for (int i = 0; i < 32; i++)
#define MAX(a, b)   ((a) > (b) ? (a) : (b))

static uint32_t rotate(uint32_t x, int k) { return x << (k & 31) | x >> (-k & 31); }
static int popcount(uint32_t x) { int n = 0; for (; x; x &= x - 1) n++; return n; }

static uint32_t crc(const uint8_t *at, const uint8_t *end) {
    uint32_t sum = ~0u;
    while (at < end) {
        sum ^= *at++;
        for (int k = 0; k < 8; k++) {
            if (sum & 1) {
                sum = sum >> 1 ^ 0xedb88320u;
            } else {
                sum >>= 1;
            }
        }
    }
    return ~sum;
}

static uint64_t power(uint64_t base, unsigned exponent) {
    uint64_t result = 1;
    while (exponent) {
        if (exponent & 1)
            result *= base;
        base *= base;
        exponent >>= 1;
    }
    return result;
}

static void unused_one(void) { puts("never"); }

int main(int argc, char **argv) {
    uint32_t x = 0x12345678;
    int most = 0;
    (void)argv;
    EACH_BIT(i) {
        x = rotate(x, i) + (uint32_t)i;
        most = MAX(most, popcount(x));
    }
    uint8_t text[] = "123456789";
    uint8_t narrow = 250;
    for (int i = 0; i < 10; i++)
        narrow++;
    if (argc > 9)
        unused_one();
    printf("%d %08" PRIx32 " %u %" PRIu64 "\n", most, crc(text, text + 9), narrow, power(3, 21));
    return 0;
}
