import { LeaseConfigurationError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { assign, setup } from 'xstate'
import { NotDeliveredError, OutcomeUnknownError } from '../src/delivery-errors.js'
import type { EntityState } from '../src/entity-state.js'
import { memoryState } from '../src/memory-state.js'
import type { Json } from '../src/message.js'
import { Fleet } from './support/fleet.js'
import { handling, ledger } from './support/ledger.js'

const add = (entry: string) => ({ type: 'add', entry })

describe('an entity of this process', () => {
  it('starts with its first message, and handles its messages in order', async () => {
    const fleet = new Fleet({ entity: ledger() })
    const one = await fleet.join('one')
    one.grant(0)
    expect(one.core.entities).toBe(0)
    const outcomes = [one.core.tell('a', add('1')), one.core.tell('a', add('2')), one.core.tell('b', add('3'))]
    expect(await Promise.all(outcomes)).toEqual(['delivered', 'delivered', 'delivered'])
    expect(await fleet.until(one.core.ask('a', { type: 'entries' }))).toEqual(['1', '2'])
    expect(await fleet.until(one.core.ask('b', { type: 'entries' }))).toEqual(['3'])
    expect(one.core.entities).toBe(2)
  })

  it('gets its id as input', async () => {
    const seen: string[] = []
    const fleet = new Fleet({ entity: handling((_, id) => seen.push(id)) })
    const one = await fleet.join('one')
    one.grant(0)
    await one.core.tell('account-7', { type: 'x' })
    await fleet.advance(0)
    expect(seen).toEqual(['account-7'])
  })

  it('handles nothing after its lease is lost, before any signal says so', async () => {
    const seen: string[] = []
    const fleet = new Fleet({ entity: ledger((_, entry) => seen.push(entry)) })
    const one = await fleet.join('one')
    one.grant(0)
    void one.core.tell('a', add('1'))
    await fleet.advance(0)
    const later = one.core.tell('a', add('2'))
    one.expire(0)
    await fleet.advance(0)
    expect(seen).toEqual(['1'])
    expect(await later).toBe('delivered')
    expect(one.dropped).toEqual([expect.stringContaining('1: the lease of shard 0 is lost')])
    expect(one.core.entities).toBe(0)
  })

  it('does not fire a timer after its lease is lost', async () => {
    const seen: string[] = []
    const entity = handling((event, id) => seen.push(`${id} ${event.type}`))
    const delayed = {
      ...entity,
      start: (_: unknown, { self, system }: { self: never; system: { scheduler: never } }) => {
        const { schedule } = system.scheduler as { schedule: (...given: unknown[]) => void }
        schedule(self, self, { type: 'timeout' }, 100, 'timer')
      },
    }
    const fleet = new Fleet({ entity: delayed as never })
    const one = await fleet.join('one')
    one.grant(0)
    void one.core.tell('a', { type: 'hello' })
    await fleet.advance(50)
    one.expire(0)
    await fleet.advance(100)
    expect(seen).toEqual(['a hello'])
  })

  it('gives the asker what is certain', async () => {
    const fleet = new Fleet({ entity: handling(({ type, reply }) => type === 'ask' && reply?.(7)) })
    const one = await fleet.join('one')
    const early = one.core.ask('a', { type: 'ask' }, { timeout: 50 })
    await expect(fleet.until(early)).rejects.toThrow(NotDeliveredError)
    one.grant(0)
    expect(await fleet.until(one.core.ask('a', { type: 'ask' }))).toBe(7)
    await expect(fleet.until(one.core.ask('a', { type: 'silent' }, { timeout: 50 }))).rejects.toThrow(
      OutcomeUnknownError,
    )
  })

  it('shares no object with those who send to it', async () => {
    const seen: unknown[] = []
    const kept = { list: [1] }
    const fleet = new Fleet({
      entity: handling((event) => {
        seen.push(event.list)
        event.reply?.(kept.list)
      }),
    })
    const one = await fleet.join('one')
    one.grant(0)
    const list = [7]
    const asked = one.core.ask('a', { type: 'x', list })
    list.push(8)
    const answer = await fleet.until(asked)
    kept.list.push(2)
    expect([seen, answer]).toEqual([[[7]], [1]])
  })

  it.each([
    ['a bigint', { type: 'x', amount: 1n }],
    ['no type', { amount: 1 }],
    ['a reply of its own', { type: 'x', reply: 1 }],
    ['no object', 'x'],
  ])('refuses an event with %s, before anything is sent', async (_, event) => {
    const fleet = new Fleet({ entity: ledger() })
    const one = await fleet.join('one')
    one.grant(0)
    expect(() => one.core.tell('a', event)).toThrow(LeaseConfigurationError)
    await expect(one.core.ask('a', event)).rejects.toThrow(LeaseConfigurationError)
  })

  it('refuses a wrong id, timeout or delivery', async () => {
    const fleet = new Fleet({ entity: ledger() })
    const one = await fleet.join('one')
    for (const id of ['', 7, undefined, '\ud800', 'x'.repeat(1_025)]) {
      expect(() => one.core.tell(id as string, add('1'))).toThrow()
      await expect(one.core.ask(id as string, add('1'))).rejects.toThrow()
    }
    await expect(one.core.ask('a', add('1'), { timeout: -1 })).rejects.toThrow(LeaseConfigurationError)
    expect(() => one.core.tell('a', add('1'), { deliver: 'once' as never })).toThrow(LeaseConfigurationError)
  })

  it('has a bounded queue', async () => {
    const fleet = new Fleet({ entity: ledger(), mailbox: 3 })
    const one = await fleet.join('one')
    one.grant(0)
    const outcomes = Array.from({ length: 5 }, (_, place) => one.core.tell('a', add(String(place))))
    expect(await Promise.all(outcomes)).toEqual([
      'delivered',
      'delivered',
      'delivered',
      'not-delivered',
      'not-delivered',
    ])
  })

  it('starts again with its next message after a failure, and costs nobody else anything', async () => {
    const fleet = new Fleet({
      entity: handling(({ type, reply }) => {
        if (type === 'fail') throw new Error('broken')
        reply?.('fine')
      }),
    })
    const one = await fleet.join('one')
    one.grant(0)
    const failed = one.core.ask('a', { type: 'fail' })
    const next = one.core.ask('a', { type: 'x' })
    const other = one.core.ask('b', { type: 'x' })
    await expect(fleet.until(failed)).rejects.toThrow(OutcomeUnknownError)
    expect([await fleet.until(next), await fleet.until(other)]).toEqual(['fine', 'fine'])
    expect(one.errors).toEqual([new Error('broken')])
  })
})

describe('an entity that cannot work', () => {
  it.each([
    [
      'fails as it starts',
      {
        context: () => {
          throw new Error('broken')
        },
      },
    ],
    [
      'makes a snapshot that cannot be saved',
      { context: { list: [] as unknown[] }, on: { add: { actions: assign({ list: () => [new Map()] }) } } },
    ],
  ])('settles its messages, and is not repeated without an end, if it %s', async (_, config) => {
    const fleet = new Fleet({ entity: setup({}).createMachine(config as never), state: memoryState() })
    const one = await fleet.join('one')
    one.grant(0)
    const told = one.core.tell('a', add('1'), { deliver: 'at-least-once' })
    expect(await fleet.until(told, 10)).toMatch(/not-delivered|unknown/)
    await fleet.advance(10_000)
    expect([one.errors.length, one.core.entities]).toEqual([1, 0])
  })

  it('is one actor, also after a failure while it is saved', async () => {
    const state = new SlowState()
    const machine = setup({ types: { context: {} as { count: number } } }).createMachine({
      context: { count: 0 },
      on: {
        add: { actions: assign({ count: ({ context }) => context.count + 1 }) },
        fail: {
          actions: () => {
            throw new Error('broken')
          },
        },
      },
    })
    const fleet = new Fleet({ entity: machine, state })
    const one = await fleet.join('one')
    one.grant(0)
    void one.core.tell('a', add('1'))
    await fleet.advance(10)
    void one.core.tell('a', { type: 'fail' })
    await fleet.advance(10)
    state.waiting.shift()?.()
    await fleet.advance(10)
    expect([state.loads, one.core.entities, one.errors]).toEqual([1, 0, [new Error('broken')]])
  })
})

/** A state whose saves the test lets through. */
class SlowState implements EntityState {
  readonly inner = memoryState()
  readonly waiting: (() => void)[] = []
  saves = 0
  loads = 0

  load(id: string, token: bigint) {
    this.loads += 1
    return this.inner.load(id, token)
  }

  async save(...given: Parameters<EntityState['save']>): Promise<void> {
    this.saves += 1
    await new Promise<void>((resolve) => this.waiting.push(resolve))
    await this.inner.save(...given)
  }
}

describe('an entity with a state', () => {
  it('answers only after the save, and saves what came meanwhile together', async () => {
    const state = new SlowState()
    const entity = handling(() => {})
    let count = 0
    const counting = {
      ...entity,
      transition: (snapshot: never, event: { type: string; reply?: (answer: unknown) => void }) => {
        if (event.type !== 'count') return snapshot
        count += 1
        event.reply?.(count)
        return { ...Object(snapshot), count }
      },
    }
    const fleet = new Fleet({ entity: counting as never, state })
    const one = await fleet.join('one')
    one.grant(0)
    const answers: unknown[] = []
    const ask = () => void one.core.ask('a', { type: 'count' }).then((answer) => answers.push(answer))
    ask()
    await fleet.advance(10)
    ask()
    ask()
    await fleet.advance(10)
    expect([count, answers, state.saves]).toEqual([3, [], 1])
    state.waiting.shift()?.()
    await fleet.advance(10)
    expect([answers, state.saves]).toEqual([[1], 2])
    state.waiting.shift()?.()
    await fleet.advance(10)
    expect([answers, state.saves]).toEqual([[1, 2, 3], 2])
  })

  it('is not saved for a question that changes nothing', async () => {
    const state = new SlowState()
    const fleet = new Fleet({ entity: ledger(), state })
    const one = await fleet.join('one')
    one.grant(0)
    expect(await fleet.until(one.core.ask('a', { type: 'entries' }))).toEqual([])
    expect(state.saves).toBe(0)
  })

  it('stops with its shard when a later owner has saved, and its askers get no answer', async () => {
    const state = memoryState()
    const fleet = new Fleet({ entity: ledger(), state })
    const one = await fleet.join('one')
    one.grant(0)
    await one.core.tell('a', add('1'))
    await fleet.advance(10)
    await state.load('a', 99n)
    const told = one.core.tell('a', add('2'), { deliver: 'at-least-once' })
    await fleet.advance(10)
    expect([one.core.entities, one.errors]).toEqual([0, []])
    expect((await state.load('a', 99n))?.snapshot).toMatchObject({ context: { entries: ['1'] } })
    expect(await fleet.until(told)).toBe('unknown')
  })

  it('gives the lease back when it is not known what was saved', async () => {
    const state = memoryState()
    const save = state.save.bind(state)
    let isBroken = true
    state.save = async (...given) => {
      if (isBroken) throw new Error('connection reset')
      await save(...given)
    }
    const fleet = new Fleet({ entity: ledger(), state })
    const one = await fleet.join('one')
    one.grant(0)
    const told = one.core.tell('a', add('1'), { deliver: 'at-least-once' })
    await fleet.advance(10)
    expect(one.errors).toEqual([new Error('connection reset')])
    isBroken = false
    one.grant(0)
    expect(await fleet.until(told)).toBe('delivered')
    expect(await fleet.until(one.core.ask('a', { type: 'entries' }))).toEqual(['1'])
  })

  it('does not overlap a save that does not end: the session ends first', async () => {
    const state = new SlowState()
    const fleet = new Fleet({ entity: ledger(), state })
    const one = await fleet.join('one')
    one.grant(0)
    void one.core.tell('a', add('1'))
    await fleet.advance(10)
    void one.core.tell('a', add('2'))
    await fleet.advance(1_000)
    expect(state.saves).toBe(1)
    await fleet.advance(2_000)
    expect([state.saves, one.core.entities, one.errors.length]).toEqual([1, 0, 1])
  })

  it('goes on from the saved snapshot after a failure, without an event twice or lost', async () => {
    const entity = ledger((_, entry) => {
      if (entry === 'fail') throw new Error('broken')
    })
    const fleet = new Fleet({ entity, state: memoryState() })
    const one = await fleet.join('one')
    one.grant(0)
    const deliver = 'at-least-once'
    const outcomes = ['1', 'fail', '2'].map((entry) => one.core.tell('a', add(entry), { deliver }))
    expect(await fleet.until(Promise.all(outcomes))).toEqual(['delivered', 'unknown', 'delivered'])
    expect(await fleet.until(one.core.ask('a', { type: 'entries' }))).toEqual(['1', '2'])
  })

  it('is passivated when it is idle and saved, and loses nothing', async () => {
    const fleet = new Fleet({ entity: ledger(), state: memoryState(), passivateAfter: 1_000 })
    const one = await fleet.join('one')
    one.grant(0)
    for (let entry = 0; entry < 20; entry += 1) {
      await one.core.tell('a', add(String(entry)))
      await fleet.advance(entry % 2 === 0 ? 1_249 + entry / 10 : 3_000)
      if (entry % 2 === 1) expect(one.core.entities).toBe(0)
    }
    const entries = await fleet.until(one.core.ask('a', { type: 'entries' }))
    expect(entries).toEqual(Array.from({ length: 20 }, (_, entry) => String(entry)))
  })

  it('is not passivated before its save has ended', async () => {
    const state = new SlowState()
    const fleet = new Fleet({ entity: ledger(), state, passivateAfter: 100 })
    const one = await fleet.join('one')
    one.grant(0)
    void one.core.tell('a', add('1'))
    await fleet.advance(1_000)
    expect(one.core.entities).toBe(1)
    state.waiting.shift()?.()
    await fleet.advance(1_000)
    expect(one.core.entities).toBe(0)
  })

  it('migrates a snapshot of an older version, and refuses a newer one', async () => {
    const state = memoryState()
    const fleet = new Fleet({ entity: ledger(), state })
    const one = await fleet.join('one')
    one.grant(0)
    await one.core.tell('a', add('1'))
    await fleet.advance(10)
    await one.drain(0)
    const migrate = (snapshot: Json): Json => {
      const { context } = Object(snapshot) as { context: { entries: string[] } }
      return { ...Object(snapshot), context: { ...context, entries: [...context.entries, 'migrated'] } } as never
    }
    const two = await fleet.join('two', { version: 2, migrate })
    two.grant(0)
    expect(await fleet.until(two.core.ask('a', { type: 'entries' }))).toEqual(['1', 'migrated'])
    await two.core.tell('a', add('2'))
    await fleet.advance(10)
    await two.drain(0)
    one.grant(0)
    const refused = fleet.until(one.core.ask('a', { type: 'entries' }))
    await expect(refused).rejects.toThrow(/version 2, and this region has 1: run the newer program/)
  })

  it('is loaded again after a failure of the state', async () => {
    const state = memoryState()
    const load = state.load.bind(state)
    let failures = 2
    state.load = async (...given) => {
      failures -= 1
      if (failures >= 0) throw new Error('connection refused')
      return await load(...given)
    }
    const fleet = new Fleet({ entity: ledger(), state })
    const one = await fleet.join('one')
    one.grant(0)
    expect(await fleet.until(one.core.ask('a', { type: 'entries' }))).toEqual([])
    failures = 9
    await expect(fleet.until(one.core.ask('b', { type: 'entries' }))).rejects.toThrow(NotDeliveredError)
    failures = 0
    expect(await fleet.until(one.core.ask('b', { type: 'entries' }))).toEqual([])
  })
})
