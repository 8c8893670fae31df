import { type Grant, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { expect, it } from 'vitest'
import { CallsUnderWay } from '../src/run/calls-under-way.js'
import { GrantValidity } from '../src/run/grant-validity.js'
import { observeStore } from '../src/run/observed-store.js'

const TTL = 10_000
/** How long each answer of the store takes, in milliseconds. */
const DELAY = 3_000

/** A store whose answers come late, and the facts in its answers, with their times. */
function scene() {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const late = <A extends unknown[], R>(answer: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      const given = await answer(...args)
      await new Promise<void>((resolve) => clock.schedule(DELAY, resolve))
      return given
    }
  }
  const store: LeaseStore = {
    limits: memory.limits,
    acquire: late(async (request, call) => await memory.acquire(request, call)),
    renew: late(async (grant, call) => await memory.renew(grant, call)),
    update: late(async (grant, metadata, call) => await memory.update(grant, metadata, call)),
    release: late(async (grant, call) => await memory.release(grant, call)),
    read: late(async (name, call) => await memory.read(name, call)),
    close: async () => {},
  }
  const facts: [string, number][] = []
  const validity = Object.assign(new GrantValidity(), {
    asked: (_, sentAt) => facts.push(['asked', sentAt]),
    granted: (_, sentAt) => facts.push(['granted', sentAt]),
    renewed: (_, sentAt) => facts.push(['renewed', sentAt]),
    gone: (_, __, sentAt) => facts.push(['gone', sentAt]),
    seen: (_, sentAt) => facts.push(['seen', sentAt]),
    leaving: () => facts.push(['leaving', clock.now()]),
    refused: () => facts.push(['refused', clock.now()]),
  } satisfies Partial<GrantValidity>)
  const listener = { refused: () => {}, failed: () => facts.push(['failed', clock.now()]) }
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    await clock.advance(DELAY)
    return await answer
  }
  return {
    clock,
    memory,
    store: observeStore(store, clock, validity, listener, new CallsUnderWay(clock)),
    facts,
    answered,
  }
}

const never = new AbortableCall()
const request = { name: 'x', owner: 'me', grantId: 'a', ttl: TTL }

async function held({ store, answered }: ReturnType<typeof scene>): Promise<Grant> {
  const outcome = await answered(Promise.resolve(store.acquire(request, never)))
  if (!outcome.granted) throw new Error('it is refused')
  return outcome.grant
}

it('an acquisition, a heartbeat and a change of metadata count from when they were sent, however late the answer comes', async () => {
  const all = scene()
  const { clock, store, facts, answered } = all
  const start = clock.now()
  const grant = await held(all)
  await answered(Promise.resolve(store.renew(grant, never)))
  await answered(Promise.resolve(store.update?.(grant, { part: '2' }, never)))
  expect(facts).toEqual([
    ['asked', start],
    ['granted', start],
    ['renewed', start + DELAY],
    ['renewed', start + 2 * DELAY],
  ])
})

it('a record and a loss count from when the question was sent', async () => {
  const all = scene()
  const { clock, memory, store, facts, answered } = all
  const grant = await held(all)
  facts.length = 0
  const start = clock.now()
  await answered(store.read('x', never))
  await memory.break('x', {}, never)
  await answered(Promise.resolve(store.renew(grant, never)))
  expect(facts).toEqual([
    ['seen', start],
    ['gone', start + DELAY],
  ])
})

it('a release ends the grant when it is sent, and not when it is confirmed', async () => {
  const all = scene()
  const { clock, store, facts, answered } = all
  const grant = await held(all)
  facts.length = 0
  const start = clock.now()
  await answered(Promise.resolve(store.release(grant, never)))
  expect(facts).toEqual([['leaving', start]])
})
