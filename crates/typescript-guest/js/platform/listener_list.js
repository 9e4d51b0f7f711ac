// The listeners of one type of event, in their order: adding and removing take constant time.

/** A listener and how it was added. */
class Entry {
  isRemoved = false;
  before = undefined;
  next = undefined;

  constructor(listener, { once = false, capture = false, passive = false }) {
    this.listener = listener;
    this.once = once;
    this.capture = capture;
    this.passive = passive;
  }
}

/**
 * A linked list, so that a dispatch also calls listeners that are added meanwhile.
 * Each listener is in it once for each value of `capture`.
 */
export class ListenerList {
  #first;
  #last;
  #capturing = new Map();
  #others = new Map();

  get first() {
    return this.#first;
  }

  get isEmpty() {
    return this.#first === undefined;
  }

  /** Adds a listener at the end; returns whether it is new. */
  add(listener, flags) {
    const entries = flags.capture ? this.#capturing : this.#others;
    if (entries.has(listener)) return false;
    const entry = new Entry(listener, flags);
    entries.set(listener, entry);
    entry.before = this.#last;
    if (this.#last === undefined) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    return true;
  }

  remove(listener, capture) {
    const entries = capture ? this.#capturing : this.#others;
    const entry = entries.get(listener);
    if (entry === undefined) return;
    entries.delete(listener);
    entry.isRemoved = true;
    if (entry.before === undefined) this.#first = entry.next;
    else entry.before.next = entry.next;
    if (entry.next === undefined) this.#last = entry.before;
    else entry.next.before = entry.before;
  }

  *[Symbol.iterator]() {
    for (let entry = this.#first; entry !== undefined; entry = entry.next) yield entry;
  }
}
