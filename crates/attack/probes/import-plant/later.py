"""The next session has started in the same workspace, with Python's own modules."""

import asyncio
import encodings

MODULES = (json, os, asyncio, encodings)
look("own_modules", not any(module.__file__.startswith(("/workspace", "/at/")) for module in MODULES))
