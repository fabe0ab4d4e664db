/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that are loaded, left and loaded again.
 *
 * flags: -Wl,--export-dynamic
 * libs: -ldl
 * before: libone.so -shared -fPIC -DLIBRARY=one
 * before: libtwo.so -shared -fPIC -DLIBRARY=two
 */
#include "guest.h"

#include <dlfcn.h>
#include <stdio.h>

#define PASTE(a, b) a##_##b
#define NAME(a, b)  PASTE(a, b)

#ifdef LIBRARY
F void NAME(LIBRARY, inner)(void)
{
    WORK();
}

F void NAME(LIBRARY, outer)(void)
{
    NAME(LIBRARY, inner)();
    WORK();
}
#else
F static void use(const char *path, const char *name)
{
    void *handle = dlopen(path, RTLD_NOW);
    if (!handle) {
        puts(dlerror());
        return;
    }
    void (*fn)(void) = (void (*)(void))dlsym(handle, name);
    fn();
    dlclose(handle);
}

int main(void)
{
    use("./libone.so", "one_outer");
    use("./libtwo.so", "two_outer");
    use("./libone.so", "one_outer");
    return 0;
}
#endif

/* calls:
main
  use
    one_outer
      one_inner
  use
    two_outer
      two_inner
  use
    one_outer
      one_inner
 */
