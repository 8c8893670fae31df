import { createHash } from 'node:crypto'
import { StoreLease } from '@leasehold/core'
import {
  type SimulatedProcess,
  type SimulationError,
  type SimulationOptions,
  type SimulationReport,
  simulate,
} from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'

/** The error of a run that has to fail. */
async function failing(run: Promise<SimulationReport>): Promise<SimulationError> {
  return await run.then(
    () => expect.unreachable('the run broke no rule'),
    (error: SimulationError) => error,
  )
}

/** Claims the lease, and assumes that it is never lost. */
async function carefree({ lease, signal, sleep }: SimulatedProcess): Promise<void> {
  while (!signal.aborted) {
    const granted = await lease.acquire({ wait: Number.POSITIVE_INFINITY, signal }).catch(() => false)
    if (!granted) continue
    while (!signal.aborted) {
      await sleep(100)
      if (!lease.checkLease() && !signal.aborted) throw new Error('I did not expect that')
    }
    await lease.release()
  }
}

/** Nodes that cannot go on, in a run that has them lose the lease. */
const toFail: SimulationOptions = {
  seed: 5,
  nodes: 4,
  duration: 60_000,
  store: 'server-timed',
  timeouts: { heartbeatTimeout: 3_000, heartbeatInterval: 600, operationTimeout: 300 },
  faults: ['pause', 'partition', 'loss'],
  workload: carefree,
}

describe('simulate', () => {
  it('the same seed gives the same history on every machine', async () => {
    const digest = createHash('sha256')
    for (let seed = 1; seed <= 40; seed += 1) {
      const { history } = await simulate({ seed })
      digest.update(JSON.stringify(history))
    }
    // A change of the engine's behaviour or of the simulator changes this digest.
    expect(digest.digest('hex')).toMatchInlineSnapshot(
      `"a7b7ad3ba3e64c88c7916cb32edc312b68737e682be985b905d74c3a316bddc7"`,
    )
  })

  it('another seed gives another history', async () => {
    const [one, other] = [await simulate({ seed: 1 }), await simulate({ seed: 2 })]
    expect(one.history).not.toEqual(other.history)
  })

  it('uses the given nodes, duration, store, timeouts and kinds of faults', async () => {
    const timeouts = { heartbeatTimeout: 5_000, heartbeatInterval: 1_000, operationTimeout: 500 }
    const { plan } = await simulate({
      seed: 3,
      nodes: 7,
      duration: 20_000,
      store: 'observed',
      timeouts,
      faults: ['crash'],
    })
    expect(plan).toMatchObject({ store: 'observed', duration: 20_000, timeouts })
    expect(plan.machines).toHaveLength(7)
    expect(plan.faults.length).toBeGreaterThan(0)
    expect(new Set(plan.faults.map(({ kind }) => kind))).toEqual(new Set(['crash']))
  })

  it('applies exactly the given faults', async () => {
    const faults = [{ kind: 'crash', at: 4_000, for: 2_000, node: 0 } as const]
    const { history } = await simulate({ seed: 4, nodes: 2, duration: 20_000, faults })
    const crashes = history.filter(({ event }) => event === 'crashed')
    expect(crashes).toEqual([{ at: 4_000, actor: 0, event: 'crashed', detail: '' }])
    const starts = history.filter(({ actor, event }) => actor === 0 && event === 'started')
    expect(starts.map(({ at }) => at)).toEqual([0, 6_000])
  })

  it('without faults every node is granted the lease, and none loses it', async () => {
    for (const store of ['server-timed', 'observed'] as const) {
      const { history, plan, writes } = await simulate({
        seed: 5,
        nodes: 3,
        store,
        faults: [],
        duration: 300_000,
      })
      const holders = new Set(history.filter(({ event }) => event === 'acquired').map(({ actor }) => actor))
      for (const node of plan.machines.keys()) expect(holders).toContain(node)
      // Some nodes preempt the holder, and some close their lease.
      const asked = ['broken', 'closed', ...(plan.maxHold === undefined ? [] : ['max-hold'])]
      for (const { detail } of history.filter(({ event }) => event === 'lost')) expect(asked).toContain(detail)
      expect(writes).toBeGreaterThan(50)
    }
  })

  it('a workload that rejects fails the run, with the seed, the smallest plan and a timeline', async () => {
    const error = await failing(simulate(toFail))
    expect(error.name).toBe('SimulationError')
    expect(error.check).toBe('failed-workload')
    expect(error.seed).toBe(5)
    expect(error.message).toContain('seed 5: failed-workload')
    expect(error.message).toContain('I did not expect that')
    expect(error.message).toContain(error.timeline)
    // One node that cannot reach the store for long enough is all it takes.
    expect(JSON.parse(error.plan)).toMatchObject({ machines: [{}], faults: [{}] })
    expect(error.timeline).toMatch(/ +\d+\.\d .*acquired token \d+/)
  })

  it('the smallest plan breaks the same rule again, from its own text', async () => {
    const first = await failing(simulate(toFail))
    const text = /simulate\(\{ seed: 5, plan: '(.*)' \}\)/.exec(first.message)?.[1] ?? ''
    expect(text).toBe(first.plan)
    const again = await failing(simulate({ seed: 0, plan: JSON.parse(text), workload: carefree }))
    expect(again.check).toBe(first.check)
    expect(again.plan).toBe(text)
  })

  it('draws a lane for the store and for each node, the faults and the violation', async () => {
    const error = await failing(simulate(toFail))
    const svg = error.svg()
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg".*<\/svg>\n$/s)
    expect(svg).toContain('>node 0</text>')
    expect(svg).toContain('>store</text>')
    for (const meaning of ['held', 'paused', 'crashed', 'network']) expect(svg).toContain(`>${meaning}</text>`)
    expect(svg).toContain('failed-workload at ')
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  it('the default workload has runs that take turns, are refused, are lost and work under a grant of acquire', async () => {
    const events = new Map<string, number>()
    for (let seed = 1; seed <= 30; seed += 1) {
      for (const { event, detail } of (await simulate({ seed })).history) {
        const kind = event === 'ran' || detail.endsWith('by a run') ? `${event} ${detail.split(', ').at(-1)}` : event
        events.set(kind, (events.get(kind) ?? 0) + 1)
      }
    }
    for (const kind of ['run', 'acquired by a run', 'ran resolved', 'ran rejected', 'acquired', 'released', 'lost']) {
      expect(events.get(kind) ?? 0, kind).toBeGreaterThan(30)
    }
  })

  it('faulty user code costs no lease', async () => {
    const parts = ['strategy', 'random', 'logger', 'callback'] as const
    const faults = parts.flatMap((part) =>
      (['throws', 'nonsense'] as const).map(
        (does, place) => ({ kind: 'user-code', at: 10_000 * place, for: 10_000, node: 0, part, does }) as const,
      ),
    )
    for (const store of ['server-timed', 'observed'] as const) {
      const { history, grants } = await simulate({ seed: 9, nodes: 2, duration: 20_000, store, faults })
      const reasons = history.filter(({ event }) => event === 'lost').map(({ detail }) => detail)
      expect(reasons.filter((reason) => reason !== 'closed' && reason !== 'max-hold')).toEqual([])
      expect(grants).toBeGreaterThan(5)
    }
  })

  it('a client with invalid answers costs only its own process the lease', async () => {
    for (const answer of ['garbled', 'agreeing', 'unprintable', 'thrown', 'twice', 'never'] as const) {
      const fault = { kind: 'nonsense', at: 0, for: 60_000, node: 0, answer, probability: 1 } as const
      const { history } = await simulate({ seed: 10, nodes: 2, duration: 60_000, faults: [fault] })
      expect(history.some(({ actor, event }) => actor === 1 && event === 'acquired')).toBe(true)
    }
  })

  it('the lease of a process behaves as the lease itself', async () => {
    const workload = async ({ lease }: SimulatedProcess): Promise<void> => {
      const heard: unknown[] = []
      expect(lease).toBeInstanceOf(StoreLease)
      expect(lease.on('acquired', (grant) => heard.push(grant.fencingToken))).toBe(lease)
      expect(await lease.acquire({ wait: 60_000 })).toBe(true)
      expect(heard).toEqual([lease.fencingToken])
      expect(await lease.run(async ({ fencingToken }) => fencingToken)).toBe(lease.fencingToken)
      expect(lease.state).toBe('held')
    }
    const { grants } = await simulate({ seed: 11, nodes: 1, duration: 5_000, faults: [], workload })
    // The newcomer at the end is granted the lease as well.
    expect(grants).toBe(2)
  })

  it('the shared values of nodes are empty at the start of each simulation', async () => {
    const seen: number[] = []
    const workload = async ({ shared, node }: SimulatedProcess): Promise<void> => {
      if (node === 0) seen.push(shared.size)
      shared.set(`node ${node}`, true)
    }
    const options = { seed: 6, nodes: 2, duration: 1_000, faults: [], workload }
    // No node claims anything, which breaks a rule as well.
    expect((await failing(simulate(options))).check).toBe('no-progress')
    expect(new Set(seen)).toEqual(new Set([0]))
  })

  it('a process may have leases on other names, each with a resource of its own', async () => {
    const workload = async ({ lease, createLease, signal, sleep, write }: SimulatedProcess): Promise<void> => {
      const side = createLease('side')
      while (!signal.aborted) {
        await Promise.all([lease.acquire({ wait: 2_000 }), side.acquire({ wait: 2_000 })]).catch(() => {})
        for (const held of [lease, side]) if (held.checkLease()) write(held).catch(() => {})
        await sleep(500)
        await Promise.all([lease.release(), side.release()]).catch(() => {})
      }
    }
    const { history } = await simulate({ seed: 8, nodes: 3, duration: 60_000, workload, faults: ['crash', 'pause'] })
    const granted = history.filter(({ event }) => event === 'granted').map(({ detail }) => detail.split(' ')[0])
    expect(new Set(granted)).toEqual(new Set(["'job'", "'side'"]))
  })

  it('a workload that does not end after its signal aborted is a violation', async () => {
    const workload = async ({ lease }: SimulatedProcess): Promise<void> => {
      await lease.acquire()
      await new Promise(() => {})
    }
    const error = await failing(simulate({ seed: 7, nodes: 1, faults: [], duration: 1_000, workload }))
    expect(error.check).toBe('stuck-workload')
  })
})
