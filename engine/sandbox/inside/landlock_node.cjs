// Loaded first by every Node in the box of Landlock, which has neither /proc of its own, nor /etc/hosts, nor a network.
// Without these two answers Vite does not start, and a worker of Vitest never says that it has finished.
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
