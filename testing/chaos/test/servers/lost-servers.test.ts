import { expect, it } from 'vitest'
import { checkRun } from '../../src/run/check-run.js'
import { runChaos } from '../../src/run/run-chaos.js'
import { localSystem } from '../../src/systems/local/system.js'
import type { System } from '../../src/systems/system.js'

it('a run whose servers do not come back keeps what was recorded, and fails', async () => {
  const lost: System = {
    ...localSystem,
    start: async (settings) => ({
      ...(await localSystem.start(settings)),
      heal: () => Promise.reject(new Error('no answer')),
    }),
  }
  const run = await runChaos(lost, { seed: 1, duration: 4_000, clients: 2, rate: 60, with: [], schedule: [] })
  expect(run.failures).toEqual(['the servers did not come back: Error: no answer'])
  expect(run.history.operations.length).toBeGreaterThan(0)
  expect(checkRun(lost, run)).toMatchObject({ violations: [], mayBeSlowness: true })
})
