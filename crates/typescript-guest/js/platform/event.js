// `Event` and `CustomEvent`.

import native from "codeyard:native";
import { asInterface } from "./interface.js";
import { checkObject, missingArgs } from "./errors.js";
import { invalidThis } from "./node_error.js";
import { showFields } from "./web_inspect.js";

const { now } = native;
const { defineProperties } = Object;
const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };

/** Operations of `EventTarget` on an event, unreachable by programs. */
export let dispatching;

export class Event {
  #type;
  #bubbles = false;
  #cancelable = false;
  #composed = false;
  #time = now();
  #target = null;
  #isBeingDispatched = false;
  #isPrevented = false;
  #isPropagationStopped = false;
  #isStopped = false;
  #isInPassiveListener = false;
  #isTrusted = false;

  constructor(type, options = undefined) {
    if (arguments.length === 0) throw missingArgs("type");
    if (options !== undefined && options !== null) {
      checkObject(options, "options");
      this.#bubbles = Boolean(options.bubbles);
      this.#cancelable = Boolean(options.cancelable);
      this.#composed = Boolean(options.composed);
    }
    this.#type = `${type}`;
  }

  static {
    dispatching = {
      isEvent: (value) => typeof value === "object" && value !== null && #type in value,
      isRunning: (event) => event.#isBeingDispatched,
      isStopped: (event) => event.#isStopped,
      trust(event) {
        event.#isTrusted = true;
        return event;
      },
      begin(event, target) {
        event.#target = target;
        event.#isBeingDispatched = true;
      },
      enterListener(event, isPassive) {
        event.#isInPassiveListener = isPassive;
      },
      end(event) {
        event.#isBeingDispatched = false;
        event.#isInPassiveListener = false;
      },
    };
  }

  /** Returns the event that a member was called on. */
  static #from(value) {
    if (!dispatching.isEvent(value)) throw invalidThis("Event");
    return value;
  }

  initEvent(type, bubbles = false, cancelable = false) {
    const event = Event.#from(this);
    if (arguments.length === 0) throw missingArgs("type");
    if (event.#isBeingDispatched) return;
    event.#type = `${type}`;
    event.#bubbles = Boolean(bubbles);
    event.#cancelable = Boolean(cancelable);
  }

  stopImmediatePropagation() {
    const event = Event.#from(this);
    event.#isPropagationStopped = true;
    event.#isStopped = true;
  }

  preventDefault() {
    const event = Event.#from(this);
    if (event.#cancelable && !event.#isInPassiveListener) event.#isPrevented = true;
  }

  get isTrusted() {
    return Event.#from(this).#isTrusted;
  }

  get target() {
    return Event.#from(this).#target;
  }

  get currentTarget() {
    const event = Event.#from(this);
    return event.#isBeingDispatched ? event.#target : null;
  }

  get srcElement() {
    return Event.#from(this).#target;
  }

  get type() {
    return Event.#from(this).#type;
  }

  get cancelable() {
    return Event.#from(this).#cancelable;
  }

  get defaultPrevented() {
    return Event.#from(this).#isPrevented;
  }

  get timeStamp() {
    return Event.#from(this).#time;
  }

  composedPath() {
    const event = Event.#from(this);
    return event.#isBeingDispatched ? [event.#target] : [];
  }

  get returnValue() {
    return !Event.#from(this).#isPrevented;
  }

  set returnValue(value) {
    if (!value) Event.#from(this).preventDefault();
  }

  get bubbles() {
    return Event.#from(this).#bubbles;
  }

  get composed() {
    return Event.#from(this).#composed;
  }

  get eventPhase() {
    return Event.#from(this).#isBeingDispatched ? PHASES.AT_TARGET : PHASES.NONE;
  }

  get cancelBubble() {
    return Event.#from(this).#isPropagationStopped;
  }

  set cancelBubble(value) {
    if (value) Event.#from(this).stopPropagation();
  }

  stopPropagation() {
    Event.#from(this).#isPropagationStopped = true;
  }
}

asInterface(Event);
showFields(Event, ({ type, defaultPrevented, cancelable, timeStamp }) => ({
  type,
  defaultPrevented,
  cancelable,
  timeStamp,
}));
const constants = Object.entries(PHASES).map(([name, value]) => [name, { value, enumerable: true }]);
for (const target of [Event, Event.prototype]) defineProperties(target, Object.fromEntries(constants));

export class CustomEvent extends Event {
  #detail;

  constructor(type, options = undefined) {
    if (arguments.length === 0) throw missingArgs("type");
    super(type, options);
    this.#detail = options?.detail ?? null;
  }

  get detail() {
    if (!(#detail in this)) throw invalidThis("CustomEvent");
    return this.#detail;
  }
}

asInterface(CustomEvent);
