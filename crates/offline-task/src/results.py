results, failures = {}, []


def given(step, field=None):
    """The result of an earlier step, or one field of it."""
    if step not in results:
        raise LookupError(f"step {step} gave no result")
    value = results[step]
    if field is None:
        return value
    if not isinstance(value, dict) or field not in value:
        raise LookupError(f"the result of step {step} has no field {field!r}")
    return value[field]


def text(value):
    """A value as text: JSON, if it is no text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def brief(value, room=3):
    """A value with the first rows of long lists and the beginnings of long texts."""
    if isinstance(value, dict):
        return {name: brief(inner) for name, inner in value.items()}
    if isinstance(value, list) and len(value) > room + 1:
        return [brief(row) for row in value[:room]] + [f"... {len(value) - room} more of {len(value)}"]
    if isinstance(value, list):
        return [brief(row) for row in value]
    if isinstance(value, str) and len(value) > 400:
        return f"{value[:400]}... ({len(value)} characters)"
    return value


def show(label, value):
    """Prints a result, however large it is, in a few lines."""
    if isinstance(value, list) and len(value) > 4:
        print(f"{label} {len(value)} rows, the first 3:")
        for row in value[:3]:
            print(f"  {text(brief(row))[:400]}")
    else:
        print(f"{label} {text(brief(value))[:1500]}")


def failed(step, error):
    """Prints why a step failed; the steps that need its result fail with it."""
    failures.append(step)
    print(f"step {step} failed: {type(error).__name__}: {str(error)[:400]}", file=sys.stderr)


def unbroken():
    """Keeps a step that changes something from running after one that failed."""
    if failures:
        raise RuntimeError(f"it was not run, since step {failures[0]} failed")
