import { describe, expect, it } from 'vitest'
import { Observations } from '../../src/cas/observations.js'

const LONGEST = 1_000

/** Observes the names from `from` to `to` for the first time. */
function see(observations: Observations<number>, from: number, to: number, now: number): void {
  for (let name = from; name < to; name += 1) observations.see(`n${name}`, 1, now)
}

describe('the time for which a record was seen unchanged', () => {
  it('counts from the first observation of its version', () => {
    const observations = new Observations<number>(LONGEST)
    expect(observations.see('a', 1, 500)).toBe(0)
    expect(observations.see('a', 1, 800)).toBe(300)
    expect(observations.see('a', 2, 900)).toBe(0)
    expect(observations.see('a', 2, 950)).toBe(50)
    expect(observations.see('b', 2, 960)).toBe(0)
  })

  it('restarts for a forgotten name', () => {
    const observations = new Observations<number>(LONGEST)
    observations.see('a', 1, 500)
    observations.forget('a')
    expect(observations.size).toBe(0)
    expect(observations.see('a', 1, 800)).toBe(0)
  })
})

describe('old observations', () => {
  it('are kept while there are fewer than 256, at any age', () => {
    const observations = new Observations<number>(LONGEST)
    see(observations, 0, 254, 0)
    see(observations, 254, 255, 1e9)
    expect(observations.size).toBe(255)
  })

  it('are removed at the 256th, if they are older than twice the longest ttl', () => {
    const observations = new Observations<number>(LONGEST)
    see(observations, 0, 100, 5_000)
    see(observations, 100, 255, 5_001)
    see(observations, 255, 256, 5_001 + 2 * LONGEST)
    expect(observations.size).toBe(156)
  })

  it('are checked again only when their number has doubled', () => {
    const observations = new Observations<number>(LONGEST)
    see(observations, 0, 256, 0)
    see(observations, 256, 511, 1e9)
    expect(observations.size).toBe(511)
    see(observations, 511, 512, 1e9)
    expect(observations.size).toBe(256)
  })

  it('are checked again at 256 if few are left', () => {
    const observations = new Observations<number>(LONGEST)
    see(observations, 0, 255, 0)
    see(observations, 255, 256, 1e6)
    expect(observations.size).toBe(1)
    see(observations, 256, 510, 1e6)
    expect(observations.size).toBe(255)
    see(observations, 510, 511, 1e9)
    expect(observations.size).toBe(1)
  })
})
