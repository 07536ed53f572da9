// Loaded by a test file in Vitest: tries candidates with its tests, within the runner that has loaded them.
//
// A hook before all tests runs these tests again and again, with Vitest's own matchers, mocks and modules, and does not
// end. The functions of tests and hooks are those that Vitest shows to custom runners.

import { createRequire } from "node:module";

const { asked, called, check, example, refuseSnapshots, serve, silence } = createRequire(import.meta.url)("./trial.cjs");

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
    if (!root) return line.post({ refused: "this version of Vitest does not show its tests" });
    silence();
    refuseSnapshots(vitest.expect);
    const own = getHooks(root).beforeAll.indexOf(tryCandidates);
    const isReady = new Set();
    const checks = [...testsIn(root, [root], [])].filter(({ id }) => wanted.includes(id)).map(({ id, test, suites }) => {
      const each = (kind, order) =>
        order.flatMap((suite) => getHooks(suite)[kind].map((work) => () => work(test.context, suite)));
      return check(id, {
        async ready() {
          for (const suite of suites) {
            if (isReady.has(suite)) continue;
            isReady.add(suite);
            const left = getHooks(suite).beforeAll.slice(suite === root ? own + 1 : 0);
            for (const work of left) await called(work, suite);
          }
        },
        before: each("beforeEach", suites),
        body: getFn(test),
        after: each("afterEach", [...suites].reverse()),
        expect: vitest.expect,
        isExpectedToFail: Boolean(test.fails),
      });
    });
    const shown = examples.map((each) => example(each, globalThis));
    return serve([...shown, ...checks], line, globalThis, () => { vitest.vi.clearAllMocks(); });
  }

  getCurrentSuite().on("beforeAll", tryCandidates);
}
