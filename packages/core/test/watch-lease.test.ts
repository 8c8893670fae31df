import { getEventListeners } from 'node:events'
import {
  breakLease,
  createLease,
  type LeaseRecord,
  LeaseUnavailableError,
  MemoryLeaseStore,
  watchLease,
} from '@leasehold/core'
import { viewOf } from '@leasehold/core/store'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from './support/held-lease.js'

/** A watch of `job`, the records that it has yielded so far, and how it ended. */
function watching({ polls = false } = {}) {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const faulty = new FaultyStore(memory, { clock })
  const store = polls ? Object.assign(Object.create(faulty), { watch: undefined }) : faulty
  const controller = new AbortController()
  const seen: string[] = []
  const ended = (async () => {
    for await (const record of watchLease(store, 'job', { clock, signal: controller.signal })) seen.push(shown(record))
  })()
  ended.catch(() => {})
  const lease = createLease(memory, 'job', { owner: 'me', clock, heartbeatTimeout: 20_000, logger: silentLogger })
  return { clock, memory, faulty, lease, controller, seen, ended }
}

function shown(record: LeaseRecord | undefined): string {
  return record === undefined ? 'none' : `${record.state} ${record.owner}`
}

describe('watchLease', () => {
  it.each([false, true])(
    'yields the present record, then each change (without signals of the store: %s)',
    async (polls) => {
      const { clock, memory, lease, seen, controller, ended } = watching({ polls })
      await clock.advance(10)
      await lease.acquire()
      await clock.advance(30_000)
      await lease.update({ part: '2' })
      await clock.advance(1_000)
      await breakLease(memory, 'job', { clock, period: 1_500 })
      await clock.advance(5_000)
      expect(seen).toEqual(['none', 'leased me', 'leased me', 'breaking me', 'broken me'])
      controller.abort()
      await ended
      await lease.release()
      expect(clock.pending).toBe(0)
    },
  )

  it('yields at once when the name becomes free, if the store signals it', async () => {
    const { clock, lease, seen, controller, ended } = watching()
    await lease.acquire()
    await clock.advance(1_000)
    await lease.release()
    await clock.advance(0)
    expect(seen.at(-1)).toBe('available me')
    controller.abort()
    await ended
  })

  it.each([
    ['ends', async function* () {}],
    [
      'fails',
      async function* () {
        yield await Promise.reject(new Error('reset'))
      },
    ],
  ])('starts a watch again that %s, and reads what has changed since', async (_, broken) => {
    const { clock, memory, lease } = watching()
    let watches = 0
    const store = viewOf(memory, {
      watch: (watch) => (name, call) => {
        watches += 1
        return watches === 1 ? broken() : watch(name, call)
      },
    })
    const controller = new AbortController()
    const seen: string[] = []
    const options = { clock, signal: controller.signal, interval: 60_000 }
    const ended = (async () => {
      for await (const record of watchLease(store, 'job', options)) seen.push(shown(record))
    })()
    await clock.settle()
    await lease.acquire()
    // The restart counts as a signal, and from then on the watch works.
    await clock.advance(1_000)
    expect(seen).toEqual(['none', 'leased me'])
    await lease.release()
    await clock.advance(0)
    expect(seen.at(-1)).toBe('available me')
    expect(watches).toBe(2)
    controller.abort()
    await ended
  })

  it('throws when a read fails', async () => {
    const { clock, faulty, ended } = watching()
    await clock.advance(10)
    faulty.inject({ kind: 'fail-before' }, 'read')
    await clock.advance(1_000)
    await expect(ended).rejects.toBeInstanceOf(LeaseUnavailableError)
    expect(clock.pending).toBe(0)
  })

  it('ends at once where its signal is aborted already, or its reader leaves', async () => {
    const { clock, memory, controller, ended } = watching()
    controller.abort()
    await ended
    for await (const record of watchLease(memory, 'job', { clock })) {
      expect(record).toBeUndefined()
      break
    }
    expect(clock.pending).toBe(0)
  })

  it('adds one listener to a signal that many watches share, and leaves none', async () => {
    const { clock, memory } = watching()
    const controller = new AbortController()
    const { signal } = controller
    const watches = Array.from({ length: 20 }, () => watchLease(memory, 'job', { clock, signal }))
    await Promise.all(watches.map((watch) => watch.next()))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    const ended = watches.map((watch) => watch.next())
    controller.abort()
    await Promise.all(ended)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
