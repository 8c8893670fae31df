import { readdirSync } from 'node:fs'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { temporaryFolder } from '@leasehold/testing/temporary-folder'
import { expect, it } from 'vitest'
import type { PlannedFault } from '../../src/nemesis/planned-fault.js'
import { checkRun } from '../../src/run/check-run.js'
import { keepFailedRun } from '../../src/run/failed-run.js'
import { reportOf } from '../../src/run/report.js'
import { runChaos } from '../../src/run/run-chaos.js'
import { redisSystem } from '../../src/systems/redis/system.js'
import type { System } from '../../src/systems/system.js'

/** Each of the holders is cut off for longer than the ttl, several times. */
const schedule: PlannedFault[] = [1, 2, 3, 1, 2, 3].map((client, place) => ({
  kind: 'cut-client',
  target: `client ${client}`,
  at: 1_000 + place * 3_000,
  lasts: 4_000,
}))
const options = { seed: 1, duration: 25_000, clients: 3, rate: 60, with: [], schedule }

describeRedis('a run of chaos', () => {
  it('finds two holders, and draws them, where a store confirms every heartbeat', async () => {
    const broken: System = { ...redisSystem, name: 'broken', client: new URL('broken/client.ts', import.meta.url) }
    const run = await runChaos(broken, options)
    const verdict = checkRun(broken, run)
    expect(verdict.violations.map(({ check }) => check)).toContain('exclusion')
    const folder = temporaryFolder()
    keepFailedRun(folder, run, verdict, reportOf(run, verdict))
    const files = readdirSync(folder)
    expect(files).toContain('history.json')
    expect(files.some((file) => file.endsWith('.svg'))).toBe(true)
  })

  it('finds nothing where the store keeps its word, under the same faults', async () => {
    const run = await runChaos(redisSystem, options)
    expect(checkRun(redisSystem, run).faults).toEqual([])
    expect(run.history.faults).toHaveLength(schedule.length)
    expect(run.history.operations.length).toBeGreaterThan(100)
  })
})
