"""File events of one folder (inotify, FSEvents, kqueue) through `watchdog`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

_OF_FILES: list[type[FileSystemEvent]] = [FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent]
_UNHEARD = logging.NullHandler()
"""Of watchdog's logger: its warnings would go to the terminal. What it fails at, the looks of `FileWatch` find."""
_OF_FOLDERS: list[type[FileSystemEvent]] = [DirCreatedEvent, DirDeletedEvent, DirMovedEvent]


class FileEvents:
    """One subscription. It calls back in a thread of its own."""

    def __init__(self) -> None:
        self._observer: BaseObserver | None = None

    def start(self, folder: Path, changed: Callable[[str], None], folder_changed: Callable[[], None]) -> None:
        """Begins.

        Args:
            folder: the folder; what lies deeper is not watched.
            changed: called with the name of a file in it that was made, changed, renamed or removed.
            folder_changed: called when the folder itself may have been made, renamed or removed.

        Raises:
            OSError: the system gives no events, such as where the user has too many watches.
        """
        if Observer is PollingObserver:  # watchdog's last resort; ours costs less
            raise OSError("this system has none")
        logging.getLogger("watchdog").addHandler(_UNHEARD)
        self._observer = Observer()
        self._observer.start()
        self._observer.schedule(_Names(changed), str(folder), event_filter=_OF_FILES)
        at = _Names(lambda name: folder_changed() if name == folder.name else None)
        self._observer.schedule(at, str(folder.parent), event_filter=_OF_FOLDERS)

    def stop(self) -> None:
        """Ends it; nothing is called after."""
        if self._observer is not None:
            self._observer.stop()
            self._observer = None


class _Names(FileSystemEventHandler):
    """Passes on the names of the files in an event."""

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog for each event."""
        for path in (event.src_path, event.dest_path):
            if path:
                self._changed(os.path.basename(os.fsdecode(path)))  # noqa: PTH119 - a name of a string
