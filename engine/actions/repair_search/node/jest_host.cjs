// Loaded by a test file in Jest: tries candidates with its tests, within the runner that has loaded them.
//
// All that the file registered is in the runner's state. A hook before all tests runs these tests again and again, with
// Jest's own matchers, mocks and modules, and does not end.

const { asked, check, example, readied, refuseSnapshots, serve, silence, watch } = require("./trial.cjs");

const LONG_MS = 3_600_000;
const { beforeAll, expect } = globalThis.beforeAll ? globalThis : require("@jest/globals");
const mocks = typeof jest === "undefined" ? require("@jest/globals").jest : jest; // a variable of each module

function rootBlock() {
  const key = Object.getOwnPropertySymbols(globalThis).find((each) => each.description === "JEST_STATE_SYMBOL");
  return globalThis[key]?.rootDescribeBlock;
}

function* testsIn(block, blocks, names) {
  for (const each of block.children ?? []) {
    const name = [...names, each.name];
    if (each.type === "describeBlock") yield* testsIn(each, [...blocks, each], name);
    else yield { id: name.join("::"), test: each, blocks };
  }
}

/** A test or hook as a function without arguments. */
const started = (work, context) => () => {
  if (!work.length) return work.call(context);
  return new Promise((resolve, reject) => {
    const done = (error) => (error ? reject(error) : resolve());
    work.call(context, Object.assign(done, { fail: reject }));
  });
};

const hooks = (block, kind) => block.hooks.filter((each) => each.type === kind).map((each) => each.fn);

async function tryCandidates() {
  const { wanted, examples, line } = asked();
  const root = rootBlock();
  if (!root) return line.post({ refused: "this version of Jest does not expose its tests" });
  silence();
  refuseSnapshots(expect);
  const tests = [...testsIn(root, [root], [])].filter(({ id }) => wanted.includes(id));
  const own = hooks(root, "beforeAll").indexOf(tryCandidates);
  const first = [...new Set(tests.flatMap(({ blocks }) => blocks))]
    .flatMap((block) => hooks(block, "beforeAll").slice(block === root ? own + 1 : 0));
  const ranEarly = await readied(first.map((work) => started(work, {})), globalThis);
  const checks = tests.map(({ id, test, blocks }) => {
    const context = {};
    const each = (kind, order) => order.flatMap((block) => hooks(block, kind)).map((work) => started(work, context));
    return check(id, {
      before: each("beforeEach", blocks),
      body: started(test.fn, context),
      after: each("afterEach", [...blocks].reverse()),
      expect,
      isExpectedToFail: Boolean(test.failing),
    });
  });
  const shown = examples.map((each) => example(each, globalThis));
  return serve([...shown, ...checks], line, globalThis, { ranEarly, reset: () => { mocks.clearAllMocks(); } });
}

watch(globalThis);
beforeAll(tryCandidates, LONG_MS);
