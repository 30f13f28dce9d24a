"""Two consumers: one whose markers stand beside the state, and one whose first message creates it and marks itself."""

from msgspec.structs import replace

from shared.idempotency.consumer import Consumer, StateDocuments
from shared.idempotency.decisions import Apply, Decision, Ignore, Reject
from shared.idempotency.messages import Event, Identifier, Message, State
from shared.outbox.events import EventStream


class PointsGranted(Message, frozen=True, kw_only=True):
    grant_id: Identifier
    customer_id: Identifier
    points: int
    note: str | None = None


class Points(State, frozen=True):
    customer_id: str
    total: int = 0


class PointsAdded(Event, frozen=True):
    customer_id: str
    points: int


def add_points(points: Points | None, grant: PointsGranted) -> Decision[Points]:
    if grant.points < 0:
        return Reject("NotPositive", "points: must be 0 or more")
    if grant.points == 0:
        return Ignore("nothing")
    now = points or Points(grant.customer_id)
    return Apply(replace(now, total=now.total + grant.points), (PointsAdded(grant.customer_id, grant.points),))


LOYALTY: Consumer[PointsGranted, Points] = Consumer(
    name="loyalty",
    queue="points",
    message=PointsGranted,
    key=lambda grant: grant.grant_id,
    documents=StateDocuments(state=Points, container="loyalty", partition_key="/customerId"),
    decide=add_points,
    events=EventStream(destination="loyalty-events", source="/loyalty"),
)


def grant(grant_id: str = "g1", *, points: int = 5, customer: str = "c1", note: str | None = None) -> PointsGranted:
    return PointsGranted(grant_id=Identifier(grant_id), customer_id=Identifier(customer), points=points, note=note)


class AccountOpened(Message, frozen=True, kw_only=True):
    account_id: Identifier
    owner: str


class OwnerChanged(Message, frozen=True, kw_only=True):
    account_id: Identifier
    change_id: Identifier
    owner: str


type AccountMessage = AccountOpened | OwnerChanged


class Account(State, frozen=True):
    account_id: str
    owner: str


class AccountTold(Event, frozen=True):
    account_id: str
    owner: str


def keep_account(account: Account | None, message: AccountOpened | OwnerChanged) -> Decision[Account]:
    if isinstance(message, OwnerChanged) and account is None:
        return Reject("NoAccount", "accountId: must be opened first")
    new = Account(message.account_id, message.owner)
    return Apply(new, (AccountTold(message.account_id, message.owner),))


def account_key(message: AccountOpened | OwnerChanged) -> str:
    return message.account_id if isinstance(message, AccountOpened) else message.change_id


ACCOUNTS: Consumer[AccountOpened | OwnerChanged, Account] = Consumer(
    name="accounts",
    queue="accounts",
    message=AccountMessage,
    key=account_key,
    documents=StateDocuments(state=Account, container="accounts", partition_key="/accountId", created_by=AccountOpened),
    decide=keep_account,
    events=EventStream(destination="account-events", source="/accounts"),
)


def opened(account: str = "a1", *, owner: str = "Ada") -> AccountOpened:
    return AccountOpened(account_id=Identifier(account), owner=owner)


def changed(change: str = "x1", *, account: str = "a1", owner: str = "Bob") -> OwnerChanged:
    return OwnerChanged(account_id=Identifier(account), change_id=Identifier(change), owner=owner)
