"""Paths into a document as JSON Pointer (RFC 6901); an array index is a number, or ``-`` for the end."""

from dataclasses import dataclass

from devstack.cosmos.errors import CosmosError, bad_request
from devstack.cosmos.json_values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Pointer:
    """A path of at least one name."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in self.names)

    def exists(self, document: JsonObject) -> bool:
        """Whether the document holds a value at the path."""
        try:
            self.get(document)
        except CosmosError:
            return False
        return True

    def get(self, document: JsonObject) -> Json:
        """The value at the path.

        Raises:
            CosmosError: 400, if there is none.
        """
        value: Json = document
        for name in self.names:
            value = self._child(value, name)
        return value

    def insert(self, document: JsonObject, value: Json) -> None:
        """Set a property, or insert into an array before the index; the parent must exist."""
        parent = self._parent(document)
        if isinstance(parent, list):
            parent.insert(self._index(parent, self.names[-1], len(parent)), value)
        else:
            parent[self.names[-1]] = value

    def put(self, document: JsonObject, value: Json) -> None:
        """Set a property or an array's element; ``-`` appends; the parent must exist."""
        parent = self._parent(document)
        if isinstance(parent, dict):
            parent[self.names[-1]] = value
        elif self.names[-1] == "-":
            parent.append(value)
        else:
            parent[self._index(parent, self.names[-1], len(parent) - 1)] = value

    def take(self, document: JsonObject) -> Json:
        """Remove the value at the path and return it; later elements of an array move up.

        Raises:
            CosmosError: 400, if there is none.
        """
        parent, name = self._parent(document), self.names[-1]
        value = self._child(parent, name)
        if isinstance(parent, list):
            parent.pop(self._index(parent, name, len(parent) - 1))
        else:
            parent.pop(name)
        return value

    def _parent(self, document: JsonObject) -> JsonObject | list[Json]:
        value: Json = document
        for name in self.names[:-1]:
            value = self._child(value, name)
        if not isinstance(value, dict | list):
            raise self._missing()
        return value

    def _child(self, value: Json, name: str) -> Json:
        if isinstance(value, dict) and name in value:
            return value[name]
        if isinstance(value, list):
            return value[self._index(value, name, len(value) - 1)]
        raise self._missing()

    def _index(self, array: list[Json], name: str, index_max: int) -> int:
        if name == "-" and index_max == len(array):
            return index_max
        if not (name.isascii() and name.isdigit()) or (len(name) > 1 and name[0] == "0"):
            raise bad_request(f"{self}: {name!r} is no array index.")
        # The length is compared first: an index of thousands of digits is no number that Python converts.
        if len(name) > 9 or int(name) > index_max:
            raise bad_request(f"{self}: the array has no element {name}.")
        return int(name)

    def _missing(self) -> CosmosError:
        return bad_request(f"{self}: the item has no such path.")


def parse_pointer(text: Json, where: str) -> Pointer:
    """Read a path such as ``/lines/0/price``.

    Raises:
        CosmosError: 400 that begins with ``where``.
    """
    if not isinstance(text, str) or len(text) < 2 or not text.startswith("/"):
        raise bad_request(f"{where} must be a path such as /status.")
    names = text.removeprefix("/").split("/")
    return Pointer(tuple(name.replace("~1", "/").replace("~0", "~") for name in names))
