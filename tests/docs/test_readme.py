"""README.md shows what the demo prints and what the app answers, and the demo holds the files of orders to account."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.running_stack import Stack, deployed_app, running_stack

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ORDERS = ROOT / "samples" / "orders.csv"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(deployed_app(tmp_path_factory.mktemp("app"))) as running:
        yield running


def demo(stack: Stack, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "samples.demo", "--log", str(stack.app / ".devstack" / "functions.log")]
    return subprocess.run(  # noqa: S603 - our own interpreter
        [*command, *arguments], cwd=ROOT, env=os.environ | stack.env, capture_output=True, text=True, check=False
    )


def account(said: str) -> str:
    (found,) = re.findall(r"^Account:\n.*?^Every number is as it must be\.$", said, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_account_is_what_the_demo_prints(stack: Stack) -> None:
    done = demo(stack)
    assert done.returncode == 0, done.stdout + done.stderr
    assert account(done.stdout) == account(README)


def test_orders_of_a_file_are_each_placed_once(stack: Stack) -> None:
    with ORDERS.open(encoding="utf-8", newline="") as file:
        invoices = {row["Invoice"] for row in csv.DictReader(file)}
    done = demo(stack, "--csv", str(ORDERS))
    assert done.returncode == 0, done.stdout + done.stderr
    n = len(invoices)
    found = {name: int(number) for number, name in re.findall(r"^ +(\d+)  (.+?)  ", account(done.stdout), re.MULTILINE)}
    expected = {
        "sent": 3 * n + 3, "placed": n, "duplicates": n, "other completions": 0, "dead-lettered": 3,
        "left in the queue": 0, "dropped": n, "order documents": n, "outbox events": n, "other documents": 0,
    }  # fmt: skip
    assert found == expected
    assert "RequestHashMismatch 3" in done.stdout
    again = demo(stack, "--csv", str(ORDERS))
    assert again.returncode == 1
    assert "is in the store already" in again.stderr


def test_the_order_in_and_the_document_out_are_the_apps(stack: Stack) -> None:
    shown_in, shown_out = re.findall(r"^\{.*?\}$", README, re.MULTILINE | re.DOTALL)[:2]
    key = {"x-functions-key": stack.env["FUNCTIONS_KEY"]}
    api = stack.env["FUNCTIONS_URL"] + "/api/orders"
    before = len(stack.dispositions())
    with urlopen(Request(api, data=shown_in.encode(), headers=key)) as answer:  # noqa: S310 - loopback
        assert answer.status == 202
    stack.wait_for_dispositions(before + 1)
    with urlopen(Request(f"{api}/web-1001", headers=key)) as answer:  # noqa: S310 - loopback
        order = json.load(answer)
    assert order["lines"] == [
        {**line, "unitPrice": price} for line, price in zip(json.loads(shown_in)["lines"], ("7.5", "11.2"), strict=True)
    ]
    elided = re.sub(r'"lines": \[\.\.\.\]', '"lines": []', re.sub(r": \.\.\.", ": null", shown_out))
    assert {**order, "lines": [], "createdAt": None, "updatedAt": None} == json.loads(elided)
