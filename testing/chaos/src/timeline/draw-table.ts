import { TimelineTable } from '@leasehold/simulator/drawing'
import type { Violation } from '../checks/report.js'
import { describeOperation } from '../history/describe-operation.js'
import type { History } from '../history/history.js'
import { shownPart } from './shown-part.js'

/** How many events before the violation are shown, and how many after it. */
const BEFORE = 60
const AFTER = 10

const WIDTH = 30

interface Event {
  readonly at: number
  readonly column: number | undefined
  readonly text: string
}

/**
 * Draws what happened to one name around a violation, as a table. Each line begins with the time since the start of the run. Each client
 * has a column. A star marks the calls that show the violation.
 */
export function drawTable(history: History, violation: Violation): string {
  const { check, name, at, message } = violation
  const part = shownPart(history, violation)
  const table = new TimelineTable(
    Array.from({ length: history.clients }, (_, client) => `client ${client + 1}`),
    WIDTH,
  )
  const shown = new Set(violation.operations.map(({ id }) => id))
  const events = eventsOf(history, name, shown).filter((event) => event.at >= part.from && event.at <= part.to)
  const before = events.filter((event) => event.at <= at)
  const after = events.filter((event) => event.at > at)
  const line = (event: Event): string => table.line(event.at - history.from, event.column, event.text)
  const left = Math.max(0, before.length - BEFORE)
  return [
    history.title,
    `${name}: ${check} at ${(at - history.from).toFixed(1)} ms: ${message}`,
    ...violation.operations.map(
      (operation) =>
        `  * client ${operation.client}, life ${operation.life}: ${describeOperation(operation)}, ` +
        `${(operation.from - history.from).toFixed(1)} to ${(operation.to - history.from).toFixed(1)} ms`,
    ),
    '',
    table.head(),
    ...(left > 0 ? [table.more(`${left} earlier events`)] : []),
    ...before.slice(-BEFORE).map(line),
    table.line(at - history.from, undefined, check),
    ...after.slice(0, AFTER).map(line),
    ...(after.length > AFTER ? [table.more(`${after.length - AFTER} later events`)] : []),
  ].join('\n')
}

function eventsOf(history: History, name: string, shown: ReadonlySet<number>): Event[] {
  const events: Event[] = []
  for (const operation of history.operations) {
    if (operation.name !== name) continue
    const star = shown.has(operation.id) ? '* ' : ''
    const column = operation.client - 1
    const text = `${star}${describeOperation(operation)}`
    // A look takes no time, unless the process was stopped.
    if (operation.call !== 'check') events.push({ at: operation.from, column, text: `${star}${operation.call}…` })
    if (Number.isFinite(operation.to)) events.push({ at: operation.to, column, text })
  }
  for (const { notice, at, client, token, reason, name: of } of history.notices) {
    if (of !== name) continue
    const why = reason === undefined ? '' : ` ${reason}`
    events.push({ at, column: client - 1, text: `${notice}${why} token ${token}` })
  }
  for (const { kind, target, from, to } of history.faults) {
    events.push({ at: from, column: undefined, text: `${kind} of ${target} begins` })
    events.push({ at: to, column: undefined, text: `${kind} of ${target} ends` })
  }
  return events.sort((left, right) => left.at - right.at)
}
