import { setImmediate as turn } from 'node:timers/promises'
import { LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../src/client/connection.js'
import { LazyConnection } from '../src/client/lazy-connection.js'
import { Traffic } from '../src/client/traffic.js'
import { OperationQueue } from '../src/operation-queue.js'
import { leaseScript } from '../src/script/lease-script.js'

/** Counts the calls of a connection whose first call fails with this message after the time limit. */
async function callsAfter(
  failure: string,
  limits: readonly AbortableCall[],
  onAsked: () => void = () => {},
): Promise<number> {
  let calls = 0
  const connection: Connection = {
    traffic: new Traffic(),
    connect: () => Promise.resolve(),
    nodeOf: () => '',
    prepare: () => undefined,
    run: () => {
      calls += 1
      for (const limit of limits) limit.abort(new LeaseUnavailableError('time is up'))
      return Promise.reject(new Error(failure))
    },
    scans: () => Promise.resolve([]),
    subscribe: () => Promise.resolve(),
    onEnd: () => {},
    destroy: () => {},
  }
  const adapter = {
    clustered: false,
    subscribes: true,
    keyPrefix: '',
    newConnection: () => connection,
    run: () => Promise.resolve(),
  }
  const lazy = new LazyConnection(adapter, systemClock)
  await lazy.connect()
  const context = { script: leaseScript, recordLife: 1_000, channel: 'c', clustered: false }
  const queue = new OperationQueue(lazy, systemClock, context)
  const request = { operation: 'read', leaseName: 'job', key: 'k', args: '', toOutcome: () => 0 }
  const asking = limits.map((limit) => queue.run(request, limit))
  onAsked()
  const asked = await Promise.allSettled(asking)
  expect(asked.every(({ status }) => status === 'rejected')).toBe(true)
  return calls
}

describe('an operation whose time limit is over', () => {
  it.each(['NOSCRIPT No matching script', 'TRYAGAIN Multiple keys request'])(
    'is not sent again after %s',
    async (failure) => {
      expect(await callsAfter(failure, [new AbortableCall(), new AbortableCall()])).toBe(1)
    },
  )

  it('is not sent if it ends in the turn in which it was requested', async () => {
    const limit = new AbortableCall()
    expect(await callsAfter('unused', [limit], () => limit.abort(new LeaseUnavailableError('time is up')))).toBe(0)
  })
})

describe('a crowd of operations', () => {
  /** The queue, the number of operations in each call, and what answers the oldest of these calls. */
  async function open(clustered: boolean) {
    const sizes: number[] = []
    const answers: (() => void)[] = []
    const connection: Connection = {
      traffic: new Traffic(),
      connect: () => Promise.resolve(),
      nodeOf: () => '',
      prepare: () => undefined,
      run: ({ keys }) => {
        sizes.push(keys.length)
        return new Promise((resolve) => answers.push(() => resolve(keys.map(() => ['done']))))
      },
      scans: () => Promise.resolve([]),
      subscribe: () => Promise.resolve(),
      onEnd: () => {},
      destroy: () => {},
    }
    const adapter = {
      clustered,
      subscribes: true,
      keyPrefix: '',
      newConnection: () => connection,
      run: () => Promise.resolve(),
    }
    const lazy = new LazyConnection(adapter, systemClock)
    await lazy.connect()
    const queue = new OperationQueue(lazy, systemClock, {
      script: leaseScript,
      recordLife: 1_000,
      channel: 'c',
      clustered,
    })
    const request = { operation: 'read', leaseName: 'job', key: '{k}', args: '', toOutcome: () => 0 }
    const run = (count: number, call = new AbortableCall()): Promise<number>[] =>
      Array.from({ length: count }, () => queue.run(request, call))
    const under = (): number => sizes.reduce((sum, size) => sum + size, 0)
    const renew = (count: number): Promise<unknown> =>
      queue.runMany(
        Array.from({ length: count }, () => request),
        new AbortableCall(),
      )
    const answer = async (): Promise<void> => {
      answers.shift()?.()
      await turn()
      await turn()
    }
    return { run, renew, under, answer }
  }

  it('has at most 512 under way, and the next ones follow as these are answered', async () => {
    const { run, under, answer } = await open(false)
    const crowd = run(1_000)
    await turn()
    expect(under()).toBe(512)
    await answer()
    expect(under()).toBe(640)
    for (let calls = 0; calls < 20; calls += 1) await answer()
    expect(under()).toBe(1_000)
    expect(await Promise.all(crowd)).toHaveLength(1_000)
  })

  it('does not hold up heartbeats', async () => {
    const { run, renew, under, answer } = await open(false)
    const crowd = run(1_000)
    await turn()
    const renewing = renew(300)
    await turn()
    expect(under()).toBe(812)
    for (let calls = 0; calls < 20; calls += 1) await answer()
    await Promise.all([renewing, ...crowd])
  })

  it('goes on when those under way are given up', async () => {
    const { run, under } = await open(false)
    const limit = new AbortableCall()
    const silent = Promise.allSettled(run(512, limit))
    await turn()
    void Promise.allSettled(run(100))
    await turn()
    expect(under()).toBe(512)
    limit.abort(new LeaseUnavailableError('time is up'))
    await silent
    await turn()
    expect(under()).toBe(612)
  })

  it('has no limit in a cluster, where one node must not hold up the others', async () => {
    const { run, under } = await open(true)
    void Promise.allSettled(run(1_000))
    await turn()
    expect(under()).toBe(1_000)
  })
})

describe('a connection over which an operation has timed out', () => {
  const late = () => new LeaseUnavailableError('time is up')

  /** A queue whose connections answer on request only. They are numbered, from 1. */
  async function open() {
    const clock = new VirtualClock()
    const answers: (() => void)[] = []
    let isOpening = false
    let connections = 0
    const ended = new Set<number>()
    const newConnection = (): Connection => {
      connections += 1
      const number = connections
      return {
        traffic: new Traffic(),
        connect: () => (isOpening ? new Promise(() => {}) : Promise.resolve()),
        nodeOf: () => '',
        prepare: () => undefined,
        run: ({ keys }) => new Promise((resolve) => answers.push(() => resolve(keys.map(() => ['done'])))),
        scans: () => Promise.resolve([]),
        subscribe: () => Promise.resolve(),
        onEnd: () => {},
        destroy: () => ended.add(number),
      }
    }
    const adapter = { clustered: false, subscribes: true, keyPrefix: '', newConnection, run: () => Promise.resolve() }
    const lazy = new LazyConnection(adapter, clock)
    const connection = await lazy.connect()
    const queue = new OperationQueue(lazy, clock, {
      script: leaseScript,
      recordLife: 1_000,
      channel: 'c',
      clustered: false,
    })
    const run = (count = 1, call = new AbortableCall()): Promise<unknown> => {
      const request = { operation: 'read', leaseName: 'job', key: '{k}', args: '', toOutcome: () => 0 }
      return Promise.allSettled(Array.from({ length: count }, () => queue.run(request, call)))
    }
    /** From now on, connections take for ever to open. */
    const reopen = (): void => {
      isOpening = true
      lazy.drop(connection)
    }
    return { clock, run, answer: () => answers.pop()?.(), reopen, ended }
  }

  it.each([
    { limit: 5_000, silence: 2_500, isDropped: true },
    { limit: 5_000, silence: 2_499, isDropped: false },
    { limit: 600, silence: 500, isDropped: true },
    { limit: 600, silence: 499, isDropped: false },
  ])('is dropped after $silence ms of silence in $limit ms: $isDropped', async ({ limit, silence, isDropped }) => {
    const { clock, run, answer, ended } = await open()
    const call = new AbortableCall()
    void run(1, call)
    await turn()
    const other = run()
    await turn()
    await clock.advance(limit - silence)
    answer()
    await other
    await clock.advance(silence)
    call.abort(late())
    await turn()
    await turn()
    expect(ended.has(1)).toBe(isDropped)
  })

  it.each([
    { wait: 5_000, opening: 2_500, isGivenUp: true },
    { wait: 5_000, opening: 2_499, isGivenUp: false },
  ])('is given up after it has opened for $opening of $wait ms: $isGivenUp', async ({ wait, opening, isGivenUp }) => {
    const { clock, run, reopen, ended } = await open()
    const [crowd, call] = [new AbortableCall(), new AbortableCall()]
    void run(512, crowd)
    await turn()
    void run(1, call)
    await clock.advance(wait - opening)
    reopen()
    crowd.abort(late())
    await turn()
    await clock.advance(opening)
    call.abort(late())
    await turn()
    await turn()
    expect(ended.has(2)).toBe(isGivenUp)
  })
})
