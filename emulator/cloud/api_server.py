"""A gRPC server on loopback for stand-ins of Google's APIs."""

import functools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

import grpc

from emulator.server import HOST

ADDRESS_VARIABLE: Final = "GOOGLE_API_STAND_INS"
"""Environment variable with the server's `host:port`, which the functions read."""

_THREADS: Final = 16


class Refused(Exception):  # noqa: N818 - a response, not a fault
    """Raised by a method to answer a call with an error."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Method:
    """One method: its implementation, and protobuf's types of its messages."""

    answer: Callable[[Any], Any]
    request: Any
    response: Any


class Service(Protocol):
    """One API."""

    name: str

    @property
    def methods(self) -> Mapping[str, Method]:
        """The methods by name."""
        ...


class ApiServer:
    """A running server for several APIs. Also a context manager.

    Attributes:
        address: `host:port`.
        calls: Names of the methods called so far, in order.
        before: Functions by method name, each called before the method. They may raise `Refused`.
    """

    def __init__(self, *services: Service) -> None:
        """Start listening on any free port."""
        self.calls: list[str] = []
        self.before: dict[str, Callable[[], None]] = {}
        self._server = grpc.server(ThreadPoolExecutor(_THREADS))
        for service in services:
            handlers = {
                name: grpc.unary_unary_rpc_method_handler(
                    functools.partial(self._answer, name, method),
                    request_deserializer=method.request.FromString,
                    response_serializer=method.response.SerializeToString,
                )
                for name, method in service.methods.items()
            }
            handler = grpc.method_handlers_generic_handler(service.name, handlers)
            self._server.add_generic_rpc_handlers((handler,))
        self.address = f"{HOST}:{self._server.add_insecure_port(f'{HOST}:0')}"
        self._server.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening."""
        self._server.stop(None).wait()

    def refuse(self, method: str, *codes: grpc.StatusCode) -> None:
        """Answer the next calls of `method` with `codes`, one code for each call."""
        left = list(codes)

        def refuse() -> None:
            if left:
                raise Refused(left.pop(0), "refused by the test")

        self.before[method] = refuse

    def _answer(
        self, name: str, method: Method, request: Any, context: grpc.ServicerContext
    ) -> Any:
        self.calls.append(name)
        try:
            if before := self.before.get(name):
                before()
            return method.answer(request)
        except Refused as refused:
            context.abort(refused.code, refused.message)
