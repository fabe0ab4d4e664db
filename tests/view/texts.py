# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts as the page has them."""
import decimal


def time_text(ns):
    """A time of four digits or so, as docs/view.md says."""
    if ns == 0:
        return '0'
    for unit, name in ((60e9, 'min'), (1e9, 's'), (1e6, 'ms'), (1e3, 'µs')):
        if ns >= unit:
            n = decimal.Decimal(ns / unit)
            digits = 1 if n >= 100 else 2 if n >= 10 else 3
            return f'{n.quantize(decimal.Decimal(10) ** -digits, decimal.ROUND_HALF_UP)} {name}'
    return f'{ns} ns'
