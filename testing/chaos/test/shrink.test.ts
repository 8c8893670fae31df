import { describe, expect, it } from 'vitest'
import { shrink } from '../src/run/shrink.js'

const faults = Array.from({ length: 40 }, (_, place) => place)
const always = { tries: 1, goesOn: () => true }

describe('shrinking a schedule', () => {
  it('finds the faults that fail only together', async () => {
    const needed = [3, 17, 18, 39]
    const fails = (some: readonly number[]): Promise<boolean> =>
      Promise.resolve(needed.every((fault) => some.includes(fault)))
    expect(await shrink(faults, { ...always, fails })).toEqual(needed)
  })

  it('finds that no fault is needed', async () => {
    expect(await shrink(faults, { ...always, fails: () => Promise.resolve(true) })).toEqual([])
  })

  it('tries a set several times, because not each run shows the violation', async () => {
    const seen = new Map<string, number>()
    const fails = (some: readonly number[]): Promise<boolean> => {
      const key = some.join()
      seen.set(key, (seen.get(key) ?? 0) + 1)
      return Promise.resolve(some.includes(5) && seen.get(key) === 3)
    }
    expect(await shrink(faults, { fails, tries: 3, goesOn: () => true })).toEqual([5])
  })

  it('stops when its time is over, with the smallest set so far', async () => {
    let runs = 0
    const fails = (some: readonly number[]): Promise<boolean> => {
      runs += 1
      return Promise.resolve(some.includes(30))
    }
    const smallest = await shrink(faults, { fails, tries: 1, goesOn: () => runs < 4 })
    expect(smallest).toContain(30)
    expect(smallest.length).toBeLessThan(40)
    expect(runs).toBeLessThanOrEqual(4)
  })
})
