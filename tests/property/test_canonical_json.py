"""The canonical text of any JSON value is the library's, whichever way it is written."""

from enum import StrEnum

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency.canonical_json import canonical_text
from shared.idempotency.json_text import Json
from shared.idempotency.messages import Identifier


class Colour(StrEnum):
    RED = "red"


texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | texts.map(Identifier)
    | st.just(Colour.RED)
)
keys = st.text(st.characters(max_codepoint=0x7F)) | texts | texts.map(Identifier)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner)
)


@given(values)
def test_any_value_is_written_as_the_library_writes_it(value: Json) -> None:
    assert canonical_text(value) == rfc8785.dumps(value)
