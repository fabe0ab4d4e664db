/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that may pass for a QEMU: prints how it was run. With PLUGINS it exports what a QEMU
 * that loads plugins does. */
#include <stdio.h>

#ifdef PLUGINS
void qemu_plugin_outs(const char *text);
__attribute__((visibility("default"))) void qemu_plugin_outs(const char *text)
{
    fputs(text, stderr);
}
#endif

int main(int argc, char **argv)
{
    printf("run as");
    for (int i = 0; i < argc; i++)
        printf(" %s", argv[i]);
    printf("\n");
    return 42;
}
