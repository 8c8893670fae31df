import { machineTime } from '../support/machine.js'
import type { Use } from './contenders/contender.js'
import { contenderOf, type Task } from './contenders/contenders.js'

/** In a process of its own: waits for names, and notes when it was granted each. */
export function openTaker({ contender, port, use }: Task & { readonly use: Use }) {
  const session = contenderOf(contender).open(port, use)
  const taken: [name: string, at: number][] = []
  const takeOne = async (name: string): Promise<void> => {
    const held = await session.hold(name)
    taken.push([name, machineTime()])
    await held.release()
  }
  return {
    /** Begins to wait. */
    take: (names: readonly string[]): void => {
      for (const name of names) takeOne(name).catch(() => {})
    },
    /** The names with the times of their grants, on the clock of the machine. */
    taken: () => taken,
  }
}
