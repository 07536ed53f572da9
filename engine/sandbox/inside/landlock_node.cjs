// Loaded first by every Node in the Landlock sandbox, which has no private /proc, no /etc/hosts and no network.
// Without these two replacements Vite does not start, and a worker of Vitest never reports that it has finished.
const { promises } = require("node:dns");
const { getHeapStatistics } = require("node:v8");
const { lookup } = promises;

promises.lookup = async function (name, options) {
  try {
    return await lookup.call(this, name, options);
  } catch (error) {
    if (name !== "localhost") throw error;
    const found = { address: "127.0.0.1", family: 4 };
    return options?.all ? [found] : found;
  }
};

try {
  process.memoryUsage();
} catch {
  const rss = () => process.resourceUsage().maxRSS * 1024;
  process.memoryUsage = () => {
    const heap = getHeapStatistics();
    return {
      rss: rss(),
      heapTotal: heap.total_heap_size,
      heapUsed: heap.used_heap_size,
      external: heap.external_memory,
      arrayBuffers: 0,
    };
  };
  process.memoryUsage.rss = rss;
}
