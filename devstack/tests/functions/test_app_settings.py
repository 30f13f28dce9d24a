import pytest

from devstack.functions.app_settings import SettingError, connection_string, resolve


def test_placeholders_are_replaced() -> None:
    assert resolve("%TEAM%-%QUEUE%", where="f", settings={"TEAM": "a", "QUEUE": "orders"}) == "a-orders"
    assert resolve("orders", where="f", settings={}) == "orders"


def test_a_missing_setting_is_named() -> None:
    with pytest.raises(SettingError, match="function f: app setting QUEUE is missing"):
        resolve("%QUEUE%", where="function f", settings={"QUEUE": ""})


def test_connection_by_name_or_prefixed_name() -> None:
    assert connection_string("Bus", where="f", settings={"Bus": "a"}) == "a"
    assert connection_string("Bus", where="f", settings={"AzureWebJobsBus": "b"}) == "b"
    assert connection_string("Bus", where="f", settings={"AzureWebJobsBus": "b", "Bus": "a"}) == "a"
    assert connection_string("%Which%", where="f", settings={"Which": "Bus", "Bus": "a"}) == "a"


def test_a_missing_connection_is_named() -> None:
    with pytest.raises(SettingError, match="function f: app setting Bus is missing"):
        connection_string("Bus", where="function f", settings={})


def test_an_identity_based_connection_is_refused() -> None:
    settings = {"Bus__fullyQualifiedNamespace": "x.servicebus.windows.net"}
    with pytest.raises(SettingError, match="set Bus to a connection string"):
        connection_string("Bus", where="function f", settings=settings)
