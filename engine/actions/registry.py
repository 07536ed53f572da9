"""All actions by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stet_ls.engine.actions import analyze, debug, explain, generate, optimize, refactor, task, test
from stet_ls.engine.actions.recipe import Recipe

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            generate.RECIPE,
            debug.RECIPE,
            refactor.RECIPE,
            analyze.RECIPE,
            test.RECIPE,
            explain.RECIPE,
            optimize.RECIPE,
            task.RECIPE,
        )
    }
)
