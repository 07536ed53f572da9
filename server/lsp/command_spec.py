"""The protocol's view of a command: a name, one argument object, and a function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

if TYPE_CHECKING:
    from pydantic import BaseModel


class CommandSpec(Protocol):
    """The parts of a command that the protocol needs."""

    @property
    def run(self) -> Callable[[Any, Any], Awaitable[Any] | Any]:
        """The function: takes the server and the validated argument, returns plain JSON."""

    def model(self) -> type[BaseModel]:
        """The model of its one argument; every field has a default. Called, and so imported, at first use."""


def run_command(commands: Mapping[str, CommandSpec], server: Any, params: types.ExecuteCommandParams) -> Any:
    """Starts a command and returns its result. JsonRpcInvalidParams names an invalid argument."""
    spec = commands.get(params.command)
    if spec is None:
        raise JsonRpcInvalidParams(f"Unknown command {params.command!r}{_did_you_mean(params.command, commands)}")
    return spec.run(server, _argument(params, spec.model()))


def _argument(params: types.ExecuteCommandParams, model: type[BaseModel]) -> BaseModel:
    """The command's argument: none, or one object. JsonRpcInvalidParams says what is wrong with it."""
    from pydantic import ValidationError

    given = [argument for argument in params.arguments or () if argument is not None]
    if len(given) > 1 or not all(isinstance(argument, dict) for argument in given):
        raise JsonRpcInvalidParams(f"{params.command} expects one object as its only argument.")
    try:
        return model.model_validate(given[0] if given else {})
    except ValidationError as error:
        # Errors about the argument as a whole have no location; their message names the field.
        found = (": ".join(filter(None, [".".join(map(str, each["loc"])), each["msg"]])) for each in error.errors())
        raise JsonRpcInvalidParams("; ".join(found)) from error


def _did_you_mean(name: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(names), n=1, cutoff=0.5)
    return f": did you mean {near[0]!r}?" if near else "."
