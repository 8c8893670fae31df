import type { FaultChoice } from './planned-fault.js'

/** The bound of a step of a wall clock, in milliseconds. */
const LONGEST_STEP = 6 * 3_600_000

/** The faults of client processes, which every system has. Some pauses are longer than the ttl. */
export function clientFaults(clients: number, ttl: number): FaultChoice[] {
  return Array.from({ length: clients }, (_, place) => place + 1).flatMap((client) => {
    const target = `client ${client}`
    return [
      { kind: 'kill-client', target, weight: 1, lasts: [100, ttl] },
      { kind: 'freeze-client', target, weight: 1, lasts: [ttl / 10, ttl * 1.8] },
      { kind: 'step-wall-clock', target, weight: 0.3, lasts: [0, 0], most: LONGEST_STEP },
    ] satisfies FaultChoice[]
  })
}
