// The functions that probes in a text call (`javascript/probes.py`): each records the hit and passes its value on.

/** Probes that set their byte in `seen`. */
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
        // incomparable values are not a tie
      }
    },
  });
}
