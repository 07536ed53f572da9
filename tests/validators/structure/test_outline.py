"""What a text declares, language by language."""

from __future__ import annotations

import pytest

from stet_ls.validators.source import Source
from stet_ls.validators.structure import outline

# The same things in each language: a constant, a type with documentation, its field, constructor and method, a
# function with documentation, and whatever else the language declares. Locals are none of them.
FULL = {
    "python": (
        '''LIMIT: int = 1
count = 0
class Box(Base):
    """A box."""
    size = 2
    def __init__(self):
        self.x = 1
    @property
    def width(self): return 1
def pack(box):
    # first
    """Packs."""
    local = 1
    return Box()
''',
        [
            "constant LIMIT 'LIMIT: int = 1'",
            "variable count 'count = 0'",
            'class Box \'class Box(Base)\' """A box."""',
            "field Box.size 'size = 2'",
            "method Box.__init__ 'def __init__(self)'",
            "method Box.width 'def width(self)'",
            'function pack \'def pack(box)\' """Packs."""',
        ],
    ),
    "javascript": (
        """const LIMIT = 1;
let count = 0;
/** A box. */
class Box extends Base {
  size = 2;
  constructor() { super(); }
  width() { return 1; }
}
/** Packs. */
function pack(box) {
  const local = 1;
  return new Box();
}
const open = (box) => box.width();
""",
        [
            "constant LIMIT 'const LIMIT = 1'",
            "variable count 'let count = 0'",
            "class Box 'class Box extends Base' /** A box. */",
            "field Box.size 'size = 2'",
            "method Box.constructor 'constructor()'",
            "method Box.width 'width()'",
            "function pack 'function pack(box)' /** Packs. */",
            "function open 'const open = (box) =>'",
        ],
    ),
    "typescript": (
        """export const LIMIT = 1;
/** A size. */
type Size = { w: number };
interface Shape {
  area: number;
  grow(by: number): void;
}
export enum Kind { A, B }
/** A box. */
export abstract class Box implements Shape {
  private size: Size;
  abstract grow(by: number): void;
  width(): number { return 1; }
}
namespace Boxes {
  export const all = [];
}
/** Packs. */
function pack<T>(box: Box): T { const local = 1; return box.width(); }
""",
        [
            "constant LIMIT 'export const LIMIT = 1'",
            "type Size 'type Size = { w: number }' /** A size. */",
            "field Size.w 'w: number'",
            "interface Shape 'interface Shape'",
            "field Shape.area 'area: number'",
            "method Shape.grow 'grow(by: number): void'",
            "enum Kind 'export enum Kind'",
            "class Box 'export abstract class Box implements Shape' /** A box. */",
            "field Box.size 'private size: Size'",
            "method Box.grow 'abstract grow(by: number): void'",
            "method Box.width 'width(): number'",
            "namespace Boxes 'namespace Boxes'",
            "variable all 'export const all = []'",
            "function pack 'function pack<T>(box: Box): T' /** Packs. */",
        ],
    ),
    "go": (
        """package p

const Limit = 1

var count, total int

// A box.
type Box struct {
	size int
}

type Shape interface {
	Grow(by int) error
}

// Width tells.
func (b *Box) Width() int { return 1 }

// Pack packs.
func Pack(b *Box) int {
	var local = 1
	return b.Width() + local
}
""",
        [
            "constant Limit 'const Limit = 1'",
            "variable count 'var count, total int'",
            "variable total 'var count, total int'",
            "struct Box 'type Box' // A box.",
            "field Box.size 'size int'",
            "interface Shape 'type Shape'",
            "method Shape.Grow 'Grow(by int) error'",
            "method Box.Width 'func (b *Box) Width() int' // Width tells.",
            "function Pack 'func Pack(b *Box) int' // Pack packs.",
        ],
    ),
    "rust": (
        """const LIMIT: u8 = 1;
static COUNT: u8 = 0;
type Size = u8;
/// A box.
pub struct Box {
    size: Size,
}
enum Kind {
    A(u8),
}
trait Shape {
    fn grow(&mut self, by: u8);
}
impl Box {
    /// Tells.
    fn width(&self) -> u8 { 1 }
}
mod inner {
}
/// Packs.
fn pack(b: &Box) -> u8 { const LOCAL: u8 = 1; b.width() }
""",
        [
            "constant LIMIT 'const LIMIT: u8 = 1'",
            "constant COUNT 'static COUNT: u8 = 0'",
            "type Size 'type Size = u8'",
            "struct Box 'pub struct Box' /// A box.",
            "field Box.size 'size: Size'",
            "enum Kind 'enum Kind'",
            "enum member Kind.A 'A(u8)'",
            "interface Shape 'trait Shape'",
            "method Shape.grow 'fn grow(&mut self, by: u8)'",
            "class Box 'impl Box'",
            "method Box.width 'fn width(&self) -> u8' /// Tells.",
            "namespace inner 'mod inner'",
            "function pack 'fn pack(b: &Box) -> u8' /// Packs.",
        ],
    ),
    "java": (
        """package p;
/** A box. */
public class Box extends Base {
    static final int LIMIT = 1;
    private int size, depth;
    enum Kind { FLAT }
    interface Shape { void grow(int by); }
    Box() { super(); }
    /** Tells. */
    int width() { int local = 1; return local; }
}
@interface Marked { int value() default 1; }
""",
        [
            "class Box 'public class Box extends Base' /** A box. */",
            "constant Box.LIMIT 'static final int LIMIT = 1'",
            "field Box.size 'private int size, depth'",
            "field Box.depth 'private int size, depth'",
            "enum Box.Kind 'enum Kind'",
            "enum member Box.Kind.FLAT 'FLAT'",
            "interface Box.Shape 'interface Shape'",
            "method Box.Shape.grow 'void grow(int by)'",
            "constructor Box.Box 'Box()'",
            "method Box.width 'int width()' /** Tells. */",
            "interface Marked '@interface Marked'",
            "method Marked.value 'int value() default 1'",
        ],
    ),
    "cpp": (
        """#define LIMIT 1
using Size = int;
/// A box.
class Box : public Base {
  Size size;
  int depth() const;
  int width() const { int local = 1; return local; }
};
enum Kind {
  Flat
};
namespace inner {
int count = 0;
}
int pack(const Box& box);
/// Opens.
static int open(Box* box) { return box->width(); }
""",
        [
            "constant LIMIT '#define LIMIT 1'",
            "type Size 'using Size = int'",
            "class Box 'class Box : public Base' /// A box.",
            "field Box.size 'Size size'",
            "method Box.depth 'int depth() const'",
            "method Box.width 'int width() const'",
            "enum Kind 'enum Kind'",
            "enum member Kind.Flat 'Flat'",
            "namespace inner 'namespace inner'",
            "variable count 'int count = 0'",
            "function pack 'int pack(const Box& box)'",
            "function open 'static int open(Box* box)' /// Opens.",
        ],
    ),
    "csharp": (
        """namespace P
{
    delegate int Sizing(int by);
    /// <summary>A box.</summary>
    public class Box : Base
    {
        const int LIMIT = 1;
        private int size, depth;
        public event Action Grown;
        public int Width { get; set; }
        public Box() { }
        /// <summary>Grows.</summary>
        int Grow(int by) { int local = by; return local; }
    }
    enum Kind
    {
        Flat = 1,
    }
    interface IShape { void Fill(); }
    struct Point { public int X; }
}
""",
        [
            "namespace P 'namespace P'",
            "type Sizing 'delegate int Sizing(int by)'",
            "class Box 'public class Box : Base' /// <summary>A box.</summary>",
            "constant Box.LIMIT 'const int LIMIT = 1'",
            "field Box.size 'private int size, depth'",
            "field Box.depth 'private int size, depth'",
            "field Box.Grown 'public event Action Grown'",
            "property Box.Width 'public int Width'",
            "constructor Box.Box 'public Box()'",
            "method Box.Grow 'int Grow(int by)' /// <summary>Grows.</summary>",
            "enum Kind 'enum Kind'",
            "enum member Kind.Flat 'Flat = 1'",
            "interface IShape 'interface IShape'",
            "method IShape.Fill 'void Fill()'",
            "struct Point 'struct Point'",
            "field Point.X 'public int X'",
        ],
    ),
}


def outlined(text: str, language: str) -> list[str]:
    source = Source(text)
    return [
        f"{one.kind} {one.qualified} {one.signature!r}" + (f" {source.slice(one.doc)}" if one.doc else "")
        for one in outline(source, language)
    ]


@pytest.mark.parametrize("language", FULL)
def test_symbols(language: str) -> None:
    """Kind, qualified name, head, and what documents it; in the order of the text where each has its line."""
    text, expected = FULL[language]
    assert sorted(outlined(text, language)) == sorted(expected)


@pytest.mark.parametrize("language", FULL)
def test_spans_contain_the_name_and_are_in_the_text(language: str) -> None:
    source = Source("// 🙂 é\n".replace("//", "#" if language == "python" else "//") + FULL[language][0])
    found = outline(source, language)
    assert [one.span.start for one in found] == sorted(one.span.start for one in found)
    for one in found:
        assert source.whole.contains(one.span)
        assert one.name in source.slice(one.span)


@pytest.mark.parametrize("language", FULL)
def test_broken_text_keeps_the_symbols_above_the_fault(language: str) -> None:
    text, expected = FULL[language]
    assert outlined(text + "\n\n) broken (\n", language)[:2] == outlined(text, language)[:2]
    assert expected
