"""docs/configuration.md and the example file against the code: every setting, every default, every host.json value."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from shared.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
EXAMPLE: dict[str, str] = json.loads((ROOT / "local.settings.json.example").read_text(encoding="utf-8"))["Values"]
HOST = json.loads((ROOT / "host.json").read_text(encoding="utf-8"))

HOSTS_OWN = {"FUNCTIONS_WORKER_RUNTIME", "AzureWebJobsStorage"}
FLAT = {"ServiceBusConnection": "Endpoint=sb://here;", "CosmosConnection": "AccountEndpoint=http://x;AccountKey=a2V5;"}
IDENTITY = {
    "ServiceBusConnection__fullyQualifiedNamespace": "here",
    "CosmosConnection__accountEndpoint": "https://here/",
}


class Recording(Mapping[str, str]):
    """An environment that notes which settings are asked for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.asked: set[str] = set()

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override] # what Settings uses
        self.asked.add(name)
        return self._values.get(name, default)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def settings_that_the_code_reads() -> set[str]:
    asked: set[str] = set()
    for style in (FLAT, IDENTITY):
        environment = Recording(style)
        Settings.from_env(environment)
        asked |= environment.asked
    return asked


def defaults_on_the_page() -> dict[str, str]:
    """Setting -> default, of the table with the column `default`."""
    return dict(re.findall(r"^\| `([A-Z_]+)` \| `?([^|` ]+)`? \|", PAGE, re.MULTILINE))


def test_the_page_names_exactly_the_settings_that_the_code_reads() -> None:
    named = set(re.findall(r"`((?:ServiceBus|Cosmos)Connection(?:__\w+)?|[A-Z][A-Z]+(?:_[A-Z]+)+)`", PAGE))
    # `__credential` is read by the host alone.
    assert named == settings_that_the_code_reads() | {"ServiceBusConnection__credential"}


def test_the_defaults_on_the_page_are_the_codes() -> None:
    assert Settings.from_env(FLAT | defaults_on_the_page()) == Settings.from_env(FLAT)
    assert set(defaults_on_the_page()) == set(EXAMPLE) - HOSTS_OWN - set(FLAT)


def test_a_default_that_differs_would_be_noticed() -> None:
    for name, value in defaults_on_the_page().items():
        other = f"{value}1" if name == "COSMOS_DATABASE" else str(int(value) + 1024)
        assert Settings.from_env({**FLAT, name: other}) != Settings.from_env(FLAT), name


def test_the_example_file_is_complete_and_has_the_defaults() -> None:
    assert Settings.from_env({**EXAMPLE, **FLAT}) == Settings.from_env(FLAT)
    Settings.from_env(EXAMPLE)


def test_every_value_of_host_json_has_its_reason() -> None:
    extensions: dict[str, dict[str, object]] = HOST["extensions"]
    named = {f"{extension}.{name}" for extension, values in extensions.items() for name in values}
    named |= {"extensionBundle", "functionTimeout", "logging.logLevel.default"}
    assert set(HOST) == {"version", "extensionBundle", "functionTimeout", "extensions", "logging"}
    (section,) = re.findall(r"^## host\.json\n(.*?)^### ", PAGE, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"`([\w.]+)`", "".join(re.findall(r"^\| (`.*?) \| .* \|$", section, re.MULTILINE)))) >= named


def test_the_values_in_the_reasons_are_those_of_host_json() -> None:
    bus = HOST["extensions"]["serviceBus"]
    assert (bus["prefetchCount"], bus["maxConcurrentSessions"]) == (0, 64)
    assert (bus["sessionIdleTimeout"], bus["maxAutoLockRenewalDuration"]) == ("00:00:00.100", "1.00:00:00")
    assert HOST["functionTimeout"] == "00:10:00"
