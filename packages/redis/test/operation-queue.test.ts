import { LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../src/client/connection.js'
import { LazyConnection } from '../src/client/lazy-connection.js'
import { Traffic } from '../src/client/traffic.js'
import { OperationQueue } from '../src/operation-queue.js'

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
  const adapter = { clustered: false, keyPrefix: '', newConnection: () => connection, run: () => Promise.resolve() }
  const lazy = new LazyConnection(adapter, systemClock)
  await lazy.connect()
  const context = { recordLife: 1_000, channel: 'c', clustered: false }
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
