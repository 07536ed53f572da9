// Writes a value as text: equal texts mean equal values. Identity does not count, nor the order of sets, maps and keys.
//
// A number that may have been rounded is prefixed with \x01, so that the reader allows for it; no other text has that.

import { types } from "node:util";

const NODES = 40_000, ITEMS = 1_000, DEPTH = 60, EXACT = 1e8;
const isPlain = (name) => /^[A-Za-z_$][\w$]*$/.test(name);
const hidden = /[\u0000-\u001f]/g;

const BY_ENGINE = /is not (?:a function|a constructor|iterable|extensible|defined)|Cannot (?:read|set|convert|destructure|mix|access)|Assignment to constant/;

/** An error's message. Of one that the engine raises, what it is about: the rest quotes the code as it is written. */
const said = ({ name, message }) => (name === "TypeError" || name === "ReferenceError" ? BY_ENGINE.exec(message)?.[0] : null) ?? message;

/** Whether a key is an array index. */
export const isIndex = (key) => typeof key === "string" && /^\d+$/.test(key);

/** Whether iterating over an object uses it up. */
export const isIterator = (value) => typeof value.next === "function" && typeof value[Symbol.iterator] === "function";

/** The calls that each function of an input got. */
export const doubles = new WeakMap();

/** The fields that the classes of a value keep to themselves. */
const keptTo = (value) => {
  const fields = new Set();
  for (let above = Object.getPrototypeOf(value); above && above !== Object.prototype; above = Object.getPrototypeOf(above)) {
    const own = Object.getOwnPropertyDescriptor(above, "constructor")?.value;
    for (const name of (typeof own === "function" && Object.hasOwn(Encoder.hidden, own.name) && Encoder.hidden[own.name]) || []) fields.add(name);
  }
  return fields;
};

export class Encoder {
  /** By class, the names of the fields that it keeps to itself. */
  static hidden = {};

  nodes = 0;
  above = [];
  opaque = false;
  cut = false;
  partial = false;
  throws = false;

  text(value) {
    this.nodes += 1;
    switch (typeof value) {
      case "number": return this.number(value);
      case "string": return JSON.stringify(value).replace(hidden, "");
      case "bigint": return `${value}n`;
      case "symbol": return String(value);
      case "undefined": case "boolean": return String(value);
      case "function":
        if (doubles.has(value)) return `<function called ${doubles.get(value).join(" ") || "never"}>`;
        this.opaque = true;
        return `<function ${value.name}>`;
    }
    if (value === null) return "null";
    if (this.nodes > NODES || this.above.length > DEPTH) {
      this.cut = true;
      return "...";
    }
    if (this.above.includes(value)) return "<cycle>";
    this.above.push(value);
    try {
      return this.whole(value);
    } catch (error) {
      this.giveUp(error);
      return "...";
    } finally {
      this.above.pop();
    }
  }

  /** Records an error of the value's own code, such as a getter or an iterator, or of its size. */
  giveUp(error) {
    this.cut = true;
    this.throws ||= !(error instanceof RangeError);
  }

  number(value) {
    if (Object.is(value, -0)) return "-0";
    return Number.isSafeInteger(value) && Math.abs(value) > EXACT ? String(value) : `\x01${value}`;
  }

  whole(value) {
    if (types.isProxy(value)) { // it may answer differently the next time
      this.opaque = true;
      return "<Proxy>";
    }
    const name = Object.getPrototypeOf(value)?.constructor?.name ?? "null";
    if (Array.isArray(value)) return this.named(name, "Array", `[${this.listed(value, ITEMS * 50, (at) => (at in value ? this.text(value[at]) : "<empty>"))}]`);
    if (types.isMap(value)) return this.named(name, "Map", `Map{${[...value].map(([key, item]) => `${this.text(key)} => ${this.text(item)}`).sort().join(", ")}${this.fields(value, ", with ")}}`);
    if (types.isSet(value)) return this.named(name, "Set", `Set{${[...value].map((item) => this.text(item)).sort().join(", ")}${this.fields(value, ", with ")}}`);
    if (types.isDate(value)) return `${name}(${Number.isNaN(value.getTime()) ? "invalid" : value.toISOString()}${this.fields(value, ", ")})`;
    if (types.isRegExp(value)) return `${this.named(name, "RegExp", String(value))} at ${value.lastIndex}${this.fields(value, ", with ")}`;
    if (types.isNativeError(value)) return `${name}(${JSON.stringify(said(value))}${this.fields(value, ", ", (key) => key === "stack" || key === "message")})`;
    if (types.isBoxedPrimitive(value)) return `${name}(${this.text(value.valueOf())})`;
    if (types.isTypedArray(value)) return `${name}[${this.listed(value, ITEMS * 20, (at) => this.text(value[at]))}]`;
    if (types.isAnyArrayBuffer(value)) return `${name}[${Buffer.from(value).toString("hex")}]`;
    if (types.isDataView(value)) return `${name}[${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}]`;
    if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value)) {
      this.opaque = true;
      return `<${name}>`;
    }
    if (isIterator(value)) return `iterator${this.drained(value)}`;
    return this.named(name, "Object", `{${this.fields(value, "")}}`);
  }

  named(name, usual, text) {
    return name === usual ? text : `${name}${text}`;
  }

  /** The items of an array and its additional fields; nothing for one that is too long. */
  listed(value, most, item) {
    if (value.length > most) {
      this.cut = true;
      return "...";
    }
    return Array.from({ length: value.length }, (_, at) => item(at)).join(", ") + this.fields(value, ", with ", isIndex);
  }

  fields(value, lead, isLeft = () => false) {
    const hidden = keptTo(value);
    const parts = Reflect.ownKeys(value)
      .filter((key) => !isLeft(key) && !hidden.has(key) && Object.getOwnPropertyDescriptor(value, key).enumerable)
      .map((key) => {
        const own = Object.getOwnPropertyDescriptor(value, key);
        const name = typeof key === "string" && isPlain(key) ? key : `[${typeof key === "symbol" ? String(key) : JSON.stringify(key)}]`;
        return `${name}: ${"value" in own ? this.text(own.value) : `<getter ${this.got(own.get, value)}>`}`;
      })
      .sort();
    return parts.length ? lead + parts.join(", ") : "";
  }

  got(getter, value) {
    try {
      return getter ? this.text(getter.call(value)) : "none";
    } catch (error) {
      return `throws ${error?.name}`;
    }
  }

  /** An iterator's items as they come, and again if one differs after all have come. */
  drained(value) {
    const shown = [], items = [];
    let end = "";
    try {
      for (const item of value) {
        items.push(item);
        shown.push(this.text(item));
        if (items.length >= ITEMS) {
          this.partial = true;
          break;
        }
      }
    } catch (error) {
      end = `, throws ${error?.name}`;
    }
    const [first, after] = [shown, items.map((item) => this.text(item))].map((texts) => `[${texts.join(", ")}${end}]`);
    return first === after ? first : `${first} and then ${after}`;
  }
}
