"""TypeScript without its types."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from stet_ls.engine.execution.javascript.strip_types import without_types

TYPED = """\
import type { Row } from "./row";
import { type Line, readFileSync } from "node:fs";
type Pair<T> = [T, T];
interface Named { name: string }
export type { Pair };
export interface Sized { size: number }
declare const VERSION: string;
function over(a: string): string;
function over(a: number): number;
function over(a: any): any { return a; }
export abstract class Box<T extends Named> implements Named {
  private readonly items: T[] = [];
  static count?: number;
  name!: string;
  [key: string]: unknown;
  abstract open(): void;
  public first(this: Box<T>, at?: number): T | undefined { return this.items[at ?? 0]!; }
}
export const pick = <T,>(xs: readonly T[], wanted: (x: T) => x is T): T[] => xs.filter<T>(wanted);
const told = pick([1, 2] as const, ((x) => x > 1) satisfies unknown as any) as number[];
const { a, b = 2 }: { a: number; b?: number } = { a: 1 };
for (const each of told) console.log((each as number).toFixed(1), a, b, over("é" as string));
export async function f<T>(this: void, x: Promise<T>): Promise<T> { return await x; }
const own = new (class extends Box<Named> { open() {} })();
console.log(own.first(), readFileSync.name, String(await f(Promise.resolve(3))));
"""


def test_types_become_blanks() -> None:
    plain = without_types(TYPED, "typescript")
    assert plain is not None
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in TYPED.splitlines()]
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = subprocess.run([node, "--input-type=module", "-"], input=plain, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("2.0 1 2 é\nundefined readFileSync 3\n", "")


@pytest.mark.parametrize(
    "text",
    [
        "enum Size { Small }\n",
        "namespace A { export const b = 1; }\n",
        "class A { constructor(private x: number) {} }\n",
        "const a = <number>b;\n",
        "const a: number = ;\n",
        "@sealed\nclass A {}\n",
    ],
)
def test_what_needs_code_in_its_place_is_left_to_a_builder(text: str) -> None:
    assert without_types(text, "typescript") is None
