// Writes down how functions are called: the body of a function of `append` and `record`, a file's path. It returns what
// a function calls when it begins, with its name, its arguments and, if it is a method, its object; `over` is called when
// a method ends.
//
// Values become source text; `script_calls.py` reads the lines. An object is written by its fields, and by its life: how
// it was made, and what was called on it from outside since then.

const MOST = 50, LONGEST = 12_000, DEEPEST = 12, STEPS = 20;
const space = { seen: new Set(), counts: {}, busy: false, lives: new WeakMap() };
const refused = (why) => { throw { why }; };

function plain(value, above) {
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
}

const listed = (values, above) => `[${Array.from(values, (item) => write(item, above)).join(", ")}]`;

function write(value, outer) {
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
  if (Array.isArray(value) && name === "Array") return listed(value, above);
  if (proto === null || (name === "Object" && kind === "[object Object]")) return plain(value, above);
  if (kind === "[object Date]" && name === "Date") return `new Date(${+value})`;
  if (kind === "[object RegExp]" && name === "RegExp") return String(value);
  if ((kind === "[object Map]" && name === "Map") || (kind === "[object Set]" && name === "Set")) return `new ${name}(${listed(value, above)})`;
  if (/^\[object \w+(?:8|16|32|64)(?:Clamped)?Array\]$/.test(kind)) return `new ${name}(${listed(value, above)})`;
  return refused(kind === "[object Promise]" ? "promise" : `object of class ${name}`);
}

const isOf = (value, name) => Object.getPrototypeOf(value)?.constructor?.name === name;

/** The object of a method: its fields as text, or "" where only its life is known. */
function object(own, name, rows, hides) {
  try {
    if (!isOf(own, name)) refused(`object of class ${own?.constructor?.name ?? "unknown"}`);
    if (hides) refused("private fields");
    return `Object.assign(Object.create(${name}.prototype), ${plain(own, [own])})`;
  } catch (error) {
    if (rows) return "";
    throw error;
  }
}

function noted(unit, given, own, how, hides, rows) {
  const name = unit.split(" ").pop().split(".")[0], isMethod = own !== undefined && how !== "new";
  const call = { given, own: isMethod ? object(own, name, rows, hides) : "", life: isMethod && rows ? rows : [] };
  const key = JSON.stringify([unit, call.own ? { ...call, life: [] } : call]);
  if (key.length > LONGEST) refused("larger than 12 KB");
  if (space.seen.has(key)) return;
  space.seen.add(key);
  space.counts[unit] = (space.counts[unit] ?? 0) + 1;
  if (call.own && JSON.stringify(call).length > LONGEST) call.life = [];
  append(record, JSON.stringify({ event: "called", unit, ...call }) + "\n");
}

function lost(unit, error) {
  const why = typeof error?.why === "string" ? error.why : "throws when it is read";
  const key = JSON.stringify([unit, why]), count = (space.counts[key] ?? 0) + 1;
  space.counts[key] = count;
  if (count <= MOST) append(record, JSON.stringify({ event: "uncaptured", unit, why }) + "\n");
}

/** What a call adds to the life of its object; what its own methods call does not count. */
function lived(life, unit, given, how) {
  life.depth += 1;
  if (life.depth > 1 || how === "read" || !life.rows) return;
  const name = unit.split(".").pop() + (how === "set" ? "=" : "");
  life.rows = given && how !== "late" && life.rows.length <= STEPS ? [...life.rows, [name, ...given]] : null;
}

/** `how`: new, step (a method), set, read, late (it ends when its promise or its iterator does). `hides`: private fields. */
function called(unit, values, own, how, hides) {
  if (space.busy) return; // a getter of a value calls a function
  space.busy = true;
  let given = null;
  const life = own === undefined ? undefined : space.lives.get(own);
  try {
    if ((space.counts[unit] ?? 0) < MOST) {
      given = Array.from(values, (value) => write(value, []));
      noted(unit, given, own, how, hides, life?.rows);
    }
  } catch (error) {
    lost(unit, error);
  }
  if (how === "new" && own !== undefined) {
    const isWhole = given && isOf(own, unit.split(" ").pop());
    space.lives.set(own, { rows: isWhole ? [["new", ...given]] : null, depth: 1 });
  } else if (life) lived(life, unit, given, how);
  space.busy = false;
}

called.over = (own) => {
  const life = space.busy ? undefined : space.lives.get(own);
  if (life) life.depth -= 1;
};

/** An arrow function that says how it is called. */
called.arrow = (unit, arrow, own, how, hides) => {
  const twin = (...given) => {
    called(unit, given, own, how, hides);
    try {
      return arrow(...given);
    } finally {
      if (own !== undefined) called.over(own);
    }
  };
  const name = unit.split(" ").pop().split(".").pop();
  return Object.defineProperties(twin, { name: { value: name, configurable: true }, length: { value: arrow.length, configurable: true } });
};

return called;
