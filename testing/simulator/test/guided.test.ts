import { describe, expect, it } from 'vitest'
import { contend } from '../src/contend.js'
import { GuidedSearch } from '../src/guided/guided-search.js'
import { createPlan } from '../src/plan.js'
import { endOf } from '../src/planned-fault.js'
import { type RunResult, runPlan } from '../src/run-plan.js'

const SCHEDULES = 30
const scenario = { workload: contend }

async function search(seed: number): Promise<{ readonly results: readonly RunResult[]; readonly states: number }> {
  const guided = new GuidedSearch(seed, {}, scenario)
  const results: RunResult[] = []
  for (let run = 0; run < SCHEDULES; run += 1) results.push(await guided.next())
  return { results, states: guided.states }
}

describe('guided search', { timeout: 600_000 }, () => {
  it('the same seed gives the same plans and histories', async () => {
    const [one, other] = [await search(7), await search(7)]
    expect(other.states).toBe(one.states)
    expect(other.results.map(({ plan }) => plan)).toEqual(one.results.map(({ plan }) => plan))
    expect(other.results.map(({ history }) => history)).toEqual(one.results.map(({ history }) => history))
  })

  it('changes plans whose runs reached new states, and breaks no rule', async () => {
    const { results } = await search(1)
    const drawn = results.filter(({ plan }) => {
      return JSON.stringify(plan) === JSON.stringify(createPlan({ seed: plan.seed }))
    })
    expect(drawn.length).toBeGreaterThan(0)
    expect(drawn.length).toBeLessThan(SCHEDULES)
    for (const { plan, violation } of results) {
      expect(violation).toBeUndefined()
      for (const fault of plan.faults) {
        expect(fault.at).toBeGreaterThanOrEqual(0)
        expect(endOf(fault)).toBeLessThanOrEqual(plan.duration + 1e-6)
        if ('node' in fault) expect(fault.node).toBeLessThan(plan.machines.length)
      }
    }
  })

  it('a printed plan gives the same history by itself', async () => {
    const { results } = await search(3)
    const changed = results.find(({ plan }) => {
      return JSON.stringify(plan) !== JSON.stringify(createPlan({ seed: plan.seed }))
    })
    expect(changed).toBeDefined()
    if (changed === undefined) return
    const again = await runPlan(JSON.parse(JSON.stringify(changed.plan)), scenario)
    expect(again.history).toEqual(changed.history)
  })
})
