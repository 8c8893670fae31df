import { setImmediate as turn } from 'node:timers/promises'
import { LeaseConfigurationError, MemoryLeaseStore, readLease } from '@leasehold/core'
import { LeaseCoordinator, type LeaseCoordinatorOptions } from '@leasehold/node-cron'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore } from '@leasehold/testkit'
import * as nodeCron from 'node-cron'
import * as nodeCron45 from 'node-cron-4.5'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

const START = Date.UTC(2026, 0, 1, 12, 0, 0, 500)
const SECOND = 1_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: START })
})

afterEach(() => {
  vi.useRealTimers()
})

/** The time passes for node-cron. Between two steps, the store answers: it is in this process. */
async function pass(seconds: number): Promise<void> {
  for (let step = 0; step < seconds * 10; step += 1) {
    await vi.advanceTimersByTimeAsync(SECOND / 10)
    await turn()
  }
}

class Instances {
  readonly memory = new MemoryLeaseStore()
  readonly errors: Error[] = []
  readonly lines: string[] = []

  coordinator(options: LeaseCoordinatorOptions = {}, store: MemoryLeaseStore | FaultyStore = this.memory) {
    const logger = { ...silentLogger, warn: (line: string) => void this.lines.push(line) }
    const coordinator = new LeaseCoordinator(store, { logger, ...options })
    coordinator.on('error', (error) => this.errors.push(error as Error))
    onTestFinished(async () => {
      vi.useRealTimers()
      await coordinator.stop({ timeout: 0 }).catch(() => {})
    })
    return coordinator
  }
}

const versions: readonly [string, typeof nodeCron.nodeCron][] = [
  ['4.5', nodeCron45.nodeCron as unknown as typeof nodeCron.nodeCron],
  ['4.6', nodeCron.nodeCron],
]

describe.each(versions)('with node-cron %s', (_, cron) => {
  /** Schedules a task, which ends with the test. */
  function schedule(
    runCoordinator: LeaseCoordinator,
    work: nodeCron.TaskFn,
    options: Partial<nodeCron.TaskOptions> = {},
  ): nodeCron.ScheduledTask {
    const logger = { info() {}, warn() {}, error() {}, debug() {} }
    const shared = { name: 'report', distributed: true, runCoordinator, logger }
    const task = cron.schedule('* * * * * *', work, { ...shared, ...options })
    onTestFinished(async () => void (await task.destroy()))
    return task
  }

  it('runs each tick on one of three instances', async () => {
    const instances = new Instances()
    const runs: string[] = []
    for (let instance = 0; instance < 3; instance += 1) {
      schedule(instances.coordinator(), ({ date }) => void runs.push(date.toISOString().slice(17, 19)))
    }
    await pass(5)
    expect(runs).toEqual(['01', '02', '03', '04', '05'])
    expect(instances.errors).toEqual([])
  })

  it('runs no tick while the store is down, and throws nothing into node-cron', async () => {
    const instances = new Instances()
    let isDown = false
    const plan = (): { kind: 'fail-before' } | undefined => (isDown ? { kind: 'fail-before' } : undefined)
    const coordinator = instances.coordinator({}, new FaultyStore(instances.memory, { plan }))
    const runs: string[] = []
    const reasons: unknown[] = []
    const task = schedule(coordinator, ({ date }) => void runs.push(date.toISOString().slice(17, 19)))
    task.on('execution:skipped', ({ reason }) => void reasons.push(reason))
    await pass(1)
    isDown = true
    await pass(2)
    isDown = false
    await pass(2)
    expect(runs).toEqual(['01', '04', '05'])
    expect(reasons).toEqual(['not-elected', 'not-elected'])
    expect(instances.errors.map(({ message }) => message)).toEqual([
      "the tick 2026-01-01T12:00:02.000Z of 'report' is not run: the connection was lost",
      "the tick 2026-01-01T12:00:03.000Z of 'report' is not run: the connection was lost",
    ])
  })

  it.each([true, false])(
    'leaves out the ticks that a run overran, on all instances, with noOverlap: %s',
    async (noOverlap) => {
      const instances = new Instances()
      const runs: string[] = []
      let end = (): void => {}
      const work: nodeCron.TaskFn = async ({ date }) => {
        runs.push(date.toISOString().slice(17, 19))
        await new Promise<void>((resolve) => {
          end = resolve
        })
      }
      for (let instance = 0; instance < 2; instance += 1) schedule(instances.coordinator(), work, { noOverlap })
      await pass(3)
      end()
      await pass(1)
      end()
      expect(runs).toEqual(['01', '04'])
    },
  )

  it('frees the task, but not the tick, if the work fails', async () => {
    const instances = new Instances()
    let count = 0
    for (let instance = 0; instance < 2; instance += 1) {
      schedule(instances.coordinator(), () => {
        count += 1
        throw new Error('no paper')
      })
    }
    await pass(3)
    expect(count).toBe(3)
  })

  it('gives the work the fencing token of its run', async () => {
    const instances = new Instances()
    const coordinator = instances.coordinator()
    const tokens: (bigint | undefined)[] = []
    schedule(coordinator, () => void tokens.push(coordinator.running('report')?.fencingToken))
    await pass(2)
    const [first = 0n, second = 0n] = tokens
    expect(tokens).toHaveLength(2)
    expect(second).toBeGreaterThan(first)
    expect(coordinator.running('report')).toBeUndefined()
  })

  it('warns once about two tasks of one name, and runs one of them', async () => {
    const instances = new Instances()
    const coordinator = instances.coordinator()
    let count = 0
    for (let task = 0; task < 2; task += 1) {
      schedule(coordinator, () => {
        count += 1
      })
    }
    await pass(3)
    expect(count).toBe(3)
    expect(instances.lines).toEqual([
      "two tasks of node-cron in this process have the name 'report', and only one of them runs a tick: give each its own name",
    ])
  })

  it('leaves the error about a task without a name to node-cron', () => {
    const coordinator = new Instances().coordinator()
    const build = (): unknown =>
      cron.schedule('* * * * * *', () => {}, { distributed: true, runCoordinator: coordinator })
    expect(build).toThrow('`distributed` requires a `name`')
  })

  it('takes the coordinator for all tasks', async () => {
    const instances = new Instances()
    const runs: string[] = []
    cron.setRunCoordinator(instances.coordinator({ name: 'billing' }))
    onTestFinished(() => cron.setRunCoordinator(undefined))
    const task = cron.schedule('* * * * * *', () => void runs.push('run'), { name: 'report', distributed: true })
    onTestFinished(async () => void (await task.destroy()))
    await pass(1)
    expect(runs).toEqual(['run'])
    expect((await readLease(instances.memory, 'billing/report'))?.metadata).toMatchObject({
      tick: '2026-01-01T12:00:01.000Z',
    })
  })
})

describe('the ttl of a task', () => {
  const key = 'report:2026-01-01T12:00:01.000Z'

  it('is its distributedLease', async () => {
    const instances = new Instances()
    expect(await instances.coordinator().shouldRun(key, 45_000)).toBe(true)
    expect(await readLease(instances.memory, 'report')).toMatchObject({ ttl: 45_000 })
  })

  it('is the heartbeatTimeout of the coordinator if that is given', async () => {
    const instances = new Instances()
    expect(await instances.coordinator({ heartbeatTimeout: 20_000 }).shouldRun(key, 45_000)).toBe(true)
    expect(await readLease(instances.memory, 'report')).toMatchObject({ ttl: 20_000 })
  })

  it('is reported if it is not valid, and nothing is run', async () => {
    const instances = new Instances()
    expect(await instances.coordinator().shouldRun(key, 0)).toBe(false)
    expect(instances.errors).toEqual([expect.any(LeaseConfigurationError)])
  })
})

describe('a key', () => {
  it('may have colons in its name', async () => {
    const instances = new Instances()
    const coordinator = instances.coordinator()
    expect(await coordinator.shouldRun('a:b: c:2026-01-01T12:00:01.000Z', 30_000)).toBe(true)
    expect(coordinator.running('a:b: c')?.due).toEqual(new Date('2026-01-01T12:00:01.000Z'))
  })

  it('without a tick is reported, and nothing is run', async () => {
    const instances = new Instances()
    expect(await instances.coordinator().shouldRun('report', 30_000)).toBe(false)
    expect(instances.errors).toEqual([expect.any(LeaseConfigurationError)])
    await instances.coordinator().onComplete('report')
  })
})

it('rejects a store that keeps no metadata when it is built', () => {
  const store = new FaultyStore(new MemoryLeaseStore())
  const bare = Object.assign(store, { limits: { ...store.limits, metadata: 0 } })
  expect(() => new LeaseCoordinator(bare)).toThrow(LeaseConfigurationError)
  expect(() => new LeaseCoordinator(bare)).toThrow('keeps none: use a store or a layout that does')
})

it('names itself in errors and in the log', async () => {
  expect(() => new LeaseCoordinator(new MemoryLeaseStore(), { ttl: 5 } as object)).toThrow(
    "LeaseCoordinator has no option 'ttl'",
  )
  const lines: string[] = []
  const logger = { ...silentLogger, warn: (line: string) => void lines.push(line) }
  const store = new FaultyStore(new MemoryLeaseStore(), { plan: () => ({ kind: 'fail-before' }) })
  await new LeaseCoordinator(store, { logger }).shouldRun('report:2026-01-01T12:00:01.000Z', 30_000)
  expect(lines).toEqual([
    "LeaseCoordinator: the tick 2026-01-01T12:00:01.000Z of 'report' is not run: the connection was lost",
  ])
})
