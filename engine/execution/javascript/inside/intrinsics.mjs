// The language's built-in objects, as before a text is loaded: a change of them affects all code.

const { ownKeys, getOwnPropertyDescriptor } = Reflect;
const same = Object.is, text = String, noted = [];

/** Records the current state. */
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

/** Reports each change to `report`, in words. Uses nothing that could have been changed. */
export function changes(report) {
  for (let at = 0; at < noted.length; at += 1) {
    const { path, owner, held } = noted[at], keys = ownKeys(owner);
    for (let each = 0; each < keys.length; each += 1) {
      let old = each; // most are unchanged
      if (!held[old] || held[old][0] !== keys[each]) for (old = 0; old < held.length && held[old][0] !== keys[each];) old += 1;
      const was = held[old]?.[1], now = getOwnPropertyDescriptor(owner, keys[each]);
      if (!was || !same(was.value, now.value) || !same(was.get, now.get)) report(`it changes \`${path}.${text(keys[each])}\``);
    }
  }
}
