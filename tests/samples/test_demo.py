from dataclasses import replace
from pathlib import Path

import pytest

from samples import demo
from samples.demo import Findings, report
from samples.order_store import Partition
from samples.plans import Plan, story
from samples.queue_client import DeadLetter

PLAN = story("1")


def findings(plan: Plan) -> Findings:
    order = {"id": "bus-1", "type": "order", "_etag": "secret of the store"}
    event = {"id": "out:1", "type": "outbox"}
    letters = [DeadLetter("bus-1~0", "bus-1", "RequestHashMismatch", "key bus-1")]
    partitions = {order_id: Partition(order, (event,), ()) for order_id in plan.request_hashes}
    return Findings(plan.expected, partitions, letters, frozenset())


def test_the_report_shows_documents_dead_letters_and_account(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(PLAN, findings(PLAN)) == 0
    out = capsys.readouterr().out
    for wording in ("order document of bus-1", '"out:1"', "bus-1~0", "RequestHashMismatch: key bus-1", "dropped"):
        assert wording in out
    assert "_etag" not in out
    assert out.endswith("Every number is as it must be.\n")


def test_one_number_that_is_off_fails_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    found = findings(PLAN)
    wrong = replace(found, account=replace(found.account, duplicates=0, dropped=2))
    assert report(PLAN, wrong) == 1
    out = capsys.readouterr().out
    assert "duplicates: expected 1, found 0" in out
    assert "dropped: expected 1, found 2" in out


def test_a_message_that_was_never_settled_fails_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(PLAN, replace(findings(PLAN), unsettled=frozenset({"bus-1~0"}))) == 1
    assert "not settled within 60 s: bus-1~0" in capsys.readouterr().out


def test_a_lost_order_document_does_not_break_the_report() -> None:
    found = findings(PLAN)
    lost = {order_id: Partition(None, (), ()) for order_id in found.partitions}
    assert report(PLAN, replace(found, partitions=lost, account=replace(found.account, documents=0))) == 1


def test_missing_addresses_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ServiceBusConnection", "CosmosConnection", "FUNCTIONS_URL", "FUNCTIONS_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert demo.main(["--log", "functions.log"]) == 1
    assert "lacks ServiceBusConnection, CosmosConnection, FUNCTIONS_URL, FUNCTIONS_KEY" in capsys.readouterr().err


def test_a_faulty_file_is_named_with_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("ServiceBusConnection", "CosmosConnection", "FUNCTIONS_URL", "FUNCTIONS_KEY"):
        monkeypatch.setenv(name, "x")
    file = tmp_path / "orders.csv"
    file.write_text("Invoice,StockCode\n", encoding="utf-8")
    assert demo.main(["--log", "functions.log", "--csv", str(file)]) == 1
    assert f"{file}: line 1: lacks the column" in capsys.readouterr().err
