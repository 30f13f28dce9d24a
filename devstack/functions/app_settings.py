"""App settings: ``%NAME%`` in bindings and connection names, resolved from the environment.

Source: Azure Functions, "Use app settings in bindings" and "Connections".
"""

import re
from collections.abc import Mapping
from typing import Final

_PLACEHOLDER: Final = re.compile(r"%([^%]+)%")


class SettingError(Exception):
    """An app setting is missing or unusable; the text names it and says what to set."""


def resolve(value: str, *, where: str, settings: Mapping[str, str]) -> str:
    """``value`` with each ``%NAME%`` replaced by that setting.

    Raises:
        SettingError: a setting is missing; ``where`` says which binding needs it.
    """

    def replacement(match: re.Match[str]) -> str:
        if not (setting := settings.get(match[1])):
            raise SettingError(f"{where}: app setting {match[1]} is missing; set it in the environment")
        return setting

    return _PLACEHOLDER.sub(replacement, value)


def connection_string(connection: str, *, where: str, settings: Mapping[str, str]) -> str:
    """The connection string that a binding's ``connection`` names, with or without the AzureWebJobs prefix.

    Raises:
        SettingError: it is missing, or it names an identity-based connection, which needs Azure.
    """
    name = resolve(connection, where=where, settings=settings)
    for candidate in (name, f"AzureWebJobs{name}"):
        if found := settings.get(candidate):
            return found
    if f"{name}__fullyQualifiedNamespace" in settings:
        raise SettingError(
            f"{where}: {name}__fullyQualifiedNamespace asks for an identity-based connection, which the "
            f"local host cannot open; set {name} to a connection string"
        )
    raise SettingError(f"{where}: app setting {name} is missing; set it to a Service Bus connection string")
