/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thirty functions that count their own calls (-finstrument-functions): the trace has the same
 * numbers.
 *
 * check: counts.py
 * flags: -O2 -foptimize-sibling-calls -finstrument-functions
 */
#include "counts.h"
