// Finds the paths that lead to the same object: what a caller changes by one of them changes by the others too.
//
// Equal values can be one array or two, and no text of them shows which (`Array(3).fill([])`). Only mutable objects are
// reported: frozen objects and patterns are only searched; iterators are not, since searching uses them up.

import { types } from "node:util";

import { Encoder, isIndex, isIterator } from "./encode.mjs";

const NODES = 40_000;
const { ownKeys, getOwnPropertyDescriptor } = Reflect;
const FIXED = [types.isNativeError, types.isPromise, types.isBoxedPrimitive, types.isWeakMap, types.isWeakSet, types.isProxy];
const isThing = (value) => typeof value === "object" && value !== null && !FIXED.some((is) => is(value)) && !isIterator(value);

/** `a[0] is the result.items; b is c is d`, "" if each object found has only one path. */
export function shared(named, returned) {
  const results = returned.map((value, at) => [returned.length === 1 ? "the result" : `result ${at + 1}`, value]);
  const pending = [...Object.entries(named), ...results].map(([step, value]) => ({ value, step, above: null }));
  const ways = new Map();
  for (let looked = 0; pending.length && looked < NODES; looked += 1) {
    const way = pending.pop();
    if (!isThing(way.value)) continue;
    if (!Object.isFrozen(way.value) && !types.isRegExp(way.value)) {
      const others = ways.get(way.value);
      if (others) {
        others.push(way);
        continue; // its contents have their path by the first
      }
      ways.set(way.value, [way]);
    }
    for (const [step, value] of held(way.value)) if (typeof value === "object") pending.push({ value, step, above: way });
  }
  const aliases = [...ways.values()].filter((each) => each.length > 1);
  return aliases.map((each) => each.map(written).sort().join(" is ")).sort().join("; ");
}

/** An object's contents by the step to them, in an order that is the same for equal ones. */
function held(value) {
  if (types.isTypedArray(value) || types.isAnyArrayBuffer(value)) return [];
  const own = ownKeys(value).map((key) => [key, getOwnPropertyDescriptor(value, key)]).filter(([, each]) => each.enumerable && "value" in each);
  const steps = inOrder(own.map(([key, each]) => [Array.isArray(value) && isIndex(key) ? `[${key}]` : `.${String(key)}`, each.value]));
  if (types.isMap(value)) return steps.concat(inOrder([...value].map(([key, item]) => [`.get(${new Encoder().text(key)})`, item])));
  if (types.isSet(value)) return steps.concat(inOrder([...value].map((item) => [` has ${new Encoder().text(item)}`, item])));
  return steps;
}

const inOrder = (steps) => steps.sort(([one], [other]) => (one > other) - (one < other));

function written({ step, above }) {
  return above ? written(above) + step : step;
}
