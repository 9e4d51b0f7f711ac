keys = ['a/b', 'a_b', '../../x', 'a', 'A', '\u0430', 'a ', '.', '..', 'x' * 200]
for number, key in enumerate(keys): save_memory(key, number)
print([load_memory(key) for key in keys] == list(range(len(keys))))
for key in ['', 'x' * 300, 'a\0b', 5, None]:
    try: save_memory(key, 1)
    except Exception as e: print(type(e).__name__, bool(str(e)))
for value in [object(), {1, 2}, float('nan'), 'x' * 2_000_000]:
    try: save_memory('k', value)
    except Exception as e: print('refused', bool(str(e)))
print(memory_exists('k'))
