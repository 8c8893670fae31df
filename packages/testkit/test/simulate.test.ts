import { type SimulatedProcess, SimulationError, type SimulationReport, simulate } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

/** The error of a run that has to fail. */
async function failing(run: Promise<SimulationReport>): Promise<SimulationError> {
  const error = await run.then(
    () => expect.unreachable('the run broke no rule'),
    (error: unknown) => error,
  )
  if (!(error instanceof SimulationError)) throw error
  return error
}

/** Holds the lease, and assumes that it is never lost. */
async function carefree({ lease, signal, sleep }: SimulatedProcess): Promise<void> {
  while (!signal.aborted) {
    const granted = await lease.acquire({ wait: 60_000, signal }).catch(() => false)
    while (granted && !signal.aborted) {
      await sleep(100)
      if (!lease.checkLease() && !signal.aborted) throw new Error('I did not expect that')
    }
  }
}

describe('simulate', () => {
  it('the same seed gives the same counts, and another seed gives others', async () => {
    const first = await simulate({ seed: 1 })
    expect(await simulate({ seed: 1 })).toEqual(first)
    expect(await simulate({ seed: 2 })).not.toEqual(first)
  })

  it('runs the given nodes over the given store for the given time', async () => {
    const timeouts = { heartbeatTimeout: 5_000, heartbeatInterval: 1_000, operationTimeout: 500 }
    const nodes = new Set<number>()
    let ended = 0
    const workload = async ({ lease, leaseOptions, node, clock, signal, sleep }: SimulatedProcess): Promise<void> => {
      expect(leaseOptions).toMatchObject(timeouts)
      nodes.add(node)
      while (!signal.aborted) {
        await lease.acquire({ wait: 1_000, signal }).catch(() => {})
        await sleep(1_000)
        await lease.release()
      }
      ended = Math.max(ended, clock.now())
    }
    await simulate({ seed: 3, nodes: 7, duration: 20_000, store: 'observed', timeouts, faults: false, workload })
    expect(nodes.size).toBe(7)
    expect(ended).toBeGreaterThan(19_000)
    expect(ended).toBeLessThan(30_000)
  })

  it('without faults no process crashes', async () => {
    const restarted: boolean[] = []
    for (const faults of [true, false]) {
      const owners = new Set<string>()
      const workload = async ({ lease, owner, signal, sleep }: SimulatedProcess): Promise<void> => {
        owners.add(owner)
        while (!signal.aborted) {
          await lease.acquire().catch(() => {})
          await sleep(1_000)
        }
      }
      for (let seed = 1; seed <= 20; seed += 1) await simulate({ seed, faults, workload })
      restarted.push([...owners].some((owner) => owner.endsWith('.2')))
    }
    expect(restarted).toEqual([true, false])
  })

  it('a workload that rejects fails the run; its plan fails again for the same reason', async () => {
    let seed = 0
    let error: unknown
    while (error === undefined) {
      seed += 1
      error = await simulate({ seed, workload: carefree }).then(
        () => undefined,
        (reason: unknown) => reason,
      )
    }
    expect(error).toBeInstanceOf(SimulationError)
    expect(error).toMatchObject({ seed, check: 'failed-workload', cause: new Error('I did not expect that') })
    const { plan, message, timeline, svg } = error as SimulationError
    expect(message).toContain(plan)
    expect(message).toContain(timeline)
    expect(svg()).toContain('failed-workload at ')
    const again = await failing(simulate({ seed, plan, workload: carefree }))
    expect(again).toMatchObject({ seed, check: 'failed-workload', plan, timeline })
  })
})
