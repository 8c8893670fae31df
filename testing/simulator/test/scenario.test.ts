import { createLease } from '@leasehold/core'
import { type Scenario, type SimulatedProcess, type SimulationError, simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'

/** Processes that work under leases which they make themselves; `isCareless`: without asking whether they still hold them. */
function working(isCareless: boolean): Scenario {
  const workload = async ({ store, leaseOptions, show, sleep, signal }: SimulatedProcess): Promise<void> => {
    const lease = createLease(store, 'side', leaseOptions)
    let isWorking = false
    show({ kind: 'work', of: 'side', isActive: () => isWorking && (isCareless || lease.checkLease()) })
    while (!signal.aborted) {
      isWorking = await lease.acquire({ wait: 1_000 }).catch(() => false)
      await sleep(2_000)
      await lease.release().catch(() => {})
      isWorking = false
    }
    await lease.close()
  }
  return {
    workload,
    findFault: ({ active }) => (active.length > 1 ? active.map(({ owner }) => owner).join(' and ') : undefined),
  }
}

const options = { nodes: 3, duration: 60_000, faults: ['pause', 'partition', 'crash'] } as const

describe('a scenario', () => {
  it('keeps its own rule under leases that it makes itself', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const { grants, history } = await simulate({ ...options, seed, workload: working(false) })
      expect(grants).toBeGreaterThan(3)
      expect(history.some(({ event }) => event === 'violation')).toBe(false)
    }
  })

  it('fails with its own rule when that is broken', async () => {
    const failures: string[] = []
    for (let seed = 1; seed <= 20; seed += 1) {
      await simulate({ ...options, seed, workload: working(true) }).catch((error: SimulationError) =>
        failures.push(error.check),
      )
    }
    expect(failures).toContain('broken-rule')
  })

  it('fails without progress when nothing is active after the last fault', async () => {
    const idle: Scenario = {
      workload: async ({ signal, sleep }) => sleep(signal.aborted ? 0 : 1),
      findFault: () => undefined,
    }
    await expect(simulate({ ...options, seed: 1, workload: idle })).rejects.toMatchObject({ check: 'no-progress' })
    await simulate({ ...options, seed: 1, workload: { ...idle, hasProgressed: ({ now }) => now > 0 } })
  })
})
