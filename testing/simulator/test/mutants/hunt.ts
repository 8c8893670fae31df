import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { checkLeaseLaw, checkStoreLaw, leaseLaws, leasesOver, storeLaws } from '@leasehold/testkit'
import { contend } from '../../src/contend.js'
import { GuidedSearch } from '../../src/guided/guided-search.js'
import { createPlan, type PlanWishes, type SimulationPlan } from '../../src/plan.js'
import { ambientFaults, faultKinds } from '../../src/planned-fault.js'
import { runPlan } from '../../src/run-plan.js'
import type { Scenario } from '../../src/workload.js'
import { familyScenarios } from '../families.js'
import { objectiveScenario } from '../objectives.js'
import { shortLives } from '../short-lives.js'
import type { Catch } from './mutant.js'

/** Within so many schedules a bug has to be found. */
const SCHEDULES = 2_000

// A bug can leave unhandled rejections behind.
process.on('unhandledRejection', () => {})

// Refused and failed calls are a part of most schedules, and nobody reads their stacks.
Error.stackTraceLimit = 0

/** Where the simulator begins: the first seed, and whether its plans are changes of those that reached new states. */
interface Start {
  readonly first: number
  readonly guided: boolean
}

/** The simulator, until it finds something. */
async function simulateUntilCaught(
  wishes: Omit<PlanWishes, 'seed'>,
  scenario: Scenario,
  { first, guided }: Start,
): Promise<Catch> {
  const search = new GuidedSearch(first, wishes, scenario)
  for (let count = 1; count <= SCHEDULES; count += 1) {
    const plain = () => runPlan(createPlan({ seed: first + count - 1, ...wishes }), scenario)
    const { violation } = await (guided ? search.next() : plain())
    if (violation !== undefined) return { caughtBy: [violation.check], schedules: count }
  }
  return { caughtBy: [], schedules: SCHEDULES }
}

/** The expected law, if it is broken; otherwise every law that is, over both kinds of stores. */
async function checkLaws(expected?: string): Promise<Catch> {
  const broken = new Set<string>()
  const check = async (isWanted: (law: string) => boolean): Promise<void> => {
    const titleOf = ({ family, name }: { readonly family: string; readonly name: string }) => `${family}: ${name}`
    for (const subject of [memorySubject, casSubject]) {
      for (const law of storeLaws) {
        if (isWanted(titleOf(law))) await checkStoreLaw(law, subject).catch(() => broken.add(titleOf(law)))
      }
      for (const law of leaseLaws) {
        if (isWanted(titleOf(law))) await checkLeaseLaw(law, leasesOver(subject)).catch(() => broken.add(titleOf(law)))
      }
    }
  }
  if (expected !== undefined) await check((law) => law === expected)
  if (broken.size === 0) await check((law) => law !== expected)
  return { caughtBy: [...broken], schedules: 0 }
}

/** One plan of the simulator. */
async function runOne(plan: SimulationPlan): Promise<Catch> {
  const { violation } = await runPlan(plan, { workload: contend })
  return { caughtBy: violation === undefined ? [] : [violation.check], schedules: 1 }
}

function hunt(how: string, law?: string): Promise<Catch> {
  if (how === 'laws') return checkLaws(law)
  // `guided:1000` or `plain:1000` in place of a law.
  const [way, first = 1] = law?.split(':') ?? []
  const start = { first: Number(first), guided: way === 'guided' }
  if (how === 'simulator') return simulateUntilCaught({ faults: faultKinds }, { workload: contend }, start)
  if (how === 'short-lives')
    return simulateUntilCaught({ store: 'observed', times: 'drawn', faults: ambientFaults }, shortLives, start)
  if (how === 'objectives') return simulateUntilCaught({ faults: ambientFaults }, objectiveScenario, start)
  const family = Object.entries(familyScenarios).find(([name]) => name === how)?.[1]
  // An observed store times no parents.
  if (family !== undefined) return simulateUntilCaught({ store: 'server-timed', faults: ambientFaults }, family, start)
  const kind = faultKinds.find((kind) => kind === how)
  if (kind === undefined) return runOne(JSON.parse(how))
  return simulateUntilCaught({ faults: [kind] }, { workload: contend }, start)
}

// Runs in a process of its own, bundled with the bug; prints the checks or laws that caught it.
// A call that a bug leaves pending would keep the process alive.
process.stdout.write(JSON.stringify(await hunt(process.argv[2] ?? 'simulator', process.argv[3])), () => process.exit())
