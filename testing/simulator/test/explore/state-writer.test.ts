import { describe, expect, it } from 'vitest'
import { type Bounds, defaultBounds } from '../../src/explore/bounds.js'
import { StateReader } from '../../src/explore/state-reader.js'
import { StateWriter } from '../../src/explore/state-writer.js'
import { AWAKE, Steps } from '../../src/explore/steps.js'
import { beginning, type World } from '../../src/explore/world.js'

/** A sequence that looks random, and is the same each time. */
function* numbers(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    yield state >>> 8
  }
}

describe.each([
  ['server-timed', {}],
  [
    'server-timed, with all else',
    { users: ['waiting', 'once'], queue: true, cleanup: true, deletions: true, messages: 3 },
  ],
  ['server-timed, with late answers and three clients', { clients: 3, lateAnswers: true }],
  ['observed', { store: 'observed', drift: 'both' }],
  ['server-timed, exactly', { exact: true, users: ['waiting', 'once'] }],
  ['observed, exactly', { exact: true, store: 'observed' }],
  ['observed, with three clients', { store: 'observed', clients: 3, messages: 3 }],
] as const)('the states of an exploration, %s', (_, given) => {
  const bounds: Bounds = { ...defaultBounds, ttl: 3, ...given }
  const steps = new Steps(bounds, false)
  const writer = new StateWriter(bounds, steps.grid)
  const reader = new StateReader(bounds, steps.grid)
  const textOf = (world: World): string => {
    const length = writer.write(world)
    return Buffer.from(writer.bytes.subarray(0, length)).toString('hex')
  }
  const nextOf = (world: World): World[] => {
    const next: World[] = []
    steps.from(world, AWAKE, (_kind, _client, _message, after) => next.push(after))
    return next
  }

  it('read as they were written, and lead to the same states as before', { timeout: 60_000 }, () => {
    const random = numbers()
    for (let walk = 0; walk < 20; walk += 1) {
      let world = beginning(bounds.clients)
      for (let step = 0; step < 40; step += 1) {
        const text = textOf(world)
        const read = reader.read(Uint8Array.from(Buffer.from(text, 'hex')), 0)
        expect(textOf(read)).toBe(text)
        const next = nextOf(world)
        expect(new Set(nextOf(read).map(textOf))).toEqual(new Set(next.map(textOf)))
        world = next[random.next().value % next.length] as World
      }
    }
  })
})
