// What the language itself brings, as it is before a text is loaded: who changes that changes it for everybody.

const { ownKeys, getOwnPropertyDescriptor } = Reflect;
const same = Object.is, text = String, noted = [];

/** Remembers what is there now. */
export function note() {
  for (const name of ownKeys(globalThis)) {
    if (typeof name !== "string" || !/^[A-Z]/.test(name)) continue;
    const found = getOwnPropertyDescriptor(globalThis, name).value;
    for (const [path, owner] of [[name, found], [`${name}.prototype`, found?.prototype]]) {
      if (owner === null || !["object", "function"].includes(typeof owner)) continue;
      noted.push({ path, owner, held: ownKeys(owner).map((key) => [key, getOwnPropertyDescriptor(owner, key)]) });
    }
  }
}

/** Tells `tell` what is other than it was, in words. Uses nothing that could have been changed. */
export function changes(tell) {
  for (let at = 0; at < noted.length; at += 1) {
    const { path, owner, held } = noted[at], keys = ownKeys(owner);
    for (let each = 0; each < keys.length; each += 1) {
      let old = each; // most are where they were
      if (!held[old] || held[old][0] !== keys[each]) for (old = 0; old < held.length && held[old][0] !== keys[each];) old += 1;
      const was = held[old]?.[1], now = getOwnPropertyDescriptor(owner, keys[each]);
      if (!was || !same(was.value, now.value) || !same(was.get, now.get)) tell(`it changes \`${path}.${text(keys[each])}\``);
    }
  }
}
