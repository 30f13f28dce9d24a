"""The demo: send orders in every way, and give account of what became of them.

    python -m samples.demo --log .devstack/functions.log [--csv FILE]

An outside client: it speaks through the Service Bus and Cosmos DB SDKs and HTTP alone, to a running stack
whose addresses stand in the environment (see `.devstack/env`). Exit code 0: every number is as it must be.
"""

import argparse
import asyncio
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import aiohttp
from azure.core.exceptions import AzureError
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.servicebus.aio import ServiceBusClient, ServiceBusSender

from samples import plans
from samples.account import Account, differences, table, take_account
from samples.addresses import CONTAINER, DATABASE, QUEUE, Addresses, DemoError
from samples.dispositions import await_final, completions, read_dispositions
from samples.online_retail import FileFormatError, load_orders
from samples.order_store import Partition, read_partition, without_system_fields
from samples.orders_api import HTTP_TIMEOUT, place, show_operation
from samples.plans import Plan, Post, Send
from samples.queue_client import DeadLetter, count_left, dead_letters, send_in_batches

SETTLE_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Connections:
    """The three ways to speak to the system, open."""

    service_bus: ServiceBusClient
    sender: ServiceBusSender
    container: ContainerProxy
    http: aiohttp.ClientSession

    @classmethod
    async def open(cls, addresses: Addresses, stack: AsyncExitStack) -> Self:
        """Open them; the exit stack closes them."""
        service_bus = await stack.enter_async_context(ServiceBusClient.from_connection_string(addresses.service_bus))
        # use_env_settings=False: no proxy of the environment stands between this and the local stack.
        cosmos = CosmosClient.from_connection_string(
            addresses.cosmos, transport=AioHttpTransport(use_env_settings=False)
        )
        # Registered before it is entered: entering asks the account, and what failed there must be closed too.
        stack.push_async_exit(cosmos)
        await cosmos.__aenter__()
        http = aiohttp.ClientSession(
            addresses.functions_url,
            headers={"x-functions-key": addresses.functions_key},
            timeout=HTTP_TIMEOUT,
        )
        return cls(
            service_bus=service_bus,
            sender=await stack.enter_async_context(service_bus.get_queue_sender(QUEUE)),
            container=cosmos.get_database_client(DATABASE).get_container_client(CONTAINER),
            http=await stack.enter_async_context(http),
        )


@dataclass(frozen=True, slots=True)
class Findings:
    """What was read back after a plan was carried out."""

    account: Account
    partitions: dict[str, Partition]
    dead_letters: list[DeadLetter]
    unsettled: frozenset[str]


async def carry_out(plan: Plan, connections: Connections, log: Path) -> Findings:
    """Send what the plan says, wait until the app has settled it, and read back what became of it.

    Raises:
        DemoError: an order is in the store already, or an HTTP answer is not the one that must come.
    """
    for order_id in plan.request_hashes:
        if not (await read_partition(connections.container, order_id)).is_empty:
            raise DemoError(f"order {order_id} is in the store already. Use an empty stack: python3 dev.py demo")
    sent = 0
    locations = []
    for number, step in enumerate(plan.steps, start=1):
        print(f"  {number}. {step.title}", flush=True)
        match step:
            case Post(order=order):
                locations.append(await place(connections.http, order))
                sent += 1
            case Send(letters=letters):
                sent += await send_in_batches(connections.sender, letters)
    print("\nWaiting until the app has settled them ...", flush=True)
    unsettled = await await_final(log, plan.message_ids, seconds=SETTLE_SECONDS, clock=time.monotonic)
    for location in () if unsettled else locations:
        await show_operation(connections.http, location)
    return await read_back(plan, connections, log, sent=sent, unsettled=unsettled)


async def read_back(
    plan: Plan, connections: Connections, log: Path, *, sent: int, unsettled: frozenset[str]
) -> Findings:
    """Read documents, dead letters, what is left in the queue, and the app's log."""
    hashes = plan.request_hashes
    partitions = {order_id: await read_partition(connections.container, order_id) for order_id in hashes}
    letters = [
        letter for letter in await dead_letters(connections.service_bus) if letter.session_id in plan.session_ids
    ]
    left = await count_left(connections.service_bus, sorted(plan.session_ids))
    completed = [
        entry for entry in completions(read_dispositions(log)).values() if entry.message_id in plan.message_ids
    ]
    account = take_account(
        sent=sent,
        outcomes=[entry.outcome for entry in completed],
        dead_letter_reasons=[letter.reason for letter in letters],
        left=left,
        documents=sum(
            found.order is not None and found.order.get("requestHash") == hashes[order_id]
            for order_id, found in partitions.items()
        ),
        events=sum(len(found.events) for found in partitions.values()),
        other_documents=sum(len(found.others) for found in partitions.values()),
    )
    return Findings(account, partitions, letters, unsettled)


def report(plan: Plan, findings: Findings) -> int:
    """Print what was found, and return the exit code: 0 if every number is as it must be."""
    if plan.shown_order_id is not None:
        shown = findings.partitions[plan.shown_order_id]
        for title, documents in (
            ("order document", [shown.order] if shown.order else []),
            ("outbox event", shown.events),
        ):
            for document in documents:
                print(f"\nThe {title} of {plan.shown_order_id}, without Cosmos DB's own fields:")
                print(json.dumps(without_system_fields(document), indent=2, ensure_ascii=False))
    print("\nDead letters:")
    for letter in findings.dead_letters:
        print(f"  {letter.message_id}\n    {letter.reason}: {letter.description}")
    print("\nAccount:")
    print("\n".join(table(findings.account)))
    faults = differences(plan.expected, findings.account)
    faults += [f"not settled within {SETTLE_SECONDS} s: {name}" for name in sorted(findings.unsettled)]
    print("\nEvery number is as it must be." if not faults else "\nWrong:\n  " + "\n  ".join(faults), flush=True)
    return 1 if faults else 0


async def demonstrate(plan: Plan, addresses: Addresses, log: Path) -> int:
    """Carry a plan out over open connections and report; return the exit code."""
    async with AsyncExitStack() as stack:
        connections = await Connections.open(addresses, stack)
        return report(plan, await carry_out(plan, connections, log))


def main(arguments: Sequence[str]) -> int:
    """Run the demo and return the process's exit code."""
    parser = argparse.ArgumentParser(prog="python -m samples.demo", description="Send orders and give account.")
    parser.add_argument("--log", type=Path, required=True, help="the Functions host's log")
    parser.add_argument("--csv", type=Path, help="orders in Online Retail columns; without it, the story of two orders")
    options = parser.parse_args(arguments)
    try:
        addresses = Addresses.from_environment(os.environ)
        if options.csv:
            plan = plans.each_order_three_times(load_orders(options.csv))
            print(f"The orders of {options.csv}, three times each:\n")
        else:
            plan = plans.story(secrets.token_hex(3))
            print("Two orders, and everything that can happen to their messages:\n")
        return asyncio.run(demonstrate(plan, addresses, options.log))
    except FileFormatError as error:
        print(f"{options.csv}: {error}", file=sys.stderr)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
    except (AzureError, aiohttp.ClientError, OSError, TimeoutError) as error:
        print(f"demo: no proper answer: {type(error).__name__}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
