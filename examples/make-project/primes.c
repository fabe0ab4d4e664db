/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts primes, traced: primes LIMIT [TRACE-OPTION]..., as "primes 30 'prime_*'". */
#include "trace-primes.h"

#include <guesttrace/control.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 1000000 };

static unsigned strike(bool *struck, unsigned n, unsigned limit)
{
    unsigned count = 0;
    for (unsigned i = 2 * n; i <= limit; i += n, count++)
        struck[i] = true;
    return count;
}

static unsigned count_primes(unsigned limit)
{
    static bool struck[LIMIT + 1];
    unsigned found = 0;
    for (unsigned n = 2; n <= limit; n++) {
        if (struck[n])
            continue;
        found++;
        trace_prime_found(n);
        unsigned count = strike(struck, n, limit);
        trace_multiples_struck(n, count);
    }
    return found;
}

int main(int argc, char **argv)
{
    struct gt_trace_error error;
    unsigned limit = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
    for (int i = 2; i < argc; i++)
        if (gt_trace_parse(argv[i], stdout, stderr, &error) < 0) {
            fprintf(stderr, "primes: %s\n", error.text);
            return 1;
        }
    printf("%u primes\n", count_primes(limit < LIMIT ? limit : LIMIT));
    return 0;
}
