/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plugin of exit_test.py that ends QEMU with status 3 from a callback, where the block at
 * -DADDRESS begins. VERSION: of QEMU's plugin interface. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int qemu_plugin_version = VERSION;
uint64_t qemu_plugin_tb_vaddr(const void *tb);
void qemu_plugin_register_vcpu_tb_exec_cb(void *tb, void (*cb)(unsigned, void *), int flags,
                                          void *data);
#if VERSION < 7
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*cb)(uint64_t, void *));
#else
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*cb)(void *, void *), void *data);
#endif
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static void on_block(unsigned vcpu, void *data)
{
    (void)vcpu, (void)data;
    exit(3);
}

static void translate(void *tb)
{
    if (qemu_plugin_tb_vaddr(tb) == ADDRESS)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, 0, NULL);
}

#if VERSION < 7
static void on_translate(uint64_t id, void *tb)
{
    (void)id;
    translate(tb);
}
#else
static void on_translate(void *tb, void *data)
{
    (void)data;
    translate(tb);
}
#endif

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
#if VERSION < 7
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
#else
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate, NULL);
#endif
    return 0;
}
