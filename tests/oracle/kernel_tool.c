/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read of a kernel's or a module's file, for scripts.
 *
 *   kernel_tool FILE          a line for the file, then "address size type name [module]" of
 * functions kernel_tool --all FILE    "address type name" of every symbol, as /proc/kallsyms says
 * it kernel_tool --module FILE "section+offset size type name" of a module's functions kernel_tool
 * --member FILE STRUCT MEMBER...   "STRUCT.MEMBER offset" kernel_tool --time FILE   seconds that
 * the load takes
 */
#include "guest/kernel/kernel.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef unsigned long long ull;

static int print_functions(const struct gt_kernel *k)
{
    printf("# %s: machine %u, %u bits, text %llx-%llx, init %llx-%llx, load %llx\n# %s\n", k->form,
           k->e_machine, k->bits, (ull)k->text_lo, (ull)k->text_hi, (ull)k->init_lo,
           (ull)k->init_hi, (ull)k->load_lo, k->banner);
    for (size_t i = 0; i < k->n_sym; i++)
        printf("%016llx %llx %c %s\n", (ull)k->sym[i].addr, (ull)k->sym[i].size, k->sym[i].type,
               k->sym[i].name);
    for (size_t i = 0; i < k->n_module; i++)
        for (size_t j = 0; j < k->module[i].n_sym; j++) {
            const struct gt_kernel_symbol *s = &k->module[i].sym[j];
            printf("%016llx %llx %c %s [%s]\n", (ull)s->addr, (ull)s->size, s->type, s->name,
                   k->module[i].name);
        }
    return 0;
}

static int print_all(const struct gt_kernel *k)
{
    for (size_t i = 0; i < k->n_all; i++)
        printf("%016llx %c %s\n", (ull)k->all[i].addr, k->all[i].type, k->all[i].name);
    return 0;
}

static int print_members(const struct gt_kernel *k, int n, char **names)
{
    uint32_t value;
    int status = gt_kernel_sizeof(k, names[0], &value);

    if (status == GT_OK)
        printf("%s %u\n", names[0], value);
    for (int i = 1; i < n && status == GT_OK; i++) {
        int found = gt_kernel_member(k, names[0], names[i], &value);
        if (found == GT_OK)
            printf("%s.%s %u\n", names[0], names[i], value);
        else
            printf("%s.%s %s\n", names[0], names[i], gt_error_status_text(found));
    }
    return status == GT_OK ? 0 : 1;
}

static int print_module(const char *path)
{
    struct gt_kernel_ko *m;
    struct gt_error err;

    if (gt_kernel_module_load(path, &m, &err) != GT_OK) {
        fprintf(stderr, "kernel_tool: %s\n", err.text);
        return 1;
    }
    printf("# %s: machine %u, %u bits\n", m->name, m->e_machine, m->bits);
    for (size_t i = 0; i < m->n_section; i++)
        printf("# %s%s at %llx, %llx bytes\n", m->section[i].name,
               m->section[i].init ? " (init)" : "", (ull)m->section[i].at, (ull)m->section[i].size);
    for (size_t i = 0; i < m->n_sym; i++)
        printf("%s+%llx %llx %c %s\n", m->section[m->sym[i].section].name, (ull)m->sym[i].offset,
               (ull)m->sym[i].size, m->sym[i].type, m->sym[i].name);
    gt_kernel_module_free(m);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    struct timespec from, to;
    struct gt_kernel *k;
    struct gt_error err;
    int result = 0;

    if (argc < 2 || (argc < 3 && argv[1][0] == '-'))
        return 2;
    if (!strcmp(what, "--module"))
        return print_module(argv[2]);
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (gt_kernel_load(argv[argc > 2 ? 2 : 1], &k, &err) != GT_OK) {
        fprintf(stderr, "kernel_tool: %s\n", err.text);
        return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (!strcmp(what, "--time"))
        printf("%.3f\n",
               (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
    else if (!strcmp(what, "--all"))
        result = print_all(k);
    else if (!strcmp(what, "--member"))
        result = print_members(k, argc - 3, argv + 3);
    else
        result = print_functions(k);
    gt_kernel_free(k);
    return result;
}
