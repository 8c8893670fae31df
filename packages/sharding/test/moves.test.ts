import { describe, expect, it } from 'vitest'
import { NotDeliveredError, OutcomeUnknownError } from '../src/delivery-errors.js'
import { memoryState } from '../src/memory-state.js'
import type { MemoryNetwork } from '../src/memory-transport.js'
import type { Batch } from '../src/message.js'
import { Fleet, type FleetOptions, type FleetProcess } from './support/fleet.js'
import { handling, ledger } from './support/ledger.js'

const add = (entry: string) => ({ type: 'add', entry })
const entries = { type: 'entries' }
const atLeastOnce = { deliver: 'at-least-once' } as const

/** Two processes, and shard 0 at the second one. */
async function pair(
  options: Partial<FleetOptions> = {},
): Promise<{ fleet: Fleet; one: FleetProcess; two: FleetProcess }> {
  const fleet = new Fleet({ entity: ledger(), state: memoryState(), ...options })
  const one = await fleet.join('one')
  const two = await fleet.join('two')
  two.grant(0)
  fleet.show(0, 'two')
  return { fleet, one, two }
}

/** The batches that reach the network. */
function batchesOf(network: MemoryNetwork): Batch[] {
  const batches: Batch[] = []
  const carry = network.carry.bind(network)
  network.carry = async (from, to, batch, signal) => {
    batches.push(structuredClone(batch))
    return await carry(from, to, batch, signal)
  }
  return batches
}

describe('a message to another process', () => {
  it('is delivered there, and its answer comes back', async () => {
    const { fleet, one } = await pair()
    expect(await fleet.until(one.core.tell('a', add('1')))).toBe('delivered')
    expect(await fleet.until(one.core.tell('a', add('2'), atLeastOnce))).toBe('delivered')
    expect(await fleet.until(one.core.ask('a', entries))).toEqual(['1', '2'])
  })

  it('is sent with the others of its turn, in one batch', async () => {
    const { fleet, one } = await pair()
    await fleet.until(one.core.tell('a', add('0')))
    const batches = batchesOf(fleet.network)
    const outcomes = Array.from({ length: 100 }, (_, place) => one.core.tell('a', add(String(place))))
    await fleet.until(Promise.all(outcomes))
    expect(batches.map(({ messages }) => messages.length)).toEqual([100])
  })

  it('waits while nobody has the shard, in a bounded place, for a bounded time', async () => {
    const { fleet, one, two } = await pair({ capacity: 3, holdFor: 5_000 })
    await two.drain(0)
    fleet.show(0, undefined)
    const outcomes = Array.from({ length: 5 }, (_, place) => one.core.tell('a', add(String(place))))
    expect(await Promise.all(outcomes.slice(3))).toEqual(['not-delivered', 'not-delivered'])
    expect(one.core.kept).toBe(3)
    await fleet.advance(3_000)
    one.grant(0)
    expect(await Promise.all(outcomes.slice(0, 3))).toEqual(['delivered', 'delivered', 'delivered'])
    expect(await fleet.until(one.core.ask('a', entries))).toEqual(['0', '1', '2'])
    await one.drain(0)
    const late = one.core.tell('a', add('late'))
    expect(await fleet.until(late, 6_000)).toBe('not-delivered')
    expect(one.core.kept).toBe(0)
  })

  it('follows the shard, by the address that the last owner gives', async () => {
    const { fleet, one, two } = await pair()
    await fleet.until(one.core.tell('a', add('1')))
    const three = await fleet.join('three')
    await two.drain(0)
    three.grant(0)
    two.directory.show(0, 'three')
    expect(one.directory.addressOf(0)).toBe('two')
    expect(await fleet.until(one.core.ask('a', entries))).toEqual(['1'])
    expect(one.directory.addressOf(0)).toBe('three')
  })

  it('hops at most three times, until the directory knows more', async () => {
    const { fleet, one, two } = await pair()
    const three = await fleet.join('three')
    await two.drain(0)
    two.directory.show(0, 'three')
    three.directory.show(0, 'two')
    const batches = batchesOf(fleet.network)
    const asked = one.core.ask('a', entries, { timeout: 20_000 })
    await fleet.advance(10_000)
    // First to two, and then three times to another address.
    expect(batches).toHaveLength(4)
    three.grant(0)
    one.directory.show(0, 'three')
    expect(await fleet.until(asked)).toEqual([])
  })

  it('is refused by a process with another number of shards, another protocol or another name', async () => {
    const { fleet, one } = await pair()
    const other = await fleet.join('other', { shards: 2 })
    other.directory.show(0, 'two')
    other.directory.show(1, 'two')
    const asked = fleet.until(other.core.ask('a', entries))
    await expect(asked).rejects.toThrow(NotDeliveredError)
    await expect(asked).rejects.toThrow('1 shards here, and 2 at the sender: give all processes the same number')
    const { carry } = fleet.network
    fleet.network.carry = (from, to, batch, signal) =>
      carry.call(fleet.network, from, to, { ...batch, protocol: 2 }, signal)
    await expect(fleet.until(one.core.ask('a', entries))).rejects.toThrow('version 1 of the protocol, not 2')
  })

  it('is not taken twice, and not late: the receiver knows the last batch of each sender', async () => {
    const { fleet, one, two } = await pair()
    await fleet.until(one.core.tell('a', add('0')))
    const batches = batchesOf(fleet.network)
    await fleet.until(one.core.tell('a', add('1')))
    await fleet.until(one.core.tell('a', add('2')))
    const { signal } = new AbortController()
    for (const batch of batches.splice(0)) await fleet.until(fleet.network.carry('one', 'two', batch, signal))
    expect(await fleet.until(two.core.ask('a', entries))).toEqual(['0', '1', '2'])
  })

  it('is not taken in a later session of the shard', async () => {
    const { fleet, one, two } = await pair()
    await fleet.until(one.core.tell('a', add('0')))
    fleet.network.delay = 0
    // The batch stays somewhere on its way until its sender has given it up.
    let late: (() => Promise<unknown>) | undefined
    const { carry } = fleet.network
    fleet.network.carry = (from, to, batch, signal) => {
      late ??= () => carry.call(fleet.network, from, to, batch, new AbortController().signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))))
    }
    const lost = one.core.tell('a', add('1'))
    expect(await fleet.until(lost)).toBe('unknown')
    fleet.network.carry = carry
    await two.drain(0)
    one.grant(0)
    fleet.show(0, 'one')
    await fleet.until(one.core.tell('a', add('2')))
    await one.drain(0)
    two.grant(0)
    await fleet.until(late?.() ?? Promise.resolve())
    expect(await fleet.until(two.core.ask('a', entries))).toEqual(['0', '2'])
  })
})

describe('a failed batch', () => {
  it("is 'unknown' for messages at most once, and sent again for the others, before all later ones", async () => {
    const { fleet, one, two } = await pair()
    await fleet.until(one.core.tell('a', add('0')))
    fleet.network.loss = 1
    const lost = one.core.tell('a', add('lost'))
    const repeated = one.core.tell('a', add('1'), atLeastOnce)
    await fleet.advance(500)
    const later = one.core.tell('a', add('2'))
    await fleet.advance(505)
    expect(await lost).toBe('unknown')
    fleet.network.loss = 0
    expect(await fleet.until(Promise.all([repeated, later]))).toEqual(['delivered', 'delivered'])
    expect(await fleet.until(two.core.ask('a', entries))).toEqual(['0', '1', '2'])
  })

  it('is sent again when nobody got it', async () => {
    const { fleet, one, two } = await pair()
    fleet.network.remove('two')
    const told = one.core.tell('a', add('1'))
    await fleet.advance(1_000)
    await two.core.listen()
    expect(await fleet.until(told)).toBe('delivered')
  })

  it('lets a question wait for its answer, which may come yet', async () => {
    const { fleet, one } = await pair()
    await fleet.until(one.core.tell('a', add('0')))
    const { carry } = fleet.network
    let isFirst = true
    fleet.network.carry = async (...given) => {
      const receipts = await carry.apply(fleet.network, given)
      if (!isFirst) return receipts
      isFirst = false
      throw new Error('connection reset')
    }
    expect(await fleet.until(one.core.ask('a', entries))).toEqual(['0'])
  })
})

describe('a shard that moves', () => {
  it('keeps its entities, and the order of all messages, under load', async () => {
    const { fleet, one, two } = await pair()
    fleet.network.delay = 20
    const outcomes: Promise<string>[] = []
    for (let step = 0; step < 300; step += 1) {
      outcomes.push(one.core.tell('a', add(String(step)), step % 3 === 0 ? atLeastOnce : {}))
      if (step === 100) void two.drain(0).then(() => one.grant(0))
      if (step === 103) fleet.show(0, 'one')
      if (step === 200) {
        void one.drain(0).then(() => two.grant(0))
        fleet.show(0, 'two')
      }
      await fleet.advance(7)
    }
    expect(new Set(await fleet.until(Promise.all(outcomes)))).toEqual(new Set(['delivered']))
    const kept = await fleet.until(one.core.ask('a', entries))
    expect(kept).toEqual(Array.from({ length: 300 }, (_, step) => String(step)))
  })

  it('finishes what is queued, is saved, and only then resolves', async () => {
    const state = memoryState()
    const { fleet, one, two } = await pair({ state })
    await fleet.until(one.core.tell('a', add('0')))
    for (let step = 1; step <= 500; step += 1) void two.core.tell('a', add(String(step)))
    await fleet.until(two.drain(0))
    const saved = await state.load('a', 100n)
    expect(saved?.snapshot).toMatchObject({ context: { entries: { length: 501 } } })
    expect(two.core.entities).toBe(0)
  })

  it('waits for an answer that an entity is working on', async () => {
    const { fromPromise, setup } = await import('xstate')
    const { fleet, one, two } = await pair({
      state: undefined,
      entity: setup({
        actors: { work: fromPromise(() => new Promise((resolve) => fleet_.clock.schedule(300, () => resolve(7)))) },
      }).createMachine({
        initial: 'idle',
        states: {
          idle: { on: { work: 'working' } },
          working: {
            entry: ({ event, self }) => Object.assign(self, { asked: event }),
            invoke: {
              src: 'work',
              onDone: { target: 'idle', actions: ({ event, self }) => Reflect.get(self, 'asked').reply(event.output) },
            },
          },
        },
      }) as never,
    })
    const fleet_ = fleet
    const asked = one.core.ask('a', { type: 'work' })
    await fleet.advance(50)
    const drained = two.drain(0)
    expect(await fleet.until(asked)).toBe(7)
    await fleet.until(drained)
  })

  it('is never at work in two processes, also where one does not know that it lost its lease', async () => {
    const seen: string[] = []
    const { fleet, one, two } = await pair({ entity: ledger((_, entry) => seen.push(entry)) })
    await fleet.until(two.core.tell('a', add('1')))
    two.expire(0)
    void two.core.tell('a', add('2'))
    one.grant(0)
    void one.core.tell('a', add('3'))
    await fleet.advance(100)
    expect(seen).toEqual(['1', '3'])
    fleet.show(0, 'one')
    await fleet.advance(100)
    expect(await fleet.until(one.core.ask('a', entries))).toEqual(['1', '3', '2'])
  })

  it('loses nothing that is delivered at least once when its owner dies, and handles nothing twice', async () => {
    const state = memoryState()
    const { fleet, one, two } = await pair({ state })
    const outcomes: Promise<string>[] = []
    for (let step = 0; step < 30; step += 1) {
      outcomes.push(one.core.tell('a', add(String(step)), atLeastOnce))
      if (step === 10) {
        // It dies: nobody answers, and nothing it does has an effect.
        fleet.network.remove('two')
        two.expire(0)
      }
      if (step === 20) {
        const three = await fleet.join('three')
        three.grant(0)
        fleet.show(0, 'three')
      }
      await fleet.advance(50)
    }
    expect(new Set(await fleet.until(Promise.all(outcomes)))).toEqual(new Set(['delivered']))
    const kept = await fleet.until(one.core.ask('a', entries))
    expect(kept).toEqual(Array.from({ length: 30 }, (_, step) => String(step)))
  })

  it('handles each id once, also over repeated batches, lost answers and moves', async () => {
    const { fleet, one, two } = await pair()
    fleet.network.loss = 0.3
    fleet.network.duplication = 0.3
    fleet.network.delay = 30
    const outcomes: Promise<string>[] = []
    for (let step = 0; step < 60; step += 1) {
      outcomes.push(one.core.tell('a', add(String(step)), atLeastOnce))
      if (step % 20 === 10) {
        const [from, to] = step % 40 === 10 ? [two, one] : [one, two]
        await fleet.until(from.drain(0))
        to.grant(0)
        fleet.show(0, to.address)
      }
      await fleet.advance(100)
    }
    fleet.network.loss = 0
    expect(new Set(await fleet.until(Promise.all(outcomes)))).toEqual(new Set(['delivered']))
    const kept = await fleet.until(two.core.ask('a', entries))
    expect(kept).toEqual(Array.from({ length: 60 }, (_, step) => String(step)))
  })

  it('does not handle again what was saved, and whose confirmation was lost with its owner', async () => {
    const { fleet, one, two } = await pair()
    await fleet.until(one.core.tell('a', add('0'), atLeastOnce))
    const { carry } = fleet.network
    fleet.network.carry = async (from, to, batch, signal) =>
      from === 'two' ? new Promise<never>(() => {}) : await carry.call(fleet.network, from, to, batch, signal)
    const told = one.core.tell('a', add('1'), atLeastOnce)
    await fleet.advance(100)
    two.expire(0)
    one.grant(0)
    expect(await fleet.until(told)).toBe('delivered')
    expect(await fleet.until(one.core.ask('a', entries))).toEqual(['0', '1'])
  })

  it('repeats what is not confirmed when the session is another one at the same address', async () => {
    const state = memoryState()
    const { fleet, one, two } = await pair({ state })
    await fleet.until(one.core.tell('a', add('0'), atLeastOnce))
    // The answer that the session has ended is lost.
    const { carry } = fleet.network
    fleet.network.carry = async (from, to, batch, signal) =>
      from === 'two'
        ? batch.messages.map(() => ({ outcome: 'accepted' }))
        : await carry.call(fleet.network, from, to, batch, signal)
    const told = one.core.tell('a', add('1'), atLeastOnce)
    await fleet.advance(0)
    two.lose(0)
    two.grant(0)
    fleet.network.carry = carry
    expect(await fleet.until(told, 5_000)).toBe('delivered')
    expect(await fleet.until(two.core.ask('a', entries))).toEqual(['0', '1'])
  })
})

describe('a process that closes', () => {
  it('settles everything', async () => {
    const { fleet, one, two } = await pair()
    await two.drain(0)
    fleet.show(0, undefined)
    const pending = [one.core.tell('a', add('1')), one.core.tell('a', add('2'), atLeastOnce)]
    const asked = expect(one.core.ask('a', entries, { timeout: 50_000 })).rejects.toThrow(NotDeliveredError)
    await fleet.until(one.core.close(1_000))
    expect(await Promise.all(pending)).toEqual(['not-delivered', 'not-delivered'])
    await asked
    expect(await one.core.tell('a', add('3'))).toBe('not-delivered')
    await expect(one.core.ask('a', entries)).rejects.toThrow('was stopped')
    await fleet.until(two.core.close(1_000))
    await fleet.advance(60_000)
    expect(fleet.clock.pending).toBe(0)
  })

  it('sends the answers of its drained entities first', async () => {
    const { fleet, one, two } = await pair()
    await fleet.until(one.core.tell('a', add('1')))
    // The first answer takes its time, and the second one has to wait for it.
    const { carry } = fleet.network
    let isFirst = true
    fleet.network.carry = async (...given) => {
      if (given[0] === 'two' && isFirst) {
        isFirst = false
        await new Promise<void>((resolve) => fleet.clock.schedule(300, resolve))
      }
      return await carry.apply(fleet.network, given)
    }
    const first = one.core.ask('a', entries)
    await fleet.advance(10)
    const second = one.core.ask('a', entries)
    await fleet.advance(10)
    const closed = two.drain(0).then(() => two.core.close(1_000))
    expect(await fleet.until(Promise.all([first, second]))).toEqual([['1'], ['1']])
    await fleet.until(closed)
  })

  it("says 'unknown' of a message under way", async () => {
    const { fleet, one } = await pair()
    await fleet.until(one.core.tell('a', add('0')))
    fleet.network.loss = 1
    const told = one.core.tell('a', add('1'))
    const asked = expect(one.core.ask('a', entries, { timeout: 50_000 })).rejects.toThrow(OutcomeUnknownError)
    await fleet.advance(10)
    await fleet.until(one.core.close(0))
    expect(await told).toBe('unknown')
    await asked
  })

  it('has no unhandled answer for entities that never answer', async () => {
    const { fleet, one } = await pair({ entity: handling(() => {}), state: undefined })
    await expect(fleet.until(one.core.ask('a', entries, { timeout: 100 }))).rejects.toThrow(OutcomeUnknownError)
  })
})
