"""Sends requests so that nobody waits for long behind somebody else's.

Requests wait by tenant, which is the namespace that they are about. Tenants take turns. Within one the important requests go first: what
stores a status, ends an attempt, reads, or deletes Pods; then the creation of Pods, and Events; but every fourth turn is for the latter.
Of the Frameworks of a namespace the one that lacks fewest Pods has its Pods created first: so one after the other has all of its Pods. If
all grew alike, each would hold nodes while it waits for its last Pod. Those whose requests hang come last. Every eighth turn is for the
request that has waited longest.

The number of requests that a tenant may have under way is limited, and so is that of each kind. Two of a kind may go whatever the others
do: while writes of ConfigMaps and Services, and deletions and creations of Pods, all hang in a webhook, statuses are still stored. A
request that hangs does not hold up the other tenants. None hangs because the server is slow for everybody. A request that is told to come
back later (429) waits without a slot; when that takes long, its answer is the server's 429. After a 429 for the creation of a Pod, or for
an Event, the tenant's other creations or Events wait too. A deletion may be told to wait because of its object alone, so others do not
wait with it.

Whether a request is still wanted is asked right before it is sent, and again before it is sent once more.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from enum import IntEnum
from itertools import chain, count
from types import MappingProxyType

from fcontroller.act.retry import BUSY, QUEUED, SILENT, SLOW
from fcontroller.api import Answer, Api, Body, Json, Projection, Query, Target, Unreachable, Unwanted, Wanted, always, target_of

AT_A_TIME = 64
"""Requests of all tenants under way, without those that hang."""
PER_TENANT = 56
GUARANTEED = 2
"""Requests that each tenant may have under way, whatever the others do. They begin at once while fewer than `_MOST_ACTIVE` are active."""
_MOST_ACTIVE = 10 * AT_A_TIME
"""Requests that may be active, which is under way without hanging. Each has a connection: of ten thousand tenants some take turns."""
HANGS_AFTER = 1.0
"""Seconds after which a request under way is said to hang, where the API server itself is quick."""
_SLOWER = 4
"""How many times as long as a renewal of the lease a request takes, at least, to be said to hang. Behind the others it would only make a
server wait that is slow for all."""
_MOST_HANGING = 512
"""With more requests that hang, no tenant gets more than what is guaranteed, and a little for what is most important."""
_PATIENCE = SLOW - 1
"""Seconds from its first turn for which a request is sent again after a 429. Then its caller gets that: before it would say that no answer
comes."""


class Priority(IntEnum):
    """Kinds of requests of a tenant."""

    URGENT = 0
    INTENT = 1
    """What makes or changes a ConfigMap, which stores an intent, or a Service."""
    END = 2
    """What deletes a ConfigMap, which ends an attempt, or a Service."""
    DELETION = 3
    OWNERS = 4
    """A change of a Pod's owners, so that it stays or goes."""
    CREATION = 5
    EVENT = 6


_MOST = {
    Priority.URGENT: 32,
    Priority.INTENT: 32,
    Priority.END: 32,
    Priority.DELETION: 16,
    Priority.OWNERS: 8,
    Priority.CREATION: 24,
    Priority.EVENT: 4,
}
"""Requests of one kind that a tenant has under way at most."""
_LEAST = dict.fromkeys(Priority, 2)
"""Requests of one kind that a tenant may have under way although it has `PER_TENANT`: those of the others may hang."""
_LEAST_IN_A_CROWD = {Priority.URGENT: 1, Priority.END: 1}
"""The same of one that has what is guaranteed, while `_MOST_HANGING` hang: what stores a status, or ends an attempt."""
_RANKS = ((Priority.URGENT, Priority.INTENT, Priority.END, Priority.DELETION, Priority.OWNERS), (Priority.CREATION,), (Priority.EVENT,))
"""What goes first. Those of one rank go in the order in which they came, but for creations: a thousand statuses must not keep Pods from
being deleted."""
_AHEAD = 3
"""Requests of a higher rank that go ahead of one that waits. With more, two thousand Frameworks in a few namespaces got no Pod for minutes:
their own ConfigMaps and statuses took all slots."""
_PAUSED_TOGETHER = (Priority.CREATION, Priority.EVENT)
"""Kinds of which all wait after one was told to."""
_NOT_OF_PODS = (Priority.URGENT, Priority.INTENT, Priority.END)
_OBJECTS = ("configmaps", "services")
_OLDEST_EVERY = 8
"""Of so many turns to create a Pod one is for the Framework whose request has waited longest: small ones may come all the time."""
_SORTED_FOR = 30e-6
"""Seconds for each group for which their order holds: to sort them takes a hundredth of that."""
_SLOW_FOR = 3
"""After a request that hung its group counts as slow for this many times as long as that took."""
_NUMBERS = count()


class Group:
    """Requests that belong together, as the creations of one Framework's Pods do."""

    def __init__(self) -> None:
        self.left = 0
        """How many are still to be answered, those that do not wait for their turn yet included."""
        self.hanging = 0
        """How many hang."""
        self.slow_until = float("-inf")
        """Until when it counts as slow, by the clock of the loop: one of its requests has hung."""
        self._number = next(_NUMBERS)

    def is_slow(self, now: float) -> bool:
        """Return whether its requests hang, as in a webhook that looks at some Pods alone, or did a moment ago."""
        return self.hanging > 0 or now < self.slow_until

    def rank(self, now: float) -> tuple[bool, int, int]:
        """Return what the order of groups goes by: the lowest goes first. Of equal ones that is the older, until it has all of its Pods."""
        return self.is_slow(now), self.left, self._number


class _Phase(IntEnum):
    WAITING = 0
    ACTIVE = 1
    HANGING = 2
    DONE = 3


class _Waiter:
    """A request, from when it asks for its turn."""

    def __init__(self, tenant: _Tenant, priority: Priority, group: Group) -> None:
        self.tenant, self.priority, self.group = tenant, priority, group
        self.since = asyncio.get_running_loop().time()
        """Since when it waits; then, since when it is under way."""
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.phase = _Phase.WAITING


class _Queue:
    """The requests of one kind that wait. Of a group the one goes first that has waited longest."""

    def __init__(self) -> None:
        self._groups: dict[Group, OrderedDict[_Waiter, None]] = {}
        """Those of which any wait."""
        self._count = 0
        self._order: list[Group] = []
        """The groups as they were when they were last sorted. Of some none may wait any more."""
        self._sorted = float("-inf")
        """When that was, by the clock of the loop."""
        self._turns = 0
        self.hanging = 0
        """How many requests of this kind hang."""

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[_Waiter]:
        return chain.from_iterable(self._groups.values())

    def first(self, now: float, most: int) -> _Waiter | None:
        """Return the request that goes next.

        :param most: how many of this kind may be under way. Where half of them hang, the oldest is looked for among what does not.
        """
        if not self._groups:
            return None
        if len(self._groups) == 1:
            group = next(iter(self._groups))
        elif self._turns % _OLDEST_EVERY == _OLDEST_EVERY - 1:
            quick = [group for group in self._groups if not group.is_slow(now)] if self.hanging >= most // 2 else []
            group = min(quick or self._groups, key=self._since)
        else:
            group = self._lowest(now)
        return next(iter(self._groups[group]))

    def _since(self, group: Group) -> float:
        return next(iter(self._groups[group])).since

    def _lowest(self, now: float) -> Group:
        """Return the group that goes first. To sort thousands of them takes longer than a request: so that is done now and then."""
        waiting = (group for group in self._order if group in self._groups)
        group = next(waiting, None) if now < self._sorted + _SORTED_FOR * len(self._groups) else None
        if group is None:
            self._order, self._sorted = sorted(self._groups, key=lambda group: group.rank(now)), now
            group = self._order[0]
        return group

    def ahead(self, group: Group, now: float, enough: int) -> int:
        """Return how many requests go before one more of a group, with its own; if there are enough, not all of them are counted."""
        rank, found = group.rank(now), 0
        for other in self._order:
            if found >= enough or other.rank(now) > rank:
                break
            found += len(self._groups.get(other, ()))
        return found

    def append(self, waiter: _Waiter) -> None:
        self._groups.setdefault(waiter.group, OrderedDict())[waiter] = None
        self._count += 1

    def take(self, waiter: _Waiter) -> None:
        """Take out a request whose turn it is."""
        self._turns += 1
        self.remove(waiter)

    def remove(self, waiter: _Waiter) -> None:
        waiting = self._groups[waiter.group]
        del waiting[waiter]
        self._count -= 1
        if not waiting:
            del self._groups[waiter.group]


class _Tenant:
    """What a namespace has waiting and under way."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.waiting = {priority: _Queue() for priority in Priority}
        self.group = Group()
        """Of all requests that belong to no other."""
        self.under_way = dict.fromkeys(Priority, 0)
        self.paused_until = dict.fromkeys(Priority, float("-inf"))
        self.has_turn = False
        """Whether it is among those that take turns."""
        self._ahead = 0
        """How many requests have gone ahead of one of a lower rank, since one of those went."""

    @property
    def total(self) -> int:
        return sum(self.under_way.values())

    @property
    def hanging(self) -> int:
        """Return how many of those under way hang."""
        return sum([queue.hanging for queue in self.waiting.values()])

    def is_idle(self, now: float) -> bool:
        """Return whether there is nothing to remember."""
        return not self.total and not any(self.waiting.values()) and now >= max(self.paused_until.values())

    def next(self, now: float, most: int, least: Mapping[Priority, int] = MappingProxyType({})) -> _Waiter | None:
        """Take out the request that goes next; return None if none may go now.

        :param most: requests under way. :param least: how many of a kind may be under way all the same.
        """
        is_full = self.total >= most
        if is_full and not least:
            return None
        may_have = least if is_full else _MOST
        of_ranks = [min(filter(None, (self._first(each, now, may_have) for each in rank)), key=_since, default=None) for rank in _RANKS]
        found = [first for first in of_ranks if first is not None]
        if not found:
            return None
        passes = len(found) > 1 and self._ahead >= _AHEAD
        self._ahead = 0 if passes or len(found) == 1 else self._ahead + 1
        first = min(found[1:], key=_since) if passes else found[0]
        self.waiting[first.priority].take(first)
        return first

    def _first(self, priority: Priority, now: float, may_have: Mapping[Priority, int]) -> _Waiter | None:
        """Return the request of a kind that goes next, if it may go now.

        :param may_have: how many of each kind may be under way.
        """
        may_go = now >= self.paused_until[priority] and self.under_way[priority] < may_have.get(priority, 0)
        return self.waiting[priority].first(now, _MOST[priority]) if may_go else None


class Dispatcher(Api):
    """Gives requests their turns."""

    def __init__(self, api: Api, may_write: Callable[[], bool] = always, latency: Callable[[], float] = lambda: 0.0) -> None:
        """:param may_write: whether this process leads, and may change anything.

        :param latency: the seconds that the API server takes for a small write that waits for nothing else.
        """
        self._api, self._may_write, self._latency = api, may_write, latency
        self._tenants: dict[str, _Tenant] = {}
        self._turns: deque[_Tenant] = deque()
        self._begun: deque[_Waiter] = deque()
        """Requests under way, the oldest first, until they hang. Some are done."""
        self._count = dict.fromkeys(_Phase, 0)
        self._timer: asyncio.TimerHandle | None = None

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Query | None = None,
        projection: Projection = Projection.WHOLE,
        wanted: Wanted = always,
        group: Group | None = None,
        put_off: Callable[[], object] = always,
    ) -> Answer:
        target = target_of(path)
        priority, loop = _priority(method, target), asyncio.get_running_loop()
        patience = float("inf")
        while True:
            tenant = self._tenants.get(target.namespace)
            if tenant is None:
                tenant = self._tenants[target.namespace] = _Tenant(target.namespace)
            of = group if group is not None and priority is Priority.CREATION else tenant.group
            waiter, thrown_away = self._queue(tenant, priority, of), False
            try:
                await waiter.turn
                patience = min(patience, loop.time() + _PATIENCE)
                if not wanted():
                    raise Unwanted
                if method != "GET" and not self._may_write():
                    raise Unreachable("this process no longer leads")
                answer = await self._api.request(method, path, body, query, projection)
                if answer.code != 429:
                    return answer
                delay = answer.retry_after * random.uniform(1, 1.25)
                if priority in _PAUSED_TOGETHER:
                    self._pause(tenant, priority, delay)
            except GeneratorExit:  # The event loop has ended first: no request is left to start.
                thrown_away = True
                raise
            finally:
                if not thrown_away:
                    self._leave(waiter)
            if loop.time() + delay > patience:
                return answer
            put_off()
            if priority not in _PAUSED_TOGETHER:
                await asyncio.sleep(delay)

    def watch(self, path: str, query: Query, projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        return self._api.watch(path, query, projection)

    def when(self, wanted: Wanted, group: Group | None = None, put_off: Callable[[], object] = always) -> Api:
        """Return what sends requests like this dispatcher, but of writes only those that are wanted. For others it raises Unwanted.

        :param group: what the creations of Pods belong to.
        :param put_off: called when the server has not carried out a request (429), which waits to be sent again.
        """
        return _When(self, wanted, group, put_off)

    def is_crowded(self, namespace: str, priority: Priority, group: Group | None = None) -> bool:
        """Return whether so many requests of a kind wait that one more would not be sent sooner for waiting too.

        :param group: what one more would belong to; None: whatever else waits counts.
        """
        tenant, most = self._tenants.get(namespace), _MOST[priority]
        if tenant is None or len(tenant.waiting[priority]) < most:
            return False
        return group is None or tenant.waiting[priority].ahead(group, asyncio.get_running_loop().time(), most) >= most

    def silence(self, namespace: str, priority: Priority | None = None, *, sent: bool = False) -> str:
        """Return why a request of a namespace has had no answer for long: it may wait for its turn, or as the server has asked.

        :param priority: None: it is not about Pods. :param sent: whether it was sent at least once.
        """
        tenant, kinds = self._tenants.get(namespace), _NOT_OF_PODS if priority is None else (priority,)
        if tenant is None:
            return SILENT
        if asyncio.get_running_loop().time() < max([tenant.paused_until[kind] for kind in kinds]):
            return BUSY
        return QUEUED if any([tenant.waiting[kind] for kind in kinds]) and not sent else SILENT

    @property
    def waiting(self) -> Mapping[Priority, int]:
        """Return how many requests wait for their turn."""
        tenants = self._tenants.values()
        return {priority: sum(len(tenant.waiting[priority]) for tenant in tenants) for priority in Priority}

    def longest_wait(self, priority: Priority) -> float:
        """Return for how many seconds the request that has waited longest waits for its turn."""
        now = asyncio.get_running_loop().time()
        waiting = (waiter for tenant in self._tenants.values() for waiter in tenant.waiting[priority])
        return max((now - waiter.since for waiter in waiting), default=0)

    @property
    def hanging(self) -> Mapping[str, int]:
        """Return how many requests hang, by namespace; of those where none does there is nothing."""
        self._note_hanging(asyncio.get_running_loop().time())
        return {tenant.name: tenant.hanging for tenant in self._tenants.values() if tenant.hanging}

    @property
    def under_way(self) -> int:
        return self._count[_Phase.ACTIVE] + self._count[_Phase.HANGING]

    def _queue(self, tenant: _Tenant, priority: Priority, group: Group) -> _Waiter:
        waiter = _Waiter(tenant, priority, group)
        tenant.waiting[priority].append(waiter)
        self._advance(tenant)
        return waiter

    def _leave(self, waiter: _Waiter) -> None:
        """Give up a request's slot, or its place in the queue."""
        waiter.turn.cancel()
        if waiter.phase is _Phase.WAITING:
            waiter.tenant.waiting[waiter.priority].remove(waiter)
        else:
            waiter.tenant.under_way[waiter.priority] -= 1
            self._enter(waiter, _Phase.DONE)
            self._advance(waiter.tenant)

    def _advance(self, tenant: _Tenant) -> None:
        """Start the requests that may start, after something has changed for a tenant."""
        now = asyncio.get_running_loop().time()
        self._note_hanging(now)
        while self._count[_Phase.ACTIVE] < _MOST_ACTIVE and (waiter := tenant.next(now, GUARANTEED)):
            self._begin(waiter, now)
        if not tenant.has_turn:
            tenant.has_turn = True
            self._turns.append(tenant)
        at_a_time, most, least = AT_A_TIME, PER_TENANT, _LEAST
        if self._count[_Phase.HANGING] >= _MOST_HANGING:
            at_a_time, most, least = _MOST_ACTIVE, GUARANTEED, _LEAST_IN_A_CROWD
        while self._turns and self._count[_Phase.ACTIVE] < at_a_time:
            first = self._turns.popleft()
            waiter = first.next(now, most, least)
            first.has_turn = waiter is not None
            if waiter is not None:
                self._begin(waiter, now)
                self._turns.append(first)
            elif first.is_idle(now) and self._tenants.get(first.name) is first:  # Namespaces come and go.
                del self._tenants[first.name]
        if self._turns and self._begun and self._timer is None:
            later = max(self._begun[0].since + self._hangs_after, now + 0.05)  # The latency changes meanwhile.
            self._timer = asyncio.get_running_loop().call_at(later, self._look_again)

    def _look_again(self) -> None:
        self._timer = None
        if self._turns:
            self._advance(self._turns[0])

    def _begin(self, waiter: _Waiter, now: float) -> None:
        waiter.since = now
        waiter.tenant.under_way[waiter.priority] += 1
        self._enter(waiter, _Phase.ACTIVE)
        self._begun.append(waiter)
        if not waiter.turn.done():  # Otherwise its caller was just cancelled, and will leave at once.
            waiter.turn.set_result(None)

    def _enter(self, waiter: _Waiter, phase: _Phase) -> None:
        self._count[waiter.phase] -= 1
        self._count[phase] += 1
        more = (phase is _Phase.HANGING) - (waiter.phase is _Phase.HANGING)
        waiter.group.hanging += more
        waiter.tenant.waiting[waiter.priority].hanging += more
        if more < 0:
            now = asyncio.get_running_loop().time()
            waiter.group.slow_until = max(waiter.group.slow_until, now + _SLOW_FOR * (now - waiter.since))
        waiter.phase = phase

    @property
    def _hangs_after(self) -> float:
        return max(HANGS_AFTER, _SLOWER * self._latency())

    def _note_hanging(self, now: float) -> None:
        since = now - self._hangs_after
        while self._begun and (self._begun[0].phase is not _Phase.ACTIVE or self._begun[0].since <= since):
            waiter = self._begun.popleft()
            if waiter.phase is _Phase.ACTIVE:
                self._enter(waiter, _Phase.HANGING)

    def _pause(self, tenant: _Tenant, priority: Priority, delay: float) -> None:
        """Send nothing more of this kind for a while: the server has asked for that."""
        loop = asyncio.get_running_loop()
        tenant.paused_until[priority] = max(tenant.paused_until[priority], loop.time() + delay)
        loop.call_later(delay + 0.001, self._advance, tenant)


class _When(Api):
    def __init__(self, dispatcher: Dispatcher, wanted: Wanted, group: Group | None, put_off: Callable[[], object]) -> None:
        self._dispatcher, self._wanted, self._group, self._put_off = dispatcher, wanted, group, put_off

    async def request(
        self, method: str, path: str, body: Body | None = None, query: Query | None = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        wanted = always if method == "GET" else self._wanted
        return await self._dispatcher.request(method, path, body, query, projection, wanted, self._group, self._put_off)

    def watch(self, path: str, query: Query, projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        return self._dispatcher.watch(path, query, projection)


def _since(waiter: _Waiter) -> float:
    return waiter.since


def _priority(method: str, target: Target) -> Priority:
    if method in ("POST", "PATCH") and target.resource == "events":
        return Priority.EVENT
    if method == "DELETE" and target.resource in ("pods", "frameworks"):
        return Priority.DELETION
    if method == "PATCH" and target.resource == "pods":
        return Priority.OWNERS
    if method != "GET" and target.resource in _OBJECTS:
        return Priority.END if method == "DELETE" else Priority.INTENT
    return Priority.CREATION if method == "POST" and target.resource == "pods" and not target.name else Priority.URGENT
