// What all workers of a search share: they try candidates one after the other, each with a list of checks.
//
// A worker may live in Jest or Vitest, whose tests replace modules and timers: what is used here is taken beforehand.

const builtin = (name) => process.getBuiltinModule?.(name) ?? require(name);
const fs = builtin("fs");
const vm = builtin("vm");
const { isDeepStrictEqual } = builtin("util");

const main = vm.runInThisContext("globalThis");
const { setTimeout, clearTimeout } = main;
const now = main.performance.now.bind(main.performance);
const guarded = new vm.Script("globalThis.__stet_check__()");
const POLL_MS = 5, LEAST_MS = 20, HOOKS_MS = 8_000, STEPS = 256;

let until = Infinity, spent = 0, steps = 0, isLate = false, hasSnapshot = false;

/** Calls a function. What does not end synchronously in the time of its check is interrupted. */
function called(work, ...given) {
  main.__stet_check__ = () => work(...given);
  return guarded.runInThisContext({ timeout: Math.min(HOOKS_MS, Math.max(LEAST_MS, Math.ceil(until - now()))) });
}

/** Begins each pass of a loop: one that waits for promises without end can be interrupted here alone. */
function step() {
  steps += 1;
  if (steps % STEPS || now() < until) return;
  isLate = true;
  throw new Error("late");
}

/** Notes statements that are executed. */
function notes() {
  const known = new Set();
  return { known, add(number) { known.add(number); step(); } };
}

/** Runs a check, at most for the allowed milliseconds: true, false, or null if it does not end. */
async function held(check, allowed) {
  let timer;
  const began = now();
  [until, isLate] = [began + allowed, false];
  try {
    const result = check.guardsItself ? check() : called(check);
    const late = new Promise((resolve) => { timer = setTimeout(resolve, allowed, null); });
    const passed = await Promise.race([result, late]);
    if (now() - began < allowed) spent += now() - began;
    return isLate || passed === null ? null : passed === true;
  } catch (error) {
    return isLate || error?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? null : false;
  } finally {
    clearTimeout(timer);
  }
}

/** An example as a function that says whether it holds. */
function example({ source, want, error }, space) {
  const body = want ? `return [(${source}), (${want})];` : `return [(${source})];`;
  const run = new space.Function("__space__", `with (__space__) { ${body} }`);
  return async () => {
    try {
      const [got, wish] = run(space.__stet__ ?? {});
      const value = got && typeof got.then === "function" ? await got : got;
      return !error && (value === wish || isDeepStrictEqual(value, wish));
    } catch (raised) {
      return Boolean(error) && [raised?.name, raised?.constructor?.name].includes(error);
    }
  };
}

/**
 * The marks of a candidate: those of all checks that fail without it, then, if they pass, of the others until one fails.
 * Without a candidate, those of all checks, the numbers of the statements that each executed, and whether it compared a
 * snapshot.
 */
async function tried({ n, at, code }, checks, { order, failing, allowed }, space) {
  const marks = [], ran = [], snapshots = [], isBare = n === null;
  [space.__stet_at__, space.__stet_code__] = isBare ? [undefined, ""] : [at, code];
  spent = 0;
  for (const number of order ?? checks.keys()) {
    [space.__stet_ran__, hasSnapshot] = [isBare ? notes() : undefined, false];
    marks.push(await held(checks[number], 1_000 * allowed));
    if (isBare) {
      ran.push([...space.__stet_ran__.known]);
      snapshots.push(hasSnapshot);
    } else if (marks.at(-1) === null || (marks.length >= failing && !marks.every(Boolean))) {
      break;
    }
  }
  space.__stet_at__ = space.__stet_ran__ = undefined;
  return { n, marks, ran, snapshots, seconds: spent / 1_000 };
}

/**
 * Tries what it is sent until its end. `line` sends and receives, `reset` is called before each candidate. With
 * `ranEarly`, code ran before the tests, and no candidate changes what it did.
 */
async function serve(checks, line, space, { reset = () => undefined, ranEarly = false } = {}) {
  space.__stet_step__ = step;
  line.post({ loaded: true, ranEarly, names: checks.map((each) => each.id ?? "") });
  for (;;) {
    const { list, ...how } = await line.next();
    for (const each of list) {
      reset();
      line.post(await tried(each, checks, how, space));
    }
  }
}

/** A line to the program that started a test runner, over files that begin with `place`. */
function lineOverFiles(place) {
  const out = fs.openSync(`${place}.out`, "a");
  let received = 0;
  const arrived = () => {
    try {
      return JSON.parse(fs.readFileSync(`${place}.${received}`, "utf8"));
    } catch {
      return undefined;
    }
  };
  return {
    post: (message) => { fs.writeSync(out, `${JSON.stringify(message)}\n`); },
    async next() {
      let message = arrived();
      while (message === undefined) {
        await new Promise((resolve) => { setTimeout(resolve, POLL_MS); });
        message = arrived();
      }
      received += 1;
      return message;
    },
  };
}

/** What a search asks of the tests of a file, and the line to it. */
function asked() {
  const place = process.env.STET_LINE;
  return { ...JSON.parse(fs.readFileSync(process.env.STET_ASKED, "utf8")), line: lineOverFiles(place) };
}

/** Before a test: no assertion is counted. */
const COUNTED = {
  assertionCalls: 0, isExpectingAssertions: false, isExpectingAssertionsError: null,
  expectedAssertionsNumber: null, expectedAssertionsNumberErrorGen: null,
};

/** Whether a test made as many assertions as it said. */
function hasAsserted(expect) {
  const { assertionCalls, isExpectingAssertions, expectedAssertionsNumber } = expect.getState();
  return !(isExpectingAssertions && !assertionCalls) && (expectedAssertionsNumber ?? assertionCalls) === assertionCalls;
}

/** Makes tests fail that compare a snapshot: a runner numbers these from run to run. */
function refuseSnapshots(expect) {
  const refuse = () => {
    hasSnapshot = true;
    throw new Error("no snapshot is compared");
  };
  expect.extend({ toMatchSnapshot: refuse, toMatchFileSnapshot: refuse, toThrowErrorMatchingSnapshot: refuse });
}

/** Calls the hooks that come before all tests; whether the code ran until then, at most since `watch`. */
async function readied(hooks, space) {
  until = now() + HOOKS_MS;
  for (const each of hooks) await called(each);
  return space.__stet_ran__.known.size > 0;
}

/** Notes from now on what of the code runs before the first test. */
function watch(space) {
  space.__stet_ran__ = notes();
}

/** A test of a runner as a check: `body` is the test, `before` and `after` are its hooks. */
function check(id, { before, body, after, expect, isExpectedToFail }) {
  const run = async () => {
    const cleanups = [];
    try {
      expect.setState({ ...COUNTED, currentTestName: id.replaceAll("::", " ") });
      for (const each of before) cleanups.unshift(await called(each));
      await called(body);
      return hasAsserted(expect) !== isExpectedToFail;
    } catch (error) {
      if (error?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      return isExpectedToFail;
    } finally {
      for (const each of after) await called(each);
      for (const each of cleanups) if (typeof each === "function") await called(each);
    }
  };
  return Object.assign(run, { id, guardsItself: true });
}

function silence() {
  for (const each of ["log", "info", "warn", "error", "debug"]) console[each] = () => undefined;
}

module.exports = { asked, called, check, example, readied, refuseSnapshots, serve, silence, watch };
