import { type SimulatedProcess, simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { ambientFaults } from '../src/planned-fault.js'
import { type ShortLifeCounts, shortLifeCounts, shortLives } from './short-lives.js'

const SCHEDULES = 100

describe('challengers that live for less than a ttl', { timeout: 600_000 }, () => {
  for (const times of ['written', 'marks'] as const) {
    it(`replace a dead holder within three ttls, and a live one never (${times})`, async () => {
      const totals: ShortLifeCounts = { deaths: 0, takeovers: 0 }
      let marks = 0
      for (let seed = 1; seed <= SCHEDULES; seed += 1) {
        let shared: ReadonlyMap<string, unknown> = new Map()
        const workload = (process: SimulatedProcess): Promise<void> => {
          shared = process.shared
          return shortLives.workload(process)
        }
        const options = { seed, store: 'observed', times, faults: ambientFaults } as const
        const { history } = await simulate({ ...options, workload: { ...shortLives, workload } })
        marks += history.filter(({ event }) => event === 'marked').length
        const { deaths, takeovers } = shortLifeCounts(shared)
        totals.deaths += deaths
        totals.takeovers += takeovers
      }
      expect(totals.deaths).toBeGreaterThan(SCHEDULES)
      expect(totals.takeovers).toBeGreaterThan(SCHEDULES)
      expect(marks > SCHEDULES).toBe(times === 'marks')
    })
  }

  it('over a store without times, wait for ever for a dead holder', async () => {
    const run = simulate({ seed: 2, store: 'observed', faults: [], workload: shortLives, nodes: 3 })
    await expect(run).rejects.toMatchObject({ check: 'broken-rule' })
  })

  it('and all other kinds of holders and challengers never overlap over such a store', async () => {
    for (let seed = 1; seed <= SCHEDULES; seed += 1) await simulate({ seed, store: 'observed', times: 'drawn' })
  })
})
