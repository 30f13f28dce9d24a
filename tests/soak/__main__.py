"""Runs a soak: `python -m tests.soak MINUTES [--seed N]`. Exit code 0: everything was as it must be."""

import argparse
import asyncio
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from azure.cosmos import ContainerProxy, CosmosClient
from azure.servicebus import ServiceBusClient, ServiceBusSubQueue

from devstack.servicebus.client import Connection
from tests.soak.chaos import Chaos
from tests.soak.model import Found, Model, story, violations
from tests.soak.parts import Parts
from tests.soak.producer import Producer

ROUND_SECONDS = 25.0
DRAIN_SECONDS_MAX = 90.0
HARM_SECONDS = (0.5, 4.0)


class Soak:
    """Rounds of harm; after each, harm stops, everything must drain, and all of it is checked."""

    def __init__(self, parts: Parts, seed: int) -> None:
        self._parts = parts
        self._chance = random.Random(seed)  # noqa: S311 - a soak, repeated by its seed
        self.chaos = Chaos(parts, self._chance)
        self.tried: Counter[str] = Counter()
        self._number = 0
        self.longest_drain = 0.0

    def round(self, producer: Producer) -> list[str]:
        """One round; returns what is not as it must be."""
        model = Model()
        self.chaos.new_round()
        end = time.monotonic() + ROUND_SECONDS
        harm_at = time.monotonic() + 1
        while time.monotonic() < end:
            self._number += 1
            for sent in story(self._number, self._chance):
                producer.send(sent)
                model.note(sent)
                self.tried["messages"] += 1
            if time.monotonic() >= harm_at:
                self.chaos.harm(list(model.hashes)[-20:])
                harm_at = time.monotonic() + self._chance.uniform(*HARM_SECONDS)
            self.chaos.restart_host_if_recycled()
        self.chaos.stop()
        left = self._drain()
        self.tried["orders"] += len(model.hashes)
        self.tried["mismatches"] += len(model.dead_letters)
        self.tried["rounds"] += 1
        return violations(model, self._stored(model), self._dead_letters(), left)

    def _drain(self) -> int:
        """Wait until the queue is empty; returns how many messages are left when that takes too long."""
        started = time.monotonic()
        left = 1
        while left and time.monotonic() - started < DRAIN_SECONDS_MAX:
            self.chaos.restart_host_if_recycled()
            left = asyncio.run(_count(self._parts.env["ServiceBusConnection"]))
            time.sleep(0.2)
        self.longest_drain = max(self.longest_drain, time.monotonic() - started)
        return left

    def _stored(self, model: Model) -> dict[str, Found]:
        with CosmosClient.from_connection_string(self._parts.env["CosmosConnection"]) as client:
            container = client.get_database_client("ordering").get_container_client("orders")
            return {order_id: _found(container, order_id) for order_id in model.hashes}

    def _dead_letters(self) -> dict[str, list[str]]:
        letters: dict[str, list[str]] = {}
        with (
            ServiceBusClient.from_connection_string(self._parts.env["ServiceBusConnection"]) as client,
            client.get_queue_receiver("orders", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver,
        ):
            position = 1
            while page := receiver.peek_messages(100, sequence_number=position):
                for message in page:
                    letters.setdefault(message.message_id or "", []).append(message.dead_letter_reason or "")
                position = 1 + max(message.sequence_number or 0 for message in page)
        return letters


def _found(container: ContainerProxy, order_id: str) -> Found:
    items = {item["id"]: item for item in container.query_items("SELECT * FROM c", partition_key=order_id)}
    event = items.get("out:1")
    return Found(
        frozenset(items),
        items.get(order_id, {}).get("requestHash"),
        None if event is None else event["message"]["body"]["id"],
    )


async def _count(connection_string: str) -> int:
    connection = await Connection.open(connection_string)
    try:
        return len(await connection.peek("orders", 100))
    finally:
        await connection.close()


def main() -> int:
    """Run for the stated time and give account."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("minutes", type=float, help="how long")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="repeats the same choices")
    options = parser.parse_args()
    print(f"Soak of {options.minutes} minutes with seed {options.seed}", flush=True)
    end = time.monotonic() + options.minutes * 60
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(Path(folder))
        soak = Soak(parts, options.seed)
        faults: list[str] = []
        try:
            with Producer(parts.env, soak.chaos.restart_host_if_recycled) as producer:
                while time.monotonic() < end and not faults:
                    faults = soak.round(producer)
                    print(f"  round {soak.tried['rounds']}: {dict(soak.tried)}, violations {len(faults)}", flush=True)
                soak.tried["sends repeated"] = producer.resent
        finally:
            parts.stop()
    for what, count in sorted({**soak.tried, **soak.chaos.done}.items()):
        print(f"{count:7}  {what}")
    print(f"{soak.longest_drain:7.1f}  seconds at most until everything was drained")
    print("\n".join(["No violation." if not faults else "Violations:", *faults]), flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
