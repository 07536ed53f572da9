"""One function in each language with a runner: what crashes, what does not, and its tests."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from support.processes.tools import needs


@dataclass(frozen=True, slots=True)
class Story:
    """A function in a file `before` and `after` its body; `bad` is what crashes, `good` what does not."""

    language: str
    before: str
    bad: str
    good: str
    after: str
    tests: str

    @property
    def stub(self) -> str:
        return f"{self.before}$0{self.after}"

    def with_(self, body: str) -> str:
        return f"{self.before}{body}{self.after}"


GO = Story(
    "go",
    'package stats\n\nimport "sort"\n\n// Median is the middle of the values in their order; 0 for none.\n'
    "func Median(values []int) int {\n",
    "\tsort.Ints(values)\n\treturn values[len(values)/2]\n",
    "\tif len(values) == 0 {\n\t\treturn 0\n\t}\n\tsort.Ints(values)\n\treturn values[len(values)/2]\n",
    "}\n",
    """\
package stats_test

import (
    "fmt"
    "testing"
)

func TestOdd(t *testing.T) {
    if got := Median([]int{3, 1, 2}); got != 2 {
        t.Errorf("Median = %d, want 2", got)
    }
}

func TestNone(t *testing.T) {
    if got := Median(nil); got != 0 {
        t.Errorf("Median = %d, want 0", got)
    }
}
""",
)
TYPESCRIPT = Story(
    "typescript",
    "/** The middle of the values in their order; 0 for none. */\nexport function median(values: number[]): number {\n",
    "  return [...values].sort((a, b) => a - b)[values.length >> 1].valueOf();\n",
    "  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;\n",
    "}\n",
    """\
import test from 'node:test';
import assert from 'node:assert/strict';
import { median } from './nowhere';

test('odd', () => {
  assert.equal(median([3, 1, 2]), 2);
});

test('none', () => {
  assert.equal(median([]), 0);
});
""",
)
RUST = Story(
    "rust",
    "/// The middle of the values in their order; 0 for none.\nfn median(mut values: Vec<i64>) -> i64 {\n",
    "    values.sort();\n    values[values.len() / 2]\n",
    "    values.sort();\n    values.get(values.len() / 2).copied().unwrap_or(0)\n",
    "}\n",
    """\
#[cfg(test)]
mod tests {
    use solution::median;

    #[test]
    fn odd() {
        assert_eq!(median(vec![3, 1, 2]), 2);
    }

    #[test]
    fn none() {
        assert_eq!(median(Vec::new()), 0);
    }
}
""",
)
JAVA = Story(
    "java",
    "package stats;\n\nimport java.util.Arrays;\n\npublic class Stats {\n"
    "    /** The middle of the values in their order; 0 for none. */\n    static int median(int[] values) {\n",
    "        Arrays.sort(values);\n        return values[values.length / 2];\n",
    "        if (values.length == 0) {\n            return 0;\n        }\n        Arrays.sort(values);\n"
    "        return values[values.length / 2];\n",
    "    }\n}\n",
    """\
import stats.Stats;

public class StatsTest {
    private static void testOdd() {
        int got = Stats.median(new int[] {3, 1, 2});
        assert got == 2 : got;
    }

    static void testNone() {
        assert Stats.median(new int[0]) == 0;
    }
}
""",
)
CPP = Story(
    "cpp",
    "#include <algorithm>\n#include <vector>\n\n// The middle of the values in their order; 0 for none.\n"
    "int median(std::vector<int> values) {\n",
    "  std::sort(values.begin(), values.end());\n  return values.at(values.size() / 2);\n",
    "  if (values.empty()) return 0;\n  std::sort(values.begin(), values.end());\n"
    "  return values.at(values.size() / 2);\n",
    "}\n",
    """\
#include <cassert>
#include "median.hpp"

void test_odd() { assert(median({3, 1, 2}) == 2); }

void test_none() { assert(median({}) == 0); }

int main() {
  test_odd();
  test_none();
}
""",
)
C = Story(
    "c",
    "/* The sum of the values; 0 for none. */\nint total(const int *values, int count) {\n",
    "  int sum = values[0];\n  for (int i = 1; i < count; i++) sum += values[i];\n  return sum;\n",
    "  int sum = 0;\n  for (int i = 0; i < count; i++) sum += values[i];\n  return sum;\n",
    "}\n",
    """\
#include <assert.h>

void test_three(void) {
  int values[] = {1, 2, 3};
  assert(total(values, 3) == 6);
}

void test_none(void) {
  assert(total(0, 0) == 0);
}
""",
)
STORIES = [
    pytest.param(GO, id="go", marks=needs("go")),
    pytest.param(TYPESCRIPT, id="typescript", marks=needs("node", "esbuild")),
    pytest.param(RUST, id="rust", marks=needs("rustc", "cc")),
    pytest.param(JAVA, id="java", marks=needs("javac", "java")),
    pytest.param(CPP, id="cpp", marks=needs("c++")),
    pytest.param(C, id="c", marks=needs("cc")),
]


def unit_of(story: Story) -> str:
    return {"java": "Stats.median", "c": "total", "go": "Median"}.get(story.language, "median")
