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
    from discreet.api.opening import found_config
    from discreet.api.storage import places_of
    from discreet.catalog.read.policy_file import load

    catalog = load(found_config(config))
    places, asked = places_of(catalog), catalog.storage
    if json:
        found = [
            {"what": p.what, "path": p.path, "at_rest": p.volume.rest.value, "how": p.volume.how}
            for p in places
        ]
        said = {"required": asked.encrypted, "vouched": asked.vouched, "places": found}
        say(json_text.dumps(said))
        return
    width = max(len(place.what) for place in places)
    for place in places:
        say(f"{place.what:<{width}}  {place.volume.rest.value:<9}  {place.volume.how}")
        say(f"{'':<{width}}             {place.path}")
    say("")
    if asked.vouched:
        say(f"The operator vouches: {asked.vouched}")
    elif asked.encrypted:
        say("[storage] encrypted = true: a catalog with a plain or unknown place is not opened.")
    else:
        say("Nothing is required. Write [storage] encrypted = true to refuse plain places.")
