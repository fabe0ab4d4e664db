# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of gttest's readers share."""
from gttest import cases
from gttest.results import Failure

CHANGES = (0, 1, 0x7f, 0x80, 0xff)


class ReaderCase(cases.ScratchCase):
    def refused(self, read, data, words):
        with self.assertRaises(Failure) as caught:
            read(data)
        self.assertIn(words, str(caught.exception))

    def harmless(self, read, data):
        """Each part from the beginning, and each byte changed: read, or Failure. How many were refused."""
        refused = 0
        changed = [data[:at] + bytes([value]) + data[at + 1:] for at in range(len(data)) for value in CHANGES]
        for bad in [data[:n] for n in range(len(data))] + changed:
            try:
                read(bad)
            except Failure:
                refused += 1
        return refused

    def refuses_cuts(self, read, data, good=()):
        """All parts from the beginning but the good ones."""
        for n in range(len(data)):
            if n in good:
                read(data[:n])
                continue
            with self.assertRaises(Failure, msg=f'{n} of {len(data)} bytes'):
                read(data[:n])
