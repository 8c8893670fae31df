import type { Actor, HistoryEntry } from './history.js'
import { describeFault } from './planned-fault.js'
import type { RunResult } from './run-plan.js'

/** How many entries before the end are shown. */
const SHOWN = 60

const WIDTH = 12

/** The last part of a run as a table: an instant a line, a node a column. */
export function drawTimeline({ plan, history, violation }: RunResult): string {
  const nodes = plan.machines.length
  const { heartbeatTimeout, heartbeatInterval, operationTimeout } = plan.timeouts
  const times = [heartbeatTimeout, heartbeatInterval, operationTimeout].map(Math.round).join(', ')
  const head = [
    `${plan.store}, ${nodes} nodes; ttl, heartbeat interval, operation timeout: ${times} ms`,
    ...plan.machines.map(
      ({ drift, skew }, node) => `node ${node}: drift ${drift}, wall clock ahead by ${Math.round(skew)} ms`,
    ),
    ...plan.faults.map((fault) => `${instant(fault.at)}  ${describeFault(fault)}`),
    '',
    `${'ms'.padStart(WIDTH)}  ${['store', ...Array.from({ length: nodes }, (_, node) => `node ${node}`)].map((title) => title.padEnd(WIDTH)).join(' ')}`,
  ]
  const lines = history.slice(-SHOWN).map((entry) => `${instant(entry.at)}  ${row(entry, nodes)}`.trimEnd())
  if (history.length > SHOWN) lines.unshift(`${'…'.padStart(WIDTH)}  ${history.length - SHOWN} earlier events`)
  const end =
    violation === undefined ? [] : ['', `${violation.check} at ${violation.at.toFixed(1)} ms: ${violation.message}`]
  return [...head, ...lines, ...end].join('\n')
}

function row({ actor, event, detail }: HistoryEntry, nodes: number): string {
  const column = columnOf(actor, nodes)
  const text = [event, detail].filter((part) => part !== '').join(' ')
  return column === undefined ? `** ${text}` : `${' '.repeat(column * (WIDTH + 1))}${text}`
}

/** The store is in the first column. An event without a column spans all columns. */
function columnOf(actor: Actor, nodes: number): number | undefined {
  if (actor === 'store') return 0
  return typeof actor === 'number' && actor < nodes ? actor + 1 : undefined
}

function instant(at: number): string {
  return at.toFixed(1).padStart(WIDTH)
}
