import type { Fleet } from '../holder/fleet.js'

const EVERY = 10_000

/** Prints the counts of a fleet every 10 s while the work is under way. */
export async function withProgress<R>(phase: string, fleet: Fleet, work: Promise<R>): Promise<R> {
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    fleet.counts().then(
      ({ held, lost, failures }) => {
        console.error(`${phase}, ${seconds} s: ${held} acquired, ${lost} lost, ${failures} failed attempts`)
      },
      () => {},
    )
  }, EVERY)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
