import { describe, expect, it } from 'vitest'
import { runTrial } from './trial.js'
import { recordedWorlds, worlds } from './worlds.js'

/** The worlds that are learned in seconds. `npm run bench -- objective` has all of them. */
const fast = worlds.filter(({ name }) => /^(steady|fail-overs|restarts|blocked)/.test(name))
const objectives = [2_000, 5_000].map((failover) => ({ failover, falseLossesPerYear: 1 }))
const cases = fast.flatMap((world) => objectives.map((objective) => [world.name, objective, world] as const))

describe('the forecast of false losses, after 180 days, of four processes', () => {
  it.each(cases)('%s, %j: is within a factor of 2, and none is missed without a word', (_, objective, world) => {
    const result = runTrial({ world, objective, processes: 4, learned: 180, days: 1_500 }, 7)
    expect(result.isForecastWrong).toBe(false)
    expect(result.silentMisses).toBe(0)
    if (result.real < 0.1) expect(result.everWarned).toBe(0)
  })

  it.each(recordedWorlds().map((world) => [world.name, world] as const))('%s: no false alarm', (_, world) => {
    const objective = { failover: 1_000, falseLossesPerYear: 1 }
    const result = runTrial({ world, objective, processes: 2, learned: 3, days: 1_000 }, 7)
    expect(result.real).toBeLessThan(1)
    expect(result.everWarned).toBe(0)
  })
})
