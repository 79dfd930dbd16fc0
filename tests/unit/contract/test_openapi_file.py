"""docs/openapi.yaml tells what the code does: calls, their arguments and errors, webhooks."""

import ast
import functools
import itertools
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import flask
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openapi_spec_validator import OpenAPIV31SpecValidator

import main
from functions.call.caller import Caller, Role
from functions.call.errors import CallError, Code
from functions.firestore.model import Put, Query
from functions.gcp import callables as protocol
from functions.gcp.callables import StaffCall
from functions.parameters import Parameters
from functions.ports import Clock
from functions.wall.wall_event import Photo, WallEvent
from functions.webhooks.events import EventType
from tests.in_memory.adapters import InMemoryRandom, service_on
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.ports import InMemoryTasks
from tests.unit.contract.calls import CALLS, HOOK
from tests.unit.contract.hostile_arguments import AFTER, VALUES
from tests.unit.contract.promise import (
    DOCUMENT,
    JSON,
    ROOT,
    Example,
    answer_schema,
    answers,
    callables,
    delivery_schema,
    problems,
    refusals,
    request_schema,
    requests,
    resolved,
)
from tools import event_catalog

NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def test_the_file_is_valid() -> None:
    """The file is OpenAPI 3.1, as its validator reads it."""
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


def test_every_key_of_a_schema_has_a_value() -> None:
    """A description with an unquoted comma ends there, and its rest becomes a key without one."""
    told = [node for _, node in _nodes(DOCUMENT) if "description" in node]
    assert [node for node in told if None in node.values()] == []


def test_every_example_keeps_to_its_schema() -> None:
    """Calls, answers and webhooks; exactly: an example shows no field that is not told."""
    examples = [*requests(), *answers()]
    assert {
        (example.function, example.status, example.name): found
        for example in examples
        if (found := problems(example.schema, example.value, exactly=True))
    } == {}
    for name, item in DOCUMENT["webhooks"].items():
        body = item["post"]["requestBody"]["content"][JSON]
        assert problems(body["schema"], body["example"], exactly=True) == [], name
        assert problems({"$ref": "#/components/schemas/Delivery"}, body["example"]) == [], name
        assert body["example"]["event"] == name
    for parameter in DOCUMENT["components"]["parameters"].values():
        assert problems(parameter["schema"], parameter["example"]) == [], parameter["name"]


def test_the_catalogue_holds_no_script_and_loads_nothing_foreign() -> None:
    """The policy of the site refuses a style or script that stands in a page."""
    page = event_catalog.pages()[event_catalog.PAGE]
    assert re.findall("<script.*", page) == ['<script src="/events.js" defer></script>']
    assert "<style" not in page
    assert " style=" not in page
    for event in EventType:
        assert f'id="{event}"' in page


# --- what there is ---------------------------------------------------------------------------


@functools.cache
def _declared(decorator: str) -> set[str]:
    """Functions of main.py with this word in a decorator, such as `on_request`."""
    tree = ast.parse((ROOT / "main.py").read_text())
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for decoration in node.decorator_list
        if decorator in ast.unparse(decoration)
    }


def test_every_call_has_a_path() -> None:
    """The file has the calls that main.py declares, and no other."""
    assert _declared("_callable") == callables().keys()
    assert {f"/{name}" for name in _declared("_callable") | _declared("on_request")} == set(
        DOCUMENT["paths"]
    )
    assert CALLS.keys() == callables().keys()


def test_who_has_to_be_signed_in_is_told() -> None:
    """The file asks a token for the calls that main.py declares as `staff_callable`."""
    told = {
        name
        for name, operation in callables().items()
        if operation["security"] == [{"idToken": []}]
    }
    assert told == _declared("staff_callable")


def test_every_event_type_has_a_webhook() -> None:
    """Each list of event types in the file has all of them."""
    types = [str(event_type) for event_type in EventType]
    assert list(DOCUMENT["webhooks"]) == types
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["EventType"]["enum"] == types
    assert list(schemas["Delivery"]["discriminator"]["mapping"]) == types


def test_every_webhook_has_the_headers_of_a_delivery() -> None:
    """Spec 6.2: each webhook has the headers of a delivery."""
    for item in DOCUMENT["webhooks"].values():
        assert [resolved(parameter)["name"] for parameter in item["post"]["parameters"]] == [
            "Wall-Signature",
            "Wall-Event-Type",
            "Wall-Event-Id",
            "Wall-Delivery-Id",
            "webhook-id",
            "webhook-timestamp",
            "webhook-signature",
            "User-Agent",
            "Wall-Test",
        ]


# --- errors ----------------------------------------------------------------------------------


CAPABILITIES: Final = {
    "webhook_calls": "webhooks",
    "webhook_triggers": "webhooks",
    "recap_calls": "recap",
    "preference_calls": "preferences",
}
"""The folder of the use cases that a module of handlers calls."""


class _Definitions:
    """Functions and classes of the code by their bare names, for following calls."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[str, ast.AST]]] = {}
        for path in sorted((ROOT / "functions").rglob("*.py")):
            place = CAPABILITIES.get(path.stem, path.relative_to(ROOT / "functions").parts[0])
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef):
                    self._found.setdefault(node.name, []).append((place, node))

    def codes(self, capability: str, handler: str) -> set[str]:
        """Codes that `handler` may answer with: all that stand in what it may lead to.

        A call leads to every function of that name in its capability or in what all share; of two
        that have one name both count, so that this finds rather too much than too little.
        """
        others = {"webhooks", "recap", "preferences"} - {capability}
        seen: set[str] = set()
        wanted, found = [handler], set()
        while wanted:
            name = wanted.pop()
            if name in seen:
                continue
            seen.add(name)
            for place, node in self._found.get(name, []):
                if place in others:
                    continue
                found |= set(_codes(node))
                wanted += _names(node)
        return found


@functools.cache
def _definitions() -> _Definitions:
    return _Definitions()


def _codes(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and ast.unparse(child.value) == "Code":
            yield Code[child.attr].value


def _names(node: ast.AST) -> Iterator[str]:
    """Names that are called or handed on."""
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute):
            yield child.attr
        elif isinstance(child, ast.Name):
            yield child.id


def _handlers() -> Iterator[tuple[str, str]]:
    """Each callable, and its handler."""
    for node in ast.parse((ROOT / "main.py").read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name in callables():
            [imported] = [
                imported for imported in node.body if isinstance(imported, ast.ImportFrom)
            ]
            [returned] = [statement for statement in node.body if isinstance(statement, ast.Return)]
            assert isinstance(returned.value, ast.Call)
            assert isinstance(returned.value.func, ast.Attribute)
            module = f"{imported.module}.{imported.names[0].name}"
            yield node.name, f"{module}.{returned.value.func.attr}"


HANDLERS: Final = dict(_handlers())

TOLD_IN_ANSWERS: Final = {"previewEventRecap": {Code.ABORTED}}
"""Codes of another call that an answer tells of; nobody is refused with them."""


@pytest.mark.parametrize("function", HANDLERS)
def test_every_code_that_a_call_can_answer_has_an_example(function: str) -> None:
    """Found in the code by following its calls; bodies, tokens and faults are the protocol's."""
    *_, module, handler = HANDLERS[function].split(".")
    expected = _definitions().codes(CAPABILITIES[module], handler)
    expected |= {Code.INVALID_ARGUMENT, Code.INTERNAL}
    expected -= TOLD_IN_ANSWERS.get(function, set())
    if function in _declared("staff_callable"):
        expected |= {Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED}
    told = {refusal.name for refusal in refusals() if refusal.function == function}
    assert told == expected


@pytest.fixture
def handler_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[..., Any]], None]:
    """Put something in the place of a callable's handler."""

    def replace(function: str, by: Callable[..., Any]) -> None:
        monkeypatch.setattr(HANDLERS[function], by)

    monkeypatch.setattr(protocol, "_app", lambda: None)
    claims = {"uid": "u1", "role": "superadmin", "tenantId": "acme"}
    monkeypatch.setattr("firebase_admin.auth.verify_id_token", lambda *_, **__: dict(claims))
    service = service_on(parameters=Parameters(staff_calls_an_hour=10_000))
    monkeypatch.setattr("main.service", lambda: service)
    return replace


@pytest.mark.parametrize("example", refusals(), ids=lambda one: f"{one.function} {one.name}")
def test_an_error_is_answered_as_its_example_shows(
    example: Example, handler_of: Callable[[str, Callable[..., Any]], None]
) -> None:
    """The deployed function answers an error with status, code and body of its example."""

    def refuse(*_: object) -> None:
        told = example.value["error"]
        raise CallError(Code(example.name), told["message"], told.get("details"))

    handler_of(example.function, refuse)
    answer = _call(example.function, {})
    assert (answer.status_code, answer.get_json()) == (int(example.status), example.value)


@pytest.mark.parametrize("function", callables())
def test_a_fault_and_a_call_without_a_token_are_answered_as_told(
    function: str, handler_of: Callable[[str, Callable[..., Any]], None]
) -> None:
    """Faults and missing tokens are answered as the file says, before any handler."""

    def fail(_: object) -> None:
        raise RuntimeError

    handler_of(function, fail)
    answers_ = [_call(function, {})]
    if callables()[function]["security"] == [{"idToken": []}]:
        answers_.append(_call(function, {}, signed_in=False))
    for answer in answers_:
        schema = answer_schema(function, answer.status_code)
        assert problems(schema, answer.get_json(), exactly=True) == []
    assert [response.status_code for response in answers_] == [500, 401][: len(answers_)]


def _call(function: str, data: object, *, signed_in: bool = True) -> flask.Response:
    app = flask.Flask(__name__)
    headers = {"Authorization": "Bearer any"} if signed_in else {}
    with app.test_request_context(method="POST", json={"data": data}, headers=headers):
        answer: flask.Response = getattr(main, function)(flask.request)
    return answer


# --- arguments -------------------------------------------------------------------------------


class _Asked(dict[str, Any]):
    """Arguments that remember which of them were asked for."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.names: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.names.add(key)
        return super().get(key, default)


class _ReachedError(Exception):
    """The arguments are valid."""


class _Reached:
    """A service that a handler asks once it has read the arguments."""

    clock = Clock(lambda: NOW, lambda: 0.0, lambda _: None)

    def __getattr__(self, _: str) -> NoReturn:
        raise _ReachedError


def _refused(function: str, data: object) -> bool:
    """Whether the handler of `function` refuses the arguments."""
    caller = Caller("u1", Role.SUPERADMIN, None)
    request = flask.Request({})
    call = StaffCall(function=function, data=data, request=request, caller=caller, claims={})
    try:
        pkgutil.resolve_name(HANDLERS[function])(_Reached(), call)
    except CallError as refused:
        return refused.code is Code.INVALID_ARGUMENT
    except _ReachedError:
        return False
    raise AssertionError("the call is not counted")


EVENT: Final[dict[str, Any]] = {"eventId": "midsummer"}
SINCE: Final = EVENT | {"since": "2026-05-01T18:00:00Z"}


@pytest.mark.parametrize("function", CALLS)
def test_the_arguments_that_are_told_are_those_that_are_read(function: str) -> None:
    """The code reads the arguments that the file names, and no other."""
    data = _Asked(**CALLS[function].valid)
    assert not _refused(function, data)
    schema = resolved(request_schema(function)["properties"]["data"])
    assert data.names == schema["properties"].keys()


NO_ARGUMENTS: Final[list[Any]] = [None, [], "midsummer", {}]
TIMES: Final = {"at", "since", "until", "next", "after"}
"""Arguments of which the file says less than the code wants: a time, or a place in a list."""


def _values(schema: Any) -> Iterator[Any]:
    """Values of any kind, then those at the limits of a schema: just inside and just outside."""
    yield from VALUES
    for choice in resolved(schema).get("oneOf", [schema]):
        told = resolved(choice)
        yield from told.get("enum", ())
        yield from ("d1", "a b", "__d__", "a/b") if "pattern" in told else ()
        if length := told.get("maxLength", 128 if "pattern" in told else 0):
            yield from ("x" * length, "x" * (length + 1))
        if "minimum" in told:
            yield from (told["minimum"], told["minimum"] - 1)
        if "maximum" in told:
            yield from (told["maximum"], told["maximum"] + 1)


def _properties(function: str) -> dict[str, Any]:
    """Schemas of a call's arguments by their names, and of an argument that no call has."""
    told: dict[str, Any] = resolved(request_schema(function)["properties"]["data"])["properties"]
    return told | {"further": {}}


@pytest.mark.parametrize(
    ("function", "valid"),
    [
        *((function, call.valid) for function, call in CALLS.items()),
        ("sendEventRecap", EVENT | {"resendUnconfirmed": True}),
        ("resendWebhook", SINCE),
        ("resendWebhook", SINCE | {"deliveryId": "d1"}),
    ],
)
def test_arguments_are_refused_where_the_file_says_so(function: str, valid: dict[str, Any]) -> None:
    """The file and the code refuse the same values of each argument, and the same data."""
    asked: list[tuple[str, Any]] = [("", data) for data in [*NO_ARGUMENTS, valid, EVENT]]
    for name, schema in _properties(function).items():
        places = AFTER if name in TIMES else ()
        asked += [(name, valid | {name: value}) for value in (*_values(schema), *places)]
    for name, data in asked:
        told = problems(request_schema(function), {"data": data})
        refused = _refused(function, data)
        if told or name not in TIMES:
            assert bool(told) == refused, (data, told)


@given(st.data())
def test_several_arguments_are_refused_where_the_file_says_so(data: st.DataObject) -> None:
    """Each argument is refused by itself or in the company of another, such as dryRun with next."""
    function = data.draw(st.sampled_from([*CALLS]))
    schemas = _properties(function)
    names = data.draw(st.sets(st.sampled_from(sorted(schemas)), max_size=4))
    arguments = CALLS[function].valid | {
        name: data.draw(st.sampled_from([*_values(schemas[name])]), name) for name in sorted(names)
    }
    told = problems(request_schema(function), {"data": arguments})
    refused = _refused(function, arguments)
    if told or not TIMES & names:
        assert bool(told) == refused, told


def test_preferences_are_refused_where_the_file_says_so() -> None:
    """Spec 4.4: one flag at least, and no flag but the three."""
    function = "updateEmailPreferences"
    flags = [{name: value} for name in ("recap", "transactional", "further") for value in VALUES]
    for choices in [{"recap": True, "lifecycle": False, "marketing": False}, *flags]:
        data = {"token": "t", "preferences": choices}
        told = problems(request_schema(function), {"data": data})
        assert bool(told) == _refused(function, data), told


# --- webhooks --------------------------------------------------------------------------------


FULL_PHOTO: Final = {
    "url": "https://example.com/1.jpg",
    "uploaderName": "Ann",
    "uploaderEmail": "ann@example.com",
    "approvedBy": "moderator@example.com",
    "rejectedBy": "moderator@example.com",
    "reason": "out of focus",
}
FULL_EVENT: Final = {"name": "Midsummer", "template": "garden", "galleryUrl": "https://example.com"}


@pytest.mark.parametrize("full", [True, False])
def test_a_body_is_what_the_file_says(full: bool) -> None:
    """Spec 4.3 and 6.1: every field is told; once with all that can be null, once without."""
    documents = InMemoryDocuments(Firestore(lambda: NOW))
    of_photo, of_event = (FULL_PHOTO, FULL_EVENT) if full else ({}, {})
    hook = {"url": HOOK, "events": [str(event) for event in EventType]}
    documents.commit(
        Put("events/e", {"tenantId": "t"}),
        Put("events/e/settings/webhooks", {"urls": [hook]}),
        *(Put(f"events/e/photos/p{number}", {"uploaderUid": "u1"}) for number in range(100)),
    )
    queue = SimpleNamespace(enqueue=InMemoryTasks(lambda: NOW).create)
    random = InMemoryRandom(webhook_secret=lambda: "whsec_made")
    publisher = service_on(documents, task_queue=queue, random=random).publisher
    photos = [
        Photo.read(
            "p0", of_photo | {"uploaderUid": "u1", "status": status}, created=NOW, updated=NOW
        )
        for status in ("pending", "rejected", "approved")
    ]
    for before, after in itertools.permutations([None, *photos], 2):
        publisher.photo_written(f"{before} {after}", "e", before, after)
    walls = [
        WallEvent.read(of_event | {"status": status}, updated=NOW)
        for status in ("published", "archived")
    ]
    for wall_before, wall_after in itertools.pairwise([None, *walls]):
        publisher.event_written(f"{wall_before} {wall_after}", "e", wall_before, wall_after)

    found = documents.find(Query(collection="events/e/deliveries"))
    bodies = [json.loads(delivery.fields["body"]) for delivery in found]
    assert {body["event"] for body in bodies} == set(EventType)
    for body in bodies:
        assert problems(delivery_schema(body["event"]), body, exactly=True) == []
        assert problems({"$ref": "#/components/schemas/Delivery"}, body) == []


def _nodes(node: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield place, node
        for name, child in node.items():
            yield from _nodes(child, f"{place}/{name}")
    elif isinstance(node, list):
        for number, child in enumerate(node):
            yield from _nodes(child, f"{place}/{number}")


def test_what_the_service_sends_is_open() -> None:
    """Spec 9: a further field breaks nobody; only what comes in may be closed."""
    closed = {
        place for place, node in _nodes(DOCUMENT) if node.get("additionalProperties") is False
    }
    requests_ = {f"/paths//{name}/post/requestBody" for name in callables()}
    assert {
        place
        for place in closed
        if not place.startswith(tuple(requests_)) and "Arguments" not in place
    } == set()


def test_the_promise_stands_in_the_specification_too() -> None:
    """Spec 9: its version, and how long an old name stays."""
    section = (ROOT / "docs/specification.md").read_text().partition("## 9.")[2]
    assert f"`{DOCUMENT['info']['version']}`" in section
    [days] = re.findall(r"at least (\d+) days", section)
    assert f"at least {days} days" in DOCUMENT["info"]["description"]
