"""Settings: both connection styles, every fault named at once, no secret shown."""

import pytest

from shared.idempotency.backoff import Limits
from shared.idempotency.errors import ConfigurationError
from shared.settings import CosmosSettings, Identity, ServiceBusSettings, Settings

BUS = "Endpoint=sb://bus.example;SharedAccessKeyName=Root;SharedAccessKey=c2VjcmV0LWJ1cw==;EntityPath=x"
STORE = "AccountEndpoint=https://store.example:443/;AccountKey=c2VjcmV0LXN0b3Jl==;"
FLAT = {"ServiceBusConnection": BUS, "CosmosConnection": STORE}
IDENTITY = {
    "ServiceBusConnection__fullyQualifiedNamespace": "bus.servicebus.windows.net",
    "CosmosConnection__accountEndpoint": "https://store.documents.azure.com:443/",
}


def faults(**env: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_env(env)
    return str(caught.value).removeprefix("settings: ").split("; ")


def test_connection_strings() -> None:
    settings = Settings.from_env(FLAT)
    assert settings.service_bus == ServiceBusSettings(BUS, None)
    assert settings.cosmos == CosmosSettings("https://store.example:443/", "c2VjcmV0LXN0b3Jl==", "ordering")


@pytest.mark.parametrize(
    ("env", "of_bus", "of_store"),
    [
        ({}, None, None),
        ({"AZURE_CLIENT_ID": "both"}, "both", "both"),
        ({"AZURE_CLIENT_ID": "both", "CosmosConnection__clientId": "own"}, "both", "own"),
        ({"ServiceBusConnection__clientId": "own"}, "own", None),
    ],
)
def test_identities(env: dict[str, str], of_bus: str | None, of_store: str | None) -> None:
    settings = Settings.from_env(IDENTITY | env)
    assert settings.service_bus == ServiceBusSettings("bus.servicebus.windows.net", Identity(of_bus))
    assert settings.cosmos == CosmosSettings("https://store.documents.azure.com:443/", Identity(of_store), "ordering")


def test_numbers_and_names() -> None:
    settings = Settings.from_env(
        FLAT
        | {
            "COSMOS_DATABASE": " shop ",
            "RETRY_WAIT_SECONDS_MAX": "0",
            "TRY_SECONDS": "2.5",
            "STORE_CALL_SECONDS": "1",
            "BODY_BYTES_MAX": "1024",
            "EVENT_EPOCH": "3",
            "SETTLEMENT_SECONDS": "0.1",
            "SEND_SECONDS": "7",
        }
    )
    assert settings.cosmos.database == "shop"
    assert settings.limits == Limits(wait_seconds_max=0.0, try_seconds=2.5, store_call_seconds=1.0)
    assert (settings.body_bytes_max, settings.event_epoch) == (1024, 3)
    assert (settings.settlement_seconds, settings.send_seconds) == (0.1, 7.0)


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("TRY_SECONDS", "soon", "TRY_SECONDS: must be a number (float), at least 0.1"),
        ("TRY_SECONDS", "0", "TRY_SECONDS: must be at least 0.1 and finite"),
        ("STORE_CALL_SECONDS", "inf", "STORE_CALL_SECONDS: must be at least 0.1 and finite"),
        ("SEND_SECONDS", "nan", "SEND_SECONDS: must be at least 0.1 and finite"),
        ("RETRY_WAIT_SECONDS_MAX", "-1", "RETRY_WAIT_SECONDS_MAX: must be at least 0 and finite"),
        ("BODY_BYTES_MAX", "1e6", "BODY_BYTES_MAX: must be a number (int), at least 1024"),
        ("BODY_BYTES_MAX", "1023", "BODY_BYTES_MAX: must be at least 1024 and finite"),
        ("EVENT_EPOCH", "0", "EVENT_EPOCH: must be at least 1 and finite"),
        ("ServiceBusConnection", "bus", "ServiceBusConnection: a connection string has Endpoint=sb://..."),
        ("CosmosConnection", "AccountKey=x", "CosmosConnection: a connection string has AccountEndpoint=..."),
    ],
)
def test_a_faulty_setting_is_named_with_its_rule(name: str, value: str, fault: str) -> None:
    assert faults(**FLAT | {name: value})[0].startswith(fault)


def test_every_fault_is_named_at_once() -> None:
    assert faults(EVENT_EPOCH="x", TRY_SECONDS=" ", CosmosConnection="  ") == [
        "ServiceBusConnection: is missing",
        "set ServiceBusConnection to a connection string, or ServiceBusConnection__fullyQualifiedNamespace to "
        "NAME.servicebus.windows.net",
        "CosmosConnection: is missing",
        "set CosmosConnection to a connection string, or CosmosConnection__accountEndpoint to "
        "https://NAME.documents.azure.com:443/",
        "EVENT_EPOCH: must be a number (int), at least 1",
    ]


def test_both_styles_at_once_are_refused() -> None:
    assert faults(**FLAT, **IDENTITY)[::2] == [
        "ServiceBusConnection: both ServiceBusConnection and ServiceBusConnection__fullyQualifiedNamespace are set",
        "CosmosConnection: both CosmosConnection and CosmosConnection__accountEndpoint are set",
    ]


@pytest.mark.parametrize("host", ["sb://bus.servicebus.windows.net", "bus:5671", "Endpoint=sb://bus"])
def test_a_namespace_is_a_host_name(host: str) -> None:
    (fault,) = faults(**IDENTITY | {"ServiceBusConnection__fullyQualifiedNamespace": host})
    assert fault.startswith("ServiceBusConnection__fullyQualifiedNamespace: must be a host name such as NAME")


def test_an_account_is_reached_by_https() -> None:
    (fault,) = faults(**IDENTITY | {"CosmosConnection__accountEndpoint": "http://store"})
    assert fault.startswith("CosmosConnection__accountEndpoint: must be a URL such as https://")


def test_no_secret_is_shown() -> None:
    shown = repr(Settings.from_env(FLAT)) + str(Settings.from_env(FLAT))
    shown += "".join(faults(**FLAT | {"TRY_SECONDS": "x", "CosmosConnection": STORE.replace("AccountEndpoint", "x")}))
    assert "c2VjcmV0" not in shown
