# SPDX-License-Identifier: Apache-2.0
"""What pages show: named channels of three kinds, of which a page is sent only what is new to it.

A `Channels` holds the latest state once, with the revision of every change; a `Reader` of it knows
up to which revision its page has heard. So there is no queue per page: who is slow, or was away,
gets the newest state, and a page that reads nothing costs nothing. What several pages are sent
alike is packed once.

* A *value* is replaced as a whole.
* A *map* changes by its keys.
* A *log* grows at its end, and forgets its beginning.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any

import msgpack

MOST_ITEMS = 500
"""Items of one log in one frame; the rest comes with the next ones."""
MOST_GONE = 1_000
"""Keys of one map that are remembered as gone; afterwards pages are sent the whole map anew."""


class Kind(StrEnum):
    """How a channel changes."""

    VALUE = "value"
    MAP = "map"
    LOG = "log"


CHANNELS: Mapping[str, Kind] = {
    "stack": Kind.VALUE,
    "tree": Kind.VALUE,
    "status": Kind.MAP,
    "reasons": Kind.MAP,
    "lanes": Kind.MAP,
    "spans": Kind.LOG,
    "events": Kind.LOG,
    "blackboard": Kind.MAP,
    "mission": Kind.VALUE,
    "missions": Kind.VALUE,
    "queue": Kind.VALUE,
    "orders": Kind.MAP,
    "run_control": Kind.VALUE,
    "health": Kind.MAP,
    "objects": Kind.MAP,
    "joints": Kind.VALUE,
    "transforms": Kind.MAP,
    "markers": Kind.MAP,
    "clouds": Kind.MAP,
    "map": Kind.VALUE,
    "route": Kind.VALUE,
    "path": Kind.VALUE,
    "localization": Kind.VALUE,
    "regions": Kind.VALUE,
    "people": Kind.VALUE,
    "mode": Kind.VALUE,
    "preview": Kind.VALUE,
    "proposals": Kind.VALUE,
    "controller": Kind.VALUE,
    "editors": Kind.MAP,
    "document": Kind.MAP,
    "modules": Kind.VALUE,
}
"""All channels; docs/console.md says what they hold."""
_LOG_LENGTHS = {"spans": 20_000, "events": 2_000}


class ChannelError(ValueError):
    """There is no such channel, or it changes in another way."""


@dataclass
class _Channel:
    """One channel's state; only what its kind needs is used."""

    kind: Kind
    revision: int = 0
    """Of the last change."""
    whole_since: int = 0
    """Who has heard only of earlier revisions is sent the whole."""
    value: Any = None
    entries: dict[Any, Any] = field(default_factory=dict)
    changed: OrderedDict[Any, int] = field(default_factory=OrderedDict)
    """Keys, those gone too, with the revision of their last change; the newest last."""
    gone: set[Any] = field(default_factory=set)
    items: deque[Any] = field(default_factory=deque)
    added: int = 0
    """Items of the log so far, those forgotten included."""


@dataclass
class News:
    """What a page is sent; values are packed already."""

    set: dict[str, bytes] = field(default_factory=dict)
    add: dict[str, bytes] = field(default_factory=dict)
    patch: dict[str, bytes] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.set or self.add or self.patch)


class Channels:
    """The newest state of all channels. Threads may share it.

    Args:
        log_lengths: items that logs keep; None: the usual ones
    """

    def __init__(self, log_lengths: Mapping[str, int] | None = None) -> None:
        self.on_change: Callable[[], None] = _nothing
        """Is called after each change, in the thread that made it, with the lock held."""
        lengths = {**_LOG_LENGTHS, **(log_lengths or {})}
        self.lock = threading.RLock()
        """Held by who makes several changes that pages shall see together."""
        self.revision = 0
        self._channels = {name: _Channel(kind) for name, kind in CHANNELS.items()}
        for name, channel in self._channels.items():
            if channel.kind is Kind.LOG:
                channel.items = deque(maxlen=lengths[name])
        self._packed: OrderedDict[Hashable, bytes] = OrderedDict()

    # -- changing --------------------------------------------------------------------------------

    def set(self, name: str, value: Any) -> None:
        """Replace a value."""
        with self.lock:
            channel = self._find(name, Kind.VALUE)
            channel.value = value
            self._touch(channel)

    def patch(self, name: str, changes: Mapping[Any, Any]) -> None:
        """Change keys of a map; None removes one. What is as it was is no change."""
        with self.lock:
            channel = self._find(name, Kind.MAP)
            new = {
                key: value for key, value in changes.items() if channel.entries.get(key) != value
            }
            if not new:
                return
            revision = self._touch(channel)
            for key, value in new.items():
                channel.changed[key] = revision
                channel.changed.move_to_end(key)
                if value is None:
                    channel.entries.pop(key, None)
                    channel.gone.add(key)
                else:
                    channel.entries[key] = value
                    channel.gone.discard(key)
            if len(channel.gone) > MOST_GONE:
                self._restart(channel)

    def replace(self, name: str, entries: Mapping[Any, Any]) -> None:
        """Give a map these keys and no others; pages are sent what differs."""
        with self.lock:
            channel = self._find(name, Kind.MAP)
            gone = {key: None for key in channel.entries if key not in entries}
            self.patch(name, {**gone, **entries})

    def restart(self, name: str, entries: Mapping[Any, Any]) -> None:
        """Give a map new keys, whose names mean something else than before."""
        with self.lock:
            channel = self._find(name, Kind.MAP)
            channel.entries = {key: value for key, value in entries.items() if value is not None}
            self._touch(channel)
            self._restart(channel)

    def add(self, name: str, items: Collection[Any]) -> None:
        """Put items at the end of a log."""
        if not items:
            return
        with self.lock:
            channel = self._find(name, Kind.LOG)
            channel.items.extend(items)
            channel.added += len(items)
            self._touch(channel)

    def clear_log(self, name: str) -> None:
        """Begin a log anew."""
        with self.lock:
            channel = self._find(name, Kind.LOG)
            channel.items.clear()
            channel.whole_since = self._touch(channel)

    # -- reading ---------------------------------------------------------------------------------

    def value(self, name: str) -> Any:
        """A value, a copy of a map, or a log's items as a list."""
        with self.lock:
            channel = self._find(name)
            if channel.kind is Kind.MAP:
                return dict(channel.entries)
            return list(channel.items) if channel.kind is Kind.LOG else channel.value

    def entry(self, name: str, key: Any) -> Any:
        """One entry of a map; None: there is none."""
        with self.lock:
            return self._find(name, Kind.MAP).entries.get(key)

    def news(self, reader: Reader) -> News:
        """What is new to a reader, who has heard of it from now on."""
        news = News()
        with self.lock:
            for name in reader.names:
                channel, heard = self._channels[name], reader.heard.get(name, -1)
                if channel.revision > heard:
                    reader.heard[name] = self.revision
                    self._tell(name, channel, heard, reader, news)
        return news

    def _tell(self, name: str, channel: _Channel, heard: int, reader: Reader, news: News) -> None:
        whole = heard < channel.whole_since or heard < 0
        if channel.kind is Kind.LOG:
            self._tell_log(name, channel, reader, news, whole=whole)
        elif channel.kind is Kind.VALUE:
            news.set[name] = self._once((name, channel.revision), lambda: channel.value)
        elif whole:
            news.set[name] = self._once((name, channel.revision), lambda: channel.entries)
        else:
            key = (name, heard, channel.revision)
            news.patch[name] = self._once(key, lambda: _since(channel, heard))

    def _tell_log(
        self, name: str, channel: _Channel, reader: Reader, news: News, *, whole: bool
    ) -> None:
        first = channel.added - len(channel.items)
        begin = first if whole else max(reader.items.get(name, 0), first)
        end = min(channel.added, begin + MOST_ITEMS)
        reader.items[name] = end
        if end < channel.added:
            reader.heard[name] = channel.revision - 1
        kind = news.set if whole else news.add
        kind[name] = self._once(
            (name, begin, end), lambda: list(islice(channel.items, begin - first, end - first))
        )

    # -- within ----------------------------------------------------------------------------------

    def _find(self, name: str, kind: Kind | None = None) -> _Channel:
        channel = self._channels.get(name)
        if channel is None:
            raise ChannelError(f"there is no channel '{name}'")
        if kind is not None and channel.kind is not kind:
            raise ChannelError(f"channel '{name}' is a {channel.kind}, not a {kind}")
        return channel

    def _touch(self, channel: _Channel) -> int:
        self.revision += 1
        channel.revision = self.revision
        self.on_change()
        return self.revision

    def _restart(self, channel: _Channel) -> None:
        channel.whole_since = channel.revision
        channel.changed.clear()
        channel.gone.clear()

    def _once(self, key: Hashable, make: Any) -> bytes:
        """What is packed is kept for the other pages, which mostly hear of the same."""
        packed = self._packed.get(key)
        if packed is None:
            packed = self._packed[key] = pack(make())
            while len(self._packed) > 2 * len(CHANNELS):
                self._packed.popitem(last=False)
        return packed


@dataclass
class Reader:
    """What one page shows, and of which it has heard."""

    names: tuple[str, ...] = ()
    heard: dict[str, int] = field(default_factory=dict)
    """Revision by channel."""
    items: dict[str, int] = field(default_factory=dict)
    """By log, the number of the first item that is new."""

    def subscribe(self, names: Iterable[str]) -> None:
        """Show these channels from now on.

        Raises:
            ChannelError: there is no such channel
        """
        chosen = tuple(dict.fromkeys(names))
        for name in chosen:
            if name not in CHANNELS:
                raise ChannelError(f"there is no channel '{name}'")
        self.names = chosen
        self.heard = {name: at for name, at in self.heard.items() if name in chosen}

    def forget(self, names: Iterable[str] | None = None) -> None:
        """Hear the whole of these channels again; None: of all."""
        for name in list(self.heard) if names is None else names:
            self.heard.pop(name, None)


def _nothing() -> None:
    """Nobody listens."""


def pack(value: Any) -> bytes:
    """As msgpack; numbers that are not finite stay so, integers of over 64 bits become texts."""
    packed: bytes = msgpack.packb(value, use_single_float=False, default=_large)
    return packed


def _large(value: Any) -> str:
    if isinstance(value, int):
        return str(value) if value.bit_length() < 1_000 else "a very large integer"
    raise TypeError(f"{type(value).__name__} cannot be shown")


def _since(channel: _Channel, heard: int) -> dict[Any, Any]:
    """Keys of a map that changed after a revision, with None for what is gone."""
    found = {}
    for key in reversed(channel.changed):
        if channel.changed[key] <= heard:
            break
        found[key] = channel.entries.get(key)
    return found
