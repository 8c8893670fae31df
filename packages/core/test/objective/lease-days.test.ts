import { describe, expect, it } from 'vitest'
import { runTrial } from './trial.js'
import { recordedRedis, worlds } from './worlds.js'

/** The worlds whose incidents are seldom, so that many days are simulated in a second. */
const fast = worlds.filter(({ name }) => /^(steady|fail-overs|restarts|blocked)/.test(name))
const objectives = [2_000, 5_000].map((failover) => ({ failover, falseLossesPerYear: 1 }))
const cases = fast.flatMap((world) => objectives.map((objective) => [world.name, objective, world] as const))

describe('the forecast of false losses, after 180 days, of four processes', () => {
  it.each(cases)('%s, %j: is within a factor of 2 of what happens', (_, objective, world) => {
    const { forecast, real, warned } = runTrial({ world, objective, processes: 4, learned: 180, days: 1_500 }, 7)
    if (real < 0.5) expect(forecast).toBeLessThan(1)
    else {
      expect(forecast / real).toBeGreaterThan(0.5)
      expect(forecast / real).toBeLessThan(2)
    }
    // No objective is missed without a word.
    if (real > 2 * objective.falseLossesPerYear) expect(warned).toBeGreaterThanOrEqual(3)
    if (real < 0.1) expect(warned).toBe(0)
  })

  it('of recorded round trips', () => {
    const objective = { failover: 200, falseLossesPerYear: 1 }
    const { forecast, real } = runTrial({ world: recordedRedis(), objective, processes: 2, learned: 3, days: 100 }, 7)
    expect(Math.max(forecast, real)).toBeLessThan(1)
  })
})
