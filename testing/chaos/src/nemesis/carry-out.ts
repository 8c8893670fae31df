import { setTimeout as pause } from 'node:timers/promises'
import type { AppliedFault } from '../history/history.js'
import { machineTime } from '../record/machine-time.js'
import type { PlannedFault } from './planned-fault.js'

/** How a fault is carried out. */
export interface FaultMeans {
  begin(fault: PlannedFault): Promise<void> | void
  end(fault: PlannedFault): Promise<void> | void
}

/** What the nemesis did, and what it could not do. */
export interface Deeds {
  readonly faults: readonly AppliedFault[]
  readonly failures: readonly string[]
}

/**
 * Carries out the schedule, whose time begins at `from`; resolves when all faults are over. A fault begins late if the last
 * one of its target has not ended. `means`: by kind and target. A fault without means, such as one from a file of another
 * system, is a failure.
 */
export async function carryOut(
  schedule: readonly PlannedFault[],
  from: number,
  means: (fault: PlannedFault) => FaultMeans | undefined,
): Promise<Deeds> {
  const faults: AppliedFault[] = []
  const failures: string[] = []
  const earlier = new Map<string, Promise<void>>()
  const perform = async (fault: PlannedFault): Promise<void> => {
    const { kind, target, lasts } = fault
    const way = means(fault)
    if (way === undefined) {
      failures.push(`there is no ${kind} of ${target}`)
      return
    }
    const begun = machineTime()
    try {
      await way.begin(fault)
      await pause(lasts)
    } catch (error) {
      failures.push(`${kind} of ${target} did not begin: ${String(error)}`)
    }
    try {
      await way.end(fault)
    } catch (error) {
      failures.push(`${kind} of ${target} did not end: ${String(error)}`)
    }
    faults.push({ kind, target, from: begun, to: machineTime() })
  }
  for (const fault of schedule) {
    await pause(Math.max(0, from + fault.at - machineTime()))
    earlier.set(
      fault.target,
      (earlier.get(fault.target) ?? Promise.resolve()).then(() => perform(fault)),
    )
  }
  await Promise.all(earlier.values())
  return { faults: faults.toSorted((left, right) => left.from - right.from), failures }
}
