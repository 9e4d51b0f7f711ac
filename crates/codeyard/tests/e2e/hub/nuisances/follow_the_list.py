import time
def listed():
    return [int(t['name'][7:]) for t in runtime.list_tools_sync('restless') if t['name'].startswith('listed_')]
first, = listed()
end = time.monotonic() + 60
calls = 0
while listed()[0] < first + 2:
    assert time.monotonic() < end
    calls += (await tools.stub.echo(message='x')) == 'x'
return [calls > 0, listed()[0]]
