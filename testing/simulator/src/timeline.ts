import type { Actor } from './history.js'
import { describeFault } from './planned-fault.js'
import type { RunResult } from './run-plan.js'
import { instant, TimelineTable } from './timeline-table.js'

/** How many entries before the end are shown. */
const SHOWN = 60

/** The last part of a run as a table. Each line is an instant; each node has a column. */
export function drawTimeline({ plan, history, violation }: RunResult): string {
  const nodes = plan.machines.length
  const table = new TimelineTable(['store', ...plan.machines.map((_, node) => `node ${node}`)])
  const { heartbeatTimeout, heartbeatInterval, operationTimeout } = plan.timeouts
  const times = [heartbeatTimeout, heartbeatInterval, operationTimeout].map(Math.round).join(', ')
  const head = [
    `${plan.store}, ${nodes} nodes; ttl, heartbeat interval, operation timeout: ${times} ms`,
    ...plan.machines.map(
      ({ drift, skew }, node) => `node ${node}: drift ${drift}, wall clock ahead by ${Math.round(skew)} ms`,
    ),
    ...plan.faults.map((fault) => `${instant(fault.at)}  ${describeFault(fault)}`),
    '',
    table.head(),
  ]
  const lines = history.slice(-SHOWN).map(({ at, actor, event, detail }) => {
    const text = [event, detail].filter((part) => part !== '').join(' ')
    return table.line(at, columnOf(actor, nodes), text)
  })
  if (history.length > SHOWN) lines.unshift(table.more(`${history.length - SHOWN} earlier events`))
  const end =
    violation === undefined ? [] : ['', `${violation.check} at ${violation.at.toFixed(1)} ms: ${violation.message}`]
  return [...head, ...lines, ...end].join('\n')
}

/** The store is in the first column. */
function columnOf(actor: Actor, nodes: number): number | undefined {
  if (actor === 'store') return 0
  return typeof actor === 'number' && actor < nodes ? actor + 1 : undefined
}
