import { describe, expect, it } from 'vitest'
import { type FaultKind, type FaultRun, kinds, runFault } from './fault-run.js'

/** Ten of each kind. `npm run bench -- explain 1000` runs more. */
const RUNS = 120

const runs: FaultRun[] = []
for (let seed = 0; seed < RUNS; seed += 1) runs.push(await runFault(seed))

describe('an explanation of a loss by a known fault, from the recordings of all processes', () => {
  it.each(Object.keys(kinds) as FaultKind[])('names the cause: %s', (kind) => {
    const own = runs.filter((run) => run.kind === kind)
    expect(own.length).toBe(RUNS / Object.keys(kinds).length)
    const wrong = own
      .filter(({ isRight }) => !isRight)
      .map(({ seed, explanation }) => ({ seed, found: explanation.verdicts }))
    expect(wrong).toEqual([])
  })

  it('never blames a process without a fault', () => {
    expect(runs.filter(({ blamed }) => blamed.length > 0).map(({ seed, kind }) => ({ seed, kind }))).toEqual([])
  })

  it('is replayed without a difference', () => {
    expect(runs.filter(({ explanation }) => explanation.replay.difference !== undefined)).toEqual([])
  })

  it('has three sentences for each loss', () => {
    for (const { explanation } of runs) {
      for (const { sentences } of explanation.verdicts) {
        expect(sentences.length).toBe(3)
        for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z'].*\.$/)
      }
    }
  })
})

describe('an explanation from the recording of the loser alone', () => {
  it('blames no process without a fault', async () => {
    const blamed = runs.filter(({ alone, faulty }) =>
      alone.some(({ finding }) => finding.process !== undefined && !faulty.includes(finding.process)),
    )
    expect(blamed.map(({ seed, kind }) => ({ seed, kind }))).toEqual([])
  })
})
