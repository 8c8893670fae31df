import { describe, expect, it } from 'vitest'
import { clientFaults } from '../src/nemesis/client-faults.js'
import { drawSchedule, type ScheduleBounds } from '../src/nemesis/draw-schedule.js'
import type { FaultChoice } from '../src/nemesis/planned-fault.js'

const choices: FaultChoice[] = [
  ...clientFaults(5, 2_000),
  { kind: 'kill-server', target: 'server 1', weight: 2, lasts: [100, 3_000] },
  { kind: 'freeze-server', target: 'server 1', weight: 2, lasts: [100, 5_000] },
  { kind: 'promote', target: 'server 2', weight: 0, lasts: [100, 5_000] },
]
const bounds: ScheduleBounds = { duration: 60_000, calmEnd: 10_000, choices }
const seeds = Array.from({ length: 200 }, (_, place) => place + 1)

describe('the schedule of the nemesis', () => {
  it('is the same for the same seed', () => {
    expect(drawSchedule(7, bounds)).toEqual(drawSchedule(7, bounds))
    expect(drawSchedule(7, bounds)).not.toEqual(drawSchedule(8, bounds))
  })

  it('begins after the first grants, and ends before the calm at the end', () => {
    for (const seed of seeds) {
      for (const { at, lasts } of drawSchedule(seed, bounds)) {
        expect(at).toBeGreaterThanOrEqual(2_000)
        expect(at + lasts).toBeLessThanOrEqual(50_000)
      }
    }
  })

  it('keeps the bounds of each kind', () => {
    for (const { kind, target, lasts, amount } of seeds.flatMap((seed) => drawSchedule(seed, bounds))) {
      const choice = choices.find((one) => one.kind === kind && one.target === target)
      expect(lasts).toBeLessThanOrEqual(choice?.lasts[1] ?? 0)
      // A duration is a whole number.
      expect(lasts).toBeGreaterThanOrEqual((choice?.lasts[0] ?? 0) - 1)
      expect(Math.abs(amount ?? 0)).toBeLessThanOrEqual(choice?.most ?? 0)
    }
  })

  it('never has two faults of one target at a time', () => {
    for (const seed of seeds) {
      const ends = new Map<string, number>()
      for (const { target, at, lasts } of drawSchedule(seed, bounds)) {
        expect(at).toBeGreaterThanOrEqual(ends.get(target) ?? 0)
        ends.set(target, at + lasts)
      }
    }
  })

  it('has every kind, except those that are not asked for', () => {
    const kinds = new Set(seeds.flatMap((seed) => drawSchedule(seed, bounds)).map(({ kind }) => kind))
    expect([...kinds].sort()).toEqual([
      'freeze-client',
      'freeze-server',
      'kill-client',
      'kill-server',
      'step-wall-clock',
    ])
  })

  it('is empty where there is no time for faults', () => {
    expect(drawSchedule(1, { ...bounds, duration: 11_000 })).toEqual([])
    expect(drawSchedule(1, { ...bounds, choices: [] })).toEqual([])
  })
})
