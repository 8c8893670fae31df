import type { ProcessReadings } from './machine-watch.js'

/** Shorter collections are not recorded, in milliseconds. */
const LEAST_COLLECTION = 20

/** The readings of this process. */
export const processReadings: ProcessReadings = {
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  },
  onCollection: (listener) => {
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        if (duration >= LEAST_COLLECTION) listener(duration)
      }
    })
    observer.observe({ entryTypes: ['gc'] })
    return () => observer.disconnect()
  },
}
