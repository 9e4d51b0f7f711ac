"""Spins for more CPU time than the run has."""

import asyncio
import time


async def spin():
    while time.process_time() < 0.5:
        await asyncio.sleep(0)


asyncio.run(spin())
say("spun", "allowed")
