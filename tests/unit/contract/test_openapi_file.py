"""docs/openapi.yaml matches the code: calls, arguments, errors and webhooks."""

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
from tests.unit.contract.calls import CALLS
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
    """The validator of OpenAPI 3.1 finds no error."""
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


def test_every_key_of_a_schema_has_a_value() -> None:
    """An unquoted comma ends a description, and the rest becomes a key without a value."""
    described = [node for _, node in _nodes(DOCUMENT) if "description" in node]
    assert [node for node in described if None in node.values()] == []


def test_every_example_matches_its_schema() -> None:
    """Examples of calls, answers and webhooks have no undocumented field."""
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


def test_the_page_of_events_has_no_inline_scripts_and_styles() -> None:
    """The policy of the site blocks inline styles and scripts."""
    page = event_catalog.pages()[event_catalog.PAGE]
    assert re.findall("<script.*", page) == ['<script src="/events.js" defer></script>']
    assert "<style" not in page
    assert " style=" not in page
    for event in EventType:
        assert f'id="{event}"' in page


# --- operations ---------------------------------------------------------------------------


@functools.cache
def _declared(decorator: str) -> set[str]:
    """Return the functions of main.py with this word in a decorator, such as `on_request`."""
    tree = ast.parse((ROOT / "main.py").read_text())
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for decoration in node.decorator_list
        if decorator in ast.unparse(decoration)
    }


def test_every_call_has_a_path() -> None:
    """Compare with the functions that main.py declares."""
    assert _declared("_callable") == callables().keys()
    assert {f"/{name}" for name in _declared("_callable") | _declared("on_request")} == set(
        DOCUMENT["paths"]
    )


def test_calls_of_staff_require_an_id_token() -> None:
    """main.py declares them as `staff_callable`, and specification 5 has their roles."""
    with_token = {
        name
        for name, operation in callables().items()
        if operation["security"] == [{"idToken": []}]
    }
    assert with_token == _declared("staff_callable")
    assert with_token == {name for name, call in CALLS.items() if call.roles}


def test_every_event_type_has_a_webhook() -> None:
    """Check each list of event types in the file."""
    types = [str(event_type) for event_type in EventType]
    assert list(DOCUMENT["webhooks"]) == types
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["EventType"]["enum"] == types
    assert list(schemas["Delivery"]["discriminator"]["mapping"]) == types


def test_every_webhook_has_the_headers_of_a_delivery() -> None:
    """See spec 6.2."""
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
"""The folder of the use cases behind each module of handlers."""


class _Definitions:
    """Functions of the code by name, to follow calls."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[str, ast.AST]]] = {}
        for path in sorted((ROOT / "functions").rglob("*.py")):
            place = CAPABILITIES.get(path.stem, path.relative_to(ROOT / "functions").parts[0])
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef):
                    self._found.setdefault(node.name, []).append((place, node))

    def codes(self, capability: str, handler: str) -> set[str]:
        """Return the error codes in all functions that `handler` can reach.

        A call reaches every function of that name in its capability and in shared modules. If two
        functions have the same name, both count, so that no code is missed.
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
    """Yield the names that are called or passed on."""
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute):
            yield child.attr
        elif isinstance(child, ast.Name):
            yield child.id


def _handlers() -> Iterator[tuple[str, str]]:
    """Yield each callable and its handler."""
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

CODES_IN_RESULTS: Final = {"previewEventRecap": {Code.ABORTED}}
"""Codes of another call that a result contains. They are no errors of this call."""


@pytest.mark.parametrize("function", HANDLERS)
def test_every_code_that_a_call_can_answer_has_an_example(function: str) -> None:
    """Follow the calls in the code. The protocol adds the codes for bodies, tokens and faults."""
    *_, module, handler = HANDLERS[function].split(".")
    expected = _definitions().codes(CAPABILITIES[module], handler)
    expected |= {Code.INVALID_ARGUMENT, Code.INTERNAL}
    expected -= CODES_IN_RESULTS.get(function, set())
    if function in _declared("staff_callable"):
        expected |= {Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED}
    documented = {refusal.name for refusal in refusals() if refusal.function == function}
    assert documented == expected


@pytest.fixture
def handler_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[..., Any]], None]:
    """Return a function that replaces a callable's handler."""

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
    """Compare status, code and body."""

    def refuse(*_: object) -> None:
        error = example.value["error"]
        raise CallError(Code(example.name), error["message"], error.get("details"))

    handler_of(example.function, refuse)
    answer = _call(example.function, {})
    assert (answer.status_code, answer.get_json()) == (int(example.status), example.value)


@pytest.mark.parametrize("function", callables())
def test_a_fault_and_a_missing_token_are_answered_as_documented(
    function: str, handler_of: Callable[[str, Callable[..., Any]], None]
) -> None:
    """A missing token is answered before the handler runs."""

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
    """Arguments that record the names that are read."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.names: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.names.add(key)
        return super().get(key, default)


class _ReachedError(Exception):
    """A handler has accepted the arguments."""


class _Reached:
    """A service that raises an error when a handler uses it after reading the arguments."""

    clock = Clock(lambda: NOW, lambda: 0.0, lambda _: None)

    def __getattr__(self, _: str) -> NoReturn:
        raise _ReachedError


def _refused(function: str, data: object) -> bool:
    """Return whether the handler of `function` rejects the arguments."""
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
def test_exactly_the_documented_arguments_are_read(function: str) -> None:
    """Record the names that the handler reads."""
    data = _Asked(**CALLS[function].valid)
    assert not _refused(function, data)
    schema = resolved(request_schema(function)["properties"]["data"])
    assert data.names == schema["properties"].keys()


NO_ARGUMENTS: Final[list[Any]] = [None, [], "midsummer", {}]
TIMES: Final = {"at", "since", "until", "next", "after"}
"""Arguments for which the code is stricter than the schema: times and cursors."""


def _values(schema: Any) -> Iterator[Any]:
    """Yield values of every kind, and those just inside and outside of a schema's limits."""
    yield from VALUES
    for choice in resolved(schema).get("oneOf", [schema]):
        rule = resolved(choice)
        yield from rule.get("enum", ())
        yield from ("d1", "a b", "__d__", "a/b") if "pattern" in rule else ()
        if length := rule.get("maxLength", 128 if "pattern" in rule else 0):
            yield from ("x" * length, "x" * (length + 1))
        if "minimum" in rule:
            yield from (rule["minimum"], rule["minimum"] - 1)
        if "maximum" in rule:
            yield from (rule["maximum"], rule["maximum"] + 1)


def _properties(function: str) -> dict[str, Any]:
    """Return the schemas of a call's arguments by name, and of an unknown argument."""
    known: dict[str, Any] = resolved(request_schema(function)["properties"]["data"])["properties"]
    return known | {"further": {}}


@pytest.mark.parametrize(
    ("function", "valid"),
    [
        *((function, call.valid) for function, call in CALLS.items()),
        ("sendEventRecap", EVENT | {"resendUnconfirmed": True}),
        ("resendWebhook", SINCE),
        ("resendWebhook", SINCE | {"deliveryId": "d1"}),
    ],
)
def test_the_schema_and_the_code_reject_the_same_arguments(
    function: str, valid: dict[str, Any]
) -> None:
    """Compare the values of each argument, and data that is no object."""
    asked: list[tuple[str, Any]] = [("", data) for data in [*NO_ARGUMENTS, valid, EVENT]]
    for name, schema in _properties(function).items():
        places = AFTER if name in TIMES else ()
        asked += [(name, valid | {name: value}) for value in (*_values(schema), *places)]
    for name, data in asked:
        violations = problems(request_schema(function), {"data": data})
        refused = _refused(function, data)
        if violations or name not in TIMES:
            assert bool(violations) == refused, (data, violations)


@given(st.data())
def test_the_schema_and_the_code_reject_the_same_combinations(data: st.DataObject) -> None:
    """Some arguments exclude each other, such as dryRun and next."""
    function = data.draw(st.sampled_from([*CALLS]))
    schemas = _properties(function)
    names = data.draw(st.sets(st.sampled_from(sorted(schemas)), max_size=4))
    arguments = CALLS[function].valid | {
        name: data.draw(st.sampled_from([*_values(schemas[name])]), name) for name in sorted(names)
    }
    violations = problems(request_schema(function), {"data": arguments})
    refused = _refused(function, arguments)
    if violations or not TIMES & names:
        assert bool(violations) == refused, violations


def test_the_schema_and_the_code_reject_the_same_preferences() -> None:
    """Spec 4.4: at least one of the three flags, and no other."""
    function = "updateEmailPreferences"
    flags = [{name: value} for name in ("recap", "transactional", "further") for value in VALUES]
    for choices in [{"recap": True, "lifecycle": False, "marketing": False}, *flags]:
        data = {"token": "t", "preferences": choices}
        violations = problems(request_schema(function), {"data": data})
        assert bool(violations) == _refused(function, data), violations


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
def test_bodies_of_webhooks_match_their_schemas(full: bool) -> None:
    """Spec 4.3 and 6.1: check with all optional fields, and with null in each."""
    documents = InMemoryDocuments(Firestore(lambda: NOW))
    of_photo, of_event = (FULL_PHOTO, FULL_EVENT) if full else ({}, {})
    hook = {"url": "https://example.com/hook", "events": [str(event) for event in EventType]}
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


def test_only_requests_forbid_further_fields() -> None:
    """Spec 9: responses and webhooks can get new fields."""
    closed = {
        place for place, node in _nodes(DOCUMENT) if node.get("additionalProperties") is False
    }
    requests_ = {f"/paths//{name}/post/requestBody" for name in callables()}
    assert {
        place
        for place in closed
        if not place.startswith(tuple(requests_)) and "Arguments" not in place
    } == set()


def test_the_specification_has_the_same_version_and_notice_period() -> None:
    """Spec 9: the period is the time that an old name remains."""
    section = (ROOT / "docs/specification.md").read_text().partition("## 9.")[2]
    assert f"`{DOCUMENT['info']['version']}`" in section
    [days] = re.findall(r"at least (\d+) days", section)
    assert f"at least {days} days" in DOCUMENT["info"]["description"]
