/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A state machine: switches, gotos, loops with breaks, strings. */
/* clang-format off */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum state { BLANK, WORD, NUMBER };

static int counts[3];

static enum state next(enum state s, int c)
{
    switch (s) {
    case BLANK: if (isalpha(c)) return WORD; break;
    case WORD: if (isalnum(c)) return WORD; break;
    case NUMBER: if (isdigit(c)) return NUMBER; break;
    }
    if (isdigit(c))
        return NUMBER;
    return isalpha(c) ? WORD : BLANK;
}

static void scan(const char *text)
{
    enum state s = BLANK;
    for (const char *at = text; *at; at++) {
        enum state to = next(s, *at);
        if (to != s)
            counts[to]++;
        s = to;
    }
}

static int classify(int n)
{
    switch (n % 6) {
    case 0: n++; break;
    case 1: n += 2;
        /* fall through */
    case 2: n += 3; break;
    case 5: n = -n; break;
    default: n--; break;
    }
    return n;
}

static int digits(unsigned n)
{
    int k = 0;
    do {
        k++;
        n /= 10;
    } while (n);
    return k;
}

static int find(const char *text, char c)
{
    int at = 0;
    for (;;) {
        if (!text[at])
            goto missing;
        if (text[at] == c)
            break;
        at++;
    }
    return at;
missing: return -1;
}

int main(void)
{
    int sum = 0;
    scan("the 3 quick brown foxes jump over 2 lazy dogs x86 64");
    for (int i = -3; i < 30; i++)
        sum += classify(i);
    for (unsigned n = 1; n < 100000; n *= 7)
        sum += digits(n);
    for (const char *c = "aeiouxyz"; *c; c++) {
        if (*c == 'i')
            continue;
        sum += find("a quick brown fox", *c);
    }
    char copy[64] = "";
    strcat(copy, "abc");
    while (strlen(copy) < 20)
        strcat(copy, "de");
    printf("%d %d %d %d %zu\n", counts[0], counts[1], counts[2], sum, strlen(copy));
}
