"""The language server protocol: pygls with fixes.

All changes to pygls 2.1.1 are here, in `message_converter.py`, in `progress_tokens.py`, in
`documents/open_documents.py` (texts) and in `transport.py` (bytes). tests/server/lsp/test_stock_pygls.py records each
defect as it is in pygls, so that an upgrade shows which fixes can go.

Guarantees beyond pygls: every request gets exactly one response. A handler runs up to its first await before the next
message is read, and a response of the client reaches its waiter before that too. No message body is ever logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import json
import logging
from collections.abc import Generator
from concurrent.futures import Future
from typing import Any, cast

import cattrs
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCResponseMessage, LanguageServerProtocol, lsp_method

from stet_ls.server.documents.open_documents import Documents, TextlessWorkspace
from stet_ls.server.errors import failure_of
from stet_ls.server.lsp.client_capabilities import capability_at, choose_encoding
from stet_ls.server.lsp.command_spec import CommandSpec, run_command
from stet_ls.server.lsp.message_converter import faults
from stet_ls.server.lsp.progress_tokens import TokenKeeper

LOGGER = logging.getLogger(__name__)

CLOSE_SECONDS = 3.0
"""Limit for requests that were cancelled by the shutdown to clean up."""

SIGN_OF_LIFE = "$/stet/alive"
"""A request that no client knows, sent only to a client whose process is not visible: any response proves it alive."""

MessageId = int | str


class Protocol(LanguageServerProtocol):
    """One client's session. A transport feeds it by `receive` and ends it by `end_work` and `close`."""

    def __init__(self, server: LanguageServer, converter: cattrs.Converter) -> None:
        self._shutdown_requested = False  # before pygls, whose constructor reads every property
        super().__init__(server, converter)
        # At INFO pygls logs every message that it sends: prompts and code.
        logging.getLogger("pygls").setLevel(logging.WARNING)
        self.documents = Documents()
        self.progress = TokenKeeper(self)
        self.exited = asyncio.Event()
        """Set when the client sent `exit` or can no longer be written to."""
        self._initialized = asyncio.Event()
        """Set when `initialize` was answered: no request is sent to the client before that."""
        self._commands: dict[str, CommandSpec] = {}
        self._unanswered: dict[MessageId, str] = {}

    def add_command(self, name: str, spec: CommandSpec) -> None:
        """Registers a command. Call it before `initialize`."""
        self._commands[name] = spec

    @property
    def exit_status(self) -> int:
        """LSP 3.17, "Exit Notification": 0 if the shutdown request has been received before, otherwise 1."""
        return 0 if self._shutdown_requested else 1

    # Messages in ------------------------------------------------------------------------------------------------------

    def receive(self, body: bytes | str) -> None:
        """Handles the body of one message. Never raises; an unreadable message is answered with an error."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            self._refuse(None, JsonRpcParseError("The message is not JSON."))
        else:
            self.dispatch(message)

    def dispatch(self, message: Any) -> None:
        """Handles one parsed message."""
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            self._refuse(None, JsonRpcInvalidRequest("The message is not JSON-RPC 2.0."))
        elif "method" not in message:
            self._take_answer(message)
        elif "id" in message:
            self._take_request(message)
        else:
            self._take_notification(message)

    def _take_request(self, message: dict[str, Any]) -> None:
        request_id, method = message["id"], message["method"]
        if not isinstance(request_id, MessageId) or not isinstance(method, str) or request_id in self._unanswered:
            self._refuse(request_id, JsonRpcInvalidRequest("A request needs a unique id and a method."))
            return
        self._unanswered[request_id] = method
        try:
            self._check_phase(method)
            self._get_handler(method)
            request = self._structured(message, method)
        except JsonRpcException as error:
            self._send_response(request_id, error=error.to_response_error())
            return
        contextvars.copy_context().run(self._handle_request, request_id, method, request.params)

    def _check_phase(self, method: str) -> None:
        if self._shutdown:
            raise JsonRpcInvalidRequest("The server is shutting down.")
        if self._workspace is None and method != types.INITIALIZE:
            raise JsonRpcServerNotInitialized("The server is not initialized.")
        if self._workspace is not None and method == types.INITIALIZE:
            raise JsonRpcInvalidRequest("The server is initialized already.")

    def _take_notification(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method != types.EXIT and (self._workspace is None or (self._shutdown and method != types.CANCEL_REQUEST)):
            return
        if method not in self.fm.builtin_features and method not in self.fm.features and method != types.CANCEL_REQUEST:
            return
        try:
            notification = self._structured(message, method)
        except JsonRpcInvalidParams as error:
            LOGGER.warning("%s was dropped: %s", method, error)
            if method == types.TEXT_DOCUMENT_DID_CHANGE:
                self.documents.distrust(message.get("params"))
            return
        contextvars.copy_context().run(self._handle_notification, method, notification.params)

    def _take_answer(self, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        if request_id not in self._result_types:
            LOGGER.warning("ignored a response without a request")
            return
        result_type = self._result_types.pop(request_id)
        error, result = message.get("error"), None
        try:
            if error is not None:
                error = self._converter.structure(error, types.ResponseError)
            else:
                result = self._converter.structure(message, result_type or JsonRPCResponseMessage).result
        except Exception as problem:  # noqa: BLE001 - its waiter must not wait forever
            reason = f"Cannot read the client's response: {faults(problem)}."
            error = types.ResponseError(JsonRpcInternalError.CODE, reason)
        self._handle_response(request_id, result, error)

    async def is_answered(self) -> bool:
        """True as soon as the client answers a request, with any result; waits forever for one that is gone.

        JSON-RPC requires an error for unknown methods, and LSP 3.17 also for "$/" requests.
        """
        await self._initialized.wait()
        with contextlib.suppress(JsonRpcException):
            await self.send_request_async(SIGN_OF_LIFE)
        return True

    def _structured(self, message: dict[str, Any], method: str) -> Any:
        if method == types.INITIALIZE:
            _drop_invalid_process_id(message.get("params"))
        try:
            return self._converter.structure(message, cast(Any, self.get_message_type(method)))
        except Exception as problem:
            raise JsonRpcInvalidParams(f"{faults(problem)}.") from problem

    # Messages out -----------------------------------------------------------------------------------------------------

    def send_request_async(
        self, method: str, params: Any | None = None, msg_id: MessageId | None = None
    ) -> asyncio.Future[Any]:
        """Sends a request. Its response reaches the waiter before the next message is handled, unlike in pygls."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        sent = self.send_request(method, params, msg_id=msg_id)

        def settle(sent: Future[Any]) -> None:
            if answer.done():
                return
            if sent.cancelled():
                answer.cancel()
            elif (error := sent.exception()) is not None:
                answer.set_exception(error)
            else:
                answer.set_result(sent.result())

        sent.add_done_callback(settle)
        answer.add_done_callback(lambda answer: answer.cancelled() and sent.cancel())
        return answer

    def _handle_response(
        self, msg_id: MessageId, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        future = self._request_futures.get(msg_id)
        if future is not None and future.done():
            del self._request_futures[msg_id]
            return
        super()._handle_response(msg_id, result, error)

    def _send_handler_result(self, future: Future[Any], *, msg_id: MessageId) -> None:
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._send_response(msg_id, error=JsonRpcRequestCancelled().to_response_error())
        elif (error := future.exception()) is None:
            self._send_response(msg_id, result=future.result())
        else:
            self._send_response(msg_id, error=self._failure(error, msg_id).to_response_error())

    def _failure(self, error: BaseException, msg_id: MessageId) -> JsonRpcException:
        """The error response for a handler's exception. pygls would send the traceback, with the paths in it."""
        if isinstance(error, JsonRpcException):
            return error
        during = self._unanswered.get(msg_id, "a request")
        return failure_of(error, during=during).to_rpc() if isinstance(error, Exception) else JsonRpcInternalError()

    def _check_handler_result(self, future: Future[Any]) -> None:
        """Logs the exception of a notification's handler, which has no response. pygls shows it to the user."""
        if not future.cancelled() and isinstance(error := future.exception(), Exception):
            failure_of(error, during="a notification")

    def _send_response(
        self, msg_id: MessageId, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        if (method := self._unanswered.pop(msg_id, None)) is None:
            return
        if error is not None:
            self._send_data(types.ResponseErrorMessage(id=msg_id, error=error))
        else:
            self._send_data(JsonRPCResponseMessage(id=msg_id, jsonrpc=self.VERSION, result=result))
            if method == types.INITIALIZE:
                self._initialized.set()

    def _refuse(self, request_id: Any, error: JsonRpcException) -> None:
        """Answers an invalid request; the id is null if it cannot be read, as JSON-RPC requires."""
        readable = request_id if isinstance(request_id, MessageId) else None
        self._send_data(
            {"jsonrpc": self.VERSION, "id": readable, "error": {"code": error.code, "message": error.message}}
        )

    def _send_data(self, data: Any) -> None:
        if self.exited.is_set() or self.writer is None:
            return
        try:
            body = json.dumps(data, default=self._serialize_message).encode()
        except (TypeError, ValueError, AttributeError):
            LOGGER.exception("cannot write a message as JSON")
            self._give_up(data)
            return
        head = b"Content-Length: %d\r\n\r\n" % len(body) if self._include_headers else b""
        try:
            self.writer.write(head + body)
        except OSError as error:
            LOGGER.info("client disconnected: %s", error)
            self.close()

    def _give_up(self, data: Any) -> None:
        """Reports a message that cannot be serialized to the client or the handler that waits for it."""
        error = JsonRpcInternalError("The message cannot be written as JSON.")
        if isinstance(data, JsonRPCResponseMessage):
            self._refuse(data.id, error)
        elif getattr(data, "id", None) in self._result_types:
            self._result_types.pop(data.id)
            asyncio.get_running_loop().call_soon(self._handle_response, data.id, None, error.to_response_error())

    # Session ----------------------------------------------------------------------------------------------------------

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Negotiates capabilities, and replaces pygls' own texts with our documents."""
        self.documents.encoding = choose_encoding(params.capabilities)
        given = self._server.process_id
        result = yield from super().lsp_initialize(params)
        # pygls drops the process id of the command line if `initialize` gives none.
        self._server.process_id = params.process_id or given
        self._workspace = TextlessWorkspace(self.workspace, self.documents)
        if capability_at(params.capabilities, "text_document.diagnostic") is None:
            result.capabilities.diagnostic_provider = None  # such a client gets pushed diagnostics
        result.capabilities.execute_command_provider = types.ExecuteCommandOptions(sorted(self._commands))
        if (content := self.fm.feature_options.get(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)) is not None:
            result.capabilities.workspace = result.capabilities.workspace or types.WorkspaceOptions()
            result.capabilities.workspace.text_document_content = content
        return result

    @lsp_method(types.SHUTDOWN)
    async def lsp_shutdown(self, *_: Any) -> None:  # type: ignore[override]  # pygls runs coroutines as well
        """Ends all work, and answers when that is done."""
        self._shutdown_requested = True
        await self.end_work()

    async def end_work(self) -> None:
        """Ends all work: calls the feature `shutdown`, then cancels and answers every pending request."""
        if self._shutdown:
            return
        self._shutdown = True
        if (handler := self.fm.features.get(types.SHUTDOWN)) is not None:
            try:
                result = handler(None)
                if inspect.isawaitable(result):
                    await result
            except Exception as error:  # noqa: BLE001 - a failing cleanup must not keep the server alive
                failure_of(error, during="shutdown")
        mine = self.msg_id
        pending: list[Any] = [future for key, future in self._request_futures.items() if key != mine]
        for future in pending:
            future.cancel()
        tasks = [future for future in pending if isinstance(future, asyncio.Future)]
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        for request_id in [key for key in self._unanswered if key != mine]:
            self._send_response(request_id, error=JsonRpcRequestCancelled().to_response_error())

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]  # pygls runs functions as well
        """Ends the session; the transport then ends the process with `exit_status`."""
        self.close()

    def close(self) -> None:
        """Stops sending."""
        self.exited.set()

    # Commands ---------------------------------------------------------------------------------------------------------

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]  # pygls runs coroutines as well
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Runs a command in this request's task, so that its cancellation reaches the command."""
        result = run_command(self._commands, self._server, params)
        return await result if inspect.isawaitable(result) else result


def _drop_invalid_process_id(params: Any) -> None:
    """Ignores a client's process id that is not an integer: `int` would accept true, 7.9 and "7"."""
    if isinstance(params, dict) and type(given := params.get("processId")) not in (int, type(None)):
        LOGGER.warning("the client's process id %.40r is not a number; not watched", given)
        params["processId"] = None
