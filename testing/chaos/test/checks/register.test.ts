import { Random } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { isPossiblePiece, linearize } from '../../src/checks/register/linearize.js'
import type { RegisterCall } from '../../src/checks/register/register-call.js'
import { checkHistory, type Violation } from '../../src/index.js'
import { checkCalls } from './check-calls.js'
import { HistoryOf } from './history-of.js'
import { isLinearizable } from './oracle.js'
import { randomCalls } from './random-calls.js'

const two = { client: 2 }

function registerOf(history: HistoryOf): Violation[] {
  const { violations } = checkHistory(history.until(1_000), { longestRecovery: 10_000 })
  return violations.filter(({ check }) => check === 'register')
}

describe('register', () => {
  it('accepts a refused write after one of a larger token', () => {
    const history = new HistoryOf()
      .read(0, 1, undefined)
      .write(2, 3, 7n, 1, two)
      .write(4, 5, 6n, 2, { outcome: 'refused' })
      .read(6, 7, '1/2')
    expect(registerOf(history)).toEqual([])
  })

  it.each([
    ['a smaller token that was accepted', new HistoryOf().write(0, 1, 7n, 1).write(2, 3, 6n, 2, two)],
    ['a refusal without a larger token', new HistoryOf().write(0, 1, 7n, 1).write(2, 3, 7n, 2, { outcome: 'refused' })],
    ['a stale read', new HistoryOf().write(0, 1, 7n, 1).write(2, 3, 7n, 2).read(4, 5, '1/1', two)],
    ['an empty read after a write', new HistoryOf().write(0, 1, 7n, 1).read(4, 5, undefined, two)],
    ['a value that nobody wrote', new HistoryOf().read(4, 5, '9/9')],
    [
      'a value that is read again',
      new HistoryOf().write(0, 1, 7n, 1).write(2, 10, 7n, 2).read(3, 4, '2/1').read(5, 6, '1/1'),
    ],
    [
      'a refused write that is read',
      new HistoryOf().write(0, 1, 7n, 1).write(2, 3, 6n, 2, { outcome: 'refused' }).read(4, 5, '2/1'),
    ],
    [
      'a read before the write was called',
      new HistoryOf().read(0, 1, '1/1').write(2, 3, 7n, 1, { outcome: 'unknown' }),
    ],
  ])('finds %s', (_, history) => {
    expect(registerOf(history).map(({ operations }) => operations.length)).not.toEqual([])
  })

  it('knows that a write with an unknown outcome may have its effect once, late or never', () => {
    const late = new HistoryOf()
      .write(0, 1, 7n, 1, { outcome: 'unknown' })
      .read(2, 3, undefined, two)
      .read(4, 5, '1/1', two)
    expect(registerOf(late)).toEqual([])
    expect(registerOf(late.write(6, 7, 7n, 2, two).read(8, 9, '2/2'))).toEqual([])
    expect(registerOf(late.read(10, 11, '1/1'))).toHaveLength(1)
  })

  it('knows that a write with an unknown outcome may explain a refusal', () => {
    const refused = new HistoryOf()
      .write(0, 1, 8n, 1, { outcome: 'unknown' })
      .write(2, 3, 7n, 2, { outcome: 'refused', client: 2 })
    expect(registerOf(refused)).toEqual([])
    expect(registerOf(refused.write(4, 5, 7n, 3, two))).toHaveLength(1)
  })

  it('knows that a write with an unknown outcome may have left its token, and not its value', () => {
    const failed = new HistoryOf()
      .write(0, 1, 7n, 1)
      .write(2, 3, 9n, 2, { outcome: 'unknown' })
      .write(4, 5, 8n, 3, { outcome: 'refused', client: 2 })
      .read(6, 7, '1/1')
    expect(registerOf(failed)).toEqual([])
    expect(registerOf(failed.write(8, 9, 8n, 4, two))).toHaveLength(1)
  })

  it('reports the smallest piece that cannot be explained', () => {
    const calls = randomCalls({ seed: 3, calls: 400, clients: 5, unknown: 0.05 })
    const read = calls.findLast(({ call, outcome }) => call === 'read' && outcome === 'read') as RegisterCall
    const bad = calls.map((call) => (call === read ? { ...read, value: '1/0', count: 1 } : call)) as RegisterCall[]
    const [violation] = checkCalls(bad)
    expect(violation?.operations).toMatchObject([
      { call: 'write', outcome: 'accepted' },
      { ...read, value: '1/0', count: 1 },
    ])
    expect(violation?.at).toBe(read.to)
  })
})

describe('random calls of a register', () => {
  it('has an order for each history of a register that is right', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const calls = randomCalls({ seed, calls: 200, clients: 5, unknown: 0.1 })
      expect(linearize(calls), `seed ${seed}`).toBeUndefined()
    }
  })

  it('agrees with the plainest search on small histories, good and bad', () => {
    const counts = { good: 0, bad: 0 }
    for (let seed = 1; seed <= 6_000; seed += 1) {
      const calls = changed(randomCalls({ seed, calls: 7, clients: 3, unknown: 0.25 }), new Random(seed))
      const isGood = isLinearizable(calls)
      counts[isGood ? 'good' : 'bad'] += 1
      expect(linearize(calls) === undefined, `seed ${seed}`).toBe(isGood)
      const [violation] = checkCalls(calls)
      expect(violation === undefined, `seed ${seed}`).toBe(isGood)
      if (violation === undefined) expect(isPossiblePiece(calls), `seed ${seed}`).toBe(true)
    }
    expect(counts.good).toBeGreaterThan(1_000)
    expect(counts.bad).toBeGreaterThan(1_000)
  })
})

/** With one outcome, value or token that may be wrong, two times of three. */
function changed(calls: RegisterCall[], random: Random): RegisterCall[] {
  if (random.next() < 0.33) return calls
  const place = Math.floor(random.between(0, calls.length))
  const call = calls[place] as RegisterCall
  const values = [undefined, ...calls.flatMap((other) => (other.call === 'write' ? [other.value] : []))]
  if (call.call === 'read') {
    const value = values[Math.floor(random.between(0, values.length))]
    const { value: _, count: __, ...rest } = call
    const read = value === undefined ? {} : { value, count: Number(value.split('/')[0]) }
    return calls.with(place, { ...rest, outcome: 'read', ...read })
  }
  if (random.next() < 0.5) return calls.with(place, { ...call, token: call.token + (random.next() < 0.5 ? 10n : -10n) })
  return calls.with(place, {
    ...call,
    outcome: call.outcome === 'accepted' ? 'refused' : 'accepted',
    to: Number.isFinite(call.to) ? call.to : call.from + 5,
  })
}
