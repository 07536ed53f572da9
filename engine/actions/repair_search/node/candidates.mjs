// Candidates as code: one edit of a function, or two of the same one. A candidate is a list of numbers of edits.

const STEP = " globalThis.__stet_step__();";

/** The function that a candidate changes, as an expression with its edits. `plain` are the bytes of the text. */
export function codeOf({ functions, edits }, plain, numbers) {
  const own = numbers.flatMap((number) => edits[number].splices), at = edits[numbers[0]].function;
  const { loops, parts: pieces } = functions[at];
  const steps = loops.filter((place) => own.every(([from, to]) => place <= from || to <= place));
  const splices = [...steps.map((place) => [place, place, STEP]), ...own].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const parts = pieces.map((part) => (typeof part === "string" ? Buffer.from(part) : spliced(plain, part, splices)));
  return { at, code: Buffer.concat(parts).toString() };
}

function spliced(plain, [start, end], splices) {
  const parts = [];
  let at = start;
  for (const [from, to, text] of splices) {
    if (from < start || to > end) continue;
    parts.push(plain.subarray(at, from), Buffer.from(text));
    at = to;
  }
  return Buffer.concat([...parts, plain.subarray(at, end)]);
}

/** Two edits at once: those that made more checks pass, the best of them first, each with every other edit. */
export function* pairs(edits, wanted, better) {
  for (const [first] of [...better].sort((a, b) => b[1] - a[1])) {
    for (const second of wanted) if (canJoin(edits, first, second)) yield [first, second];
  }
}

/** Two edits at once, the likeliest first: `edits` are in that order. */
export function* likelyPairs(edits, wanted) {
  for (let both = 1; both < 2 * wanted.length; both += 1) {
    for (let first = Math.max(0, both - wanted.length + 1); first < (both + 1) >> 1; first += 1) {
      if (canJoin(edits, wanted[first], wanted[both - first])) yield [wanted[first], wanted[both - first]];
    }
  }
}

/** Whether both change the same function in different places. */
function canJoin(edits, first, second) {
  const [one, two] = [edits[first], edits[second]];
  const isDisjoint = one.splices.every((a) => two.splices.every((b) => a[1] <= b[0] || b[1] <= a[0]));
  return first !== second && one.function === two.function && isDisjoint;
}
