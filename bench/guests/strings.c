/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings and malloc, as a program that reads and writes text does: numbers are printed, copied,
 * split and counted in a hash table of lists. `strings N` does it for N numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

struct word {
    struct word *next;
    unsigned count;
    char *text;
};

static struct word *table[BUCKETS];

static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h % BUCKETS;
}

static struct word *find(const char *s)
{
    for (struct word *w = table[hash(s)]; w; w = w->next)
        if (strcmp(w->text, s) == 0)
            return w;
    return NULL;
}

static void count(const char *s)
{
    struct word *w = find(s);
    if (!w) {
        w = malloc(sizeof *w);
        if (!w)
            exit(1);
        unsigned h = hash(s);
        *w = (struct word){.next = table[h], .text = strdup(s)};
        table[h] = w;
    }
    w->count++;
}

static void split(char *line)
{
    char *state = NULL;
    for (char *s = strtok_r(line, " ,", &state); s; s = strtok_r(NULL, " ,", &state))
        count(s);
}

static unsigned clear(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct word *w = table[i], *next; w; w = next) {
            next = w->next;
            sum += w->count;
            free(w->text);
            free(w);
        }
    return sum;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    for (unsigned i = 0; i < n; i++) {
        char line[64];
        snprintf(line, sizeof line, "%u,%x %s", i % 997, i * 7919 % 4093, i & 1 ? "odd" : "even");
        char *copy = strdup(line);
        if (!copy)
            return 1;
        split(copy);
        free(copy);
    }
    printf("%u\n", clear());
    return 0;
}
