/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State that the recording threads and the writer share: see simple.h. */
#include "events/library/record/simple.h"

struct gt_events_simple gt_events_simple;
_Atomic uint64_t gt_events_lost;
