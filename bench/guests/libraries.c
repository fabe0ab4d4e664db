/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the library, calls a function of it and unloads it, N times. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long sum = 0;
    for (int n = argc > 2 ? atoi(argv[2]) : 0; n > 0; n--) {
        void *library = dlopen(argv[1], RTLD_NOW);
        int (*called)(int) = library ? (int (*)(int))dlsym(library, "called") : NULL;
        if (!called)
            return 1;
        sum += called(n);
        dlclose(library);
    }
    printf("%ld\n", sum);
    return 0;
}
