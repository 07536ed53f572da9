"""Pictures of Neovim's screen for the docs, as SVG: their text can be searched, and a diff shows what changed."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from support.editors.neovim import Neovim

WIDTH, HEIGHT = 8.4, 18
"""Pixels of a character."""

NO_BREAK = "\u00a0"
"""A space that is not collapsed."""

# Each cell of the screen as its character, foreground, background and weight.
_CELLS = """
local normal = vim.api.nvim_get_hl(0, { name = "Normal" })
local rows = {}
for row = 0, vim.o.lines - 1 do
  local cells = {}
  for column = 0, vim.o.columns - 1 do
    local cell = vim.api.nvim__inspect_cell(1, row, column)
    local look = cell[2] or {}
    local front, back = look.foreground or normal.fg, look.background or normal.bg
    if look.reverse then front, back = back, front end
    table.insert(cells, { cell[1], ("#%06x"):format(front), ("#%06x"):format(back), look.bold == true })
  end
  table.insert(rows, cells)
end
return { rows = rows, back = ("#%06x"):format(normal.bg) }
"""


def picture(nvim: Neovim, name: str) -> None:
    """Takes a picture for the docs, if they are wanted. The editor has to stand on a terminal."""
    if folder := os.environ.get("STET_TEST_PICTURES"):
        nvim.lua(_CELLS)  # the numbers of colors change with the first look at them
        nvim.command("redraw!")
        Path(folder, f"neovim-{name}.svg").write_text(svg(nvim.lua(_CELLS)), encoding="utf-8")


def svg(screen: Any) -> str:
    """What the screen shows, a text element for each run of one look."""
    rows = screen["rows"]
    width, height = len(rows[0]) * WIDTH + 16, len(rows) * HEIGHT + 16
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}">',
        f'<rect width="100%" height="100%" fill="{screen["back"]}"/>',
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">',
    ]
    for row, cells in enumerate(rows):
        column = 0
        for (front, back, bold), run in groupby(cells, key=lambda cell: tuple(cell[1:])):
            text = "".join(cell[0] for cell in run)
            x, y, wide = 8 + column * WIDTH, 8 + row * HEIGHT, len(text) * WIDTH
            column += len(text)
            if back != screen["back"]:
                drawn.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{HEIGHT}" fill="{back}"/>')
            if text.strip():
                weight = ' font-weight="bold"' if bold else ""
                length = f'textLength="{wide:.1f}"'
                shown = escape(text.replace(" ", NO_BREAK))
                drawn.append(f'<text x="{x:.1f}" y="{y + 14}" fill="{front}" {length}{weight}>{shown}</text>')
    return "\n".join([*drawn, "</g>", "</svg>", ""])
