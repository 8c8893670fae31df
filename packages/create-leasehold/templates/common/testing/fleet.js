// @ts-check
import { MemoryLeaseStore } from '@leasehold/core'
import { Fence } from '@leasehold/core/store'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { startService } from '../src/service.js'

/** @typedef {{ owner: string, key: string, text: string, fencingToken: bigint }} Saved */

export const heartbeatTimeout = 10_000

/**
 * Processes of the service that share a store in memory, in a time that passes only when the test says so. All of them are
 * stopped at the end of the test.
 *
 * @param {{ after(end: () => Promise<void>): void }} test
 */
export function createFleet(test) {
  const time = new VirtualTime()
  const store = new MemoryLeaseStore({ clock: new VirtualClock({ time }) })
  /** @type {Saved[]} */
  const saved = []
  /** @type {{ stop(): Promise<void>, wake(): void }[]} */
  const processes = []
  /** @type {unknown[]} */
  const failures = []
  /** @type {Map<string, bigint>} */
  const largestTokens = new Map()

  /**
   * As `save` of `store.js`: rejects a token that is smaller than one it has seen.
   *
   * @param {Saved} entry
   */
  function save(entry) {
    const fence = new Fence('memory', entry.key, entry.fencingToken)
    fence.check(largestTokens.get(entry.key))
    largestTokens.set(entry.key, fence.token)
    saved.push(entry)
  }

  /** @param {string} owner */
  function start(owner) {
    const clock = new VirtualClock({ time })
    const service = startService({
      store,
      save: async (key, text, { fencingToken }) => save({ owner, key, text, fencingToken }),
      pause: (milliseconds, { signal }) =>
        new Promise((resolve, reject) => {
          const onAbort = () => reject(signal.reason)
          signal.addEventListener('abort', onAbort, { once: true })
          clock.schedule(milliseconds, () => {
            signal.removeEventListener('abort', onAbort)
            resolve(undefined)
          })
        }),
      print: () => {},
      report: (error) => failures.push(error),
      lease: { owner, clock, heartbeatTimeout },
      now: () => new Date(clock.wall()),
    })
    const process = {
      /** As after SIGTERM. */
      stop: () => service.stop(),
      /** Nothing of the process runs any more, as after `kill -9`. */
      kill: () => clock.pause(),
      /** It runs again: it was only stopped, as by a debugger or a suspended machine. */
      wake: () => clock.resume(),
    }
    processes.push(process)
    return process
  }

  test.after(async () => {
    for (const process of processes) process.wake()
    await Promise.all([...processes.map((process) => process.stop()), time.advance(10_000)])
  })

  return { time, saved, failures, start }
}
