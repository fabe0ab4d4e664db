/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest in a reserved range of addresses.
 *
 * qemu: -R 0x40000000
 * arches: aarch64 riscv64
 * flags: -no-pie -static
 */
#include "signal_and_jump.h"

/* calls:
main
  on_signal
    leaf
  down
    down
      down
  leaf
 */
