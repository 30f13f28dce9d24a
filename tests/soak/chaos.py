"""What is done to the parts, chosen at random from what can happen."""

import random
import time
from collections import Counter
from collections.abc import Sequence

from tests.soak.parts import Parts

STORE_FAULTS: tuple[dict[str, object], ...] = (
    {"type": "answer", "status": 503},
    {"type": "answer", "status": 503, "applied": True},
    {"type": "answer", "status": 408, "applied": True},
    {"type": "answer", "status": 429, "retryAfterMs": 20},
    {"type": "answer", "status": 429, "operation": 1},
    {"type": "answer", "status": 449},
    {"type": "answer", "status": 410},
    {"type": "answer", "status": 500},
    {"type": "reset"},
    {"type": "reset", "applied": True},
    {"type": "hang"},
    {"type": "hang", "applied": True},
)
BROKER_FAULTS: tuple[dict[str, object], ...] = (
    {"type": "serverBusy"},
    {"type": "lostAcceptance", "applied": True},
    {"type": "lostAcceptance", "applied": False},
    {"type": "forgottenSettlement"},
)
KILLS_MAX = 8
"""In one round. Each raises the delivery count of what is in flight by one, or two while the store is down too."""


class Chaos:
    """Does harm, and counts it."""

    def __init__(self, parts: Parts, chance: random.Random) -> None:
        self._parts = parts
        self._chance = chance
        self.done: Counter[str] = Counter()
        self._kills = 0

    def new_round(self) -> None:
        """Everything is drained: the counts of deliveries start anew."""
        self._kills = 0

    def harm(self, sessions: Sequence[str]) -> None:
        """Do one thing."""
        harms = [self._store_fault, self._store_fault, self._broker_fault]
        if self._kills < KILLS_MAX:
            harms += [
                self._kill_worker, self._kill_worker, self._kill_host, self._kill_store, self._dead_slots,
                lambda: self._lose(sessions, "expiredLock", queue="orders"),
                lambda: self._lose(sessions, "droppedConnections"),
                self._lose_echo,
            ]  # fmt: skip
        self._chance.choice(harms)()

    def restart_host_if_recycled(self) -> None:
        """What the platform does with a host that ended by itself."""
        if self._parts.host.has_ended:
            self.done["host recycled"] += 1
            self._parts.host.start()

    def stop(self) -> None:
        """Let nothing more go wrong."""
        for part in (self._parts.store, self._parts.broker):
            part.forget_faults()

    def _store_fault(self) -> None:
        fault = self._chance.choice(STORE_FAULTS)
        self._parts.store.ask_for(fault, on="batch", times=self._chance.randint(1, 3))
        self.done[f"store: {' '.join(str(value) for value in fault.values())}"] += 1

    def _broker_fault(self) -> None:
        fault = self._chance.choice(BROKER_FAULTS)
        if fault["type"] == "forgottenSettlement":
            self._kills += 1
        self._parts.broker.ask_for(fault)
        self.done[f"broker: {' '.join(str(value) for value in fault.values())}"] += 1

    def _lose(self, sessions: Sequence[str], what: str, **fields: str) -> None:
        self._kill(f"broker: {what}")
        for session in self._chance.sample(sessions, min(5, len(sessions))):
            self._parts.broker.ask_for({"type": what, "sessionId": session, **fields})

    def _lose_echo(self) -> None:
        self._kill("broker: lostEcho")
        self._parts.broker.ask_for({"type": "lostEcho", "applied": self._chance.random() < 0.5})
        # The host waits for the echo, and its session with it, until the connection is gone.
        time.sleep(0.3)
        self._parts.broker.ask_for({"type": "droppedConnections"})

    def _kill_worker(self) -> None:
        if self._parts.host.kill_child():
            self._kill("worker killed")

    def _kill_host(self) -> None:
        self._kill("host killed")
        self._parts.host.kill()
        self._parts.host.start()

    def _kill_store(self) -> None:
        self._kill("store killed")
        self._parts.store.kill()
        time.sleep(self._chance.random())
        self._parts.store.start()

    def _dead_slots(self) -> None:
        self._kill("host: dead slots, then killed")
        self._parts.host.ask_for({"type": "deadSlots"})
        time.sleep(0.5)
        self._parts.host.kill()
        self._parts.host.start()

    def _kill(self, what: str) -> None:
        self._kills += 1
        self.done[what] += 1
