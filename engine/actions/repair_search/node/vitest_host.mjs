// Loaded by a test file in Vitest: tries candidates with its tests, within the runner that has loaded them.
//
// A hook before all tests runs these tests again and again, with Vitest's own matchers, mocks and modules, and does not
// end. The functions of tests and hooks are those that Vitest shows to custom runners.

import { createRequire } from "node:module";

const own = createRequire(import.meta.url)("./trial.cjs");
const { asked, check, example, readied, refuseSnapshots, serve, silence, watch } = own;

watch(globalThis);

/** Where Vitest shows tests: at `TestRunner` since version 4.1, in a module of its own before. */
async function shownBy(vitest, suiteModule) {
  const { getTestFn, getSuiteHooks, getCurrentSuite } = vitest.TestRunner ?? {};
  if (getTestFn) return { getFn: getTestFn, getHooks: getSuiteHooks, getCurrentSuite };
  return suiteModule();
}

function* testsIn(suite, suites, names) {
  for (const each of suite.tasks) {
    const name = [...names, each.name];
    if (each.tasks) yield* testsIn(each, [...suites, each], name);
    else yield { id: name.join("::"), test: each, suites };
  }
}

/** Registers the hook. `suiteModule` imports the module in which earlier versions show tests. */
export async function host(vitest, suiteModule) {
  const { getFn, getHooks, getCurrentSuite } = await shownBy(vitest, suiteModule);

  async function tryCandidates(...given) {
    const { wanted, examples, line } = asked();
    const root = given.find((each) => each?.tasks);
    if (!root) return line.post({ refused: "this version of Vitest does not expose its tests" });
    silence();
    refuseSnapshots(vitest.expect);
    const tests = [...testsIn(root, [root], [])].filter(({ id }) => wanted.includes(id));
    const at = getHooks(root).beforeAll.indexOf(tryCandidates);
    const first = [...new Set(tests.flatMap(({ suites }) => suites))].flatMap((suite) =>
      getHooks(suite).beforeAll.slice(suite === root ? at + 1 : 0).map((work) => () => work(suite)));
    const ranEarly = await readied(first, globalThis);
    const checks = tests.map(({ id, test, suites }) => {
      const each = (kind, order) =>
        order.flatMap((suite) => getHooks(suite)[kind].map((work) => () => work(test.context, suite)));
      return check(id, {
        before: each("beforeEach", suites),
        body: getFn(test),
        after: each("afterEach", [...suites].reverse()),
        expect: vitest.expect,
        isExpectedToFail: Boolean(test.fails),
      });
    });
    const shown = examples.map((each) => example(each, globalThis));
    return serve([...shown, ...checks], line, globalThis, { ranEarly, reset: () => { vitest.vi.clearAllMocks(); } });
  }

  getCurrentSuite().on("beforeAll", tryCandidates);
}
