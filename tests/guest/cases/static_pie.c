/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A position-independent executable without a dynamic linker.
 *
 * arches: x86_64 aarch64
 * flags: -static-pie -fPIE
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
