import { once } from 'node:events'
import { shown, table } from '../../redis/report/table.js'
import type { ChildProgram } from '../child-program.js'
import type { Cost } from './measure-cost.js'

const COUNTS = [1, 1_000, 100_000]
const SECONDS = 20

/** The cost of a heartbeat thread, as a part of its page. */
export async function reportCost(program: ChildProgram): Promise<readonly string[]> {
  const rows: string[][] = []
  for (const leases of COUNTS) {
    for (const isThreaded of [false, true]) {
      const child = program.start({ type: 'cost', isThreaded, leases, seconds: SECONDS })
      const [{ start, memory, cpu, checkLease }] = (await once(child, 'message')) as [Cost]
      const figures = [start, memory, cpu, checkLease].map(shown)
      rows.push([leases.toLocaleString('en'), isThreaded ? 'a thread' : 'the main thread', ...figures])
    }
  }
  return [
    '## Cost',
    '',
    'Leases over a store in memory, with a ttl of 60 s and a heartbeat every 10 s. The start is the time to make all lease objects',
    'and to get the first grant, which includes the start of the thread. A figure of memory below 5 MB is within the noise. The',
    'memory is the resident memory that was added, and the CPU time is that of the whole process, of one core.',
    '',
    table(['leases', 'heartbeats from', 'start, ms', 'memory, MB', 'CPU, %', '`checkLease`, ns'], rows),
    '',
  ]
}
