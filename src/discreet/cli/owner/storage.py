"""`discreet storage`: what encrypts each place that holds something private."""

from __future__ import annotations

import json as json_text

from discreet.cli.options import Config, Json
from discreet.cli.terminal import say


def storage(
    *,
    config: Config = None,
    json: Json = False,
) -> None:
    """Show where rows, answers and charges lie at rest, and what encrypts each place; reads no row.

    Example: discreet storage
    """
    from discreet.tasks.sheet import storage as storage_report

    found = storage_report(config)
    if json:
        say(json_text.dumps(found.to_json()))
        return
    width = max(len(place.what) for place in found.places)
    for place in found.places:
        say(f"{place.what:<{width}}  {place.volume.rest.value:<9}  {place.volume.how}")
        say(f"{'':<{width}}             {place.path}")
    say("")
    if found.vouched:
        say(f"The operator vouches: {found.vouched}")
    elif found.required:
        say("[storage] encrypted = true: a catalog with a plain or unknown place is not opened.")
    else:
        say("Nothing is required. Write [storage] encrypted = true to refuse plain places.")
