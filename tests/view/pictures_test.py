#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of the page, those of README.md and docs/view.md:

    RECORDING=boot.gtrace SCREENSHOTS=docs/pictures python3 tests/view/pictures_test.py

Without RECORDING they are of one that is made up. A picture with a single colour, or one, is no picture.
"""
import base64
import os
import struct
import sys
import zlib

from gttest import functions, made, screenshots
from gttest.results import need
from page_test import Page, random_steps
from viewing import Viewing

SIZE = 1000, 560
# Selects the longest call at a depth of 5 or more that begins later than a part of what is in sight.
LONGEST = '''(() => {
  const { state, callAt, setState } = guesttrace, calls = [];
  for (let i = 40; i < 95; i++) for (let depth = 5; depth < 12; depth++) {
    const hit = callAt(0, depth, state.from + (state.to - state.from) * i / 100);
    if (hit && hit.call && hit.call.begin > state.from && hit.call.begin + hit.call.duration < state.to) calls.push(hit.call);
  }
  calls.sort((a, b) => b.duration - a.duration);
  setState({ call: calls[0], function: calls[0].function });
})()'''


def colours(png):
    """How many different bytes the pixels have, and how large the picture is: PNG without its filters is enough for that."""
    at, data, size = 8, b'', None
    while at < len(png):
        length, kind = struct.unpack_from('>I4s', png, at)
        body = png[at + 8:at + 8 + length]
        size = struct.unpack_from('>II', body) if kind == b'IHDR' else size
        data += body if kind == b'IDAT' else b''
        at += 12 + length
    return len(set(zlib.decompress(data))), size


def take(p, name):
    png = base64.b64decode(p.browser.call('Page.captureScreenshot')['data'])
    number, size = colours(png)
    need(number > 30 and size == SIZE, name, 'has', number, 'different bytes and the size', size)
    screenshots.keep(name, png)


def test_pictures(t):
    path = os.environ.get('RECORDING') or made.Made(f'{t.folder}/data', step=random_steps).path
    with Viewing(path) as v, Page(t, v.url) as p:
        p.browser.call('Emulation.setDeviceMetricsOverride', width=SIZE[0], height=SIZE[1], deviceScaleFactor=1, mobile=False)
        p.ask('guesttrace.setSight(0, guesttrace.recording.duration * 0.09)')
        p.idle()
        take(p, 'timeline')
        p.ask('guesttrace.recording.functions.forEach(f => { f.path = f.module; })')  # not whose folders these are
        p.ask(LONGEST)
        p.press('t')
        take(p, 'call')
        p.press('t', '2')
        take(p, 'flame')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
