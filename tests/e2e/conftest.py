"""One running stack with the app of this repository per test module."""

from collections.abc import Iterator

import pytest

from tests.e2e.clean_stack import clean_stack
from tests.e2e.outside import Outside
from tests.running_stack import deployed_app


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    with clean_stack(deployed_app(tmp_path_factory.mktemp("app"))) as stack, Outside.of(stack) as opened:
        yield opened
