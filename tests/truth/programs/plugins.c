/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads plugins, uses and unloads them, and loads them again, in another order and place. */
#include <dlfcn.h>
#include <stdio.h>

static int callback(int n)
{
    return n + 1;
}

static int use(const char *path, int n)
{
    void *lib = dlopen(path, n % 2 ? RTLD_NOW : RTLD_LAZY);
    if (!lib) {
        puts(dlerror());
        return -1;
    }
    int (*fn)(int, int (*)(int)) = (int (*)(int, int (*)(int)))dlsym(lib, "plugin_run");
    int result = fn(n, callback);
    dlclose(lib);
    return result;
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < argc; i++)
            sum += use(argv[1 + (i + round) % (argc - 1)], 3 + i + round);
    printf("%d %d\n", sum, dlopen("/nowhere.so", RTLD_NOW) == NULL);
    return 0;
}
