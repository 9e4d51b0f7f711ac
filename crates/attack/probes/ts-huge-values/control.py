"""Allocates a gibibyte, which the kernel gives without using it."""

import mmap

NAMES = "text padded_text array_buffer growing_buffer typed_array buffer number shifted_number file random_bytes"
for name in NAMES.split():
    attempt(name, lambda: mmap.mmap(-1, 1 << 30).close())
