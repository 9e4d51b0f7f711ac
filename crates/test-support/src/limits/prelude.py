import errno, os, signal, time, asyncio
from mcp import runtime
def tell(error):
    generic = isinstance(error, OSError) and not isinstance(error, BlockingIOError)
    name = 'OSError' if generic else type(error).__name__
    print(name, errno.errorcode.get(getattr(error, 'errno', None), getattr(error, 'kind', '')))
kept = []
burnt = time.process_time()
