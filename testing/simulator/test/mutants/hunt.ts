import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { checkLeaseLaw, checkStoreLaw, leaseLaws, leasesOver, storeLaws } from '@leasehold/testkit'
import { contend } from '../../src/contend.js'
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

/** The simulator, until it finds something. */
async function simulateUntilCaught(wishes: Omit<PlanWishes, 'seed'>, scenario: Scenario): Promise<Catch> {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const { violation } = await runPlan(createPlan({ seed, ...wishes }), scenario)
    if (violation !== undefined) return { caughtBy: [violation.check], schedules: seed }
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
  if (how === 'simulator') return simulateUntilCaught({ faults: faultKinds }, { workload: contend })
  if (how === 'short-lives')
    return simulateUntilCaught({ store: 'observed', times: 'drawn', faults: ambientFaults }, shortLives)
  if (how === 'objectives') return simulateUntilCaught({ faults: ambientFaults }, objectiveScenario)
  const family = Object.entries(familyScenarios).find(([name]) => name === how)?.[1]
  // An observed store times no parents.
  if (family !== undefined) return simulateUntilCaught({ store: 'server-timed', faults: ambientFaults }, family)
  const kind = faultKinds.find((kind) => kind === how)
  return kind === undefined ? runOne(JSON.parse(how)) : simulateUntilCaught({ faults: [kind] }, { workload: contend })
}

// Runs in a process of its own, bundled with the bug; prints the checks or laws that caught it.
// A call that a bug leaves pending would keep the process alive.
process.stdout.write(JSON.stringify(await hunt(process.argv[2] ?? 'simulator', process.argv[3])), () => process.exit())
