"""Imports of tools, and the error for a missing package of the managed environment."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from codeyard import prompts, proxies, resources, runtime, stubs
from codeyard.proxies import Server, Servers

_ROOTS = ("tools", "servers", "mcp")

# Import names of the managed environment's packages.
_MANAGED = frozenset(
    "numpy pandas matplotlib sklearn pydantic requests dateutil openpyxl seaborn plotly jinja2 tabulate".split()
)


class _Mcp(ModuleType):
    """The module `mcp`: `runtime`, `servers`, `resources`, `prompts` and `stubs`."""

    def __init__(self):
        super().__init__("mcp", "Servers as modules (`mcp.servers`) and helpers to find them (`mcp.runtime`).")
        self.__path__ = []


mcp = _Mcp()


class ToolFinder:
    """Finds `tools.<server>.<tool>`, `servers.<server>` and `mcp.servers.<alias>`, before installed packages."""

    def find_spec(self, name, path=None, target=None):
        root, dot, _ = name.partition(".")
        if dot and root in _ROOTS and isinstance(sys.modules.get(root), (Servers, _Mcp)):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        parent, _, name = spec.name.rpartition(".")
        container = sys.modules[parent]
        if isinstance(container, (Servers, Server)):
            try:
                container.check(name)
            except AttributeError as error:
                raise ImportError(str(error), name=spec.name) from None
            return container[name]
        raise ModuleNotFoundError(f"No module named {spec.name!r}", name=spec.name)

    def exec_module(self, module):
        pass


class ManagedFinder:
    """Comes last: explains a failed import that the managed environment would provide."""

    def find_spec(self, name, path=None, target=None):
        # `importlib.util.find_spec` only asks and must get `None`.
        if name in _MANAGED and sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
            raise ModuleNotFoundError(
                f"No module named {name!r} (it comes with the managed environment: run `codeyard python sync`)",
                name=name,
            )
        return None


def install():
    """Makes servers and tools importable in this process."""
    sys.meta_path.insert(0, ToolFinder())
    sys.meta_path.append(ManagedFinder())
    sys.modules["tools"] = proxies.tools
    sys.modules["servers"] = proxies.servers
    # What the file of this name defines.
    sys.modules["tools._runtime"] = ModuleType("tools._runtime", "Calls tools by their names.")
    sys.modules["tools._runtime"].toolcall = proxies.toolcall
    lead_to(runtime, proxies.bridge_servers)


def lead_to(helpers, bridge_servers):
    """Gives the module `mcp` these helpers and servers."""
    mcp.runtime, mcp.servers = helpers, bridge_servers
    modules = sys.modules
    mcp.resources, mcp.prompts, mcp.stubs = resources, prompts, stubs
    modules["mcp"], modules["mcp.runtime"], modules["mcp.servers"] = mcp, helpers, bridge_servers
    modules["mcp.resources"], modules["mcp.prompts"], modules["mcp.stubs"] = resources, prompts, stubs


def leave_to_programs(*names):
    """Removes our modules of these names, which then belong to the program."""
    for name in names:
        if isinstance(sys.modules.get(name), Servers):
            del sys.modules[name]
