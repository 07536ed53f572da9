// Takes the place of `node:test` while the search tries candidates: collects tests, which can then run again and again.

const { mock } = require("node:test");

const guarded = globalThis.__stet_called__ ?? ((work, ...given) => work(...given));

const suites = [{ name: "", before: [], beforeEach: [], afterEach: [], after: [] }];
const skipped = (options) => typeof options === "object" && options !== null && (options.skip || options.todo);
const given = (name, options, work) =>
  typeof name === "function" ? [name.name, {}, name] : typeof options === "function" ? [name, {}, options] : [name, options, work];

/** What a test gets: subtests run at once, as a part of it. */
const context = (name) => ({
  name, mock, signal: new AbortController().signal, diagnostic() {}, skip() {}, todo() {}, plan() {},
  before() {}, after() {}, beforeEach() {}, afterEach() {}, assert: require("node:assert"),
  async test(inner, options, work) {
    const [own, chosen, run] = given(inner, options, work);
    if (run && !skipped(chosen)) await called(run, context(own));
  },
});

const called = (work, first) =>
  work.length > 1 ? new Promise((resolve, reject) => guarded(work, first, (error) => (error ? reject(error) : resolve()))) : guarded(work, first);

function test(...all) {
  const [name, options, work] = given(...all);
  if (!work || skipped(options)) return Promise.resolve();
  const around = [...suites];
  const run = async () => {
    try {
      for (const suite of around) {
        if (!suite.isReady) for (const each of suite.before) await guarded(each);
        suite.isReady = true;
        for (const each of suite.beforeEach) await guarded(each);
      }
      await called(work, context(name));
      return true;
    } catch {
      return false;
    } finally {
      for (const suite of [...around].reverse()) for (const each of suite.afterEach) await guarded(each);
    }
  };
  globalThis.__stet_tests__.push({ name: String(name), run });
  return Promise.resolve();
}

function describe(...all) {
  const [name, options, work] = given(...all);
  if (!work || skipped(options)) return;
  suites.push({ name, before: [], beforeEach: [], afterEach: [], after: [] });
  try {
    work(context(name));
  } finally {
    suites.pop();
  }
}

const hook = (kind) => (work) => { suites[suites.length - 1][kind].push(work); };
for (const own of [test, describe]) {
  own.skip = own.todo = () => undefined;
  own.only = own;
}

module.exports = test;
module.exports.test = test;
module.exports.it = test;
module.exports.describe = describe;
module.exports.suite = describe;
module.exports.before = hook("before");
module.exports.after = hook("after");
module.exports.beforeEach = hook("beforeEach");
module.exports.afterEach = hook("afterEach");
module.exports.mock = mock;
