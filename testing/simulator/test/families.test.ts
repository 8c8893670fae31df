import { type Scenario, type SimulatedProcess, type SimulatedStoreKind, simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { ambientFaults } from '../src/planned-fault.js'
import { type FamilyScenario, familyScenarios } from './families.js'
import { type FamilyCounts, familyCounts } from './family-rules.js'

const SCHEDULES = 75

interface Totals extends FamilyCounts {
  grants: number
}

/** Runs the seeds from 1 on, and returns how often each event happened. */
async function totalsOf(name: FamilyScenario, store: SimulatedStoreKind = 'server-timed'): Promise<Totals> {
  const scenario: Scenario = familyScenarios[name]
  const totals: Totals = { ...familyCounts(new Map()), grants: 0 }
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    let shared: ReadonlyMap<string, unknown> = new Map()
    const work = (process: SimulatedProcess): Promise<void> => {
      shared = process.shared
      return scenario.workload(process)
    }
    const { grants } = await simulate({ seed, store, workload: { ...scenario, workload: work }, faults: ambientFaults })
    totals.grants += grants
    for (const [event, count] of Object.entries(familyCounts(shared))) totals[event as keyof Totals] += count
  }
  return totals
}

describe('leases under leases', { timeout: 1_200_000 }, () => {
  for (const store of ['server-timed', 'observed'] as const) {
    it(`no child is valid without its parent (${store})`, async () => {
      const { grants, remote } = await totalsOf('families', store)
      expect(grants).toBeGreaterThan(10 * SCHEDULES)
      // An observed store times no parents.
      if (store === 'server-timed') expect(remote).toBeGreaterThan(10 * SCHEDULES)
      else expect(remote).toBe(0)
    })
  }

  it('no child of a broken parent is valid beside a successor, except within its grace after a shorter period', async () => {
    const { remote, gentleBreaks, abruptBreaks, excused } = await totalsOf('broken-families')
    expect(remote).toBeGreaterThan(5 * SCHEDULES)
    expect(gentleBreaks).toBeGreaterThan(2 * SCHEDULES)
    expect(abruptBreaks).toBeGreaterThan(SCHEDULES)
    expect(excused).toBeGreaterThan(0)
  })

  it('no child is valid under a parent that can be handed off, and one with children cannot be', async () => {
    const { remote, adoptions, refusedHandOffs } = await totalsOf('handed-families')
    expect(remote).toBeGreaterThan(SCHEDULES)
    expect(adoptions).toBeGreaterThan(SCHEDULES / 3)
    expect(refusedHandOffs).toBeGreaterThan(SCHEDULES)
  })
})
