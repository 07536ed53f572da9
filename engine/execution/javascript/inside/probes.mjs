// What probes in a text call (`differential/script_probes.py`): each notes that it was come by, and hands on its value.

/** Probes that note in `seen`, a byte for each. */
export function probes(seen) {
  const came = (number) => { seen[number] = 1; };
  return Object.freeze({
    ran: came,
    cond(whenTrue, whenFalse, value) {
      came(value ? whenTrue : whenFalse);
      return value;
    },
    tie(number, one, other) {
      try {
        if (one <= other && one >= other) came(number);
      } catch {
        // two that cannot be compared are no tie
      }
    },
  });
}
