"""Which packages go when some are removed, and which of those are needed by others.

Arguments: pip's wheel, whose reader of requirements is used; the directory of packages; and as JSON the requirements that
stay (`stay`) and the names to remove (`remove`). Prints JSON: `gone`, and `needed` with those that stay and need a name.
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
    """The installed packages that a package asks for, each with the extras it asks for; `ALL` extras count each one."""
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
    """All packages that these lead to, each with the extras under which they do."""
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
