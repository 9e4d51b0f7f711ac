import importlib.util

return {name: importlib.util.find_spec(name) is not None for name in ("pandas", "matplotlib")}
