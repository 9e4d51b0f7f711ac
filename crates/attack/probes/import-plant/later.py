"""The next session in the same workspace uses Python's own modules."""

import asyncio
import encodings

MODULES = (json, os, asyncio, encodings)
look("own_modules", not any(module.__file__.startswith(("/workspace", "/at/")) for module in MODULES))
