"""Messages with every kind of field, and spellings of JSON that mean the same."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import msgspec
from hypothesis import strategies as st

from shared.idempotency.json_text import Json
from shared.idempotency.messages import Identifier, Instant, Message, Money


class Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    sku: str
    unit_price: Money
    discount: Money = Money("0")
    gift: bool = False


class Sold(Message, frozen=True, kw_only=True):
    sale_id: Identifier
    sold_at: Instant
    quantity: int = 1
    weight: float = 0.5
    buyer: Identifier | None = None
    note: str = ""
    lines: tuple[Line, ...] = ()
    labels: dict[str, str] = msgspec.field(default_factory=dict)


identifiers = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(
    min_value=datetime(1970, 1, 2),  # noqa: DTZ001 - bounds of the strategy; the offset is drawn
    max_value=datetime(2200, 1, 1),  # noqa: DTZ001
    timezones=offsets | st.just(UTC),
).map(lambda time: Instant.combine(time.date(), time.timetz()))
amounts = st.decimals(
    min_value=Decimal("-999999999999999"), max_value=Decimal("999999999999999"), places=6, allow_nan=False
).map(Money)
few_amounts = st.sampled_from(["0", "0.00", "1", "1.0", "1.10", "-0.0", "12.5", "12.50"]).map(Money)

lines = st.builds(
    Line,
    sku=st.sampled_from(["a", "b"]) | texts,
    unit_price=few_amounts | amounts,
    discount=few_amounts,
    gift=st.booleans(),
)
messages = st.builds(
    Sold,
    sale_id=st.sampled_from(["S1", "s1"]).map(Identifier) | identifiers.map(Identifier),
    sold_at=st.just(Instant(2024, 2, 29, tzinfo=UTC)) | instants,
    quantity=st.integers(0, 2) | st.integers(-(2**53) + 1, 2**53 - 1),
    weight=st.sampled_from([0.5, 1.0, -0.0, 0.0]) | st.floats(allow_nan=False, allow_infinity=False),
    buyer=st.none() | st.just("B1").map(Identifier),
    note=st.just("") | texts,
    lines=st.lists(lines, max_size=3).map(tuple),
    labels=st.dictionaries(texts, texts, max_size=3),
)

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def spelled(draw: st.DrawFn, value: Json) -> str:
    """JSON text of a value, with any order of keys, white space and escapes."""
    space = draw(st.sampled_from(["", " ", "\n\t", "\r\n  "]))
    match value:
        case dict():
            members = [
                f"{draw(_spelled_text(key))}{space}:{space}{draw(spelled(item))}"
                for key, item in draw(st.permutations(list(value.items())))
            ]
            return f"{{{space}{f'{space},{space}'.join(members)}{space}}}"
        case list():
            return f"[{space}{f'{space},{space}'.join(draw(spelled(item)) for item in value)}{space}]"
        case str():
            return draw(_spelled_text(value))
        case _:
            return json.dumps(value)


@st.composite
def _spelled_text(draw: st.DrawFn, text: str) -> str:
    escaped = draw(st.sampled_from([True, False]))
    upper = draw(st.booleans())
    whole = json.dumps(text, ensure_ascii=escaped)
    if not text or not draw(st.booleans()):
        return whole
    # One character more than needed is escaped, in either case of its hex digits.
    position = draw(st.integers(0, len(text) - 1))
    units = text[position].encode("utf-16-be")
    digits = [units[index : index + 2].hex() for index in range(0, len(units), 2)]
    one = "".join(f"\\u{code.upper() if upper else code}" for code in digits)
    before, after = json.dumps(text[:position], ensure_ascii=escaped), json.dumps(text[position + 1 :])
    return f"{before[:-1]}{one}{after[1:]}"
