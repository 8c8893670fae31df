import { readFileSync } from 'node:fs'
import { TimeoutSettings } from '@leasehold/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AdviceInput, advise, costOf } from '../src/advice.js'
import { settingsOf } from '../src/commands/advise.js'
import { TestTerminal } from './support/test-terminal.js'

const figures: fc.Arbitrary<AdviceInput> = fc.record({
  operation: fc.double({ min: 0, max: 600, noNaN: true }),
  roundTrip: fc.double({ min: 0.0005, max: 10, noNaN: true }),
  failures: fc.double({ min: 0, max: 60, noNaN: true }),
  lostCost: fc.double({ min: 0, max: 10_000, noNaN: true }),
  downCost: fc.double({ min: 0, max: 10_000, noNaN: true }),
  badLuck: fc.double({ min: 0, max: 0.1, noNaN: true }),
})

const usual: AdviceInput = { operation: 2, roundTrip: 0.02, failures: 0.1, lostCost: 1, downCost: 1, badLuck: 0.001 }

describe('the ttl of an advice', () => {
  it('costs no more than any other in its range', () => {
    fc.assert(
      fc.property(figures, (input) => {
        const { shortest, longest, ttl, cost } = advise(input)
        const steps = 2_000
        const others = Array.from({ length: steps + 1 }, (_, step) => shortest + ((longest - shortest) * step) / steps)
        const least = Math.min(...others.map((other) => costOf(other, input).total))
        expect(ttl).toBeGreaterThanOrEqual(shortest)
        expect(ttl).toBeLessThanOrEqual(longest)
        expect(cost.total).toBeLessThanOrEqual(least * (1 + 1e-9) + 1e-12)
      }),
    )
  })

  it('follows the closed form', () => {
    const advice = advise(usual)
    expect(advice.shortest).toBeCloseTo(2.06, 10)
    expect(advice.longest).toBeCloseTo(20.6, 10)
    expect(advice.best).toBeCloseTo(Math.sqrt((7_200 * 0.001 * 1) / (0.1 * 1)), 10)
    expect(advice.ttl).toBeCloseTo(8.485, 3)
    // At the best ttl, both costs are the same.
    expect(advice.cost.lost).toBeCloseTo(advice.cost.down, 10)
    expect(advice.cost.total).toBeCloseTo(0.8485, 4)
  })

  it('is the shortest where a lost lease costs nothing, and the longest where a crash costs nothing', () => {
    expect(advise({ ...usual, lostCost: 0 }).ttl).toBeCloseTo(2.06, 10)
    expect(advise({ ...usual, failures: 0 })).toMatchObject({
      best: Number.POSITIVE_INFINITY,
      ttl: expect.closeTo(20.6, 10),
    })
  })

  it.each([
    [{ roundTrip: 1, operation: 0, lostCost: 0 }, 0.3],
    [{ roundTrip: 1, operation: 3, lostCost: 0 }, 0.5],
    [{ roundTrip: 0.001 }, 0.7],
  ])('is renewed at 1 − 3 round trips, from 0.3 to 0.7: %j at %f', (given, renewAt) => {
    const advice = advise({ ...usual, ...given })
    expect(advice.renewAt).toBeCloseTo(renewAt, 10)
    expect(advice.interval).toBeCloseTo(renewAt * advice.ttl, 10)
  })

  it('is a valid setting', () => {
    fc.assert(
      fc.property(figures, (input) => {
        const { heartbeatTimeout, strategy } = settingsOf(advise(input))
        expect(new TimeoutSettings({ heartbeatTimeout, strategy })).toMatchObject({ heartbeatTimeout })
      }),
    )
  })
})

describe('leasehold advise', () => {
  it('shows the arithmetic, and the settings', async () => {
    const { code, output } = await new TestTerminal().run('advise --round-trip 20ms --operation 2s --failures 0.1')
    expect(code).toBe(0)
    expect(output).toContain('shortest ttl   3 × round trip + operation = 3 × 0.02 s + 2 s = 2.06 s')
    expect(output).toContain('√(7200 × 0.001 × 1 / (0.1 × 1)) = 8.485 s\n')
    expect(output).toContain('expected cost  0.4243 + 0.4243 = 0.8485 an hour')
    expect(output).toContain('heartbeat-timeout = 8486ms\n  strategy { renew-at = 0.7 }')
  })

  it('has the output that the guide shows', async () => {
    const guide = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8')
    const [, line = '', shown] = /```\n\$ leasehold (advise .*)\n([^`]*)```/.exec(guide) ?? []
    expect((await new TestTerminal().run(line)).output).toBe(shown)
  })

  it('prints figures as JSON', async () => {
    const { output } = await new TestTerminal().run('advise --round-trip 20ms --operation 2s --failures 0.1 -o json')
    expect(JSON.parse(output)).toMatchObject({
      input: usual,
      advice: { ttl: expect.closeTo(8.485, 3), cost: { total: expect.closeTo(0.8485, 4) } },
      settings: { heartbeatTimeout: 8_486, heartbeatInterval: 5_940, strategy: { renewAt: 0.7 } },
    })
  })

  it('takes the round trip from the store', async () => {
    const { code, output, errors } = await new TestTerminal().run('advise --measure --store memory: -o json')
    expect([code, errors]).toEqual([0, expect.stringMatching(/a read takes [\d.e-]+ ms, 95 % of 20/)])
    const { input } = JSON.parse(output)
    expect(input.roundTrip).toBeGreaterThan(0)
    expect(input.roundTrip).toBeLessThan(1)
  })

  it('chooses durations for an objective by the reads of the store', async () => {
    const { code, output } = await new TestTerminal().run('advise --failover 5s --store memory: -o json')
    expect(code).toBe(0)
    const { objective, advice } = JSON.parse(output)
    expect(objective).toEqual({ failover: 5_000, falseLossesPerYear: 1 })
    expect(advice).toMatchObject({ kept: true, forecast: expect.any(Number) })
    expect(advice.heartbeatTimeout).toBeGreaterThan(4_000)
    const text = await new TestTerminal().run('advise --failover 5s --false-losses-per-year 0.5 --store memory:')
    expect(text.output).toContain('objective { failover = 5000ms, false-losses-per-year = 0.5 }')
  })

  it.each([
    ['--failover 5s --store memory: --round-trip 1s', '--failover and --round-trip exclude each other'],
    ['--false-losses-per-year 2 --round-trip 1s', '--false-losses-per-year needs --failover'],
    ['', 'give --round-trip DURATION, or --measure'],
    ['--round-trip 1s --measure', '--round-trip and --measure exclude each other'],
    ['--round-trip 1s --store memory:', 'the store is used by --measure only'],
    ['--round-trip infinite', '--round-trip must have an end'],
    ['--round-trip 0s', '--round-trip must be longer than 0'],
    ['--round-trip 1s --bad-luck 2', '--bad-luck is a part of all renewals'],
  ])('%j is an error', async (options, message) => {
    const { code, errors } = await new TestTerminal().run(`advise ${options}`)
    expect([code, errors]).toEqual([64, expect.stringContaining(message)])
  })
})
