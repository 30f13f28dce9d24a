"""A Service Bus emulator as a process of its own, and one of its queues through the SDK."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusReceivedMessage, ServiceBusSubQueue

from devstack.servicebus.client import Connection

QUEUES: Final = tuple(f"queue-{number:02}" for number in range(20))
MAX_DELIVERY_COUNT: Final = 4
QUICK_LOCK_QUEUE: Final = "queue-with-quick-locks"
_KEY: Final = "a2V5LW9mLXRoZS10ZXN0cw=="


def write_topology(path: Path) -> Path:
    """Session queues, one per test."""
    queue = {
        "requiresSession": True,
        "requiresDuplicateDetection": False,
        "lockDuration": "PT1M",
        "maxDeliveryCount": MAX_DELIVERY_COUNT,
        "deadLetteringOnMessageExpiration": True,
        "maxMessageBytes": 262144,
    }
    queues = dict.fromkeys(QUEUES, queue) | {QUICK_LOCK_QUEUE: queue | {"lockDuration": "PT5S"}}
    path.write_text(json.dumps({"serviceBus": {"queues": queues}}))
    return path


@dataclass
class BrokerProcess:
    """The emulator; ``connection_string`` reaches it."""

    process: subprocess.Popen[str]
    port: int
    connection_string: str

    @classmethod
    def start(cls, topology: Path, log_path: Path, port: int = 0) -> "BrokerProcess":
        """Start it and wait until it is ready."""
        options = ["--topology", str(topology), "--port", str(port), "--key", _KEY]
        with log_path.open("a") as log:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-m", "devstack.servicebus", *options],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, log_path.read_text()
        ready = json.loads(line)
        return cls(process, ready["port"], ready["connectionString"])

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait(timeout=10)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Queue:
    """One queue through the SDK."""

    def __init__(self, connection_string: str, name: str) -> None:
        self._connection_string = connection_string
        self.name = name

    def _with_client[T](self, action: Callable[[ServiceBusClient], T]) -> T:
        with ServiceBusClient.from_connection_string(self._connection_string, retry_total=0) as client:
            return action(client)

    def send(self, *messages: tuple[str, str, str]) -> None:
        """Send (session, message id, order) in sequence."""

        def send(client: ServiceBusClient) -> None:
            with client.get_queue_sender(self.name) as sender:
                for session_id, message_id, order in messages:
                    sender.send_messages(ServiceBusMessage(order, session_id=session_id, message_id=message_id))

        self._with_client(send)

    def dead_letters(self, count: int) -> list[ServiceBusReceivedMessage]:
        """Receive and remove ``count`` messages of the dead-letter queue."""

        def receive(client: ServiceBusClient) -> list[ServiceBusReceivedMessage]:
            with client.get_queue_receiver(self.name, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
                received = list[ServiceBusReceivedMessage]()
                while len(received) < count:
                    batch = receiver.receive_messages(count - len(received), max_wait_time=5)
                    assert batch, f"{len(received)} dead letters, not {count}"
                    for message in batch:
                        receiver.complete_message(message)
                    received += batch
                return received

        return self._with_client(receive)

    def left(self) -> list[str]:
        """Ids of what is in the queue, locked or not; the SDK cannot peek a session queue as a whole."""

        async def peek() -> list[str]:
            connection = await Connection.open(self._connection_string)
            try:
                messages = await connection.peek(self.name, 100)
            finally:
                await connection.close()
            return [str(message.properties.message_id) for message in messages]

        return asyncio.run(peek())
