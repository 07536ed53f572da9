// Writes down how functions are called: the body of a function of `append` and `record`, a file's path. It returns what
// a function calls with its name, its arguments and, if it is a method, its object.
//
// Values become source text; `script_calls.py` reads the lines.

const MOST = 50, LONGEST = 12_000, DEEPEST = 12;
const space = { seen: new Set(), counts: {}, busy: false };

return function called(unit, given, own) {
  if (space.busy) return; // a getter of a value calls a function
  space.busy = true;
  const refused = (why) => { throw { why }; };
  const plain = (value, above, write) => {
    const parts = [];
    for (const key of Reflect.ownKeys(value)) {
      const own = Object.getOwnPropertyDescriptor(value, key);
      if (typeof key === "symbol") refused("symbol");
      if (!own.enumerable) continue;
      if (!("value" in own)) refused("getter");
      const name = /^[A-Za-z_$][\w$]*$/.test(key) && key !== "__proto__" ? key : `[${JSON.stringify(key)}]`;
      parts.push(`${name}: ${write(own.value, above)}`);
    }
    return `{${parts.join(", ")}}`;
  };
  const listed = (values, above, write) => `[${Array.from(values, (item) => write(item, above)).join(", ")}]`;
  const write = (value, outer) => {
    switch (typeof value) {
      case "undefined": case "boolean": return String(value);
      case "number": return Object.is(value, -0) ? "-0" : String(value);
      case "bigint": return `${value}n`;
      case "string": return JSON.stringify(value);
      case "function": case "symbol": return refused(typeof value);
    }
    if (value === null) return "null";
    if (outer.includes(value)) refused("cycle");
    if (outer.length > DEEPEST) refused("nested too deep");
    const above = [...outer, value], proto = Object.getPrototypeOf(value), name = proto?.constructor?.name ?? "Object";
    const kind = Object.prototype.toString.call(value);
    if (Array.isArray(value) && name === "Array") return listed(value, above, write);
    if (proto === null || (name === "Object" && kind === "[object Object]")) return plain(value, above, write);
    if (kind === "[object Date]" && name === "Date") return `new Date(${+value})`;
    if (kind === "[object RegExp]" && name === "RegExp") return String(value);
    if ((kind === "[object Map]" && name === "Map") || (kind === "[object Set]" && name === "Set")) return `new ${name}(${listed(value, above, write)})`;
    if (/^\[object \w+(?:8|16|32|64)(?:Clamped)?Array\]$/.test(kind)) return `new ${name}(${listed(value, above, write)})`;
    return refused(kind === "[object Promise]" ? "promise" : `object of class ${name}`);
  };
  const object = (value, name) => {
    if (Object.getPrototypeOf(value)?.constructor?.name !== name) refused(`object of class ${value?.constructor?.name ?? "unknown"}`);
    return `Object.assign(Object.create(${name}.prototype), ${plain(value, [value], write)})`;
  };
  try {
    const owner = unit.includes(".") && own !== undefined ? unit.split(" ").pop().split(".")[0] : "";
    const call = { given: Array.from(given, (value) => write(value, [])), own: owner ? object(own, owner) : "" };
    const key = JSON.stringify([unit, call]);
    if (key.length > LONGEST) refused("larger than 12 KB");
    if (space.seen.has(key) || (space.counts[unit] ?? 0) >= MOST) return;
    space.seen.add(key);
    space.counts[unit] = (space.counts[unit] ?? 0) + 1;
    append(record, JSON.stringify({ event: "called", unit, ...call }) + "\n");
  } catch (error) {
    const why = typeof error?.why === "string" ? error.why : "throws when it is read";
    const key = JSON.stringify([unit, why]), count = (space.counts[key] ?? 0) + 1;
    space.counts[key] = count;
    if (count <= MOST) append(record, JSON.stringify({ event: "uncaptured", unit, why }) + "\n");
  } finally {
    space.busy = false;
  }
};
