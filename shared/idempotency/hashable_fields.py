"""Which field types a message may have: those that the request hash has one spelling for. Checked at registration."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from msgspec import inspect

from shared.idempotency.errors import ConfigurationError
from shared.idempotency.messages import Message


def check_hashable(shape: type[Message]) -> None:
    """Hold a message class against the request hash, so that no message is the first to find out.

    Raises:
        ConfigurationError: names the class, the field and the types that it may have.
    """
    for name, field_type in _unhashable(inspect.type_info(shape), shape.__name__, set()):
        raise ConfigurationError(
            f"{name}: the request hash has no spelling for {field_type}; use str, int, float, bool, Decimal, Money, "
            "Identifier, Instant, a struct, or a list, tuple or dict of these"
        )


def _unhashable(shape: inspect.Type, name: str, seen: set[type]) -> Iterator[tuple[str, str]]:
    match shape:
        case inspect.Metadata(type=inner):
            yield from _unhashable(inner, name, seen)
        case inspect.StructType(cls=cls, fields=fields):
            # A class may hold itself.
            if cls not in seen:
                seen.add(cls)
                for field in fields:
                    yield from _unhashable(field.type, f"{cls.__name__}.{field.name}", seen)
        case inspect.UnionType(types=types) | inspect.TupleType(item_types=types):
            for inner in types:
                yield from _unhashable(inner, name, seen)
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            yield from _unhashable(inner, name, seen)
        case inspect.DictType(key_type=key_type, value_type=value_type):
            yield from _unhashable(key_type, name, seen)
            yield from _unhashable(value_type, name, seen)
        case inspect.CustomType(cls=cls) | inspect.EnumType(cls=cls) if issubclass(cls, (str, int, Decimal, datetime)):
            pass
        case (
            inspect.AnyType()
            | inspect.NoneType()
            | inspect.BoolType()
            | inspect.IntType()
            | inspect.FloatType()
            | inspect.StrType()
            | inspect.LiteralType()
            | inspect.DecimalType()
        ):
            pass
        case _:
            yield name, _name(shape)


def _name(shape: inspect.Type) -> str:
    cls = getattr(shape, "cls", None)
    return cls.__name__ if isinstance(cls, type) else type(shape).__name__.removesuffix("Type").lower()
