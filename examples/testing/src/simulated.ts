// #region simulated
import { type SimulatedProcess, type SimulationReport, simulate } from '@leasehold/testkit'
import { Counter } from './counter.js'
import { increment } from './increment.js'

/** The worker as every node runs it: it waits for the lease, works while it holds it, and begins again. */
function workOn(counterOf: (process: SimulatedProcess) => Counter) {
  return async (process: SimulatedProcess): Promise<void> => {
    const { lease, signal, sleep, random } = process
    const counter = counterOf(process)
    while (!signal.aborted) {
      await lease.acquire({ wait: 10_000, signal }).catch(() => {})
      for (let turns = 0; turns < 20 && lease.checkLease() && !signal.aborted; turns += 1) {
        await increment(lease, counter, () => sleep(random.between(1, 200)))
        if (counter.value !== counter.accepted) throw new Error('an update was lost')
      }
      await lease.release().catch(() => {})
      await sleep(100)
    }
  }
}

/** Crashes, pauses, partitions and all the rest, drawn from the seed. Rejects when an update was lost. */
export function simulateCounter(seed: number, { guarded }: { guarded: boolean }): Promise<SimulationReport> {
  return simulate({
    seed,
    workload: workOn(({ shared }) => {
      const counter = (shared.get('counter') as Counter | undefined) ?? new Counter({ guarded })
      shared.set('counter', counter)
      return counter
    }),
  })
}
// #endregion simulated
