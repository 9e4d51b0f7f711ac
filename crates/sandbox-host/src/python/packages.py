"""Which packages are removed together with the given ones, and which of the given ones others need.

Arguments: pip's wheel, for its parser of requirements; the directory of packages; JSON with the requirements that stay
(`stay`) and the names to remove (`remove`). Prints JSON: `gone`, and `needed` with the remaining packages that need a name.
"""

import json
import sys
from importlib.metadata import distributions

wheel, directory, asked = sys.argv[1:]
sys.path.insert(0, wheel)

from pip._vendor.packaging.requirements import Requirement  # noqa: E402
from pip._vendor.packaging.utils import canonicalize_name  # noqa: E402

ALL = None
installed = {canonicalize_name(found.metadata["Name"]): found for found in distributions(path=[directory])}


def needs(name, extras):
    """The installed packages that a package requires, each with the required extras; `ALL` selects every extra."""
    found = installed[name]
    wanted = [""] + list((found.metadata.get_all("Provides-Extra") or ()) if extras is ALL else extras)
    for text in found.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in wanted):
            key = canonicalize_name(requirement.name)
            if key in installed:
                yield key, frozenset(requirement.extras)


def reached(roots):
    """All packages that `roots` require, directly or not, each with the required extras."""
    seen, waiting = set(), [(name, extras) for name, extras in roots if name in installed]
    while waiting:
        pair = waiting.pop()
        if pair not in seen:
            seen.add(pair)
            waiting.extend(needs(*pair))
    return seen


asked = json.loads(asked)
remove = {canonicalize_name(name) for name in asked["remove"]}
stay = [Requirement(text) for text in asked["stay"]]
roots = {canonicalize_name(line.name): frozenset(line.extras) for line in stay}
kept = {name: {other for other, _ in reached([(name, extras)])} for name, extras in roots.items()}
kept_names = set().union(*kept.values())
led_to = {name for name, _ in reached((name, ALL) for name in remove)}


def shown(names):
    return sorted(installed[name].metadata["Name"] for name in names if name in installed)


json.dump(
    {
        "gone": shown(remove | (led_to - kept_names)),
        "needed": {
            installed[name].metadata["Name"]: shown(root for root, names in kept.items() if name in names)
            for name in sorted(remove & kept_names)
        },
    },
    sys.stdout,
)
