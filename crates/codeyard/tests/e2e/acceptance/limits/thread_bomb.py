import threading
end = threading.Event()
threads = []
try:
    for _ in range(50):
        thread = threading.Thread(target=end.wait)
        thread.start()
        threads.append(thread)
except RuntimeError as e:
    print(e)
end.set()
for thread in threads: thread.join()
return len(threads)
