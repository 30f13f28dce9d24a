"""RFC 8785: its own example, and what has no canonical form."""

import json

import pytest

from shared.idempotency.canonical_json import canonical_text
from shared.idempotency.json_text import Json


def test_canonical_text_is_that_of_the_standard() -> None:
    # The example of RFC 8785 section 3.2.2, numbers in the range that JSON readers share.
    value = json.loads(
        '{"numbers": [1E30, 4.50, 2e-3, 0.000000000000000000000000001],'
        ' "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/", "literals": [null, true, false]}'
    )
    assert canonical_text(value).decode() == (
        '{"literals":[null,true,false],"numbers":[1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, -(2**53), "\ud800", {"\ud800": 1}, {"a": ["\udfff"]}]
)
def test_what_has_no_canonical_form_is_refused(value: Json) -> None:
    with pytest.raises(ValueError):
        canonical_text(value)


def test_keys_are_sorted_by_their_utf_16_units() -> None:
    # U+10000 is the pair D800 DC00, which sorts before U+E000; as a code point it would come after it.
    assert canonical_text({"\ue000": 1, "\U00010000": 2}).decode() == '{"\U00010000":2,"\ue000":1}'
