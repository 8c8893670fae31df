/**
 * Runs with one fault each, in virtual time: how often `leasehold explain` names the right cause, and how often it blames a
 * process without a fault. `npm run bench -- explain [COUNT] [FIRST SEED]`
 */
import { type FaultKind, kinds, runFault } from '../../packages/cli/test/explain/fault-run.js'

interface Tally {
  runs: number
  right: number
  /** With the recording of the loser alone. */
  rightAlone: number
  blamed: number
  differing: number
}

const [count = '1000', first = '0'] = process.argv.slice(2)
const tallies = new Map<FaultKind, Tally>()
const wrong: string[] = []

for (let seed = Number(first); seed < Number(first) + Number(count); seed += 1) {
  const { kind, explanation, alone, isRight, blamed, faulty } = await runFault(seed)
  const tally = tallies.get(kind) ?? { runs: 0, right: 0, rightAlone: 0, blamed: 0, differing: 0 }
  tallies.set(kind, tally)
  tally.runs += 1
  const causes: readonly string[] = kinds[kind]
  const isBlaming = alone.some(({ finding }) => finding.process !== undefined && !faulty.includes(finding.process))
  if (isRight) tally.right += 1
  if (alone.length > 0 && alone.every(({ finding }) => causes.includes(finding.cause))) tally.rightAlone += 1
  if (blamed.length > 0 || isBlaming) tally.blamed += 1
  if (explanation.replay.difference !== undefined) tally.differing += 1
  if (!isRight) wrong.push(`seed ${seed}, ${kind}: ${explanation.verdicts.map(({ finding }) => finding.cause)}`)
}

const rows = [...tallies].map(([kind, tally]) => ({ kind, ...tally }))
const total = (name: keyof Tally): number => rows.reduce((sum, row) => sum + row[name], 0)
console.table(rows)
console.log(`right: ${total('right')} of ${total('runs')}; with the loser's recording alone: ${total('rightAlone')}`)
console.log(`blamed a process without a fault: ${total('blamed')}; replay differed: ${total('differing')}`)
for (const line of wrong) console.log(line)
