import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import { shown, table } from '../../support/table.js'
import { measureCost } from './measure-cost.js'

const COUNTS = [1, 1_000, 100_000]
const SECONDS = 20

const program = new URL('measure-cost.ts', import.meta.url).href

/** The cost of a heartbeat thread. */
export async function reportCost(): Promise<NumberReport> {
  const rows: string[][] = []
  for (const leases of COUNTS) {
    for (const isThreaded of [false, true]) {
      const task = { isThreaded, leases, seconds: SECONDS }
      const { start, memory, cpu, checkLease } = await Child.measure(program, measureCost, task)
      const figures = [start, memory, cpu, checkLease].map(shown)
      rows.push([leases.toLocaleString('en'), isThreaded ? 'a thread' : 'the main thread', ...figures])
    }
  }
  return {
    title: 'Cost',
    body: [
      'Leases over a store in memory, with a ttl of 60 s and a heartbeat every 10 s. The start is the time to make all lease objects',
      'and to get the first grant, which includes the start of the thread. A figure of memory below 5 MB is within the noise. The',
      'memory is the resident memory that was added, and the CPU time is that of the whole process, of one core.',
      '',
      table('leases | heartbeats from | start, ms | memory, MB | CPU, % | `checkLease`, ns', rows),
    ].join('\n'),
  }
}
