// The module `node:perf_hooks`.

import { Performance, performance } from "./performance.js";
import { PerformanceEntry, PerformanceMark, PerformanceMeasure } from "./performance_entries.js";
import { PerformanceObserver, PerformanceObserverEntryList } from "./performance_observer.js";

export const constants = Object.freeze({ __proto__: null });

export {
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceObserver,
  PerformanceObserverEntryList,
  performance,
};

export default {
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceObserver,
  PerformanceObserverEntryList,
  performance,
  constants,
};
