

def spread(values): return 0

import os


def area(r):
    """Of a circle.

def no(): pass
    """
    return 3 * r * r


def spread(values):
    return max(values) - min(values)
def if(): pass
def open_ended():
    return (
