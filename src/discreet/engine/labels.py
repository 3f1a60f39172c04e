"""Labels of contents, each computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping


class Labels(Mapping[str, str]):
    """Labels that are computed when first asked for: a declared version makes that never."""

    def __init__(self, names: Mapping[str, object], compute: Callable[[str], str]) -> None:
        self._names = dict.fromkeys(names)
        self._compute = compute
        self._known: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            self._known[name] = self._compute(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
