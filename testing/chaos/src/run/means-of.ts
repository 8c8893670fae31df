import type { FaultMeans } from '../nemesis/carry-out.js'
import type { PlannedFault } from '../nemesis/planned-fault.js'
import type { RunningSystem } from '../systems/system.js'
import type { ClientProcess } from './client-process.js'

/** How a fault is carried out in a run; `undefined` for one that the system does not have. */
export function meansOf(
  { kind, target }: PlannedFault,
  running: RunningSystem,
  clients: readonly ClientProcess[],
): FaultMeans | undefined {
  const client = clients.find(({ number }) => target === `client ${number}`)
  if (client !== undefined) {
    if (kind === 'kill-client') return { begin: () => client.kill(), end: () => client.start() }
    if (kind === 'freeze-client') return { begin: () => client.freeze(), end: () => client.thaw() }
    if (kind === 'step-wall-clock') {
      return { begin: ({ amount = 0 }) => client.send({ type: 'step-wall-clock', by: amount }), end: () => {} }
    }
  }
  return running.faults.find((fault) => fault.kind === kind && fault.target === target)
}
