"""A query over one partition's rows, page by page."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from devstack.cosmos.errors import bad_request
from devstack.cosmos.json_values import Json, JsonObject, is_number, write_json
from devstack.cosmos.query.continuation import Position, decode_position, encode_position
from devstack.cosmos.query.evaluate import (
    Parameters,
    Value,
    evaluate,
    is_true,
    parameter_value,
    property_value,
)
from devstack.cosmos.query.syntax import (
    Literal,
    OrderBy,
    Parameter,
    Query,
    SelectAll,
    SelectCount,
    SelectFields,
    Selection,
    SelectValue,
    Undefined,
)

# Source: "Azure Cosmos DB service quotas", maximum response size.
PAGE_BYTES_MAX: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """A document and its number, which rises in the sequence of creation."""

    number: int
    document: JsonObject


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page; ``query_id`` ties a continuation to its query, ``continuation`` None asks for the first."""

    query_id: str
    count_max: int
    continuation: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Results, each as JSON; ``continuation`` None means that there are no more."""

    results: tuple[bytes, ...]
    continuation: str | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    row: Row
    sort_key: tuple[int, bool | int | float | str]

    @property
    def place(self) -> tuple[tuple[int, bool | int | float | str], int]:
        return self.sort_key, self.row.number


def run_query(query: Query, parameters: Parameters, rows: Iterable[Row], request: PageRequest) -> Page:
    """Answer one page of a query.

    Raises:
        CosmosError: 400, if a parameter is missing or no count, or the continuation belongs to another query.
    """
    matching = [row for row in rows if query.where is None or is_true(query.where, row.document, parameters)]
    if isinstance(query.selection, SelectCount):
        return Page((write_json(_count(query.selection, matching, parameters)),))
    start = None
    if request.continuation is not None:
        start = decode_position(request.continuation, request.query_id)
    return _page(query, parameters, _sorted_rest(query.order_by, matching, start), start, request)


def _page(
    query: Query,
    parameters: Parameters,
    candidates: list[_Candidate],
    start: Position | None,
    request: PageRequest,
) -> Page:
    offset = _count_value(query.offset, parameters)
    end = None if query.limit is None else offset + _count_value(query.limit, parameters)
    results: list[bytes] = []
    size = 0
    matched = start.matched if start else 0
    for index, candidate in enumerate(candidates):
        if end is not None and matched >= end:
            break
        matched += 1
        if matched > offset:
            for result in _project(query.selection, candidate.row.document, parameters):
                results.append(write_json(result))
                size += len(results[-1])
        more = index + 1 < len(candidates) and (end is None or matched < end)
        if more and (len(results) >= request.count_max or size >= PAGE_BYTES_MAX):
            last = Position(candidate.sort_key, candidate.row.number, matched)
            return Page(tuple(results), encode_position(last, request.query_id))
    return Page(tuple(results))


def _sorted_rest(order_by: OrderBy | None, rows: list[Row], start: Position | None) -> list[_Candidate]:
    """The rows after the start, in the query's order; items of equal keys follow their numbers."""
    descending = order_by is not None and order_by.descending
    candidates = [_Candidate(row, _sort_key(order_by, row.document)) for row in rows]
    if start is not None:
        after = (start.sort_key, start.number)
        candidates = [
            candidate
            for candidate in candidates
            if (candidate.place < after if descending else candidate.place > after)
        ]
    return sorted(candidates, key=lambda candidate: candidate.place, reverse=descending)


def _sort_key(order_by: OrderBy | None, document: JsonObject) -> tuple[int, bool | int | float | str]:
    """Type first, then value.

    Source: "ORDER BY clause": undefined, null, boolean, number, string, array, object.
    """
    if order_by is None:
        return 0, 0
    value = property_value(document, order_by.key.path)
    if isinstance(value, Undefined):
        return 0, 0
    if value is None:
        return 1, 0
    if isinstance(value, bool):
        return 2, value
    if is_number(value):
        return 3, value
    if isinstance(value, str):
        return 4, value
    return (5 if isinstance(value, list) else 6), write_json(value).decode("utf-8")


def _project(selection: Selection, document: JsonObject, parameters: Parameters) -> Iterator[Json]:
    match selection:
        case SelectAll():
            yield document
        case SelectValue(value=expression):
            value = evaluate(expression, document, parameters)
            if not isinstance(value, Undefined):
                yield value
        case SelectFields(fields=fields):
            values: dict[str, Value] = {name: evaluate(expression, document, parameters) for name, expression in fields}
            yield {name: value for name, value in values.items() if not isinstance(value, Undefined)}
        case SelectCount():
            raise AssertionError("an aggregate has no value per row")
        case _:
            assert_never(selection)


def _count(selection: SelectCount, rows: list[Row], parameters: Parameters) -> Json:
    values = (evaluate(selection.counted, row.document, parameters) for row in rows)
    count = sum(1 for value in values if not isinstance(value, Undefined))
    return count if selection.name is None else {selection.name: count}


def _count_value(count: Literal | Parameter, parameters: Parameters) -> int:
    value = count.value if isinstance(count, Literal) else parameter_value(count.name, parameters)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise bad_request("TOP, OFFSET and LIMIT take a whole number from 0.")
    return value
