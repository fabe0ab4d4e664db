# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of figures. A tool's module has TABLES, a list of Table; bench/run measures and prints them,
bench/figures.py writes the same cells into docs/performance.md.

A row of a table is `Row(name, words, cases)`. `cases(bench)` yields (labels, measure): `labels` is a
dict that says what is measured; `measure()` gives a dict of figures, or a list of them. Both raise
Missing with the reason where something cannot be measured here, and measure.Failed where it did not
do what it should. A result is labels and figures, with 'row', 'words', and 'skipped' or 'failed'.
"""
import collections

# width 0: not in the terminal's table. Figures stand at the right.
Column = collections.namedtuple('Column', 'title width')
Row = collections.namedtuple('Row', 'name words cases')


class Missing(Exception):
    """What is to be measured cannot run here."""


class Table:
    """labels(result) and figures(result) give the cells of a result, as many as there are columns of
    each."""

    def __init__(self, rows, label_columns, figure_columns, labels, figures, title=None):
        self.rows, self.title = rows, title
        self.label_columns, self.figure_columns = label_columns, figure_columns
        self.labels, self.figures = labels, figures

    def cells(self, result):
        """The label cells, and the figure cells or what there is instead of them."""
        why = result.get('skipped') or result.get('failed')
        return self.labels(result), [] if why else self.figures(result), why

    def head(self):
        return ' '.join([c.title.ljust(c.width) for c in self.label_columns if c.width] +
                        [c.title.rjust(c.width) for c in self.figure_columns if c.width])

    def line(self, result):
        """For the terminal."""
        labels, figures, why = self.cells(result)
        out = [text.ljust(c.width) for text, c in zip(labels, self.label_columns) if c.width]
        out += [text.rjust(c.width) for text, c in zip(figures, self.figure_columns) if c.width]
        if why:
            out.append(('FAILED: ' if 'failed' in result else 'skipped: ') + why)
        return ' '.join(out)

    def markdown(self, results):
        columns = self.label_columns + self.figure_columns
        out = row(*(c.title for c in columns))
        out += '|' + '---|' * len(self.label_columns) + '---:|' * len(self.figure_columns) + '\n'
        for result in results:
            labels, figures, why = self.cells(result)
            if why:
                figures = ['not measured: ' + why] + [''] * (len(self.figure_columns) - 1)
            out += row(*labels, *figures)
        return out


def one(take):
    """A row's cases where there is but one: take(bench) gives its results."""
    return lambda bench: [({}, lambda: take(bench))]


def row(*cells):
    return '| ' + ' | '.join(cells) + ' |\n'


def wanted(value, most=None, least=None, form='%.2f'):
    """The cell of a wanted figure, and whether it was missed."""
    limit = most if most is not None else least
    if limit is None:
        return ''
    missed = value > most if most is not None else value < least
    return form % limit + (' **missed**' if missed else '')
