/** The places where two texts differ, by lines. */

/** Lines `from` to `to` (exclusive, from 0) of the new text, in place of lines `oldFrom` to `oldTo` of the old one. */
export interface Hunk {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly from: number;
  readonly to: number;
}

/** Pairs of lines above which everything between the common ends is one hunk. */
const MOST_PAIRS = 4_000_000;

/** The lines of a text with their line ends. */
export function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** The hunks from the longest common subsequence of the lines. */
export function hunks(old: readonly string[], now: readonly string[]): Hunk[] {
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) {
    head++;
  }
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) {
    tail++;
  }
  const [rows, columns] = [old.length - head - tail, now.length - head - tail];
  if (rows === 0 && columns === 0) {
    return [];
  }
  if (rows * columns > MOST_PAIRS) {
    return [{ oldFrom: head, oldTo: old.length - tail, from: head, to: now.length - tail }];
  }
  const common = lengths(old.slice(head, head + rows), now.slice(head, head + columns));
  const found: Hunk[] = [];
  for (let row = 0, column = 0; row < rows || column < columns; ) {
    const start = [row, column] as const;
    while ((row < rows || column < columns) && !(row < rows && column < columns && old[head + row] === now[head + column])) {
      const down = row < rows ? (common[row + 1]?.[column] ?? 0) : -1;
      const right = column < columns ? (common[row]?.[column + 1] ?? 0) : -1;
      if (down >= right) {
        row++;
      } else {
        column++;
      }
    }
    if (row > start[0] || column > start[1]) {
      found.push({ oldFrom: head + start[0], oldTo: head + row, from: head + start[1], to: head + column });
    }
    while (row < rows && column < columns && old[head + row] === now[head + column]) {
      row++;
      column++;
    }
  }
  return found;
}

/** At each pair of positions, how many lines the rests have in common. */
function lengths(old: readonly string[], now: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      const [here, below] = [table[row]!, table[row + 1]!];
      here[column] = old[row] === now[column] ? below[column + 1]! + 1 : Math.max(below[column]!, here[column + 1]!);
    }
  }
  return table;
}
