/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest whose addresses are not the host's: guest_base, here forced.
 *
 * qemu: -B 0x10000000
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
