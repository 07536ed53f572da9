"""Document: docstrings and comments for the target, without changing a token of its code.

def mean(xs):                            def mean(xs):
    return sum(xs) / len(xs)      =>         '''Return the arithmetic mean of `xs`, which must not be empty.'''
                                             return sum(xs) / len(xs)

Registered like the actions of other packages: as the entry point `document` of the group `stet.actions`.
"""

from __future__ import annotations

from stet_ls.engine.actions.custom import Check, CustomAction

ACTION = CustomAction(
    name="document",
    title="Document",
    description="Write docstrings and comments without changing the code.",
    instruction="Document {name}: write its {language} documentation, and a short comment where the reason of a step "
    "cannot be seen in the code. Give the whole code back unchanged but for documentation and comments.",
    rules=(
        "Use the form of the language: a docstring in Python, /** */ with tags in JavaScript, TypeScript, Java and "
        "C++, // above the declaration in Go, /// in Rust, /// <summary> in C#.",
        "Say what it is for, its parameters, what it returns and what it raises, as far as the code shows it.",
        "Do not change, add, move or reformat any code. Keep the comments that tools read.",
    ),
    judges=("comments",),
    required=frozenset({Check.COMMENTS}),
)
