import assert from 'node:assert/strict'
import { LeaseConfigurationError, LeaseConflictError, LeaseNameError } from '@leasehold/core'
import type { EntityState, SavedEntity } from '../entity-state.js'
import type { Json } from '../message.js'

/** A rule that every state of entities has to keep. It is broken where `check` rejects. */
export interface StateLaw {
  readonly title: string
  /**
   * `open` returns a state over a place that this law has for itself, each time as another process has it: with a client of
   * its own.
   */
  check(open: () => EntityState | Promise<EntityState>): Promise<void>
}

/** Ids that a key, a file name, or a text of SQL could confuse. All of them are different. */
const IDS: readonly string[] = [
  'a',
  'A',
  ' a',
  'a ',
  'a/b',
  'a%2fb',
  'a%2Fb',
  '../a',
  '.',
  '..',
  '%',
  '%%',
  '{a}',
  '}a{',
  'a:b',
  "a'b",
  'a"b',
  'a\\b',
  'a?b$1',
  'a\nb',
  'a\0b',
  'a\u001ab',
  'a*b',
  'con',
  'constructor',
  '__proto__',
  'é',
  'é'.normalize('NFD'),
  '顧客',
  '👩‍🚀',
  'x'.repeat(1024),
  `${'x'.repeat(1023)}y`,
  '%'.repeat(1024),
  '%'.repeat(1023),
  '客'.repeat(341),
]

const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1.5e-300,
  Number.MAX_SAFE_INTEGER,
  '',
  'a\0b \u001a \ud800 \u2028 " \' \\ ? $1 $$ é 顧客 👩‍🚀',
  [],
  {},
  [[[[null]]], 'a', { b: [1, 2, { c: '' }] }],
  { '': 1, 'a.b': { "'": 2 }, 'key ?': null, constructor: 'c', '\0': '\n' },
  JSON.parse('{ "__proto__": { "a": 1 } }') as Json,
  'x'.repeat(100_000),
]

const at = (snapshot: Json, version = 1, handled: readonly string[] = []): SavedEntity => ({
  snapshot,
  version,
  handled,
})

const law = (title: string, check: StateLaw['check']): StateLaw => ({ title, check })

async function refused(promise: Promise<unknown>, what: string): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert(error instanceof LeaseConflictError, `${what}: not with a LeaseConflictError, but with ${String(error)}`)
    return true
  })
}

async function wrong(promise: Promise<unknown>, error: typeof LeaseNameError | typeof LeaseConfigurationError) {
  await assert.rejects(promise, (thrown) => {
    assert(thrown instanceof error, `not with a ${error.name}, but with ${String(thrown)}`)
    return true
  })
}

const values: readonly StateLaw[] = [
  law('an entity that was never saved is undefined', async (open) => {
    const state = await open()
    assert.equal(await state.load('a', 1n), undefined)
    assert.equal(await state.load('a', 2n), undefined)
  }),

  law('the last save wins, as a whole', async (open) => {
    const [state, other] = [await open(), await open()]
    await state.load('a', 1n)
    await state.save('a', at({ balance: 1, old: true }, 1, ['m1']), 1n)
    assert.deepEqual(await other.load('a', 1n), at({ balance: 1, old: true }, 1, ['m1']))
    await state.save('a', at({ balance: 2 }, 2, ['m1', 'm2']), 1n)
    assert.deepEqual(await other.load('a', 1n), at({ balance: 2 }, 2, ['m1', 'm2']))
    assert.equal(await other.load('b', 1n), undefined)
  }),

  law('an entity can be saved that was never loaded', async (open) => {
    const state = await open()
    await state.save('a', at(1), 7n)
    assert.deepEqual(await (await open()).load('a', 7n), at(1))
  }),

  law('a loaded entity belongs to the caller, and so does a saved one', async (open) => {
    const state = await open()
    const context = { list: [1] }
    await state.save('a', at({ context }), 1n)
    context.list.push(2)
    const loaded = (await state.load('a', 1n))?.snapshot as { context: { list: number[] } }
    assert.deepEqual(loaded, { context: { list: [1] } })
    loaded.context.list.push(3)
    assert.deepEqual(await state.load('a', 1n), at({ context: { list: [1] } }))
  }),

  law('every id is another entity', async (open) => {
    const [state, other] = [await open(), await open()]
    for (const id of IDS) assert.equal(await state.load(id, 3n), undefined, `load of ${JSON.stringify(id)}`)
    for (const id of IDS) await state.save(id, at(id), 3n)
    for (const id of IDS) assert.deepEqual(await other.load(id, 4n), at(id), `load of ${JSON.stringify(id)}`)
  }),

  law('every JSON value is kept as it is', async (open) => {
    const [state, other] = [await open(), await open()]
    for (const [place, value] of VALUES.entries()) {
      const entity = at(value, place, [JSON.stringify(value).slice(0, 40), ''])
      await state.save('a', entity, 1n)
      assert.deepEqual(await other.load('a', 1n), entity)
    }
  }),

  law('many entities are loaded and saved at the same time', async (open) => {
    const states = [await open(), await open()]
    const ids = Array.from({ length: 150 }, (_, place) => `entity-${place}`)
    const turn = async (id: string, place: number): Promise<void> => {
      const state = states[place % 2] as EntityState
      assert.equal(await state.load(id, 1n), undefined)
      for (let count = 1; count <= 3; count += 1) await state.save(id, at({ id, count }), 1n)
    }
    await Promise.all(ids.map(turn))
    const loaded = await Promise.all(ids.map((id, place) => (states[(place + 1) % 2] as EntityState).load(id, 1n)))
    assert.deepEqual(
      loaded,
      ids.map((id) => at({ id, count: 3 })),
    )
  }),

  law('regions are apart', async (open) => {
    const state = await open()
    if (state.forRegion === undefined) return
    const [accounts, carts, nested] = [state.forRegion('a'), state.forRegion('a/b'), state.forRegion('a:b')]
    try {
      await accounts.save('b/c', at('accounts'), 9n)
      await carts.save('c', at('carts'), 3n)
      assert.equal(await nested.load('c', 1n), undefined)
      assert.equal(await carts.load('b/c', 3n), undefined)
      assert.equal(await state.load('c', 1n), undefined)
      assert.deepEqual(await accounts.load('b/c', 9n), at('accounts'))
      assert.deepEqual(await (await open()).forRegion?.('a/b').load('c', 3n), at('carts'))
    } finally {
      for (const part of [accounts, carts, nested]) await part.close?.()
    }
  }),
]

const tokens: readonly StateLaw[] = [
  law('after a load by a larger token, saves and loads by a smaller one are refused', async (open) => {
    const [before, after] = [await open(), await open()]
    await before.load('a', 5n)
    await before.save('a', at('before'), 5n)
    assert.deepEqual(await after.load('a', 6n), at('before'))
    await refused(before.save('a', at('late'), 5n), 'a save by the owner before')
    await refused(before.load('a', 5n), 'a load by the owner before')
    assert.deepEqual(await after.load('a', 6n), at('before'))
  }),

  law('also if the entity was never saved', async (open) => {
    const [before, after] = [await open(), await open()]
    assert.equal(await before.load('a', 5n), undefined)
    assert.equal(await after.load('a', 6n), undefined)
    await refused(before.save('a', at('late'), 5n), 'a save by the owner before')
    assert.equal(await after.load('a', 6n), undefined)
  }),

  law('also for an owner that had not loaded it', async (open) => {
    const [before, after] = [await open(), await open()]
    await after.load('a', 6n)
    await refused(before.load('a', 5n), 'a load')
    await refused(before.save('a', at('late'), 5n), 'a save')
    assert.equal(await after.load('a', 6n), undefined)
  }),

  law('after a save by a larger token, a smaller one is refused', async (open) => {
    const [before, after] = [await open(), await open()]
    await before.save('a', at('before'), 5n)
    await after.save('a', at('after'), 6n)
    await refused(before.save('a', at('late'), 5n), 'a save')
    await refused(before.load('a', 5n), 'a load')
    assert.deepEqual(await after.load('a', 6n), at('after'))
  }),

  law('a refused save raises no token', async (open) => {
    const [before, after] = [await open(), await open()]
    await after.load('a', 6n)
    await refused(before.save('a', at('late'), 5n), 'a save')
    await after.save('a', at('after'), 6n)
    assert.deepEqual(await after.load('a', 6n), at('after'))
  }),

  law('an equal token is accepted', async (open) => {
    const [state, other] = [await open(), await open()]
    await state.load('a', 6n)
    await other.load('a', 6n)
    await state.save('a', at('first'), 6n)
    await other.save('a', at('second'), 6n)
    assert.deepEqual(await state.load('a', 6n), at('second'))
  }),

  law('tokens are compared as numbers of any size', async (open) => {
    const state = await open()
    const sizes = [0n, 9n, 10n, 99n, 100n, 2n ** 31n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]
    for (const [place, token] of sizes.entries()) {
      await state.save('a', at(place), token)
      const smaller = sizes[place - 1]
      if (smaller !== undefined) await refused(state.save('a', at('late'), smaller), `${smaller} after ${token}`)
    }
    assert.deepEqual(await state.load('a', sizes.at(-1) as bigint), at(sizes.length - 1))
  }),

  law('the tokens of entities are apart', async (open) => {
    const state = await open()
    await state.load('a', 9n)
    await state.save('b', at('b'), 1n)
    assert.deepEqual(await state.load('b', 1n), at('b'))
  }),

  law('one refused save fails no other that comes at the same time', async (open) => {
    const [before, after] = [await open(), await open()]
    const ids = Array.from({ length: 20 }, (_, place) => `entity-${place}`)
    await after.load('entity-7', 2n)
    await after.load('entity-8', 2n)
    const ends = await Promise.allSettled(ids.map((id) => before.save(id, at(id), 1n)))
    const failed = ends.flatMap((end, place) => (end.status === 'rejected' ? [{ id: ids[place], end }] : []))
    assert.deepEqual(
      failed.map(({ id }) => id),
      ['entity-7', 'entity-8'],
    )
    for (const { end } of failed) assert(end.reason instanceof LeaseConflictError, String(end.reason))
    assert.deepEqual(await before.load('entity-9', 1n), at('entity-9'))
    assert.equal(await after.load('entity-7', 2n), undefined)
  }),

  law('of saves at the same time, the one with the largest token stays', async (open) => {
    const states = await Promise.all([1, 2, 3, 4].map(() => open()))
    for (let round = 0; round < 10; round += 1) {
      const id = `entity-${round}`
      const ends = await Promise.allSettled(
        states.map(async (state, place) => {
          const token = BigInt(place + 1)
          await state.load(id, token)
          for (let count = 0; count < 3; count += 1) await state.save(id, at({ place, count }), token)
        }),
      )
      for (const end of ends) {
        if (end.status === 'rejected') assert(end.reason instanceof LeaseConflictError, String(end.reason))
      }
      assert.equal(ends.at(-1)?.status, 'fulfilled')
      assert.deepEqual(await (states.at(-1) as EntityState).load(id, 4n), at({ place: 3, count: 2 }))
    }
  }),
]

const input: readonly StateLaw[] = [
  law('an invalid id gets a LeaseNameError', async (open) => {
    const state = await open()
    for (const id of ['', 'x'.repeat(1025), 'a\ud800', 7 as unknown as string, undefined as unknown as string]) {
      await wrong(state.load(id, 1n), LeaseNameError)
      await wrong(state.save(id, at(1), 1n), LeaseNameError)
    }
  }),

  law('an invalid token or entity gets a LeaseConfigurationError, and changes nothing', async (open) => {
    const state = await open()
    await state.save('a', at('kept'), 1n)
    const loop: { self?: unknown } = {}
    loop.self = loop
    for (const token of [-1n, 1 as unknown as bigint, undefined as unknown as bigint]) {
      await wrong(state.load('a', token), LeaseConfigurationError)
      await wrong(state.save('a', at(1), token), LeaseConfigurationError)
    }
    for (const snapshot of [undefined, 5n, loop, { at: 5n }]) {
      await wrong(state.save('a', at(snapshot as unknown as Json), 1n), LeaseConfigurationError)
    }
    await wrong(state.save('a', at(1, 0.5), 1n), LeaseConfigurationError)
    assert.deepEqual(await state.load('a', 1n), at('kept'))
  }),

  law('an entity above the size limit gets a LeaseConfigurationError, and changes nothing', async (open) => {
    const state = await open()
    await state.save('a', at('kept'), 1n)
    await wrong(state.save('a', at('é'.repeat(600_000)), 1n), LeaseConfigurationError)
    assert.deepEqual(await state.load('a', 1n), at('kept'))
    await state.save('a', at('x'.repeat(1_000_000)), 1n)
    assert.deepEqual(await state.load('a', 1n), at('x'.repeat(1_000_000)))
  }),
]

/**
 * The conformance suite of states of entities, for any test runner. They do not cover the deletion of data, nor its
 * restoration from a backup: after those, an old owner is not refused.
 */
export const stateLaws: readonly StateLaw[] = [...values, ...tokens, ...input]
