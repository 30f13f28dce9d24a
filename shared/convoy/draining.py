"""From parked messages that have fallen due to the writes of one commit. Pure.

Each is decided in its turn, on what those before it in the same commit leave. One that is rejected, or left behind by a
close, is sent back to its queue: its own delivery is then dead-lettered like any other, and a corrected one can follow.
"""

from collections.abc import Mapping, Sequence
from typing import assert_never

from shared.idempotency.consumer import Consumer, parked_message
from shared.idempotency.decisions import Apply, Ignore, Reject
from shared.idempotency.draft import Draft
from shared.idempotency.messages import Message, State
from shared.idempotency.ports import StoredDocument
from shared.idempotency.run import Run


def runs_of[M: Message, S: State](
    consumer: Consumer[M, S], partition: str, markers: Sequence[StoredDocument], *, event_epoch: int
) -> list[Run[M]]:
    """Read parked messages out of their markers, in the same order.

    Raises:
        NewerVersionError: one was parked by newer code; retry.
    """
    return [
        Run(
            message=parked_message(consumer, marker),
            key=str(marker.body["id"]).removeprefix("op:"),
            partition=partition,
            request_hash=str(marker.body["requestHash"]),
            attempt_id=str(marker.body["attemptId"]),
            traceparent=_text(marker, "traceparent"),
            event_epoch=event_epoch,
        )
        for marker in markers
    ]


def drained[M: Message, S: State](
    draft: Draft[M, S], runs: Sequence[Run[M]], markers: Mapping[str, StoredDocument], *, send_back: bool = False
) -> Draft[M, S]:
    """Add the messages to an empty draft, up to the first that leaves a gap.

    Args:
        draft: on the state document and on the further documents that the messages name.
        runs: of the messages that are due, in their order.
        markers: theirs, by key.
        send_back: send the first back undecided: it cannot be written even alone.
    """
    for run in runs:
        number = draft.consumer.number_of(run.message)
        parked = markers[run.key]
        if draft.progress.closed or send_back:
            draft = draft.send_back(run, number, parked)
            continue
        if number != draft.progress.last_sequence + 1:
            # The one before was sent back: its number is open again.
            break
        match draft.decide(run.message):
            case Apply() as decision:
                draft = draft.apply(run, decision, parked)
            case Ignore():
                draft = draft.ignore(run, parked)
            case Reject():
                draft = draft.send_back(run, number, parked)
            case other:
                assert_never(other)
    return draft


def _text(marker: StoredDocument, name: str) -> str | None:
    value = marker.body.get(name)
    return value if isinstance(value, str) else None
